//! The functions of this library that the helper calls for requests.

use std::slice;
use std::sync::Arc;

use clr_profiler::rewrite::NativeCall;

use super::CONTEXTS;
use crate::otlp::{RemoteParent, TraceContexts};
use crate::report::{helper, lock};

/// The methods of `MethodTracer.Requests` whose bodies are replaced here.
pub(crate) fn of(method: &str) -> Option<NativeCall> {
    match method {
        "WriteParent" => Some(NativeCall::new(write_parent)),
        "WriteState" => Some(NativeCall::new(write_state)),
        "Continue" => Some(NativeCall::new(continues)),
        _ => None,
    }
}

fn contexts() -> Option<Arc<TraceContexts>> {
    lock(&CONTEXTS).clone()
}

/// Writes the `traceparent` of a request that this span makes, and returns its length; zero if there is none.
fn write_parent(span: i64, trace: i64, to: *mut u16, room: i32) -> i32 {
    let headers = contexts().map(|contexts| contexts.headers(span as u64, trace as u64));
    write(headers.map(|(parent, _)| parent), to, room)
}

/// The same for `tracestate`.
fn write_state(span: i64, trace: i64, to: *mut u16, room: i32) -> i32 {
    let headers = contexts().map(|contexts| contexts.headers(span as u64, trace as u64));
    write(headers.map(|(_, state)| state), to, room)
}

/// The trace that begins with this span continues that of the headers.
fn continues(span: i64, parent: *const u16, length: i32, state: *const u16, state_length: i32) {
    // SAFETY: the helper pins strings, and passes their addresses and lengths.
    let [parent, state] = unsafe {
        [
            helper::text(parent, length),
            helper::text(state, state_length),
        ]
    };
    if let Some(contexts) = contexts()
        && let Some(parent) = RemoteParent::parse(&parent, &state)
    {
        contexts.continue_trace(span as u64, parent);
    }
}

/// Writes a text of ASCII characters if there is room, and returns its length.
fn write(text: Option<String>, to: *mut u16, room: i32) -> i32 {
    let text = text.unwrap_or_default();
    let Ok(room) = usize::try_from(room) else {
        return 0;
    };
    if to.is_null() || text.len() > room || !text.is_ascii() {
        return 0;
    }
    // SAFETY: the helper passes an array of this number of characters on its stack, which nothing else uses during the call.
    let characters = unsafe { slice::from_raw_parts_mut(to, room) };
    for (character, byte) in characters.iter_mut().zip(text.bytes()) {
        *character = u16::from(byte);
    }
    text.len() as i32
}
