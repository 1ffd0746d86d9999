//! The active calls of a thread, exceptions and tail calls included: [`CallStack`].

use clr_profiler::FunctionId;
use clr_profiler::hooks::UnwindStep;

/// The active calls of one thread, outermost first; each with a value of yours, such as
/// the time at which it began.
///
/// A function that is left by an exception has no leave hook: the runtime reports it by callbacks.
/// So that calls are balanced, report to a thread's stack
///
/// - the enter hook by [`enter`](Self::enter), the leave and the tailcall hook by
///   [`leave`](Self::leave);
/// - exceptions by [`unwind`](Self::unwind), with the steps of [`Unwinding`](clr_profiler::hooks::Unwinding).
///
/// All of them arrive on the thread itself, so a `thread_local!` can hold the stack. The methods that
/// end calls return the ended calls, innermost first: usually one, none for a function without hooks,
/// several if the runtime did not report all.
///
/// ```
/// use clr_profiler::FunctionId;
/// use clr_profiler::hooks::UnwindStep;
/// use clr_profiler_tools::calls::CallStack;
///
/// # // SAFETY: no runtime is asked about them.
/// # let [outer, inner] = unsafe { [FunctionId::from_raw(1), FunctionId::from_raw(2)] };
/// let mut stack = CallStack::new();
/// stack.enter(outer, "outer");
/// stack.enter(inner, "inner");
///
/// // An exception leaves `inner`, and `outer` catches it.
/// let _ = stack.unwind(UnwindStep::Enter(inner));
/// assert_eq!(stack.unwind(UnwindStep::Leave).collect::<Vec<_>>(), [(inner, "inner")]);
/// assert_eq!(stack.leave(outer).collect::<Vec<_>>(), [(outer, "outer")]);
/// assert!(stack.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallStack<T, F = FunctionId> {
    calls: Vec<(F, T)>,
    /// The functions that exceptions are about to leave, the newest exception last, with the number
    /// of active calls.
    unwinding: Vec<(F, usize)>,
}

impl<T, F: Copy + PartialEq> CallStack<T, F> {
    /// A thread without calls.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            calls: Vec::new(),
            unwinding: Vec::new(),
        }
    }

    /// Reserves room for so many calls, so that hooks do not have to allocate.
    #[must_use]
    pub fn with_capacity(calls: usize) -> Self {
        Self {
            calls: Vec::with_capacity(calls),
            unwinding: Vec::with_capacity(4),
        }
    }

    /// The number of active calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there is no active call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The active calls, outermost first.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (F, &T)> + ExactSizeIterator {
        self.calls
            .iter()
            .map(|(function, value)| (*function, value))
    }

    /// The innermost call.
    #[must_use]
    #[inline]
    pub fn last_mut(&mut self) -> Option<(F, &mut T)> {
        let (function, value) = self.calls.last_mut()?;
        Some((*function, value))
    }

    /// A function is entered.
    #[inline]
    pub fn enter(&mut self, function: F, value: T) {
        self.calls.push((function, value));
    }

    /// A function returns, or makes a tail call.
    #[inline]
    pub fn leave(&mut self, function: F) -> Ended<'_, T, F> {
        self.end(function)
    }

    /// An exception is about to leave a function, or to be caught in it.
    fn unwind_enter(&mut self, function: F) {
        self.forget_ended();
        let place = (function, self.calls.len());
        // An exception that left a `finally` replaced the previous one, which was about to
        // leave the same function.
        if self.unwinding.last() != Some(&place) {
            self.unwinding.push(place);
        }
    }

    /// The exception is caught in the function of the last [`unwind_enter`](Self::unwind_enter).
    fn caught(&mut self) {
        self.forget_ended();
        self.unwinding.pop();
    }

    /// The exception has left the function of the last [`unwind_enter`](Self::unwind_enter).
    fn unwind_leave(&mut self) -> Ended<'_, T, F> {
        self.forget_ended();
        let function = self.unwinding.pop().map(|(function, _)| function);
        match function {
            Some(function) => self.end(function),
            None => self.end_from(self.calls.len()),
        }
    }

    /// A handler of a function runs: the calls within its innermost call have ended.
    fn handle(&mut self, function: F) -> Ended<'_, T, F> {
        let place = self.place(function);
        let within = place.map_or(self.calls.len(), |place| place + 1);
        self.end_from(within)
    }

    /// Ends calls, innermost first, as long as the predicate is true for them.
    ///
    /// This finds a function that was left by an exception by the position of its stack frame: a function
    /// whose frame begins at the same address, or further up, is not called by it.
    #[inline]
    pub fn end_while(&mut self, mut is_over: impl FnMut(F, &T) -> bool) -> Ended<'_, T, F> {
        let over = self.calls.iter().rev();
        let over = over.take_while(|(function, value)| is_over(*function, value));
        let left = self.calls.len() - over.count();
        self.end_from(left)
    }

    /// Removes the functions that have ended although an exception was about to leave them: it was
    /// caught there, or another one replaced it.
    fn forget_ended(&mut self) {
        while let Some((_, depth)) = self.unwinding.last()
            && *depth > self.calls.len()
        {
            self.unwinding.pop();
        }
    }

    /// Ends the innermost call of a function, and all within it.
    #[inline]
    fn end(&mut self, function: F) -> Ended<'_, T, F> {
        // Nearly always the innermost one.
        if self
            .calls
            .last()
            .is_some_and(|(called, _)| *called == function)
        {
            return self.end_from(self.calls.len() - 1);
        }
        let place = self.place(function).unwrap_or(self.calls.len());
        self.end_from(place)
    }

    /// The position of the innermost call of a function.
    #[inline(never)]
    fn place(&self, function: F) -> Option<usize> {
        let mut calls = self.calls.iter();
        calls.rposition(|(called, _)| *called == function)
    }

    #[inline]
    fn end_from(&mut self, place: usize) -> Ended<'_, T, F> {
        Ended {
            calls: &mut self.calls,
            left: place,
        }
    }
}

