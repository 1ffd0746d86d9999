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

/// The calls of `ICorProfilerInfo15`: a walk over all objects (.NET 9).
#[doc(alias = "ICorProfilerInfo15")]
pub trait CorProfilerInfo15: Sealed {
    /// Calls `visit` for each object of the managed heap, until it returns `Break`.
    ///
    /// The runtime is suspended meanwhile, by this call or by an enclosing
    /// [`with_suspended_runtime`](super::CorProfilerInfo10::with_suspended_runtime). `visit` must do
    /// nothing that may wait for a managed thread. If it panics, the walk ends and the panic propagates
    /// from this call. Unreachable objects are visited, too, unless garbage was collected right before.
    #[wraps(ICorProfilerInfo15::EnumerateGCHeapObjects
        at "a thread of the profiler, not during a collection."
        fails "The errors of \
               [`with_suspended_runtime`](super::CorProfilerInfo10::with_suspended_runtime); the error \
               of the native call.")]
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
        // If the runtime suspended itself here, it would mistake that for another suspension and refuse.
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
    // SAFETY: the runtime passes the data of the walk unchanged, during its call, on one thread.
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
