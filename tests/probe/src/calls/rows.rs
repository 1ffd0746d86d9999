//! The calls of the rows of the library's own table, with arguments by their types.

#![allow(deprecated, reason = "all rows are called")]

use std::path::Path;

use clr_profiler::ContextId;
use clr_profiler::events::EventPipeProviderConfig;
use clr_profiler::il::attributes::*;
use clr_profiler::il::token::*;
use clr_profiler::info::{FrameInfo, IlMapEntry, RejitFlags};
use clr_profiler::metadata::SaveSize;
use clr_profiler::metadata::{
    AssemblyProps, AssemblyRefProps, AssemblySearch, ConstantValue, EventMethods, FieldOffset,
    PropertyMethods,
};
use clr_profiler::prelude::*;

use super::{Call, Effect, Given, Shown as _, Walked as _};
use crate::at::Pick;

/// Calls of `ProfilerInfo` that change something; those that write metadata are recognised by their traits.
const CHANGES: &[&str] = &[
    "force_gc",
    "set_il_instrumented_code_map",
    "request_rejit",
    "request_rejit_with_inliners",
    "apply_metadata",
    "set_environment_variable",
    "event_pipe_start_session",
    "event_pipe_create_provider",
];

const ALONE: &[&str] = &[
    "set_event_mask",
    "set_event_mask2",
    "initialize_current_thread",
];

/// A call on the source of the interface.
macro_rules! on {
    (info, $at:ident, |$it:ident| $call:expr) => {{
        let $it = $at.info;
        $call
    }};
    (import, $at:ident, |$it:ident| $call:expr) => {
        $at.with_metadata(|$it| $call)
    };
    (named, $at:ident, |$it:ident| $call:expr) => {
        $at.with_metadata(|$it| $call)
    };
    (query_import, $at:ident, |$it:ident| $call:expr) => {
        $at.with_metadata(|$it| $call)
    };
    (filter, $at:ident, |$it:ident| $call:expr) => {
        $at.with_metadata(|$it| $call)
    };
    (emit, $at:ident, |$it:ident| $call:expr) => {
        $at.with_writer(|$it| $call)
    };
    (query_emit, $at:ident, |$it:ident| $call:expr) => {
        $at.with_writer(|$it| $call)
    };
    (framework, $at:ident, |$it:ident| $call:expr) => {
        match $at.info.metadata_dispenser() {
            Ok(dispenser) => {
                let $it = &dispenser;
                $call
            }
            Err(error) => Some(Err(error)),
        }
    };
}

/// An argument.
macro_rules! argument {
    ($at:ident, $method:ident, $type:ty, any_token) => {
        MethodDef::pick($at)?
    };
    ($at:ident, $method:ident, $type:ty, into_token) => {
        MethodDef::pick($at)?
    };
    ($at:ident, $method:ident, $type:ty, wanted) => {
        clr_profiler::metadata::AnySignature
    };
    ($at:ident, $method:ident, $type:ty, checked) => {
        signature(stringify!($method))
    };
    ($at:ident, $method:ident, $type:ty $(, $convert:ident)?) => {
        <$type as Pick>::pick($at)?
    };
}

/// A signature of the kind that a call requires.
fn signature(native: &str) -> &'static [u8] {
    match native {
        "DefineField" => &[6, 8],
        "DefineProperty" => &[0x28, 0, 8],
        "GetTokenFromTypeSpec" => &[0x1D, 8],
        "DefineMethodSpec" => &[0x0A, 1, 8],
        _ => &[0, 0, 1],
    }
}

fn effect(owner: &str, name: &str) -> Effect {
    if owner.contains("Emit") {
        Effect::Writes
    } else if CHANGES.contains(&name) {
        Effect::Changes
    } else if ALONE.contains(&name) {
        Effect::Alone
    } else {
        Effect::Asks
    }
}

pub fn rows() -> Vec<Call> {
    let mut calls = Vec::new();
    macro_rules! row {
        // Handwritten: they need an object, a session, or an interface that the caller implements.
        (CorProfilerInfo class_from_object $($rest:tt)*) => {};
        (CorProfilerInfo object_size $($rest:tt)*) => {};
        (CorProfilerInfo2 object_generation $($rest:tt)*) => {};
        (CorProfilerInfo4 object_size2 $($rest:tt)*) => {};
        (CorProfilerInfo10 is_frozen_object $($rest:tt)*) => {};
        (CorProfilerInfo12 event_pipe_add_provider_to_session $($rest:tt)*) => {};
        (CorProfilerInfo12 event_pipe_stop_session $($rest:tt)*) => {};
        (MetadataEmit set_handler $($rest:tt)*) => {};
        (MetadataEmit merge $($rest:tt)*) => {};
        (MetadataEmit apply_edit_and_continue $($rest:tt)*) => {};
        (MetadataEmit define_import_type $($rest:tt)*) => {};
        (MetadataEmit define_import_member $($rest:tt)*) => {};
        (MetadataValidate validator_init $($rest:tt)*) => {};
        (MetadataDispenserEx open_scope_on_type_info $($rest:tt)*) => {};
        // Made by handwritten calls, or not public.
        (ProfilerInfo $($rest:tt)*) => {};
        // Called on another object, which a call or a callback returns.
        ($owner:ident $name:ident native $($rest:tt)*) => {};
        (
            $owner:ident $name:ident $source:ident
            [$($argument:ident: $type:ty $(as $convert:ident)?,)*]
            $interface:ident $method:ident
        ) => {
            calls.push(Call {
                name: concat!(stringify!($owner), "::", stringify!($name)),
                effect: effect(stringify!($owner), stringify!($name)),
                run: |at| on!($source, at, |it| {
                    let given = it.$name($(argument!(at, $method, $type $(, $convert)?)),*);
                    (&mut Given(Some(given))).used()
                }),
            });
        };
    }
    clr_profiler::for_each_native_call! { row }
    calls
}
