//! Counts and times by assembly.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

thread_local! {
    /// The compilations that this thread is in; compiling one method can start another.
    static COMPILING: RefCell<Vec<Compilation>> = const { RefCell::new(Vec::new()) };
}

struct Compilation {
    started: Instant,
    /// The time of the compilations inside of this one, which is not its own.
    inner: Duration,
    /// Where it counts; `None` where it is not to be counted.
    assembly: Option<String>,
}

/// Methods and time of one assembly.
#[derive(Clone, Copy, Default)]
struct Total {
    methods: u64,
    time: Duration,
}

/// What was compiled, by assembly.
#[derive(Default)]
pub(crate) struct Summary {
    totals: Mutex<HashMap<String, Total>>,
}

impl Summary {
    /// A compilation begins on this thread.
    pub(crate) fn started(&self) {
        let compilation = Compilation {
            started: Instant::now(),
            inner: Duration::ZERO,
            assembly: None,
        };
        COMPILING.with_borrow_mut(|stack| stack.push(compilation));
    }

    /// The innermost compilation of this thread counts for this assembly.
    pub(crate) fn counts_for(&self, assembly: String) {
        COMPILING.with_borrow_mut(|stack| {
            if let Some(innermost) = stack.last_mut() {
                innermost.assembly = Some(assembly);
                // The time that the logger itself took is not the compiler's.
                innermost.started = Instant::now();
            }
        });
    }

    /// The innermost compilation of this thread has ended.
    pub(crate) fn finished(&self) {
        let ended = COMPILING.with_borrow_mut(|stack| {
            let ended = stack.pop()?;
            let total = ended.started.elapsed();
            if let Some(outer) = stack.last_mut() {
                outer.inner += total;
            }
            Some((ended.assembly?, total.saturating_sub(ended.inner)))
        });
        if let Some((assembly, time)) = ended {
            let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = totals.entry(assembly).or_default();
            entry.methods += 1;
            entry.time += time;
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: Vec<(&str, Total)> = totals
            .iter()
            .map(|(name, total)| (name.as_str(), *total))
            .collect();
        rows.sort_by_key(|(name, total)| (std::cmp::Reverse(total.methods), *name));
        let all = rows.iter().fold(Total::default(), |sum, (_, total)| Total {
            methods: sum.methods + total.methods,
            time: sum.time + total.time,
        });
        rows.push(("all", all));
        write!(f, "{:>8}  {:>10}  assembly", "methods", "time")?;
        for (name, total) in rows {
            let milliseconds = total.time.as_secs_f64() * 1000.0;
            write!(f, "\n{:>8}  {milliseconds:>7.1} ms  {name}", total.methods)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_compilations_count_apart() {
        let summary = Summary::default();
        summary.started();
        summary.counts_for("A".to_owned());
        summary.started();
        summary.counts_for("B".to_owned());
        std::thread::sleep(Duration::from_millis(30));
        summary.finished();
        summary.finished();
        // One that is filtered out.
        summary.started();
        summary.finished();
        let totals = summary.totals.lock().unwrap();
        assert_eq!(
            (totals["A"].methods, totals["B"].methods, totals.len()),
            (1, 1, 2)
        );
        assert!(totals["B"].time >= Duration::from_millis(30));
        assert!(totals["A"].time < Duration::from_millis(30));
    }

    #[test]
    fn the_table_ends_with_the_sum() {
        let summary = Summary::default();
        for assembly in ["A", "B", "B"] {
            summary.started();
            summary.counts_for(assembly.to_owned());
            summary.finished();
        }
        let text = summary.to_string();
        let names: Vec<_> = text
            .lines()
            .map(|line| line.rsplit("  ").next().unwrap())
            .collect();
        assert_eq!(names, ["assembly", "B", "A", "all"]);
        assert!(
            text.lines().last().unwrap().trim_start().starts_with('3'),
            "{text}"
        );
    }
}
