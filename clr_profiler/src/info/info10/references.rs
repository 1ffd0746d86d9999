//! References that an object holds.

use std::any::Any;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::check_object;
use crate::error::Result;
use crate::ids::ObjectId;
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
    /// The address of the reference: its distance from the object's own address tells the field.
    pub place: usize,
}

struct Walk<V> {
    visit: V,
    panic: Option<Box<dyn Any + Send>>,
    ended: bool,
}

unsafe extern "system" fn reference<V: FnMut(ObjectReference<'_>) -> ControlFlow<()>>(
    _root: sys::ObjectID,
    reference: *mut sys::ObjectID,
    data: *mut c_void,
) -> BOOL {
    // SAFETY: the runtime passes through what `walk` gave it, which lives during the walk and
    // which nobody else touches meanwhile.
    let walk = unsafe { &mut *data.cast::<Walk<V>>() };
    // Not every runtime heeds that the walk is over.
    if walk.ended || walk.panic.is_some() {
        return BOOL::from(false);
    }
    // SAFETY: the runtime passes the place of a reference.
    let Some(target) = ObjectId::optional(unsafe { *reference }) else {
        return BOOL::from(true);
    };
    let reference = ObjectReference {
        target,
        place: reference.addr(),
    };
    // The runtime goes through the object: it must not move before the walk has ended.
    match catch_unwind(AssertUnwindSafe(|| in_walk(|| (walk.visit)(reference)))) {
        Ok(ControlFlow::Continue(())) => return BOOL::from(true),
        Ok(ControlFlow::Break(())) => walk.ended = true,
        Err(payload) => walk.panic = Some(payload),
    }
    BOOL::from(false)
}

/// The callback for this visitor, which cannot be named.
fn callback_for<V: FnMut(ObjectReference<'_>) -> ControlFlow<()>>(
    _: &Walk<V>,
) -> sys::ObjectReferenceCallback {
    reference::<V>
}

pub(super) fn walk(
    info: &ProfilerInfo,
    object: ObjectId<'_>,
    visit: impl FnMut(ObjectReference<'_>) -> ControlFlow<()>,
) -> Result<()> {
    check_object(info, object)?;
    let mut walk = Walk {
        visit,
        panic: None,
        ended: false,
    };
    let callback = callback_for(&walk);
    let answer = ask!(
        in gc info,
        ICorProfilerInfo10::EnumerateObjectReferences(
            object.address(),
            Some(callback),
            (&raw mut walk).cast(),
        )
    );
    if let Some(payload) = walk.panic {
        resume_unwind(payload);
    }
    answer?;
    Ok(())
}
