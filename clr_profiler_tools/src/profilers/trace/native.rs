//! The functions of this library that the methods of the helper call, and those that traced methods call.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeCall, RewriteContext};

use super::{SPANS, values};
use crate::report::helper;
use crate::spans::{Outcome, threads};

/// The methods of `MethodTracer.Native` whose bodies are replaced here.
pub(crate) fn of(method: &str, can_suppress_transitions: bool) -> Option<NativeCall> {
    match method {
        "CallBegins" => Some(NativeCall::new(call_begins)),
        "CallEnds" => Some(NativeCall::new(call_ends)),
        "CallCompletes" => Some(NativeCall::new(call_completes)),
        "CallIsDeferred" => Some(NativeCall::new(|frame: isize| {
            SPANS.defer(frame).cast_signed()
        })),
        "CallHasResult" => Some(NativeCall::new(call_has_result)),
        "SpanHasResult" => Some(NativeCall::new(|id: i64, text: *const u16, length: i32| {
            SPANS.set_result(id.cast_unsigned(), |method| {
                values::result(method, &read(text, length))
            });
        })),
        "SpanEnds" => Some(NativeCall::new(span_ends)),
        "SuspendingBegins" => Some(NativeCall::new(suspending_begins)),
        "EnumerationBegins" => Some(NativeCall::new(enumeration_begins)),
        "EnumerationResumes" => Some(NativeCall::new(
            |context: i64, id: i64, trace: i64, method: i32| {
                let span = (id.cast_unsigned(), trace.cast_unsigned());
                SPANS.resume(context.cast_unsigned(), span, method.cast_unsigned())
            },
        )),
        "EnumerationWaits" => Some(NativeCall::new(|frame: isize| {
            threads::waits(frame).cast_signed()
        })),
        "SuspendingEnds" => Some(NativeCall::new(suspending_ends)),
        "Innermost" => Some(NativeCall::new(|context: i64| {
            threads::innermost(context.cast_unsigned())
        })),
        "ChangesAre" => Some(NativeCall::new(
            |captures: isize, enters: isize, leaves: isize, restores: isize| {
                let all = [captures, enters, leaves, restores];
                threads::set_changes(all.map(isize::cast_unsigned));
            },
        )),
        "ContextIsCaptured" => Some(quick(
            NativeCall::raw(threads::captures as extern "C" fn() -> isize),
            can_suppress_transitions,
        )),
        "ContextBegins" => Some(quick(
            NativeCall::raw(threads::enter as extern "C" fn()),
            can_suppress_transitions,
        )),
        "ContextEnds" => Some(quick(
            NativeCall::raw(threads::leave as extern "C" fn()),
            can_suppress_transitions,
        )),
        "ContextIsSet" => Some(quick(
            NativeCall::raw(threads::restore as extern "C" fn()),
            can_suppress_transitions,
        )),
        "ThreadIsNamed" => Some(NativeCall::new(thread_is_named)),
        _ => None,
    }
}

fn call_begins(method: i32, parent: i64, trace: i64, text: *const u16, length: i32) -> isize {
    let context = (parent.cast_unsigned(), trace.cast_unsigned());
    let method = method.cast_unsigned();
    SPANS.begin_call(
        method,
        context,
        values::arguments(method, &read(text, length)),
    )
}

fn call_ends(frame: isize, outcome: i32, text: *const u16, length: i32) -> i32 {
    let marks = SPANS.end_call(frame, self::outcome(outcome, text, length));
    marks.cast_signed()
}

fn call_completes(frame: isize, outcome: i32, text: *const u16, length: i32) {
    SPANS.complete_call(frame, self::outcome(outcome, text, length));
}

fn call_has_result(frame: isize, text: *const u16, length: i32) {
    SPANS.set_result(SPANS.keep_frame(frame), |method| {
        values::result(method, &read(text, length))
    });
}

fn span_ends(id: i64, outcome: i32, text: *const u16, length: i32) {
    let outcome = self::outcome(outcome, text, length);
    SPANS.end(id.cast_unsigned(), outcome, true);
}

fn suspending_begins(
    method: i32,
    parent: i64,
    trace: *mut i64,
    text: *const u16,
    length: i32,
) -> i64 {
    // SAFETY: the helper passes the address of a number on its stack.
    let trace = unsafe { &mut *trace };
    let context = (parent.cast_unsigned(), trace.cast_unsigned());
    let method = method.cast_unsigned();
    let arguments = values::arguments(method, &read(text, length));
    let (id, own) = SPANS.begin_suspending(method, context, arguments);
    *trace = own.cast_signed();
    id.cast_signed()
}

fn enumeration_begins(method: i32, parent: i64, trace: *mut i64) -> i64 {
    // SAFETY: the helper passes the address of a number on its stack.
    let trace = unsafe { &mut *trace };
    let context = (parent.cast_unsigned(), trace.cast_unsigned());
    let (id, own) = SPANS.begin_enumeration(method.cast_unsigned(), context);
    *trace = own.cast_signed();
    id.cast_signed()
}

fn suspending_ends(id: i64, outcome: i32, text: *const u16, length: i32) {
    let outcome = self::outcome(outcome, text, length);
    SPANS.end_suspending(id.cast_unsigned(), outcome);
}

fn thread_is_named(text: *const u16, length: i32) {
    SPANS.name_thread(&read(text, length));
}

fn outcome(outcome: i32, text: *const u16, length: i32) -> Outcome {
    match outcome {
        0 => Outcome::Returned,
        1 => Outcome::Threw(read(text, length)),
        _ => Outcome::Cancelled,
    }
}

fn read(text: *const u16, length: i32) -> String {
    // SAFETY: the helper pins a string, and passes its address and the length to read.
    unsafe { helper::text(text, length) }
}

/// A function of the threads of [`threads`] that compiled code calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call {
    Begin,
    End,
    Count,
}

impl Call {
    /// Code that calls it, without a transition where the runtime can.
    pub(crate) fn code(self, cx: &mut RewriteContext<'_>) -> Result<Fragment> {
        let call = match self {
            Self::Begin => NativeCall::raw(threads::begin as extern "C" fn(i32) -> isize),
            Self::End => NativeCall::raw(threads::end as extern "C" fn(isize, i32) -> i32),
            Self::Count => NativeCall::raw(threads::count as extern "C" fn(i32)),
        };
        let call = quick(call, cx.can_suppress_transitions()?);
        cx.call_native(&call)
    }
}

/// The call of a function of [`threads`] that compiled code calls, without a transition where the runtime can.
fn quick(call: NativeCall, can_suppress_transitions: bool) -> NativeCall {
    match can_suppress_transitions {
        // SAFETY: none of them waits, allocates, panics or calls the runtime, and all return in less than a microsecond, but for the
        // one call in half a ring that wakes up the thread that takes the records, which takes some.
        true => unsafe { call.without_transition() },
        false => call,
    }
}
