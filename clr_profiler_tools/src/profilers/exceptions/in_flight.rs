//! The exceptions of this thread that are thrown and not caught so far.

use std::cell::RefCell;
use std::sync::Arc;

/// Its number and its type; `None` for one that is not logged.
pub(crate) type Exception = Option<(u64, Arc<str>)>;

/// The limit: exceptions that native code catches are never reported as caught.
const LIMIT: usize = 64;

thread_local! {
    static IN_FLIGHT: RefCell<State> = const { RefCell::new(State { exceptions: Vec::new(), filters: Vec::new() }) };
}

struct State {
    exceptions: Vec<Flight>,
    /// For each active filter, the number of exceptions when it began.
    filters: Vec<usize>,
}

struct Flight {
    exception: Exception,
    /// The number of its type, where callbacks report catch blocks.
    class: Option<usize>,
    /// Whether a catch block runs for it, as far as events tell.
    is_handled: bool,
}

pub(crate) fn thrown(exception: Exception, class: Option<usize>) {
    IN_FLIGHT.with_borrow_mut(|state| {
        if state.exceptions.len() >= LIMIT {
            state.exceptions.remove(0);
            for begin in &mut state.filters {
                *begin = begin.saturating_sub(1);
            }
        }
        state.exceptions.push(Flight {
            exception,
            class,
            is_handled: false,
        });
    });
}

/// A callback reports that a catch block gets an object of this type: the latest such exception. Those
/// after it were never caught: others have replaced them.
pub(crate) fn caught(class: usize) -> Exception {
    IN_FLIGHT.with_borrow_mut(|state| {
        let mut exceptions = state.exceptions.iter();
        let place = exceptions.rposition(|flight| flight.class == Some(class))?;
        state.exceptions.drain(place..).next()?.exception
    })
}

/// An event reports that a catch block begins: for the latest exception, or for one that was thrown
/// again, which causes no event.
pub(crate) fn catch_begins() -> Exception {
    IN_FLIGHT.with_borrow_mut(|state| {
        let latest = state.exceptions.last_mut()?;
        latest.is_handled = true;
        latest.exception.take()
    })
}

/// The latest catch block has ended without an exception.
pub(crate) fn catch_ends() {
    IN_FLIGHT.with_borrow_mut(|state| {
        let mut exceptions = state.exceptions.iter();
        if let Some(place) = exceptions.rposition(|flight| flight.is_handled) {
            state.exceptions.truncate(place);
        }
    });
}

pub(crate) fn filter_enter() {
    IN_FLIGHT.with_borrow_mut(|state| state.filters.push(state.exceptions.len()));
}

/// The exceptions that the filter has thrown and not caught, the latest first.
pub(crate) fn filter_leave() -> Vec<(u64, Arc<str>)> {
    IN_FLIGHT.with_borrow_mut(|state| {
        let begin = state.filters.pop().unwrap_or(0).min(state.exceptions.len());
        let ended = state.exceptions.drain(begin..).rev();
        ended.filter_map(|flight| flight.exception).collect()
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
        let [one, other] = [1, 2];
        thrown(exception(1), Some(one));
        thrown(None, Some(one));
        thrown(exception(3), Some(other));
        assert_eq!(caught(other), exception(3));
        assert_eq!(caught(one), None);
        assert_eq!(caught(one), exception(1));
        assert_eq!(caught(one), None, "none was thrown");
    }

    #[test]
    fn one_whose_place_another_takes_is_not_caught() {
        let [one, other] = [1, 2];
        thrown(exception(1), Some(one));
        // A `finally` that 1 passes throws another, in whose `finally` 3 replaces it.
        thrown(exception(2), Some(other));
        thrown(exception(3), Some(one));
        assert_eq!(caught(one), exception(3));
        assert_eq!(caught(one), exception(1));
        assert_eq!(caught(other), None, "it was dropped");
    }

    #[test]
    fn a_filter_catches_what_it_throws() {
        thrown(exception(1), Some(1));
        filter_enter();
        thrown(exception(2), Some(1));
        thrown(exception(3), Some(1));
        assert_eq!(filter_leave(), [(3, "X".into()), (2, "X".into())]);
        assert_eq!(caught(1), exception(1));
    }

    #[test]
    fn one_that_is_thrown_again_is_caught_once() {
        thrown(exception(1), Some(1));
        // A `finally` that 1 passes throws 2, which replaces it.
        thrown(exception(2), Some(1));
        assert_eq!(catch_begins(), exception(2));
        assert_eq!(catch_begins(), None, "`throw;`");
        catch_ends();
        // An exception that a catch block throws is another one.
        thrown(exception(3), Some(1));
        assert_eq!(catch_begins(), exception(3));
        thrown(exception(4), Some(1));
        assert_eq!(catch_begins(), exception(4));
        catch_ends();
        catch_ends();
        assert_eq!(caught(1), exception(1), "the rest was over");
    }

    #[test]
    fn those_that_are_never_caught_do_not_add_up() {
        for number in 0..1000 {
            thrown(exception(number), Some(1));
        }
        IN_FLIGHT.with_borrow(|state| assert_eq!(state.exceptions.len(), LIMIT));
        assert_eq!(caught(1), exception(999));
    }
}
