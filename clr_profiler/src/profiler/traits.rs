//! The traits [`Profiler`] and [`Component`], which have the same callbacks.

use uuid::Uuid;

use super::Setup;
use crate::error::{Hresult, Result};
use crate::event_mask::EventMask;
use crate::events::CallbackSet;
use crate::events::payload::{
    AllocationsByClass, EventPipeEvent, GenerationSet, MovedRanges, RootIds, Roots,
    SurvivingRanges, WeakTableElements,
};
use crate::events::reasons::{GcReason, JitCacheResult, SuspendReason, TransitionReason};
use crate::events::with_callbacks;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, EventPipeProviderId, FunctionId, GcHandleId, ModuleId,
    ObjectId, ObjectIds, RejitId, ThreadId,
};
use crate::info::GcScope;
use crate::info::assembly_references::AssemblyReferenceProvider;
use crate::info::function_control::FunctionControl;
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
    (info) => { "`info` may be called." };
    (gc) => { "The runtime is suspended or being suspended: allocate nothing, wait for nothing, and call only the methods of `gc`." };
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

macro_rules! define_traits {
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
        /// A profiler, whose callbacks the runtime calls.
        ///
        /// Only [`initialize`](Self::initialize) is required; every callback has a default that does nothing.
        /// `#[profiler]` on the implementation requests the events of the callbacks that are written, and
        /// [`register!`](crate::register) makes the library one that the runtime can load.
        ///
        /// Callbacks arrive on many threads at once, and can arrive while another one runs on the same
        /// thread; hence `&self` and `Send + Sync`. An error or a panic in a callback is reported to
        /// [`Setup::on_failure`] and propagates no further: the program continues as if the callback had done
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
        #[allow(unused_variables, reason = "defaults ignore their arguments")]
        pub trait Profiler: Send + Sync + 'static {
            /// Creates the profiler when the runtime starts.
            ///
            /// `setup` has the events of the callbacks that are overridden; add to them here. The first
            /// events can arrive as soon as this method has returned, before the runtime has its result.
            ///
            /// Wraps `ICorProfilerCallback::Initialize`.
            ///
            /// # Errors
            ///
            /// Any error: the runtime then continues without this profiler. To decline to profile a process,
            /// return [`Error::cancel_activation`](crate::Error::cancel_activation).
            fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self>
            where
                Self: Sized;

            /// Creates the profiler when it is attached to a running program.
            ///
            /// `client_data` is the data from the attaching tool. Immutable events are not available. The
            /// default calls [`initialize`](Self::initialize) and ignores the data.
            ///
            /// Wraps `ICorProfilerCallback3::InitializeForAttach`.
            ///
            /// # Errors
            ///
            /// Any error: the runtime then continues without this profiler, and the tool that attaches learns why. .NET 8
            /// to 10 can crash if a collection begins at the same time: they destroy their object of a notification
            /// profiler that is refused while they call it. To decline without that risk, succeed without events
            /// (`setup.remove_events(EventMask::all())`), and call
            /// [`request_profiler_detach`](crate::info::CorProfilerInfo3::request_profiler_detach) in
            /// [`profiler_attach_complete`](Self::profiler_attach_complete).
            fn initialize_for_attach(
                info: &ProfilerInfo,
                setup: &mut Setup,
                client_data: &[u8],
            ) -> Result<Self>
            where
                Self: Sized,
            {
                Self::initialize(info, setup)
            }

            /// The runtime shuts down: write out your results. A runtime that ends abruptly does not call
            /// this.
            ///
            /// No other callbacks reach the profiler anymore, but some may still be running on other threads,
            /// and the object stays alive. After this method has returned, the methods of `info` return
            /// errors.
            ///
            /// Wraps `ICorProfilerCallback::Shutdown`.
            ///
            /// # Errors
            ///
            /// Errors are reported to [`Setup::on_failure`].
            fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
                Ok(())
            }

            /// Whether to load this profiler in addition to another one, with fewer rights.
            ///
            /// Called once before [`initialize`](Self::initialize), on .NET 5 and newer.
            ///
            /// Wraps `ICorProfilerCallback11::LoadAsNotificationOnly`.
            fn load_as_notification_only() -> bool
            where
                Self: Sized,
            {
                false
            }

            $($(
                $(#[$doc])*
                ///
                #[doc = context_doc!($context)]
                ///
                #[doc = concat!("**Events**: ", define_traits!(@events $($event)*), ".")]
                ///
                #[doc = concat!("Wraps `", stringify!($interface), "::", stringify!($native), "`.")]
                ///
                /// # Errors
                ///
                /// Errors are reported to [`Setup::on_failure`]; the program is not affected.
                fn $rust(&self, $context: context_type!($context) $(, $arg: $arg_type)*)
                    -> Result<returned!($($out)?)>
                {
                    default_value!($($out)?)
                }
            )*)*
        }

        /// A part of a profiler, with callbacks of its own.
        ///
        /// A profiler attaches it by [`Setup::attach`], and keeps the handle that this returns; callbacks
        /// need not be forwarded, and components do not know of each other. [`Rejit`](crate::rejit::Rejit) is
        /// a component, and yours are made in the same way: `#[component]` on the implementation requests the
        /// callbacks that are written.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use std::sync::atomic::{AtomicU64, Ordering};
        ///
        /// use clr_profiler::prelude::*;
        ///
        /// /// Counts compilations.
        /// #[derive(Default)]
        /// struct Compiled(AtomicU64);
        ///
        /// #[component]
        /// impl Component for Compiled {
        ///     fn jit_compilation_started(
        ///         &self,
        ///         _info: &ProfilerInfo,
        ///         _function: FunctionId,
        ///         _is_safe_to_block: bool,
        ///     ) -> Result<()> {
        ///         self.0.fetch_add(1, Ordering::Relaxed);
        ///         Ok(())
        ///     }
        /// }
        ///
        /// struct Counts {
        ///     compiled: Arc<Compiled>,
        /// }
        ///
        /// #[profiler(clsid = "B0B1B2B3-0000-4000-8000-000000000003")]
        /// impl Profiler for Counts {
        ///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        ///         let compiled = setup.attach(Compiled::default())?;
        ///         Ok(Counts { compiled })
        ///     }
        ///
        ///     fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        ///         eprintln!("{} methods", self.compiled.0.load(Ordering::Relaxed));
        ///         Ok(())
        ///     }
        /// }
        ///
        /// register!(Counts);
        /// ```
        ///
        /// # Order
        ///
        /// Components get a callback in the order in which they were attached, unless [`order`](Self::order)
        /// says otherwise, and before the profiler. Callbacks that report an end, `*_finished`, `*_unload_*`
        /// and `shutdown`, reach the profiler first, and then the components in reverse order.
        ///
        /// - A method is inlined, and precompiled code is used, unless the profiler or a component refuses
        ///   it.
        /// - IL is edited in that order, too: each edit of a method gets the result of the previous one. See
        ///   [`Method::rewrite`](crate::Method::rewrite).
        /// - [`get_rejit_parameters`](Self::get_rejit_parameters), the hooks and the mapper of their ids have
        ///   one owner. A second one is an error.
        /// - An error is reported to [`Setup::on_failure`] with the name of the component. After
        ///   [`panic_limit`](Self::panic_limit) panics the component is disabled; the others and the profiler
        ///   continue.
        #[allow(unused_variables, reason = "defaults ignore their arguments")]
        pub trait Component: Send + Sync + 'static {
            /// The name of the component in failures, by default that of its type.
            fn name(&self) -> &str {
                let name = std::any::type_name::<Self>();
                let name = name.split('<').next().unwrap_or(name);
                name.rsplit("::").next().unwrap_or(name)
            }

            /// The callbacks that the component gets. `#[component]` writes this method: it returns the
            /// callbacks that are implemented.
            ///
            /// Called once, after [`attach`](Self::attach).
            fn callbacks(&self) -> CallbackSet;

            /// The events that the component needs, by default those of its callbacks.
            ///
            /// Called once, after [`attach`](Self::attach), which may [add](Setup::add_events) more.
            fn events(&self) -> EventMask {
                self.callbacks().events()
            }

            /// The position among the components: lower numbers come first, and equal numbers in the order of
            /// attachment.
            fn order(&self) -> i32 {
                0
            }

            /// The number of panics after which the component is disabled. At least one.
            fn panic_limit(&self) -> u32 {
                Setup::DEFAULT_PANIC_LIMIT
            }

            /// Prepares the component, in `initialize`. Components that this method attaches to `setup`
            /// precede it.
            ///
            /// # Errors
            ///
            /// Why the component cannot work here: [`Setup::attach`] returns the error.
            fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
                Ok(())
            }

            /// Called when the profiler has started and the runtime has the events. Callbacks may have
            /// arrived before.
            ///
            /// # Errors
            ///
            /// Why the component cannot work: `initialize` then fails.
            fn start(&self, info: &ProfilerInfo) -> Result<()> {
                Ok(())
            }

            /// The profiler has been shut down with the runtime: see [`Profiler::shutdown`]. If the profiler
            /// is detached instead, the component is dropped without this call.
            ///
            /// # Errors
            ///
            /// Errors are reported to [`Setup::on_failure`].
            fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
                Ok(())
            }

            $($(
                $(#[$doc])*
                ///
                #[doc = concat!("See [`Profiler::", stringify!($rust), "`].")]
                ///
                /// # Errors
                ///
                /// Errors are reported to [`Setup::on_failure`]; the program is not affected.
                fn $rust(&self, $context: context_type!($context) $(, $arg: $arg_type)*)
                    -> Result<returned!($($out)?)>
                {
                    default_value!($($out)?)
                }
            )*)*
        }
    };
    (@events) => { "none, it is always called" };
    (@events $first:ident $($more:ident)*) => {
        concat!("[`", stringify!($first), "`](crate::EventMask::", stringify!($first), ")"
            $(, " and [`", stringify!($more), "`](crate::EventMask::", stringify!($more), ")")*)
    };
}

with_callbacks!(define_traits);
