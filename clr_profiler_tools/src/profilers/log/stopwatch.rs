//! Measures the compile time of a method.

use std::cell::RefCell;
use std::time::{Duration, Instant};

thread_local! {
    /// The active compilations of this thread; compiling one method can start another.
    static COMPILING: RefCell<Vec<Compilation>> = const { RefCell::new(Vec::new()) };
}

struct Compilation {
    /// The function's number.
    function: usize,
    /// When the runtime reported it.
    told: Instant,
    /// When the logger had handled the report; its own time is not the compiler's.
    started: Instant,
    /// The time of nested compilations, which is not its own.
    inner: Duration,
    /// The assembly to which the time counts, if any.
    assembly: Option<String>,
}

/// A compilation of the function with this number begins on this thread.
pub(crate) fn started(function: usize) {
    let now = Instant::now();
    let compilation = Compilation {
        function,
        told: now,
        started: now,
        inner: Duration::ZERO,
        assembly: None,
    };
    COMPILING.with_borrow_mut(|stack| stack.push(compilation));
}

/// From now on, the time of the innermost compilation counts for this assembly.
pub(crate) fn counts_for(assembly: Option<String>) {
    COMPILING.with_borrow_mut(|stack| {
        if let Some(innermost) = stack.last_mut() {
            innermost.assembly = assembly;
            innermost.started = Instant::now();
        }
    });
}

/// The compilation of this function has ended on this thread: its assembly, and its own time.
pub(crate) fn finished(function: usize) -> Option<(String, Duration)> {
    COMPILING.with_borrow_mut(|stack| {
        let depth = stack.iter().rposition(|open| open.function == function)?;
        // The runtime gave up those above it, for example for invalid code.
        stack.truncate(depth + 1);
        let ended = stack.pop()?;
        if let Some(outer) = stack.last_mut() {
            outer.inner += ended.told.elapsed();
        }
        let own = ended.started.elapsed().saturating_sub(ended.inner);
        Some((ended.assembly?, own))
    })
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const PAUSE: Duration = Duration::from_millis(30);

    fn begin(number: usize, assembly: &str) {
        started(number);
        counts_for(Some(assembly.to_owned()));
    }

    fn end(number: usize) -> Option<(String, Duration)> {
        finished(number)
    }

    #[test]
    fn nested_compilations_have_times_of_their_own() {
        begin(1, "A");
        begin(2, "B");
        sleep(PAUSE);
        let (assembly, time) = end(2).unwrap();
        assert!(assembly == "B" && time >= PAUSE);
        let (assembly, time) = end(1).unwrap();
        assert!(assembly == "A" && time < PAUSE);
    }

    #[test]
    fn the_logger_does_not_count() {
        begin(1, "A");
        started(2);
        sleep(PAUSE);
        counts_for(Some("B".to_owned()));
        assert!(end(2).unwrap().1 < PAUSE);
        assert!(end(1).unwrap().1 < PAUSE);
    }

    #[test]
    fn what_never_ends_is_forgotten() {
        begin(1, "A");
        begin(2, "never");
        assert_eq!(end(1).unwrap().0, "A");
        assert_eq!(end(2), None);
        // One that the filter excluded.
        started(3);
        assert_eq!(end(3), None);
        COMPILING.with_borrow(|stack| assert!(stack.is_empty()));
    }
}
