//! The calls on the stacks of threads for which the helper calls: with arguments, exceptions, tasks.

use std::sync::atomic::Ordering;

use super::store::{Outcome, Span, Spans, thread_number};
use super::threads::{self, DEFERRED, KEPT};

impl Spans {
    /// Begins a call where the execution context has this span, and returns its frame.
    pub(crate) fn begin_call(
        &self,
        method: u32,
        (parent, trace): (u64, u64),
        arguments: String,
    ) -> isize {
        self.name_main(thread_number());
        let frame = threads::begin_in(method, parent, trace);
        if !arguments.is_empty() {
            self.keep_call(frame, arguments);
        }
        frame
    }

    /// Adds the span of a call to the open ones, and returns its id; zero if there are too many.
    fn keep_call(&self, frame: isize, arguments: String) -> u64 {
        let Some((raw, flags)) = threads::of(frame) else {
            return 0;
        };
        if flags & KEPT != 0 {
            return raw.id;
        }
        let span = Span {
            arguments,
            outcome: Outcome::Open,
            ..Span::from(raw)
        };
        // Before it is there, so that it is not among the open ones twice.
        threads::mark(frame, KEPT);
        if self.keep(span) { raw.id } else { 0 }
    }

    /// Keeps the span of a call, so that values can be added to it. Returns its id; zero if it has none.
    pub(crate) fn keep_frame(&self, frame: isize) -> u64 {
        self.keep_call(frame, String::new())
    }

    /// The span of a call ends later than that. Returns its id; zero if it has none.
    pub(crate) fn defer(&self, frame: isize) -> u64 {
        let id = self.keep_call(frame, String::new());
        if id != 0 {
            threads::mark(frame, DEFERRED);
        }
        id
    }

    /// The task that a call returns has completed already.
    pub(crate) fn complete_call(&self, frame: isize, outcome: Outcome) {
        let id = self.keep_call(frame, String::new());
        self.completes(id, outcome);
    }

    /// Ends a call whose end has a time already, and returns the marks of its frame.
    pub(crate) fn end_call(&self, frame: isize, outcome: Outcome) -> u32 {
        let Some((raw, flags)) = threads::of(frame) else {
            return 0;
        };
        let has_returned = outcome == Outcome::Returned;
        if flags & KEPT != 0 {
            if flags & DEFERRED == 0 || !has_returned {
                self.end_at(raw.end, raw.id, outcome, false);
            }
            threads::pop(frame);
        } else if has_returned {
            threads::record(frame, raw.end);
        } else {
            let span = Span {
                outcome,
                ..Span::from(raw)
            };
            self.ended(span);
            threads::pop(frame);
        }
        flags
    }

    /// Begins a call that the runtime may suspend, and returns its id and that of its trace; zero if it has none.
    pub(crate) fn begin_suspending(
        &self,
        method: u32,
        context: (u64, u64),
        arguments: String,
    ) -> (u64, u64) {
        let begun = self.begin_elsewhere(method, context, arguments);
        if begun.0 != 0 {
            threads::suspends(context.0, begun.0);
        }
        begun
    }

    /// Begins an enumeration, whose code runs in pieces, and returns its id and that of its trace; zero if it has none.
    pub(crate) fn begin_enumeration(&self, method: u32, context: (u64, u64)) -> (u64, u64) {
        self.begin_elsewhere(method, context, String::new())
    }

    /// A piece of an enumeration begins. Returns its frame.
    pub(crate) fn resume(&self, context: u64, span: (u64, u64), method: u32) -> isize {
        if let Some(count) = self.counts.get(method as usize) {
            count.pieces.fetch_add(1, Ordering::Relaxed);
        }
        threads::resume(context, span, method)
    }

    /// Begins a call that need not end on the stack.
    fn begin_elsewhere(&self, method: u32, context: (u64, u64), arguments: String) -> (u64, u64) {
        if threads::counts_suspending(method) {
            return (0, 0);
        }
        let (parent, trace) = match threads::known_parent(context.0) {
            Some(known) => known,
            None => context,
        };
        let id = self.begin(method, parent, trace, arguments);
        (id, if trace == 0 { id } else { trace })
    }

    /// Ends such a call.
    pub(crate) fn end_suspending(&self, id: u64, outcome: Outcome) {
        threads::suspends_no_more(id);
        self.end(id, outcome, true);
    }
}
