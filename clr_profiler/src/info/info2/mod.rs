//! `ICorProfilerInfo2`.

mod stack;
mod types;

use std::ops::ControlFlow;

use super::code::CodeRange;
use super::enumerate::ObjectEnum;
use super::frame::FrameInfo;
use super::handle::Sealed;
use super::type_loading::may_load_types;
use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::{Error, Result};
use crate::ids::{AppDomainId, ClassId, FunctionId, ModuleId, ObjectId, ThreadId};
use crate::native::{CallContext, zeroed};
use clr_profiler_il::token::{MethodDef, TypeDef};
use clr_profiler_sys as sys;

pub use stack::{SnapshotOptions, StackFrame};
pub use types::{
    ArrayDimension, ArrayObjectInfo, ClassIdInfo2, ClassLayout, ClauseKind, ExceptionClauseInfo,
    FunctionInfo2, Generation, GenerationRange, StringLayout,
};

table! { ($) __cor_profiler_info2:
    CorProfilerInfo2 = ICorProfilerInfo2 from info;

    /// The definition, base type and generic arguments of a type.
    fn class_id_info2(class: ClassId) -> {ClassIdInfo2}
        = [in gc] GetClassIDInfo2(class, @module, @token, @parent, @[type_arguments])
        fails "`CORPROF_E_CLASSID_IS_ARRAY` for arrays, `CORPROF_E_CLASSID_IS_COMPOSITE` for \
               pointers and other composed types, `CORPROF_E_DATAINCOMPLETE` while the type is \
               being loaded.";

    /// The function of a method, its declaring type with arguments (`class`) and its own generic arguments.
    ///
    /// The runtime loads the types that it needs.
    fn function_from_token_and_type_args(
        module: ModuleId, method: MethodDef, class: ClassId, type_arguments: &[ClassId]
    ) -> FunctionId
        = GetFunctionFromTokenAndTypeArgs(module, method, class, type_arguments.len(),
            type_arguments.as_ptr(), @function)
        given _may = may_load_types(module) at MANAGED_THREAD
        fails "`E_INVALIDARG` for a wrong number of arguments, `CORPROF_E_DATAINCOMPLETE` while \
               the module is being loaded.";

    /// The type of a definition with generic arguments; the runtime loads it if necessary.
    ///
    /// `type_arguments` are those of the type and of all enclosing types, in metadata order; empty for
    /// types that are not generic. Loading calls callbacks of the profiler on this thread before this
    /// method returns.
    fn class_from_token_and_type_args(
        module: ModuleId, class: TypeDef, type_arguments: &[ClassId]
    ) -> ClassId
        = GetClassFromTokenAndTypeArgs(module, class, type_arguments.len(),
            type_arguments.as_ptr(), @loaded)
        given _may = may_load_types(module) at MANAGED_THREAD
        fails "`E_INVALIDARG` for a wrong number of arguments, `CORPROF_E_DATAINCOMPLETE` while \
               the module is being loaded.";

    /// The offsets of length and characters in a string object.
    ///
    /// [`string_layout2`](super::CorProfilerInfo3::string_layout2) is the current version of this call.
    fn string_layout() -> {StringLayout}
        = [in gc] GetStringLayout(@buffer_length_offset, @length_offset, @buffer_offset);

    /// The address ranges of a function's native code.
    ///
    /// For several tiers they are those of one of them; [`code_info4`](super::CorProfilerInfo9::code_info4)
    /// returns them for each.
    fn code_info2(function: FunctionId) -> Vec<CodeRange>
        = [notrigger] GetCodeInfo2(function, @[ranges])
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` before the function is compiled.";

    /// The objects in a module's precompiled image; none in .NET (Core).
    fn module_frozen_objects(module: ModuleId) -> ObjectEnum<'_>
        = [notrigger] EnumModuleFrozenObjects(module, @enumerator)
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being unloaded.";

    /// The offset of the value in a boxed value of this type, in bytes from the object's address.
    fn box_class_layout(class: ClassId) -> u32 = [in gc] GetBoxClassLayout(class, @offset)
        fails "`E_INVALIDARG` for types that are not value types.";

    /// The application domain of a managed thread.
    fn thread_app_domain(thread: ThreadId) -> AppDomainId
        = [in gc] GetThreadAppDomain(thread, @domain)
        fails "`CORPROF_E_NOT_MANAGED_THREAD` for an id that is not a managed thread's.";

    /// The address range of the managed heap that contains an object, with its generation.
    fn object_generation(object: ObjectId<'_>) -> GenerationRange
        = [in gc] GetObjectGeneration(object, @range)
        with "as for [`generation_bounds`](Self::generation_bounds)."
        fails "`E_FAIL` without those events, and for objects outside all ranges.";

    /// The size of a type and the offsets of its fields.
    fn class_layout(class: ClassId) -> {ClassLayout}
        = [in gc] GetClassLayout(class, ~[fields], @size)
        fails "`E_INVALIDARG` for arrays and strings, `CORPROF_E_DATAINCOMPLETE` while the type is \
               being loaded.";

    /// The address ranges of the managed heap's generations at the end of the last collection.
    fn generation_bounds() -> Vec<GenerationRange> = [in gc] GetGenerationBounds(@[ranges])
        with "[`MONITOR_GC`](crate::EventMask::MONITOR_GC) or \
              [`HIGH_BASIC_GC`](crate::EventMask::HIGH_BASIC_GC): the runtime records the \
              ranges only with one of them." fails "`E_FAIL` without those events.";

    /// The method that a function is an instance of, with its generic arguments as known without a frame.
    ///
    /// In code that several instantiations share, reference type arguments are `System.__Canon`. Exact
    /// arguments are known only in enter and leave hooks and stack walks.
    fn function_info2(function: FunctionId) -> {FunctionInfo2}
        = [notrigger] GetFunctionInfo2(function, 0, @class, @module, @token, @[type_arguments])
        fails "`E_INVALIDARG` for dynamic methods, which have no metadata.";

    /// The method that a function is an instance of, with the exact generic arguments of a frame.
    fn function_info2_in_frame(function: FunctionId, frame: FrameInfo<'_>) -> {FunctionInfo2}
        = [notrigger] GetFunctionInfo2(function, frame, @class, @module, @token, @[type_arguments])
        at "the hook, or the callback of a [stack walk](Self::do_stack_snapshot), that received the frame."
        with "for hooks [`ENABLE_FRAME_INFO`](crate::EventMask::ENABLE_FRAME_INFO)."
        fails "Objects may have moved since the frame was delivered; `E_INVALIDARG` for dynamic \
               methods, and if the frame is another function's.";

    /// The exception clause that is about to run on this thread, if any.
    fn notified_exception_clause_info() -> Option<ExceptionClauseInfo>
        = [notrigger] GetNotifiedExceptionClauseInfo(@clause) by about_to_run none on S_FALSE
        at "`exception_search_filter_enter`, `exception_unwind_finally_enter` and \
            `exception_catcher_enter`."
        with MONITOR_EXCEPTIONS
        fails "`CORPROF_E_NOT_MANAGED_THREAD` on a thread that never ran managed code.";
}

/// The calls of `ICorProfilerInfo2`: generics, stacks, layouts, generations.
#[doc(alias = "ICorProfilerInfo2")]
pub trait CorProfilerInfo2: Sealed {
    __cor_profiler_info2! { calls }

    /// Walks the managed frames of a thread, innermost first, and calls `visit` for each.
    ///
    /// `thread` is the thread to walk; `None` is the current thread. The stack of another thread can be
    /// walked while the runtime is
    /// [suspended](super::CorProfilerInfo10::with_suspended_runtime), on Windows also while only that
    /// thread is suspended. `visit` returns whether to continue. Consecutive frames without managed code
    /// are reported as one frame without a function. Dynamic methods are omitted. A thread without managed
    /// frames yields none.
    ///
    /// While another thread's stack is walked, that thread may hold locks: `visit` must not allocate, and
    /// may make only the calls that are legal during a collection. If `visit` panics, the walk ends and the
    /// panic propagates from this call.
    #[wraps(ICorProfilerInfo2::DoStackSnapshot
        at "any callback of the thread, or a thread of the profiler's own."
        with ENABLE_STACK_SNAPSHOT
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` without that event, \
               `CORPROF_E_STACKSNAPSHOT_UNSAFE` if the thread cannot be walked now, \
               `CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX` if it is in code of the runtime, \
               `E_NOTIMPL` for other threads except as described above. It is not an error if `visit` \
               ends the walk.")]
    fn do_stack_snapshot(
        &self,
        thread: Option<ThreadId>,
        options: SnapshotOptions,
        visit: impl FnMut(&StackFrame<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        // SAFETY: no registers are passed.
        unsafe { stack::walk(self.handle(), thread, options, None, visit) }
    }

    /// Walks the managed frames of a thread, starting from registers that the profiler knows.
    ///
    /// `seed` is a `CONTEXT` of the platform. Without it, [`do_stack_snapshot`](Self::do_stack_snapshot)
    /// starts where the thread last left managed code.
    ///
    /// Wraps `ICorProfilerInfo2::DoStackSnapshot` with a seed. **Context** and **Events**: as for
    /// [`do_stack_snapshot`](Self::do_stack_snapshot).
    ///
    /// # Safety
    ///
    /// The registers are those of the thread in its innermost frame, or in an outer frame that still
    /// exists, and the thread does not run meanwhile: the runtime reads the memory that the stack and frame
    /// pointers address.
    ///
    /// # Errors
    ///
    /// `seed` is too short for a `CONTEXT`; also the errors of
    #[doc(alias = "DoStackSnapshot")]
    unsafe fn do_stack_snapshot_with_seed(
        &self,
        thread: Option<ThreadId>,
        options: SnapshotOptions,
        seed: &[u8],
        visit: impl FnMut(&StackFrame<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { stack::walk(self.handle(), thread, options, Some(seed), visit) }
    }

    /// The dimensions of an array object and the address of its elements.
    #[wraps(ICorProfilerInfo2::GetArrayObjectInfo [in gc]
        fails "`E_INVALIDARG` for objects that are not arrays.")]
    fn array_object_info(&self, object: ObjectId<'_>) -> Result<ArrayObjectInfo> {
        const CALL: &str = "ICorProfilerInfo2::GetArrayObjectInfo";
        let info = self.handle();
        let class = info.class_from_object(object)?;
        let Some(class) = info.array_class_info(class)? else {
            return Err(Error::invalid(CALL, "the object is not an array"));
        };
        let rank = class.rank as usize;
        let (mut sizes, mut lower_bounds) = (zeroed(rank)?, zeroed(rank)?);
        let mut data = std::ptr::null_mut();
        let object = info.address_of(CALL, object)?;
        ask!(
            in gc info,
            ICorProfilerInfo2::GetArrayObjectInfo(
                object,
                class.rank,
                sizes.as_mut_ptr(),
                lower_bounds.as_mut_ptr(),
                &mut data,
            )
        )?;
        let dimensions = sizes.into_iter().zip(lower_bounds);
        Ok(ArrayObjectInfo {
            dimensions: dimensions
                .map(|(size, lower_bound)| ArrayDimension { size, lower_bound })
                .collect(),
            data: data.addr(),
        })
    }
}

impl CorProfilerInfo2 for ProfilerInfo {}

/// Runtimes report the absence of a clause in two ways.
fn about_to_run(
    clause: Option<ExceptionClauseInfo>,
    _: &CallContext<'_>,
) -> Result<Option<ExceptionClauseInfo>> {
    Ok(clause.filter(|clause| clause.kind != ClauseKind::Unknown(sys::COR_PRF_CLAUSE_NONE)))
}
