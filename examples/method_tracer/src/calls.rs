//! What the methods of the helper call: functions of this library.

use clr_profiler::NativeCall;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;

use crate::spans::{self, Outcome};

/// The methods of `MethodTracer.Native` whose bodies are made here.
pub(crate) fn of(method: &str) -> Option<NativeCall> {
    match method {
        "SpanBegins" => Some(NativeCall::new(span_begins)),
        "SpanEnds" => Some(NativeCall::new(span_ends)),
        _ => None,
    }
}

/// Replaces the body of such a method: it hands its arguments on.
pub(crate) fn hand_on(method: &Method<'_>, call: &NativeCall) -> Result<()> {
    method.rewrite(|body, cx| {
        let mut code = Fragment::new();
        for number in 0..call.params().len() as u16 {
            code.ldarg(number);
        }
        code.append(&cx.call_native(call)?).ret();
        body.prologue(&code)?;
        Ok(())
    })?;
    Ok(())
}

fn span_begins(method: i32, parent: i64, trace: i64, text: *const u16, length: i32) -> i64 {
    let arguments = read(text, length);
    spans::begin(method as u32, parent as u64, trace as u64, arguments) as i64
}

fn span_ends(id: i64, outcome: i32, is_later: i32, text: *const u16, length: i32) {
    let outcome = match outcome {
        0 => Outcome::Returned,
        1 => Outcome::Threw(read(text, length)),
        _ => Outcome::Cancelled,
    };
    spans::end(id as u64, outcome, is_later != 0);
}

fn read(text: *const u16, length: i32) -> String {
    let Ok(length @ 1..) = usize::try_from(length) else {
        return String::new();
    };
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the helper pins a string, and passes where it is and how much of it to read; nobody
    // changes a string.
    String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(text, length) })
}
