//! The table of types, and the path to an object.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use crate::heap::{ClassTotals, HeapPath};
use clr_profiler::Overhead;
use clr_profiler::events::{RootFlags, RootKind};
use clr_profiler::heap::{HeapGraph, HeapRoot, HeapText};

use super::options::Options;

/// The rows of the table.
const ROWS: usize = 40;

/// Writes the types that retain most; then, if a type is named, the path to an object of it; then the texts, if they
/// were recorded.
pub(crate) fn write(
    mut graph: HeapGraph,
    options: &Options,
    took: Duration,
    overhead: &Overhead,
    file: &mut dyn Write,
) -> io::Result<()> {
    // As long as the graph has its references.
    let references = graph.reference_count();
    let mut path = Vec::new();
    if let Some(name) = &options.path {
        writeln!(path)?;
        write_path(&graph, name, &mut path)?;
    }
    let totals = ClassTotals::of(&mut graph);
    let mut rows: Vec<_> = totals.iter().zip(graph.classes()).collect();
    rows.sort_by(|(left, one), (right, other)| {
        let order = right.retained.cmp(&left.retained);
        order.then_with(|| one.name.cmp(&other.name))
    });
    writeln!(
        file,
        "{:>10}  {:>14}  {:>14}  type",
        "objects", "own bytes", "retained"
    )?;
    for (total, class) in rows.iter().take(ROWS) {
        writeln!(
            file,
            "{:>10}  {:>14}  {:>14}  {}",
            total.count, total.size, total.retained, class.name
        )?;
    }
    if rows.len() > ROWS {
        writeln!(file, "...")?;
    }
    let size: u64 = totals.iter().map(|total| total.size).sum();
    let lost: u64 = totals.iter().map(|total| total.unreached).sum();
    let weak = graph.roots().iter().filter(|root| !root.is_strong());
    writeln!(
        file,
        "{} objects of {} types, {size} bytes, {references} references, {} roots ({} weak); {lost} bytes are kept by no \
         root; it took {:.3} s, for {:.3} s of which the program was suspended",
        graph.len(),
        rows.len(),
        graph.roots().len(),
        weak.count(),
        took.as_secs_f64(),
        graph.pause().as_secs_f64(),
    )?;
    writeln!(file, "overhead: {overhead}")?;
    if graph.lost_references() > 0 {
        writeln!(
            file,
            "{} references lead to nothing known",
            graph.lost_references()
        )?;
    }
    file.write_all(&path)?;
    match options.strings {
        Some(_) => write_texts(&graph, file),
        None => Ok(()),
    }
}

/// The texts that take most bytes.
fn write_texts(graph: &HeapGraph, file: &mut dyn Write) -> io::Result<()> {
    let mut totals: HashMap<HeapText<'_>, (u64, u64)> = HashMap::new();
    for object in graph.objects() {
        if let Some(text) = object.text() {
            let (count, size) = totals.entry(text).or_default();
            *count += 1;
            *size += object.size();
        }
    }
    let all = totals.len();
    let mut rows: Vec<_> = totals.into_iter().collect();
    rows.sort_by(|(one, (_, left)), (other, (_, right))| {
        right.cmp(left).then_with(|| one.text.cmp(other.text))
    });
    writeln!(file, "\n{:>10}  {:>14}  text", "strings", "bytes")?;
    for (text, (count, size)) in rows.iter().take(ROWS) {
        // Control characters and line breaks are escaped.
        let end = if text.is_truncated { "..." } else { "" };
        writeln!(file, "{count:>10}  {size:>14}  {:?}{end}", text.text)?;
    }
    writeln!(file, "{all} different texts")
}

fn write_path(graph: &HeapGraph, name: &str, file: &mut dyn Write) -> io::Result<()> {
    if !graph.classes().iter().any(|class| class.name == name) {
        return writeln!(file, "there is no object of the type {name}");
    }
    let class = |object| {
        graph
            .object(object)
            .map_or("", |object| &object.class().name)
    };
    let Some(path) = HeapPath::shortest(graph, |object| class(object) == name) else {
        return writeln!(file, "no root keeps an object of the type {name}");
    };
    if let Some(root) = graph.roots().get(path.root) {
        writeln!(file, "{}", root_name(graph, root))?;
    }
    let mut at = String::new();
    for step in &path.steps {
        writeln!(file, "  {at}{}", class(step.object))?;
        at = format!("{}: ", step.place_name(graph));
    }
    writeln!(file, "  {at}{}", class(path.object))
}

fn root_name(graph: &HeapGraph, root: &HeapRoot) -> String {
    let kind = match root.kind {
        RootKind::Stack => "stack",
        RootKind::Handle => "handle",
        RootKind::Finalizer => "finalizer queue",
        _ => "runtime",
    };
    let pinned = match root.flags.contains(RootFlags::PINNING) {
        true => ", pinned",
        false => "",
    };
    match graph.function_name(root) {
        Some(function) => format!("{kind} of {function}{pinned}"),
        None => format!("{kind}{pinned}"),
    }
}
