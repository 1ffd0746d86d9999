//! `ICorProfilerInfo13`.

use std::fmt;

use super::handle::{OBJECTS_MOVE, Sealed};
use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::{Error, Result};
use crate::ids::ObjectId;
use crate::runtime::is_cooperative;
use clr_profiler_sys as sys;

/// The effect of a handle on its object.
#[doc(alias = "COR_PRF_HANDLE_TYPE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum HandleKind {
    /// Tracks the object, and lets it be collected.
    Weak = sys::COR_PRF_HANDLE_TYPE_WEAK,
    /// Keeps the object alive.
    Strong = sys::COR_PRF_HANDLE_TYPE_STRONG,
    /// Keeps the object alive and at its address.
    Pinned = sys::COR_PRF_HANDLE_TYPE_PINNED,
}

/// A handle to an object, created by the profiler and destroyed when dropped.
///
/// A handle cannot be destroyed during a collection, while the references of an object are enumerated, or
/// after the runtime's shutdown: if it is dropped then, it is leaked. A leaked handle that is not weak
/// keeps its object alive until the program ends.
#[doc(alias = "ObjectHandleID")]
pub struct ObjectHandle {
    info: ProfilerInfo,
    raw: sys::ObjectHandleID,
}

// SAFETY: the handle is an entry of a table of the runtime; any thread may use it, and the runtime
// synchronises its use with the collector.
unsafe impl Send for ObjectHandle {}
// SAFETY: as above; only the runtime changes the entry that it refers to.
unsafe impl Sync for ObjectHandle {}

impl ObjectHandle {
    /// The native handle.
    #[must_use]
    pub fn as_raw(&self) -> sys::ObjectHandleID {
        self.raw
    }

    fn destroy(&self) -> Result<()> {
        let info = &self.info;
        ask!(info, ICorProfilerInfo13::DestroyHandle(self.raw)).map(drop)
    }
}

impl Drop for ObjectHandle {
    fn drop(&mut self) {
        // A destructor cannot report the error.
        let _ = self.destroy();
    }
}

impl fmt::Debug for ObjectHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectHandle({:p})", self.raw)
    }
}

/// The calls of `ICorProfilerInfo13`: handles to objects (.NET 7).
#[doc(alias = "ICorProfilerInfo13")]
pub trait CorProfilerInfo13: Sealed {
    /// Creates a handle to an object, to find it again in later callbacks.
    #[wraps(ICorProfilerInfo13::CreateHandle
        at "a callback that delivers objects, not during a collection.")]
    fn create_handle(&self, object: ObjectId<'_>, kind: HandleKind) -> Result<ObjectHandle> {
        let mut raw = std::ptr::null_mut();
        let info = self.handle();
        // An id that is no longer an object's would corrupt the heap.
        info.class_from_object(object)?;
        ask!(
            notrigger info,
            ICorProfilerInfo13::CreateHandle(object.address(), kind as u32, &mut raw)
        )?;
        Ok(ObjectHandle {
            info: info.clone(),
            raw,
        })
    }

    /// Destroys a handle, as dropping it does, and reports a failure.
    #[wraps(ICorProfilerInfo13::DestroyHandle
        fails "The error of the native call; the handle is then leaked.")]
    fn destroy_handle(&self, handle: ObjectHandle) -> Result<()> {
        let destroyed = handle.destroy();
        let mut handle = std::mem::ManuallyDrop::new(handle);
        // SAFETY: the handle is not dropped, so this is done once, and it is not used again.
        unsafe { std::ptr::drop_in_place(&mut handle.info) };
        destroyed
    }

    /// Calls `read` with the object of a handle, or with `None` if the object was collected.
    ///
    /// The object can move as soon as `read` has returned. Object ids from before the call are no safer in
    /// `read` than outside.
    #[wraps(ICorProfilerInfo13::GetObjectIDFromHandle
        at "`exception_thrown`, `exception_catcher_enter` and `object_allocated`: in other callbacks, \
            a collection does not wait for the thread."
        fails "The call is made in another callback or on a thread of the profiler.")]
    fn with_object_of_handle<R>(
        &self,
        handle: &ObjectHandle,
        read: impl FnOnce(Option<ObjectId<'_>>) -> R,
    ) -> Result<R> {
        const CALL: &str = "ICorProfilerInfo13::GetObjectIDFromHandle";
        let mut object = 0;
        let info = self.handle();
        info.check_version(CALL, 13)?;
        // The native call succeeds in preemptive mode, too.
        if !is_cooperative() {
            return Err(Error::rule(CALL, OBJECTS_MOVE));
        }
        ask!(
            notrigger info,
            ICorProfilerInfo13::GetObjectIDFromHandle(handle.raw, &mut object)
        )?;
        Ok(read(ObjectId::optional(object)))
    }
}

impl CorProfilerInfo13 for ProfilerInfo {}
