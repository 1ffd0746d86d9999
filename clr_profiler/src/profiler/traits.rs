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
        pub trait Profiler: Send + Sync + 'static {
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
            fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self>
            where
                Self: Sized;

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
            ) -> Result<Self>
            where
                Self: Sized,
            {
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
                /// Whatever is returned goes to [`Setup::on_failure`]; the program is not affected.
                fn $rust(&self, $context: context_type!($context) $(, $arg: $arg_type)*)
                    -> Result<returned!($($out)?)>
                {
                    default_value!($($out)?)
                }
            )*)*
        }

        /// A part of a profiler: it gets the callbacks that it needs by itself.
        ///
        /// A profiler attaches it by [`Setup::attach`] and keeps the handle that this returns; nothing
        /// has to be forwarded, and no component knows of another. [`Rejit`](crate::rejit::Rejit) is one, and
        /// yours are made in the same way: `#[component]` on the implementation asks for the callbacks
        /// that are written.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use std::sync::atomic::{AtomicU64, Ordering};
        ///
        /// use clr_profiler::prelude::*;
        ///
        /// /// Counts what is compiled.
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
        /// # Who comes when
        ///
        /// Components come in the order in which they were attached, unless [`order`](Self::order)
        /// says otherwise, and before the profiler. Callbacks that say that something is over or about
        /// to be, `*_finished`, `*_unload_*` and `shutdown`, reach the profiler first, and then the
        /// components in reverse order.
        ///
        /// - A method is inlined, and precompiled code is used, if nobody refuses it.
        /// - IL is edited in that order, too: each edit of a method gets what the one before has made
        ///   of it. See [`Method::rewrite`](crate::Method::rewrite).
        /// - [`get_rejit_parameters`](Self::get_rejit_parameters), the hooks and the mapper of their ids
        ///   have one owner. The second one is an error.
        /// - An error goes to [`Setup::on_failure`], which learns the name of the component. After so
        ///   many panics as [`panic_limit`](Self::panic_limit) says, the component is disabled: the
        ///   others and the profiler go on.
        #[allow(unused_variables, reason = "defaults ignore what they are given")]
        pub trait Component: Send + Sync + 'static {
            /// The name of the component in failures: that of its type, unless it says otherwise.
            fn name(&self) -> &str {
                let name = std::any::type_name::<Self>();
                let name = name.split('<').next().unwrap_or(name);
                name.rsplit("::").next().unwrap_or(name)
            }

            /// The callbacks that it gets. `#[component]` writes this method: those that are written.
            ///
            /// Asked once, after [`attach`](Self::attach).
            fn callbacks(&self) -> CallbackSet;

            /// The events that it needs: those of its callbacks.
            ///
            /// Asked once, after [`attach`](Self::attach), which may [add](Setup::add_events) more.
            fn events(&self) -> EventMask {
                self.callbacks().events()
            }

            /// Where it comes among the components: those of a lower number come first, and of the
            /// same number those that were attached first.
            fn order(&self) -> i32 {
                0
            }

            /// After how many panics it gets no more callbacks. At least one.
            fn panic_limit(&self) -> u32 {
                Setup::DEFAULT_PANIC_LIMIT
            }

            /// Prepares the component, in `initialize`. What it attaches to `setup` comes before it.
            ///
            /// # Errors
            ///
            /// Why it cannot do its work here: [`Setup::attach`] returns it.
            fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
                Ok(())
            }

            /// The profiler has started: the runtime has the events. Callbacks can have come before.
            ///
            /// # Errors
            ///
            /// Why it cannot do its work: `initialize` counts as failed.
            fn start(&self, info: &ProfilerInfo) -> Result<()> {
                Ok(())
            }

            /// The profiler has been shut down with the runtime: see
            /// [`Profiler::shutdown`]. Where the profiler is detached instead, the component is dropped.
            ///
            /// # Errors
            ///
            /// Whatever is returned goes to [`Setup::on_failure`].
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

with_callbacks!(define_traits);
