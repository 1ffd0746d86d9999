//! The lines, and the table after them.

use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::report::Output;

/// The limit for types in the table: a program can create types without limit.
const LIMIT: usize = 10_000;

/// Takes exceptions from all threads.
pub(crate) struct Log {
    started: Instant,
    output: Output,
    last: AtomicU64,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    rows: HashMap<Arc<str>, Row>,
    /// The counts that were last written.
    written: Option<Row>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Row {
    thrown: u64,
    caught: u64,
}

impl Log {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            started: Instant::now(),
            output,
            last: AtomicU64::new(0),
            table: Mutex::default(),
        }
    }

    /// The number of a new exception.
    pub(crate) fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn thrown(&self, number: u64, thread: u32, class: &Arc<str>, entry: &str) {
        self.lock().count(class, |row| row.thrown += 1);
        let at = self.started.elapsed().as_secs_f64();
        let line = format!("[{number}] {at:.3} s  thread {thread}  {entry}\n");
        self.output.append(&line);
    }

    pub(crate) fn caught(&self, number: u64, class: &Arc<str>, place: &str) {
        self.lock().count(class, |row| row.caught += 1);
        self.output
            .append(&format!("[{number}] caught in {place}\n"));
    }

    /// Writes the overhead and the table, unless they are the last thing that was written.
    pub(crate) fn summary(&self, overhead: &impl Display) {
        let seconds = self.started.elapsed().as_secs_f64();
        let table = self.lock().text(seconds);
        if !table.is_empty() {
            self.output
                .append(&format!("overhead: {overhead}\n{table}"));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn count(&mut self, class: &Arc<str>, count: impl FnOnce(&mut Row)) {
        if let Some(row) = self.rows.get_mut(class) {
            return count(row);
        }
        let class = if self.rows.len() < LIMIT {
            Arc::clone(class)
        } else {
            "(types beyond the limit of this table)".into()
        };
        count(self.rows.entry(class).or_default());
    }

    fn text(&mut self, seconds: f64) -> String {
        let all = self.rows.values().fold(Row::default(), |sum, row| Row {
            thrown: sum.thrown + row.thrown,
            caught: sum.caught + row.caught,
        });
        if self.written == Some(all) {
            return String::new();
        }
        self.written = Some(all);
        let mut rows: Vec<(&str, Row)> = self
            .rows
            .iter()
            .map(|(name, row)| (&**name, *row))
            .collect();
        rows.sort_by_key(|(name, row)| (std::cmp::Reverse(row.thrown), *name));
        rows.push(("all", all));
        let mut text = format!(
            "{:>9}  {:>9}  {:>9}  {:>9}  type\n",
            "thrown", "caught", "not", "a second"
        );
        for (name, row) in rows {
            let (not, rate) = (
                row.thrown - row.caught.min(row.thrown),
                row.thrown as f64 / seconds,
            );
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "{:>9}  {:>9}  {not:>9}  {rate:>9.1}  {name}",
                row.thrown, row.caught
            );
        }
        text
    }
}
