//! Failures that the program does not notice, in one line when it ends.
//!
//! A library with a profiler has one list: rewritten code calls functions, not objects.

use std::fmt::Write;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// How many tools of the library run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A tool runs, until this is dropped.
#[derive(Debug)]
pub(crate) struct Running(());

impl Running {
    pub(crate) fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether another tool of the library runs: the line is then for the users of both.
pub(crate) fn is_shared() -> bool {
    RUNNING.load(Ordering::Relaxed) > 0
}

/// The error of a tool that cannot start, which is told to the program's user, too.
#[cfg(feature = "profilers")]
pub(crate) fn refuse(tool: &str, problem: &str) -> clr_profiler::Error {
    use std::io::Write as _;

    let line = format!("{tool}: error: {problem}\n");
    // If stderr is closed, the results are empty all the same.
    let _ = std::io::stderr().write_all(line.as_bytes());
    clr_profiler::Error::other(problem)
}

/// Counts the failed callbacks of this tool, and names it in the line.
pub fn watch(tool: &'static str, setup: &mut Setup) {
    if !is_shared() {
        lock(&FAILURES).tool = tool;
    }
    setup.on_failure(|failure| add("failed", failure));
}

/// Another tool begins: the failures of an earlier one are not its own.
pub(crate) fn forget() {
    let mut failures = lock(&FAILURES);
    failures.kinds.clear();
    failures.is_new = false;
    *lock(&PATTERNS) = None;
    *lock(&LISTENERS) = Listeners::new();
}

/// Gets the line.
type Listener = Box<dyn Fn(&str) + Send>;

static LISTENERS: Mutex<Listeners> = Mutex::new(Listeners::new());

struct Listeners {
    /// Those of attached tools.
    all: Vec<Listener>,
    /// Whether a tool of the program's start runs.
    stderr: bool,
}

impl Listeners {
    const fn new() -> Self {
        Self {
            all: Vec::new(),
            stderr: true,
        }
    }
}

/// Passes the line to a function: instead of stderr, unless another tool runs whose line is there.
pub(crate) fn tell_to(listener: impl Fn(&str) + Send + 'static) {
    let mut listeners = lock(&LISTENERS);
    listeners.stderr &= is_shared();
    listeners.all.push(Box::new(listener));
}

/// The patterns that are reported if they have matched nothing.
static PATTERNS: Mutex<Option<Watched>> = Mutex::new(None);

struct Watched {
    patterns: Arc<MethodPatterns>,
    /// Whether those without an assembly leave the assemblies of .NET alone.
    spares_framework: bool,
}

/// Reports patterns in the line that have matched no method until the program ends.
pub fn watch_patterns(patterns: &Arc<MethodPatterns>) {
    *lock(&PATTERNS) = Some(Watched {
        patterns: Arc::clone(patterns),
        spares_framework: false,
    });
}

/// Says of the patterns that those without an assembly leave the assemblies of .NET alone.
#[cfg(feature = "profilers")]
pub(crate) fn patterns_spare_framework() {
    if let Some(watched) = lock(&PATTERNS).as_mut() {
        watched.spares_framework = true;
    }
}

/// The part that is missing in a pattern that was meant for an assembly of .NET, if it was.
pub(crate) fn missing_assembly(pattern: &impl ToString) -> Option<String> {
    let text = pattern.to_string();
    let text = text.as_str();
    let is_meant = text.starts_with("System.") || text.starts_with("Microsoft.");
    (is_meant && !text.contains('!')).then(|| {
        format!("assemblies named System.* and Microsoft.* need their names, `ASSEMBLY!{text}`")
    })
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
    if let Some(watched) = lock(&PATTERNS).take() {
        let unmatched: Vec<_> = watched.patterns.unmatched().collect();
        if let Some(first) = unmatched.first() {
            let count = unmatched.len() as u64;
            let hint = match watched.spares_framework {
                true => missing_assembly(first),
                false => None,
            };
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            add_many(
                "matched nothing",
                count,
                format_args!("the pattern `{first}`{hint}"),
            );
        }
    }
    // Not held while the line is written, which may fail, too.
    let line = lock(&FAILURES).line();
    if let Some(line) = line {
        let listeners = lock(&LISTENERS);
        for listener in &listeners.all {
            listener(&line);
        }
        if !listeners.stderr {
            return;
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
