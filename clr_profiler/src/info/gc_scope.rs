//! [`GcScope`]: what can be asked while the runtime is suspended.

use std::fmt;

use super::{CorProfilerInfo, CorProfilerInfo4, ProfilerInfo};
use crate::error::Result;
use crate::ids::{ClassId, ObjectId};

/// What a callback may ask while the runtime is suspended for a garbage collection.
///
/// Other calls would wait for the collection to end, and it waits for the callback: they are not
/// here, and around it they are refused.
#[repr(transparent)]
pub struct GcScope {
    info: ProfilerInfo,
}

impl GcScope {
    pub(crate) fn from_callback(info: &ProfilerInfo) -> &Self {
        // SAFETY: a transparent wrapper has the layout of what it wraps.
        unsafe { &*std::ptr::from_ref(info).cast::<Self>() }
    }

    /// The type of an object. Wraps `ICorProfilerInfo::GetClassFromObject`.
    ///
    /// # Errors
    ///
    /// What [`CorProfilerInfo::class_from_object`] returns.
    pub fn class_from_object(&self, object: ObjectId<'_>) -> Result<ClassId> {
        self.info.class_from_object(object)
    }

    /// The size of an object in bytes. Wraps `ICorProfilerInfo4::GetObjectSize2`.
    ///
    /// # Errors
    ///
    /// What [`CorProfilerInfo4::object_size2`] returns.
    pub fn object_size(&self, object: ObjectId<'_>) -> Result<usize> {
        self.info.object_size2(object)
    }
}

impl fmt::Debug for GcScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GcScope")
    }
}
