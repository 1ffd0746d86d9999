//! The trait [`Profiler`].

use uuid::Uuid;

use super::Setup;
use crate::callbacks::payload::{
    AllocationsByClass, EventPipeEvent, GenerationSet, MovedRanges, RootIds, Roots,
    SurvivingRanges, WeakTableElements,
};
use crate::callbacks::reasons::{GcReason, JitCacheResult, SuspendReason, TransitionReason};
use crate::callbacks::with_callbacks;
use crate::error::{Hresult, Result};
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, EventPipeProviderId, FunctionId, GcHandleId, ModuleId,
    ObjectId, ObjectIds, RejitId, ThreadId,
};
use crate::info::{AssemblyReferenceProvider, FunctionControl, GcScope};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::token::MethodDef;

macro_rules! context_type {
    (info) => {
        &ProfilerInfo
    };
    (gc) => {
        &GcScope
    };
}

macro_rules! context_doc {
    (info) => { "The runtime can be asked through `info`." };
    (gc) => { "The runtime is suspended or suspending: allocate nothing, wait for nothing, and ask only what `gc` offers." };
}

macro_rules! returned {
    () => {
        ()
    };
    ($out:ident) => {
        bool
    };
}

macro_rules! default_value {
    () => {
        Ok(())
    };
    ($out:ident) => {
        Ok(true)
    };
}

macro_rules! define_profiler {
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
        /// A profiler: what the runtime calls.
        ///
        /// Only [`initialize`](Self::initialize) has to be written; every callback has a default
        /// that does nothing. `#[profiler]` on the implementation asks the runtime for the events
        /// of those callbacks that are written, and [`register!`](crate::register) makes the
        /// library one that the runtime can load.
        ///
        /// Callbacks arrive on many threads at once and can arrive while another one runs on the
        /// same thread; hence `&self` and `Send + Sync`. An error or a panic in a callback goes to
        /// [`Setup::on_failure`] and no further: the program goes on as if the callback had done
        /// nothing.
        ///
        /// ```
        /// use clr_profiler::prelude::*;
        ///
        /// struct Modules;
        ///
        /// #[profiler(clsid = "B0B1B2B3-0000-4000-8000-000000000001")]
        /// impl Profiler for Modules {
        ///     fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        ///         Ok(Modules)
        ///     }
        ///
        ///     fn module_load_finished(
        ///         &self,
        ///         info: &ProfilerInfo,
        ///         module: ModuleId,
        ///         status: Hresult,
        ///     ) -> Result<()> {
        ///         eprintln!("{}: {status}", info.module_info(module)?.name);
        ///         Ok(())
        ///     }
        /// }
        ///
        /// register!(Modules);
        /// ```
        #[allow(unused_variables, reason = "defaults ignore what they are given")]
        pub trait Profiler: Sized + Send + Sync + 'static {
            /// Makes the profiler when the runtime starts.
            ///
            /// `setup` holds the events of the callbacks that are overridden; add to them here.
            /// The first events can arrive before this profiler's caller has returned.
            ///
            /// Wraps `ICorProfilerCallback::Initialize`.
            ///
            /// # Errors
            ///
            /// Whatever is returned: the runtime then goes on without this profiler. To leave a
            /// process alone on purpose, return [`Error::cancel_activation`](crate::Error::cancel_activation).
            fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self>;

            /// Makes the profiler when it is attached to a program that runs already.
            ///
            /// `client_data` is what the attaching tool sent along. Events that are immutable
            /// cannot be had. The default calls [`initialize`](Self::initialize) and ignores the
            /// data.
            ///
            /// Wraps `ICorProfilerCallback3::InitializeForAttach`.
            ///
            /// # Errors
            ///
            /// Whatever is returned: the runtime then goes on without this profiler.
            fn initialize_for_attach(
                info: &ProfilerInfo,
                setup: &mut Setup,
                client_data: &[u8],
            ) -> Result<Self> {
                Self::initialize(info, setup)
            }

            /// The runtime shuts down, which is not certain to be announced: write out what is to
            /// be kept.
            ///
            /// Other callbacks no longer reach the profiler, but some may still be running on
            /// other threads, and the object lives on. After it has returned, `info` refuses.
            ///
            /// Wraps `ICorProfilerCallback::Shutdown`.
            ///
            /// # Errors
            ///
            /// Whatever is returned goes to [`Setup::on_failure`].
            fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
                Ok(())
            }

            /// Whether to be loaded beside another profiler, with fewer rights.
            ///
            /// Asked once before [`initialize`](Self::initialize), .NET 5 and newer.
            ///
            /// Wraps `ICorProfilerCallback11::LoadAsNotificationOnly`.
            fn load_as_notification_only() -> bool {
                false
            }

            $($(
                $(#[$doc])*
                ///
                #[doc = context_doc!($context)]
                ///
                #[doc = concat!("**Events**: ", define_profiler!(@events $($event)*), ".")]
                ///
                #[doc = concat!("Wraps `", stringify!($interface), "::", stringify!($native), "`.")]
                ///
                /// # Errors
                ///
                /// Whatever is returned goes to [`Setup::on_failure`]; the program is not affected.
                fn $rust(&self, $context: context_type!($context) $(, $arg: $arg_type)*)
                    -> Result<returned!($($out)?)>
                {
                    default_value!($($out)?)
                }
            )*)*
        }
    };
    (@events) => { "none, it always comes" };
    (@events $first:ident $($more:ident)*) => {
        concat!("[`", stringify!($first), "`](crate::EventMask::", stringify!($first), ")"
            $(, " and [`", stringify!($more), "`](crate::EventMask::", stringify!($more), ")")*)
    };
}

with_callbacks!(define_profiler);
