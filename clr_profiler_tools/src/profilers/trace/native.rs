//! The functions of this library that the methods of the helper call.

use clr_profiler::rewrite::NativeCall;

use super::SPANS;
use crate::report::helper;
use crate::spans::Outcome;

/// The methods of `MethodTracer.Native` whose bodies are replaced here.
pub(crate) fn of(method: &str) -> Option<NativeCall> {
    match method {
        "SpanBegins" => Some(NativeCall::new(span_begins)),
        "SpanEnds" => Some(NativeCall::new(span_ends)),
        "ThreadIsNamed" => Some(NativeCall::new(thread_is_named)),
        _ => None,
    }
}

fn span_begins(method: i32, parent: i64, trace: i64, text: *const u16, length: i32) -> i64 {
    let arguments = read(text, length);
    SPANS.begin(method as u32, parent as u64, trace as u64, arguments) as i64
}

fn span_ends(id: i64, outcome: i32, is_later: i32, text: *const u16, length: i32) {
    let outcome = match outcome {
        0 => Outcome::Returned,
        1 => Outcome::Threw(read(text, length)),
        _ => Outcome::Cancelled,
    };
    SPANS.end(id as u64, outcome, is_later != 0);
}

fn thread_is_named(text: *const u16, length: i32) {
    SPANS.name_thread(&read(text, length));
}

fn read(text: *const u16, length: i32) -> String {
    // SAFETY: the helper pins a string, and passes its address and the length to read.
    unsafe { helper::text(text, length) }
}
