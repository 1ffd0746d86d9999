//! The table of the calls by method, as text and as JSON.

use std::fmt::Write;

use clr_profiler::Overhead;
use serde_json::{Value, json};

use super::SPANS;
use super::notes::{self, About};
use crate::otlp::Sent;

const NOTES: [(About, &str, &str); 3] = [
    (About::Refused, "refused", "not traced:"),
    (
        About::UpToReturn,
        "up_to_return",
        "traced until they return, not until they are done:",
    ),
    (
        About::Argument,
        "arguments",
        "arguments that are not recorded:",
    ),
];

pub(crate) fn text(sent: Option<&Sent>, overhead: &Overhead) -> String {
    let mut text = String::from("    calls   errors    total ms     mean us      max us  method\n");
    for row in SPANS.totals().iter().filter(|row| row.calls > 0) {
        let (total, longest) = (row.total as f64, row.longest as f64);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>9}{:>9}{:>12.3}{:>12.1}{:>12.1}  {}",
            row.calls,
            row.errors,
            total / 1e6,
            total / 1e3 / row.calls as f64,
            longest / 1e3,
            row.name,
        );
    }
    for (about, _, title) in NOTES {
        let notes = notes::all(about);
        if !notes.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for note in notes {
            let _ = writeln!(text, "  {}: {}", note.name, note.reason);
        }
    }
    if SPANS.lost() > 0 {
        let _ = writeln!(
            text,
            "\n{} calls have no span: there were too many at once",
            SPANS.lost()
        );
    }
    if let Some(sent) = sent {
        let _ = writeln!(text, "\n{sent}");
    }
    let _ = writeln!(text, "\noverhead: {overhead}");
    text
}

pub(crate) fn json(sent: Option<&Sent>) -> Value {
    let rows = SPANS.totals();
    let methods: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name,
                "calls": row.calls,
                "errors": row.errors,
                "total_us": row.total as f64 / 1e3,
                "max_us": row.longest as f64 / 1e3,
            })
        })
        .collect();
    let mut all = json!({ "methods": methods, "lost": SPANS.lost() });
    for (about, key, _) in NOTES {
        let notes = notes::all(about).into_iter();
        let notes: Vec<Value> = notes
            .map(|note| json!({ "name": note.name, "reason": note.reason }))
            .collect();
        all[key] = notes.into();
    }
    if let Some(sent) = sent {
        all["otlp"] = sent.to_string().into();
    }
    all
}
