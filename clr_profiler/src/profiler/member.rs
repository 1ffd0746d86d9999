//! [`Member`]: a profiler that runs as one with others, by [`register!`](crate::register) with `compose`.
//!
//! It is attached like a component, after its own components. So it gets its callbacks, edits IL and fails as
//! these do.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use uuid::Uuid;

use super::Setup;
use super::components::Attached;
use super::failure::Failure;
use super::failures::report;
use super::setup::FailureHook;
use super::traits::{Component, Profiler};
use crate::error::{Error, Hresult, Result};
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
use crate::runtime::{MemberIndex, ProfilerInfo};
use clr_profiler_il::token::MethodDef;

/// A profiler among others.
pub(crate) struct Member {
    pub(super) index: MemberIndex,
    pub(super) name: Arc<str>,
    /// The events that it and its components need.
    pub(super) events: EventMask,
    on_failure: Option<FailureHook>,
    /// Whether it could not start.
    failed: AtomicBool,
}

impl Member {
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The events that it and its components need.
    pub(crate) fn events(&self) -> EventMask {
        self.events
    }

    pub(crate) fn hook(&self) -> Option<&FailureHook> {
        self.on_failure.as_ref()
    }

    /// Disables it with its components: it could not start.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Reports one of its failures.
    #[cold]
    pub(crate) fn report(&self, failure: Failure) {
        let profiler = Some(Arc::clone(&self.name));
        report(
            self.hook(),
            Failure {
                profiler,
                ..failure
            },
        );
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Setup {
    /// The member that has decided so, and its components, itself the last of them.
    ///
    /// # Errors
    ///
    /// Its events are not available.
    pub(crate) fn into_member(
        mut self,
        profiler: Box<dyn Profiler>,
        callbacks: CallbackSet,
    ) -> Result<(Arc<Member>, Vec<Attached>)> {
        let (index, name) = match &self.member {
            Some((index, name)) => (*index, Arc::clone(name)),
            None => return Err(Error::other("the profiler is a single one")),
        };
        let mut all = self.take_components()?;
        self.info.check_known(self.events)?;
        self.info
            .check_events("ICorProfilerInfo5::SetEventMask2", self.events)?;
        let callbacks = callbacks.only(|callback| callback.is_enabled_by(self.events));
        let own = Composed {
            name: Arc::clone(&name),
            callbacks,
            panic_limit: self.panic_limit,
            profiler,
        };
        let events = self.own;
        all.push(Attached::new(
            &self.info,
            Arc::new(own),
            Arc::clone(&name),
            callbacks,
            events,
        ));
        let member = Arc::new(Member {
            index,
            name,
            events: self.events,
            on_failure: self.on_failure.take(),
            failed: AtomicBool::new(false),
        });
        let count = all.len();
        for (index, attached) in all.iter_mut().enumerate() {
            attached.belongs_to(&member, index + 1 == count);
        }
        Ok((member, all))
    }
}

/// A profiler as a component.
struct Composed {
    name: Arc<str>,
    callbacks: CallbackSet,
    panic_limit: u32,
    profiler: Box<dyn Profiler>,
}

macro_rules! forward_callbacks {
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
        impl Component for Composed {
            fn name(&self) -> &str {
                &self.name
            }

            fn callbacks(&self) -> CallbackSet {
                self.callbacks
            }

            fn panic_limit(&self) -> u32 {
                self.panic_limit
            }

            fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
                self.profiler.shutdown(info)
            }

            $($(
                fn $rust(&self, $context: context_type!($context) $(, $arg: $arg_type)*)
                    -> Result<returned!($($out)?)>
                {
                    self.profiler.$rust($context $(, $arg)*)
                }
            )*)*
        }
    };
}

with_callbacks!(forward_callbacks);

/// The profiler of a composed one: all callbacks are those of the members.
pub(crate) struct NoCallbacks;

impl Profiler for NoCallbacks {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}
