//! The pauses by collections next to a trace, each with the span whose code has triggered the collection.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use clr_profiler::heap::CollectionTriggers;
use clr_profiler::prelude::*;
use clr_profiler::{Component, component};

use crate::report::lock;
use crate::spans::innermost_span;

/// A pause whose functions have no names yet.
pub(super) struct Pause {
    pub(super) nanoseconds: u64,
    pub(super) trigger: Trigger,
}

/// The code that has triggered a collection.
#[derive(Clone, Default)]
pub(super) struct Trigger {
    /// Innermost first.
    pub(super) stack: Vec<FunctionId>,
    pub(super) span: [u64; 2],
}

/// The trigger of the last collection, and the pause that has begun.
#[derive(Clone, Default)]
pub(super) struct Latest(Arc<Mutex<(Trigger, Option<Instant>)>>);

impl Latest {
    /// Functions of the trigger are about to be unloaded.
    pub(super) fn forget_stack(&self) {
        lock(&self.0).0.stack.clear();
    }
}

/// Tells of each pause when the program runs again.
struct Pauses<F> {
    latest: Latest,
    tell: F,
}

/// Has pauses be told of. Their functions cannot be named in `tell`. A pause of a concurrent collection at its end has the trigger of
/// the collection that began last.
///
/// # Errors
///
/// A component cannot be attached.
pub(super) fn watch(
    setup: &mut Setup,
    depth: usize,
    tell: impl Fn(Pause) + Send + Sync + 'static,
) -> Result<Latest> {
    let latest = Latest::default();
    let to = latest.clone();
    setup.attach(CollectionTriggers::with_depth(depth, move |trigger| {
        lock(&to.0).0 = Trigger {
            stack: trigger.stack.to_vec(),
            // It is told of on the thread that triggers it.
            span: innermost_span(),
        };
    }))?;
    setup.attach(Pauses {
        latest: latest.clone(),
        tell,
    })?;
    Ok(latest)
}

#[component]
impl<F: Fn(Pause) + Send + Sync + 'static> Component for Pauses<F> {
    fn runtime_suspend_started(&self, _gc: &GcScope, reason: SuspendReason) -> Result<()> {
        let is_of_collection = matches!(reason, SuspendReason::Gc | SuspendReason::GcPreparation);
        lock(&self.latest.0).1 = is_of_collection.then(Instant::now);
        Ok(())
    }

    fn runtime_suspend_aborted(&self, _gc: &GcScope) -> Result<()> {
        lock(&self.latest.0).1 = None;
        Ok(())
    }

    fn runtime_resume_finished(&self, _gc: &GcScope) -> Result<()> {
        let (trigger, began) = {
            let mut latest = lock(&self.latest.0);
            (latest.0.clone(), latest.1.take())
        };
        if let Some(began) = began {
            let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            (self.tell)(Pause {
                nanoseconds,
                trigger,
            });
        }
        Ok(())
    }
}
