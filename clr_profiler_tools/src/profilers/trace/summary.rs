//! The table of the calls by method, as text and as JSON.

use std::fmt::Write;

use clr_profiler::Overhead;
use serde_json::{Value, json};

use super::SPANS;
use super::notes::{self, About};
use crate::otlp::Sent;

const NOTES: [(About, &str, &str); 7] = [
    (About::Refused, "refused", "not traced:"),
    (
        About::UpToReturn,
        "up_to_return",
        "traced until they return, not until they are done:",
    ),
    (
        About::Counted,
        "counted",
        "called too often for the budget, and only counted from then on:",
    ),
    (
        About::GivenUp,
        "counted_until",
        "called too often even for that, and counted until they were compiled again:",
    ),
    (
        About::Argument,
        "arguments",
        "arguments and results that are not recorded:",
    ),
    (About::Value, "values", "values of rules that are not read:"),
    (
        About::Unmatched,
        "unmatched",
        "rules that have matched no method:",
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
    for ((count, names), words) in [
        (notes::small(), "methods are small and have no spans:"),
        (
            notes::deferred(),
            "methods were compiled when the budget was spent; their calls have no spans and are not counted:",
        ),
    ] {
        if count > 0 {
            let _ = writeln!(text, "\n{count} {words}");
        }
        for name in names {
            let _ = writeln!(text, "  {name}");
        }
    }
    let (calls, plain) = SPANS.totals().iter().fold((0, 0), |(calls, plain), row| {
        (calls + row.calls, plain + row.plain)
    });
    let _ = writeln!(
        text,
        "\n{} of {calls} calls have spans, {} of them are lost",
        calls - plain,
        SPANS.lost()
    );
    let _ = writeln!(text, "overhead: {overhead}");
    text
}

/// The methods and calls without spans, as a line for the user of the command; at the end also that there was no call.
pub(crate) fn omitted(is_end: bool) -> Option<String> {
    if is_end && SPANS.totals().iter().all(|row| row.calls == 0) {
        return Some("no call of a traced method was recorded".to_owned());
    }
    let [small, deferred, counted] = notes::without_spans();
    let parts = [
        (
            small,
            "small methods have no spans: name them by `--methods`",
        ),
        (
            deferred,
            "methods were compiled when the budget was spent, and have no spans: `--budget 100` is no limit",
        ),
        (
            counted,
            "methods were called too often, and are only counted from then on: `--budget 100` is no limit",
        ),
        (
            SPANS.lost(),
            "calls have no span, because there were too many at once",
        ),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<_> = parts
        .map(|(number, words)| format!("{number} {words}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub(crate) fn json(sent: Option<&Sent>) -> Value {
    let rows = SPANS.totals();
    let methods: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name,
                "calls": row.calls,
                "without_span": row.plain,
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
    let (small, names) = notes::small();
    all["small"] = json!({ "methods": small, "names": names });
    let (deferred, names) = notes::deferred();
    all["deferred"] = json!({ "methods": deferred, "names": names });
    if let Some(sent) = sent {
        all["otlp"] = sent.to_string().into();
    }
    all
}