impl<T> CallStack<T> {
    /// An exception has reached this step.
    pub fn unwind(&mut self, step: UnwindStep) -> Ended<'_, T> {
        match step {
            UnwindStep::Enter(function) => self.unwind_enter(function),
            UnwindStep::Caught => self.caught(),
            UnwindStep::Leave => return self.unwind_leave(),
            UnwindStep::Handle(function) => return self.handle(function),
            // No other step ends a call.
            _ => {}
        }
        self.end_from(self.calls.len())
    }
}

/// Calls that have ended, innermost first. Calls that are not taken from it are ended as well.
#[derive(Debug)]
pub struct Ended<'stack, T, F = FunctionId> {
    calls: &'stack mut Vec<(F, T)>,
    /// The number of calls that remain.
    left: usize,
}

impl<T, F> Iterator for Ended<'_, T, F> {
    type Item = (F, T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.calls.len() > self.left {
            self.calls.pop()
        } else {
            None
        }
    }
}

impl<T, F> Drop for Ended<'_, T, F> {
    #[inline]
    fn drop(&mut self) {
        self.calls.truncate(self.left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: char = 'A';
    const B: char = 'B';
    const C: char = 'C';

    fn stack(of: &[char]) -> CallStack<(), char> {
        let mut stack = CallStack::new();
        of.iter().for_each(|function| stack.enter(*function, ()));
        stack
    }

    fn functions(stack: &CallStack<(), char>) -> Vec<char> {
        stack.iter().map(|(function, ())| function).collect()
    }

    #[test]
    fn calls_end_with_all_within_them() {
        let mut calls = stack(&[A, B, C]);
        let ended: Vec<_> = calls.leave(B).map(|(function, ())| function).collect();
        assert_eq!(ended, [C, B]);
        assert_eq!(functions(&calls), [A]);
        // An unknown one ends nothing.
        assert_eq!(calls.leave(C).count(), 0);
        assert_eq!(functions(&calls), [A]);
    }

    #[test]
    fn of_recursive_calls_the_innermost_ends() {
        let mut calls = stack(&[A, A, A]);
        drop(calls.leave(A));
        assert_eq!(calls.len(), 2);
    }

    #[test]
    fn functions_without_hooks_are_passed_by() {
        let mut calls = stack(&[A, B]);
        calls.unwind_enter(C);
        assert_eq!(calls.unwind_leave().count(), 0);
        calls.unwind_enter(B);
        drop(calls.unwind_leave());
        assert_eq!(functions(&calls), [A]);
    }

    #[test]
    fn calls_of_a_finally_do_not_disturb() {
        let mut calls = stack(&[A, B]);
        calls.unwind_enter(B);
        // The `finally` of B calls C, in which an exception is thrown and caught.
        calls.enter(C, ());
        calls.unwind_enter(C);
        drop(calls.leave(C));
        drop(calls.unwind_leave());
        // The exception that C caught is over: B is left.
        assert_eq!(functions(&calls), [A]);
    }

    #[test]
    fn exceptions_that_are_caught_in_a_finally_do_not_disturb() {
        let mut calls = stack(&[A, B]);
        calls.unwind_enter(B);
        // C has no hooks.
        calls.unwind_enter(C);
        calls.caught();
        drop(calls.unwind_leave());
        assert_eq!(functions(&calls), [A]);
    }

    #[test]
    fn an_exception_out_of_a_finally_takes_the_place_of_the_one_before() {
        let mut calls = stack(&[A, B]);
        calls.unwind_enter(B);
        calls.enter(C, ());
        calls.unwind_enter(C);
        drop(calls.unwind_leave());
        calls.unwind_enter(B);
        drop(calls.unwind_leave());
        calls.unwind_enter(A);
        calls.caught();
        assert_eq!(functions(&calls), [A]);
        assert!(calls.unwinding.is_empty());
    }

    #[test]
    fn a_handler_ends_what_its_function_called() {
        let mut calls = stack(&[A, B, A, C]);
        assert_eq!(calls.handle(A).count(), 1);
        assert_eq!(functions(&calls), [A, B, A]);
        assert_eq!(calls.handle(B).count(), 1);
        assert_eq!(calls.handle(C).count(), 0, "it has no hooks");
        assert_eq!(functions(&calls), [A, B]);
    }

    #[test]
    fn calls_end_as_long_as_they_are_over() {
        let mut calls = CallStack::new();
        for (function, frame) in [(A, 0x90), (B, 0x50), (C, 0x70), (C, 0x60)] {
            calls.enter(function, frame);
        }
        assert_eq!(calls.end_while(|_, frame| *frame <= 0x70).count(), 3);
        assert_eq!(calls.iter().collect::<Vec<_>>(), [(A, &0x90)]);
    }

    #[test]
    fn an_end_that_nobody_announced_is_none() {
        let mut calls = stack(&[A]);
        assert_eq!(calls.unwind_leave().count(), 0);
        assert_eq!(calls.len(), 1);
    }
}
