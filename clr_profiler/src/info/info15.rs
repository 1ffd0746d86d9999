//! `ICorProfilerInfo15`.

use std::any::Any;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::handle::Sealed;
use super::{CorProfilerInfo10, GcScope, ProfilerInfo};
use crate::error::Result;
use crate::ids::ObjectId;
use crate::runtime::{Suspended, set_suspended, suspended};
use clr_profiler_sys as sys;
use sys::BOOL;

/// What `ICorProfilerInfo15` offers: a walk over all objects (.NET 9).
#[doc(alias = "ICorProfilerInfo15")]
pub trait CorProfilerInfo15: Sealed {
    /// Calls `visit` for each object of the managed heap, until it says to stop.
    ///
    /// The runtime is suspended meanwhile, by this call or before by
    /// [`with_suspended_runtime`](super::CorProfilerInfo10::with_suspended_runtime). `visit` does nothing that may
    /// wait for a managed thread. A panic of it ends the walk and goes on from here. Objects that
    /// nothing refers to any more are among them, unless garbage was collected right before.
    #[wraps(ICorProfilerInfo15::EnumerateGCHeapObjects
        at "a thread of the profiler's own, not during a collection."
        fails "Those of \
               [`with_suspended_runtime`](super::CorProfilerInfo10::with_suspended_runtime), \
               and what the runtime answers.")]
    fn enumerate_gc_heap_objects(
        &self,
        visit: impl FnMut(&GcScope, ObjectId<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        const CALL: &str = "ICorProfilerInfo15::EnumerateGCHeapObjects";
        let info = self.handle();
        info.check_version(CALL, 15)?;
        let mut walk = Walk {
            info,
            visit,
            panic: None,
            ended: false,
        };
        let callback = callback_for(&walk);
        let data = (&raw mut walk).cast();
        let answer = match suspended() {
            // Left to suspend itself, the runtime takes that for someone else's suspension and refuses.
            Suspended::No => info.with_suspended_runtime(|_| {
                ask!(in gc info, ICorProfilerInfo15::EnumerateGCHeapObjects(Some(callback), data))
            }),
            Suspended::ByProfiler => {
                ask!(in gc info, ICorProfilerInfo15::EnumerateGCHeapObjects(Some(callback), data))
            }
            Suspended::ForGc | Suspended::InHook | Suspended::InWalk => ask!(
                info,
                ICorProfilerInfo15::EnumerateGCHeapObjects(Some(callback), data)
            ),
        };
        if let Some(payload) = walk.panic {
            resume_unwind(payload);
        }
        answer?;
        Ok(())
    }
}

impl CorProfilerInfo15 for ProfilerInfo {}

struct Walk<'info, V> {
    info: &'info ProfilerInfo,
    visit: V,
    panic: Option<Box<dyn Any + Send>>,
    ended: bool,
}

unsafe extern "system" fn object<V: FnMut(&GcScope, ObjectId<'_>) -> ControlFlow<()>>(
    object: sys::ObjectID,
    data: *mut c_void,
) -> BOOL {
    // SAFETY: the runtime passes through what the walk gave it, which lives during the walk and
    // which nobody else touches meanwhile.
    let walk = unsafe { &mut *data.cast::<Walk<'_, V>>() };
    // Not every runtime may heed that the walk is over.
    if walk.ended || walk.panic.is_some() {
        return BOOL::from(false);
    }
    let Some(object) = ObjectId::optional(object) else {
        return BOOL::from(true);
    };
    let before = set_suspended(Suspended::ForGc);
    let visited = catch_unwind(AssertUnwindSafe(|| {
        (walk.visit)(GcScope::from_callback(walk.info), object)
    }));
    set_suspended(before);
    match visited {
        Ok(ControlFlow::Continue(())) => return BOOL::from(true),
        Ok(ControlFlow::Break(())) => walk.ended = true,
        Err(payload) => walk.panic = Some(payload),
    }
    BOOL::from(false)
}

/// The callback for this visitor, which cannot be named.
fn callback_for<V: FnMut(&GcScope, ObjectId<'_>) -> ControlFlow<()>>(
    _: &Walk<'_, V>,
) -> sys::ObjectCallback {
    object::<V>
}
