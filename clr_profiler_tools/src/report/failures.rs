//! Failures that the program does not notice, in one line when it ends.
//!
//! A library with a profiler has one list: rewritten code calls functions, not objects.

use std::fmt::Write;
use std::io;
use std::sync::{Arc, Mutex};

use clr_profiler::Setup;
use clr_profiler::il::pattern::MethodPatterns;

use crate::report::lock;

/// The limit for kinds.
const KINDS: usize = 16;

static FAILURES: Mutex<Failures> = Mutex::new(Failures::new());

struct Failures {
    tool: &'static str,
    kinds: Vec<Kind>,
    /// Whether something was added since the line was written.
    is_new: bool,
}

struct Kind {
    what: &'static str,
    count: u64,
    first: String,
}

/// Counts the failed callbacks of this tool, and names it in the line.
pub fn watch(tool: &'static str, setup: &mut Setup) {
    lock(&FAILURES).tool = tool;
    setup.on_failure(|failure| add("failed", failure));
}

/// Another tool begins: the failures of an earlier one are not its own.
pub(crate) fn forget() {
    let mut failures = lock(&FAILURES);
    failures.kinds.clear();
    failures.is_new = false;
    *lock(&PATTERNS) = None;
    *lock(&LISTENER) = None;
}

/// Gets the line instead of stderr.
type Listener = Box<dyn Fn(&str) + Send>;

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

/// Passes the line to a function instead of stderr.
pub(crate) fn tell_to(listener: impl Fn(&str) + Send + 'static) {
    *lock(&LISTENER) = Some(Box::new(listener));
}

/// The patterns that are reported if they have matched nothing.
static PATTERNS: Mutex<Option<Arc<MethodPatterns>>> = Mutex::new(None);

/// Reports patterns in the line that have matched no method until the program ends.
pub fn watch_patterns(patterns: &Arc<MethodPatterns>) {
    *lock(&PATTERNS) = Some(Arc::clone(patterns));
}

/// Counts a failure of a kind such as `refused`, with its reason; the first of each kind is shown.
pub fn add(what: &'static str, reason: impl ToString) {
    add_many(what, 1, reason);
}

/// Counts several at once.
pub fn add_many(what: &'static str, count: u64, reason: impl ToString) {
    if count > 0 {
        lock(&FAILURES).add(what, count, || reason.to_string());
    }
}

/// Writes the line to stderr or to the command, if there is something new.
pub(crate) fn tell() {
    if let Some(patterns) = lock(&PATTERNS).take() {
        let unmatched: Vec<_> = patterns.unmatched().collect();
        if let Some(first) = unmatched.first() {
            let count = unmatched.len() as u64;
            add_many(
                "matched nothing",
                count,
                format_args!("the pattern `{first}`"),
            );
        }
    }
    // Not held while the line is written, which may fail, too.
    let line = lock(&FAILURES).line();
    if let Some(line) = line {
        if let Some(listener) = &*lock(&LISTENER) {
            return listener(&line);
        }
        // In one piece. If stderr is closed, the line is lost.
        let _ = crate::report::masks::without_sigxfsz(|| {
            io::Write::write_all(&mut io::stderr(), line.as_bytes())
        });
    }
}

impl Failures {
    const fn new() -> Self {
        Self {
            tool: "profiler",
            kinds: Vec::new(),
            is_new: false,
        }
    }

    fn add(&mut self, what: &'static str, count: u64, reason: impl FnOnce() -> String) {
        self.is_new = true;
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.what == what) {
            kind.count += count;
        } else if self.kinds.len() < KINDS {
            self.kinds.push(Kind {
                what,
                count,
                first: reason(),
            });
        }
    }

    /// `tool: 3 refused, the first: ...; 1 failed: ...`
    fn line(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        let mut line = format!("{}: ", self.tool);
        for (number, kind) in self.kinds.iter().enumerate() {
            let before = if number == 0 { "" } else { "; " };
            let first = if kind.count == 1 { "" } else { ", the first" };
            let reason = kind.first.replace('\n', " ");
            // Writing to a `String` cannot fail.
            let _ = write!(
                line,
                "{before}{} {}{first}: {reason}",
                kind.count, kind.what
            );
        }
        line.push('\n');
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_all_kinds_and_the_first_of_each() {
        let mut failures = Failures::new();
        assert_eq!(failures.line(), None);
        for what in ["refused", "not written", "refused"] {
            let reason = format!("reason\nof {}", failures.kinds.len());
            failures.add(what, 1, || reason);
        }
        assert_eq!(
            failures.line().unwrap(),
            "profiler: 2 refused, the first: reason of 0; 1 not written: reason of 1\n"
        );
        assert_eq!(failures.line(), None);
    }
}
