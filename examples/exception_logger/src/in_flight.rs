//! The exceptions that are on their way on this thread: thrown, and not caught so far.

use std::cell::RefCell;
use std::sync::Arc;

/// Its number and its type; `None` for one that is not logged.
type Exception = Option<(u64, Arc<str>)>;

/// How many are kept: those that native code catches are never told of.
const LIMIT: usize = 64;

thread_local! {
    static IN_FLIGHT: RefCell<State> = const { RefCell::new(State { exceptions: Vec::new(), filters: Vec::new() }) };
}

struct State {
    exceptions: Vec<Exception>,
    /// How many there were when each of the filters began that run now.
    filters: Vec<usize>,
}

pub(crate) fn thrown(exception: Exception) {
    IN_FLIGHT.with_borrow_mut(|state| {
        if state.exceptions.len() >= LIMIT {
            state.exceptions.remove(0);
            for begin in &mut state.filters {
                *begin = begin.saturating_sub(1);
            }
        }
        state.exceptions.push(exception);
    });
}

/// The latest has found its handler.
pub(crate) fn caught() -> Exception {
    IN_FLIGHT.with_borrow_mut(|state| state.exceptions.pop().flatten())
}

pub(crate) fn filter_enter() {
    IN_FLIGHT.with_borrow_mut(|state| state.filters.push(state.exceptions.len()));
}

/// Those that the filter has thrown and not caught, the latest first.
pub(crate) fn filter_leave() -> Vec<(u64, Arc<str>)> {
    IN_FLIGHT.with_borrow_mut(|state| {
        let begin = state.filters.pop().unwrap_or(0).min(state.exceptions.len());
        state.exceptions.drain(begin..).rev().flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exception(number: u64) -> Exception {
        Some((number, "X".into()))
    }

    #[test]
    fn the_latest_is_caught_first() {
        thrown(exception(1));
        thrown(None);
        thrown(exception(3));
        assert_eq!(caught(), exception(3));
        assert_eq!(caught(), None);
        assert_eq!(caught(), exception(1));
        assert_eq!(caught(), None, "none was thrown");
    }

    #[test]
    fn a_filter_catches_what_it_throws() {
        thrown(exception(1));
        filter_enter();
        thrown(exception(2));
        thrown(exception(3));
        assert_eq!(filter_leave(), [(3, "X".into()), (2, "X".into())]);
        assert_eq!(caught(), exception(1));
    }

    #[test]
    fn those_that_are_never_caught_do_not_add_up() {
        for number in 0..1000 {
            thrown(exception(number));
        }
        IN_FLIGHT.with_borrow(|state| assert_eq!(state.exceptions.len(), LIMIT));
        assert_eq!(caught(), exception(999));
    }
}
