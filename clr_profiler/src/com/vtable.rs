//! The native vtable, generated from the table of callbacks.

use std::ffi::c_void;

#[cfg(debug_assertions)]
use super::guard::OfProfiler;
use super::guard::dispatch;
use super::lifecycle::{initialize, initialize_for_attach, load_as_notification_only, shutdown};
use super::object::Object;
use crate::error::Hresult;
use crate::events::payload::{
    AllocationsByClass, EventPipeEvent, GenerationSet, MovedRanges, RangeLengths, RootIds, Roots,
    SurvivingRanges, WeakTableElements,
};
use crate::events::reasons::{GcReason, JitCacheResult, SuspendReason, TransitionReason};
use crate::events::{Callback, with_callbacks};
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, EventPipeProviderId, FunctionId, GcHandleId, ModuleId,
    ObjectId, ObjectIds, RejitId, ThreadId,
};
use crate::info::GcScope;
use crate::info::assembly_references::AssemblyReferenceProvider;
use crate::info::function_control::FunctionControl;
use crate::native::typed;
use crate::profiler::Profiler;
use crate::runtime::{ProfilerInfo, slice, utf16_string, uuid};
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys::*;
use uuid::Uuid;

/// The vtable of the newest version, which is the last one of the table.
pub(super) type Newest = ICorProfilerCallback11_Vtbl;

macro_rules! context {
    (info) => {
        ProfilerInfo
    };
    (gc) => {
        GcScope
    };
}

macro_rules! finish {
    ($callback:expr, $answer:ident) => {
        match $answer {
            Some(()) => S_OK,
            None => HRESULT($callback.code_of_failure().0),
        }
    };
    // A `bool` is returned through a pointer. If there is no result, it is `true`: then the runtime does the same
    // as without a profiler.
    ($callback:expr, $answer:ident, $out:ident) => {{
        // SAFETY: the runtime passes null or a variable for the result.
        if let Some(out) = unsafe { $out.as_mut() } {
            *out = BOOL::from($answer.unwrap_or(true));
        }
        S_OK
    }};
}

/// The library's own handling of a callback, before the profiler gets it.
macro_rules! beforehand {
    (ProfilerAttachComplete, $object:ident) => {
        if let Some(live) = $object.live.get() {
            live.info.open();
        }
    };
    ($($other:tt)*) => {};
}

/// Converts the native parameters, and calls a method of the profiler or of a component.
macro_rules! converted {
    ($receiver:ident.$rust:ident($context:ident $(, $arg:ident: $arg_type:ty = $conversion:expr)*)) => {{
        $(
            // SAFETY: the arguments of a callback are valid until it returns, arrays have the length in the
            // next parameter, and the views end with this closure.
            #[allow(unused_unsafe, reason = "few conversions need it")]
            let $arg: $arg_type = unsafe { $conversion };
        )*
        $receiver.$rust($context $(, $arg)*)
    }};
}

macro_rules! define_vtables {
    ($(
        interface $interface:ident: $base:ident
        lifecycle { $($special:ident = $handler:ident,)* }
        { $(
            $(#[$doc:meta])*
            $rust:ident = $native:ident($($raw:ident: $raw_type:ty),*)
            [$($event:ident)|*] $context:ident
            ($($arg:ident: $arg_type:ty = $conversion:expr),*) $(-> $out:ident)?;
        )* }
    )*) => {
        vtable_types!($($interface)*);

        #[allow(non_upper_case_globals, reason = "each is named like the interface whose vtable it is")]
        mod vtables {
            use super::*;

            const IUnknown: IUnknown_Vtbl = IUnknown_Vtbl {
                QueryInterface: Object::query,
                AddRef: Object::add_ref,
                Release: Object::release,
            };

            $(
                pub(super) const $interface: vtable_types::$interface = vtable_types::$interface {
                    base__: $base,
                    $($special: $handler,)*
                    $($native: {
                        #[allow(non_snake_case, reason = "the native names")]
                        #[allow(unused_variables, reason = "not every callback has use for all of them")]
                        unsafe extern "system" fn thunk(
                            this: *mut c_void $(, $raw: $raw_type)*
                        ) -> HRESULT {
                            // SAFETY: the runtime holds a reference to the object that it calls.
                            let object = unsafe { Object::from_raw(this) };
                            beforehand!($native, object);
                            let of_profiler = |profiler: &dyn Profiler, context: &context!($context)| {
                                converted!(profiler.$rust(context $(, $arg: $arg_type = $conversion)*))
                            };
                            #[cfg(debug_assertions)]
                            let of_profiler: OfProfiler<'_, context!($context), _> = &of_profiler;
                            #[cfg(not(debug_assertions))]
                            let of_profiler = &of_profiler;
                            let answer = dispatch(
                                object,
                                Callback::$native,
                                of_profiler,
                                &|component, context| {
                                    converted!(component.$rust(context $(, $arg: $arg_type = $conversion)*))
                                },
                            );
                            finish!(Callback::$native, answer $(, $out)?)
                        }
                        thunk
                    },)*
                };
            )*
        }

        /// The vtable of the callback objects.
        pub(super) static CALLBACK: Newest = vtables::ICorProfilerCallback11;

        /// Whether a callback object has this interface.
        pub(super) fn has_interface(iid: &GUID) -> bool {
            *iid == IUnknown::IID $(|| *iid == $interface::IID)*
        }
    };
}

/// The vtables of the interfaces, by the names of the interfaces.
macro_rules! vtable_types {
    ($($interface:ident)*) => {
        mod vtable_types {
            $(pub(super) type $interface = <clr_profiler_sys::$interface as clr_profiler_sys::Interface>::Vtable;)*
        }
    };
}

with_callbacks!(define_vtables);
