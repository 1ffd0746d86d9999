//! The pauses of collections next to a trace, each with the span whose code has triggered it.

use std::sync::{Arc, Mutex};

use clr_profiler::heap::CollectionTriggers;
use clr_profiler::prelude::*;
use clr_profiler::{Component, component};

use crate::profilers::gc::collection::Heap;
use crate::profilers::gc::collections::Collections;
use crate::profilers::gc::triggers::{DEPTH, Trigger};
use crate::report::lock;
use crate::spans::innermost_span;

/// A pause whose functions have no names yet.
pub(super) struct Pause {
    pub(super) nanoseconds: u64,
    pub(super) trigger: Trigger,
}

/// Tells of each collection that has ended, when the program runs again.
struct Pauses<F> {
    collections: Arc<Mutex<Collections>>,
    tell: F,
}

/// Has pauses be told. Their functions cannot be named in `tell`, and have to be forgotten when modules are unloaded.
///
/// # Errors
///
/// A component cannot be attached.
pub(super) fn watch(setup: &mut Setup, tell: impl Fn(Pause) + Send + Sync + 'static) -> Result<()> {
    let collections = Arc::new(Mutex::new(Collections::new()));
    let to = Arc::clone(&collections);
    setup.attach(CollectionTriggers::with_depth(DEPTH, move |trigger| {
        lock(&to).triggered(Trigger {
            reason: trigger.reason,
            stack: trigger.stack.to_vec(),
            // It is told of on the thread that triggers it.
            span: innermost_span(),
        });
    }))?;
    setup.attach(Pauses { collections, tell })?;
    Ok(())
}

#[component]
impl<F: Fn(Pause) + Send + Sync + 'static> Component for Pauses<F> {
    fn runtime_suspend_started(&self, _gc: &GcScope, _reason: SuspendReason) -> Result<()> {
        lock(&self.collections).suspends();
        Ok(())
    }

    fn runtime_suspend_aborted(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.collections).suspends_not();
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        _gc: &GcScope,
        generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        let generation = generations.oldest().unwrap_or(0);
        lock(&self.collections).began(0, generation, reason, Heap::default());
        Ok(())
    }

    fn garbage_collection_finished(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.collections).ended(Heap::default());
        Ok(())
    }

    fn runtime_resume_finished(&self, _gc: &GcScope) -> Result<()> {
        let mut collections = lock(&self.collections);
        collections.resumed();
        let complete = collections.complete();
        drop(collections);
        for collection in complete {
            if let Some(trigger) = collection.trigger {
                let nanoseconds = u64::try_from(collection.pause.as_nanos()).unwrap_or(u64::MAX);
                (self.tell)(Pause {
                    nanoseconds,
                    trigger,
                });
            }
        }
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        lock(&self.collections).forget_stacks();
        Ok(())
    }
}
