//! References that an object holds.

use std::ffi::c_void;
use std::ops::ControlFlow;

use super::check_object;
use crate::error::Result;
use crate::ids::ObjectId;
use crate::info::visit::Visit;
use crate::runtime::ProfilerInfo;
use crate::runtime::in_walk;
use clr_profiler_sys as sys;
use sys::BOOL;

/// A reference that an object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectReference<'walk> {
    /// The object that is referred to.
    pub target: ObjectId<'walk>,
    /// The address of the reference. Its offset from the object's address identifies the field.
    pub place: usize,
}

unsafe extern "system" fn reference<V: FnMut(ObjectReference<'_>) -> ControlFlow<()>>(
    _root: sys::ObjectID,
    reference: *mut sys::ObjectID,
    data: *mut c_void,
) -> BOOL {
    // SAFETY: the runtime passes the data of `walk` unchanged, during its call, on one thread.
    let visit = unsafe { Visit::<V>::of(data) };
    if visit.is_over() {
        return BOOL::from(false);
    }
    // SAFETY: the runtime passes the address of a reference.
    let Some(target) = ObjectId::optional(unsafe { *reference }) else {
        return BOOL::from(true);
    };
    let reference = ObjectReference {
        target,
        place: reference.addr(),
    };
    // The runtime enumerates the object, which must not move before the walk has ended.
    BOOL::from(visit.item(|visitor| in_walk(|| visitor(reference))))
}

pub(super) fn walk<V: FnMut(ObjectReference<'_>) -> ControlFlow<()>>(
    info: &ProfilerInfo,
    object: ObjectId<'_>,
    visitor: V,
) -> Result<()> {
    check_object(info, object)?;
    let mut visit = Visit::new(visitor);
    let answer = ask!(
        in gc info,
        ICorProfilerInfo10::EnumerateObjectReferences(
            object.address(),
            Some(reference::<V>),
            visit.data(),
        )
    );
    visit.end(answer).0
}
