//! `ICorProfilerInfo15`.

use std::ffi::c_void;
use std::ops::ControlFlow;

use super::handle::Sealed;
use super::visit::Visit;
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
        walk(self.handle(), visit)
    }
}

impl CorProfilerInfo15 for ProfilerInfo {}

fn walk<V: FnMut(&GcScope, ObjectId<'_>) -> ControlFlow<()>>(
    info: &ProfilerInfo,
    visitor: V,
) -> Result<()> {
    info.check_version("ICorProfilerInfo15::EnumerateGCHeapObjects", 15)?;
    let mut visit = Visit::new((info, visitor));
    let (callback, data) = (Some(object::<V> as sys::ObjectCallback), visit.data());
    let answer = match suspended() {
        // Left to suspend itself, the runtime takes that for someone else's suspension and refuses.
        Suspended::No => info.with_suspended_runtime(
            |_| ask!(in gc info, ICorProfilerInfo15::EnumerateGCHeapObjects(callback, data)),
        ),
        Suspended::ByProfiler => {
            ask!(in gc info, ICorProfilerInfo15::EnumerateGCHeapObjects(callback, data))
        }
        Suspended::ForGc | Suspended::InHook | Suspended::InWalk => {
            ask!(
                info,
                ICorProfilerInfo15::EnumerateGCHeapObjects(callback, data)
            )
        }
    };
    visit.end(answer).0
}

unsafe extern "system" fn object<V: FnMut(&GcScope, ObjectId<'_>) -> ControlFlow<()>>(
    object: sys::ObjectID,
    data: *mut c_void,
) -> BOOL {
    // SAFETY: the runtime passes through what the walk gave it, during its call, on one thread.
    let visit = unsafe { Visit::<(&ProfilerInfo, V)>::of(data) };
    if visit.is_over() {
        return BOOL::from(false);
    }
    let Some(object) = ObjectId::optional(object) else {
        return BOOL::from(true);
    };
    let before = set_suspended(Suspended::ForGc);
    let goes_on = visit.item(|(info, visitor)| visitor(GcScope::from_callback(info), object));
    set_suspended(before);
    BOOL::from(goes_on)
}
