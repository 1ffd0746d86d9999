//! `ICorProfilerInfo10`.

mod references;
mod suspended;

use std::ops::ControlFlow;

use super::collectible::last_with_inliners;
use super::handle::Sealed;
use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::Result;
use crate::ids::{ModuleId, ObjectId};
use crate::native::native_flags;
use clr_profiler_il::token::MethodDef;

pub use references::ObjectReference;
pub use suspended::SuspendedRuntime;

native_flags! {
    /// Options of a ReJIT of methods and their inliners.
    RejitFlags = COR_PRF_REJIT_FLAGS {
        /// The methods are no longer inlined. Runtimes require this flag.
        BLOCK_INLINING = COR_PRF_REJIT_BLOCK_INLINING,
        /// Calls [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters) also for the inliners.
        /// Without it, the callback is not called for them.
        INLINING_CALLBACKS = COR_PRF_REJIT_INLINING_CALLBACKS,
    }
}

table! { ($) __cor_profiler_info10:
    CorProfilerInfo10 = ICorProfilerInfo10 from info;

    /// Whether an object is never collected: part of an image, or of the frozen heap.
    fn is_frozen_object(object: ObjectId<'_>) -> bool = [in gc] IsFrozenObject(object, @is_frozen);

    /// The size in bytes from which objects are allocated on the large object heap.
    fn loh_object_size_threshold() -> u32 = [in gc] GetLOHObjectSizeThreshold(@threshold);

    /// Requests a ReJIT of these methods, with IL from
    /// [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters), and of all methods that have
    /// inlined them.
    ///
    /// Success means only that the request was accepted: failures of single methods are reported to
    /// [`rejit_error`](crate::Profiler::rejit_error).
    fn request_rejit_with_inliners(flags: RejitFlags, methods: &[(ModuleId, MethodDef)]) -> ()
        = RequestReJITWithInliners(flags, methods.0.len(), methods.0.as_ptr(),
            methods.1.as_ptr())
        given _last = last_with_inliners(methods) at INITIALIZED_THREAD with ENABLE_REJIT
        fails "Methods of collectible modules; on .NET Core 3.1 also after such a module was unloaded, \
               and for methods of types that are not loaded; `CORPROF_E_REJIT_NOT_ENABLED` without \
               that event, `CORPROF_E_REJIT_INLINING_DISABLED` if the runtime does not track \
               inlining, `E_INVALIDARG` without [`BLOCK_INLINING`](RejitFlags::BLOCK_INLINING) and \
               if there are no methods.";
}

/// The calls of `ICorProfilerInfo10`: references between objects, ReJIT with inliners, suspension
/// (.NET Core 3.0).
#[doc(alias = "ICorProfilerInfo10")]
pub trait CorProfilerInfo10: Sealed {
    __cor_profiler_info10! { calls }

    /// Calls `visit` for each reference that an object holds, until it returns `Break`.
    ///
    /// Null references are omitted. If `visit` panics, the walk ends and the panic propagates from this
    /// call. The object must not move meanwhile: calls that may trigger a GC are refused in `visit`.
    #[wraps(ICorProfilerInfo10::EnumerateObjectReferences [in gc])]
    fn enumerate_object_references(
        &self,
        object: ObjectId<'_>,
        visit: impl FnMut(ObjectReference<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        references::walk(self.handle(), object, visit)
    }

    /// Suspends all managed threads while `work` runs.
    ///
    /// Meanwhile, this thread may make the calls that are legal during a collection, and walk
    /// [stacks](super::CorProfilerInfo2::do_stack_snapshot). `work` must do nothing that may wait for a
    /// managed thread, or for a thread that requests a detach. The runtime is resumed when `work` has
    /// returned or panicked, and before a [detach](super::CorProfilerInfo3::request_profiler_detach).
    ///
    /// Wraps `ICorProfilerInfo10::SuspendRuntime` and `ICorProfilerInfo10::ResumeRuntime`.
    /// **Context**: a thread of the profiler's own, or a callback on a thread for which no other one can
    /// wait: not during a collection, in a hook, in a stack walk, and not in the callbacks of
    /// exceptions and objects, `module_load_started`, `assembly_load_started`,
    /// `assembly_load_finished`, `thread_assigned_to_os_thread`, `thread_destroyed` and
    /// `event_pipe_event_delivered`.
    ///
    /// # Errors
    ///
    /// - `CORPROF_E_SUSPENSION_IN_PROGRESS` during another suspension of the runtime,
    /// - `CORPROF_E_RUNTIME_UNINITIALIZED` while it starts,
    /// - `CORPROF_E_PROFILER_DETACHING` after a detach was requested,
    /// - on runtimes before .NET 8, if the system queues fewer signals for this user than the process has threads: they end
    ///   the program if the signal that stops a thread is refused,
    /// - the error of `work`, or of resuming the runtime.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn count(info: &ProfilerInfo) -> Result<usize> {
    /// let threads = info.with_suspended_runtime(|suspended| suspended.threads())?;
    /// # Ok(threads.count())
    /// # }
    /// ```
    #[doc(alias = "SuspendRuntime")]
    #[doc(alias = "ResumeRuntime")]
    fn with_suspended_runtime<R>(
        &self,
        work: impl FnOnce(&SuspendedRuntime<'_>) -> Result<R>,
    ) -> Result<R> {
        suspended::suspend(self.handle(), work)
    }
}

impl CorProfilerInfo10 for ProfilerInfo {}

/// Refuses ids that are no longer objects, for calls that do not check them.
pub(super) fn check_object(info: &ProfilerInfo, object: ObjectId<'_>) -> Result<()> {
    info.class_from_object(object).map(|_| ())
}
