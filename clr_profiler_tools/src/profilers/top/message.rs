//! The line of a period, as JSON. Times are in milliseconds.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::collections::Collections;
use super::window::Totals;

/// The rows of each table.
const ROWS: usize = 100;
/// The rows of the tree.
const NODES: usize = 300;

pub(crate) fn line(
    totals: &Totals,
    collections: &Collections,
    at: Duration,
    is_exact: bool,
) -> String {
    let name = |frame: &u64| totals.names.get(frame).map_or("?", |name| &**name);
    let mut methods: Vec<(&u64, &(u64, u64))> = totals.methods.iter().collect();
    methods.sort_by_key(|(frame, sums)| (Reverse(**sums), **frame));
    let methods = methods.iter().take(ROWS).map(|(frame, (own, all))| {
        json!({ "name": name(frame), "own": milliseconds(*own), "all": milliseconds(*all) })
    });
    // A hundredth, and not less than a sample.
    let least = totals.stacks.total() / 100;
    let rows = totals.stacks.rows(least, NODES);
    let tree = rows.into_iter().map(|(depth, frame, weight)| {
        json!({ "depth": depth, "name": name(&frame), "all": milliseconds(weight) })
    });
    let mut threads: Vec<&(u32, String, Duration)> = totals.threads.iter().collect();
    threads.sort_by_key(|(id, _, time)| (Reverse(*time), *id));
    let threads = threads
        .into_iter()
        .take(ROWS)
        .map(|(id, name, time)| json!({ "id": id, "name": name, "cpu": time.as_secs_f64() * 1e3 }));
    let message = json!({
        "at": at.as_secs_f64() * 1e3,
        "exact": is_exact,
        "samples": totals.samples,
        "cpu": milliseconds(totals.stacks.total()),
        "methods": methods.collect::<Vec<_>>(),
        "tree": tree.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "allocated": totals.allocations.as_ref().map(sums),
        "exceptions": sums(&totals.exceptions),
        "collections": {
            "counts": collections.by_generation,
            "paused": collections.paused.as_secs_f64() * 1e3,
            "longest": collections.longest.as_secs_f64() * 1e3,
        },
    });
    format!("{message}\n")
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// The sum, and the largest of its parts.
fn sums(parts: &HashMap<String, u64>) -> Value {
    let mut rows: Vec<(&String, &u64)> = parts.iter().collect();
    rows.sort_by_key(|(name, sum)| (Reverse(**sum), *name));
    let all: u64 = parts.values().sum();
    let rows = rows.into_iter().take(ROWS);
    let rows = rows.map(|(name, sum)| json!({ "name": name, "sum": sum }));
    json!({ "all": all, "types": rows.collect::<Vec<_>>() })
}
