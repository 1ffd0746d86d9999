//! The file that Chrome's developer tools load: nodes and edges as numbers, names as an array of
//! strings.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use crate::heap::PlaceName;
use clr_profiler::events::RootKind;
use clr_profiler::heap::HeapGraph;

use super::progress::Progress;

/// The layout of a node and an edge, with the names of the kinds that are used by number below.
const META: &str = r#"{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic","concatenated string","sliced string","symbol","bigint"],"string","number","number","number","number","number"],"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"trace_node_fields":["id","function_info_index","count","size","children"],"sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]}"#;

/// The number of a node's fields.
const NODE: usize = 7;
const STRING: u32 = 2;
const OBJECT: u32 = 3;
const SYNTHETIC: u32 = 9;
const ELEMENT: u32 = 1;
const PROPERTY: u32 = 2;
const INTERNAL: u32 = 3;

/// The nodes before the objects: the start node, the one that the viewer looks
/// for by its name, and one for each kind of root.
const NAMES: [&str; 2 + KINDS] = [
    "",
    "(GC roots)",
    "(stacks)",
    "(handles)",
    "(finalizer queue)",
    "(other)",
];
const KINDS: usize = 4;
const GC_ROOTS: usize = 1;
const FIRST_OBJECT: usize = NAMES.len();

fn kind(kind: RootKind) -> usize {
    match kind {
        RootKind::Stack => 0,
        RootKind::Handle => 1,
        RootKind::Finalizer => 2,
        _ => 3,
    }
}

/// Strings by number.
#[derive(Default)]
struct Strings<'a> {
    numbers: HashMap<Cow<'a, str>, u32>,
    texts: Vec<Cow<'a, str>>,
}

impl<'a> Strings<'a> {
    /// Those of the graph are not copied.
    fn number(&mut self, text: impl Into<Cow<'a, str>>) -> u32 {
        let text = text.into();
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

/// Numbers with commas between.
struct Numbers<'a> {
    file: &'a mut dyn Write,
    is_first: bool,
}

impl Numbers<'_> {
    /// Writes a line of them.
    fn write<const N: usize>(&mut self, numbers: [u64; N]) -> io::Result<()> {
        for (index, number) in numbers.iter().enumerate() {
            let before = match (index, self.is_first) {
                (0, true) => "",
                (0, false) => ",\n",
                _ => ",",
            };
            write!(self.file, "{before}{number}")?;
        }
        self.is_first = false;
        Ok(())
    }
}

/// Writes a graph.
pub(crate) fn write(
    graph: &HeapGraph,
    progress: &Progress,
    file: &mut dyn Write,
) -> io::Result<()> {
    let mut strings = Strings::default();
    let roots = Roots::of(graph);
    let node_count = FIRST_OBJECT + graph.len() as usize;
    let edge_count = roots.edge_count() + graph.reference_count() as usize;
    progress.write((node_count + edge_count) as u64);
    writeln!(
        file,
        "{{\"snapshot\":{{\"meta\":{META},\"node_count\":{node_count},\"edge_count\":{edge_count},\
         \"trace_function_count\":0}},"
    )?;

    writeln!(file, "\"nodes\":[")?;
    let mut numbers = Numbers {
        file: &mut *file,
        is_first: true,
    };
    let mut node = |kind: u32, name: u32, index: usize, size: u64, edges: usize| {
        // Objects of programs have odd numbers.
        let id = index as u64 * 2 + 1;
        let [kind, name] = [kind, name].map(u64::from);
        progress.written();
        numbers.write([kind, name, id, size, edges as u64, 0, 0])
    };
    for (index, name) in NAMES.iter().enumerate() {
        node(
            SYNTHETIC,
            strings.number(*name),
            index,
            0,
            roots.edges_of(index),
        )?;
    }
    let classes = graph.classes().iter();
    let classes: Vec<u32> = classes.map(|class| strings.number(&*class.name)).collect();
    for object in graph.objects() {
        let (kind, name) = match object.text() {
            None => (OBJECT, classes[object.class_index()]),
            Some(text) if text.is_truncated => (STRING, strings.number(text.to_string())),
            Some(text) => (STRING, strings.number(text.text)),
        };
        let index = FIRST_OBJECT + object.number() as usize;
        let edges = object.references().count();
        node(kind, name, index, object.size(), edges)?;
    }

    writeln!(file, "],\n\"edges\":[")?;
    let mut numbers = Numbers {
        file: &mut *file,
        is_first: true,
    };
    let mut edge = |kind: u32, name: u64, to: usize| {
        progress.written();
        numbers.write([u64::from(kind), name, (to * NODE) as u64])
    };
    edge(
        INTERNAL,
        u64::from(strings.number(NAMES[GC_ROOTS])),
        GC_ROOTS,
    )?;
    for (index, object) in roots.held.iter().enumerate() {
        edge(ELEMENT, index as u64, FIRST_OBJECT + *object as usize)?;
    }
    for (index, name) in NAMES.iter().enumerate().skip(GC_ROOTS + 1) {
        edge(INTERNAL, u64::from(strings.number(*name)), index)?;
    }
    for held in &roots.by_kind {
        for (index, (object, name)) in held.iter().enumerate() {
            let to = FIRST_OBJECT + *object as usize;
            match name {
                Some(name) => edge(INTERNAL, u64::from(strings.number(*name)), to)?,
                None => edge(ELEMENT, index as u64, to)?,
            }
        }
    }
    for object in graph.objects() {
        for reference in object.references() {
            let place = PlaceName::of(object.class(), reference.place);
            let (kind, name) = match &place {
                PlaceName::Element(index, _) => (ELEMENT, *index),
                PlaceName::Field(name, 0) => (PROPERTY, u64::from(strings.number(*name))),
                PlaceName::Field(..) => (PROPERTY, u64::from(strings.number(place.to_string()))),
                _ => (INTERNAL, u64::from(strings.number(place.to_string()))),
            };
            edge(kind, name, FIRST_OBJECT + reference.target as usize)?;
        }
    }

    writeln!(
        file,
        "],\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],"
    )?;
    writeln!(file, "\"strings\":[")?;
    for (index, text) in strings.texts.iter().enumerate() {
        let before = if index == 0 { "" } else { ",\n" };
        write!(file, "{before}{}", Quoted(text))?;
    }
    writeln!(file, "]}}")
}

/// The objects that roots hold.
struct Roots<'a> {
    /// Each once.
    held: Vec<u32>,
    /// With the function in whose frame a stack root is.
    by_kind: [Vec<(u32, Option<&'a str>)>; KINDS],
}

impl<'a> Roots<'a> {
    fn of(graph: &'a HeapGraph) -> Self {
        let mut by_kind: [Vec<_>; KINDS] = Default::default();
        let mut held = Vec::new();
        for root in graph.roots().iter().filter(|root| root.is_strong()) {
            by_kind[kind(root.kind)].push((root.object, graph.function_name(root)));
            held.push(root.object);
        }
        held.sort_unstable();
        held.dedup();
        Self { held, by_kind }
    }

    /// The edges of a node before the objects.
    fn edges_of(&self, index: usize) -> usize {
        match index {
            0 => 1 + self.held.len(),
            GC_ROOTS => KINDS,
            _ => self.by_kind[index - GC_ROOTS - 1].len(),
        }
    }

    fn edge_count(&self) -> usize {
        (0..FIRST_OBJECT).map(|index| self.edges_of(index)).sum()
    }
}

/// A string in JSON.
struct Quoted<'a>(&'a str);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write;

        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
