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
use crate::native::{Asked, zeroed};
use clr_profiler_il::token::{MethodDef, TypeDef};
use clr_profiler_sys as sys;

pub use stack::{SnapshotOptions, StackFrame};
pub use types::{
    ArrayDimension, ArrayObjectInfo, ClassIdInfo2, ClassLayout, ClauseKind, ExceptionClauseInfo,
    FunctionInfo2, Generation, GenerationRange, StringLayout,
};

table! { ($) __cor_profiler_info2:
    CorProfilerInfo2 = ICorProfilerInfo2 from info;

    /// Where a type is defined, what it derives from, and its generic arguments.
    fn class_id_info2(class: ClassId) -> {ClassIdInfo2}
        = [in gc] GetClassIDInfo2(class, @module, @token, @parent, @[type_arguments])
        fails "`CORPROF_E_CLASSID_IS_ARRAY` for arrays, `CORPROF_E_CLASSID_IS_COMPOSITE` for \
               pointers and other composed types, `CORPROF_E_DATAINCOMPLETE` while the type is \
               being loaded.";

    /// The function of a method, the type that has it, and its own generic arguments; the runtime
    /// loads what it needs for it.
    ///
    /// `class` is the type with its arguments.
    fn function_from_token_and_type_args(
        module: ModuleId, method: MethodDef, class: ClassId, type_arguments: &[ClassId]
    ) -> FunctionId
        = GetFunctionFromTokenAndTypeArgs(module, method, class, type_arguments.len(),
            type_arguments.as_ptr(), @function)
        given _may = may_load_types(module) at MANAGED_THREAD
        fails "`E_INVALIDARG` for a wrong number of arguments, `CORPROF_E_DATAINCOMPLETE` while \
               the module is being loaded.";

    /// The type of a definition and its generic arguments; the runtime loads it if need be.
    ///
    /// `type_arguments` are those of the type and of all types around it, as metadata has them;
    /// empty for types that are not generic. Loading calls the profiler back on this thread, before
    /// this returns.
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
    /// [`string_layout2`](super::CorProfilerInfo3::string_layout2) has what is left of it.
    fn string_layout() -> {StringLayout}
        = [in gc] GetStringLayout(@buffer_length_offset, @length_offset, @buffer_offset);

    /// Where the native code of a function is.
    ///
    /// Of several tiers it is one: [`code_info4`](super::CorProfilerInfo9::code_info4) tells all.
    fn code_info2(function: FunctionId) -> Vec<CodeRange>
        = [steady] GetCodeInfo2(function, @[ranges])
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` where there is no code yet.";

    /// The objects that are part of a module's precompiled image: none, on .NET (Core).
    fn module_frozen_objects(module: ModuleId) -> ObjectEnum<'_>
        = [steady] EnumModuleFrozenObjects(module, @enumerator)
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being unloaded.";

    /// Where the value is in a boxed value of this type: the offset in bytes from where the object
    /// is.
    fn box_class_layout(class: ClassId) -> u32 = [in gc] GetBoxClassLayout(class, @offset)
        fails "`E_INVALIDARG` for types that are not value types.";

    /// The application domain that a managed thread is in.
    fn thread_app_domain(thread: ThreadId) -> AppDomainId
        = [in gc] GetThreadAppDomain(thread, @domain)
        fails "`CORPROF_E_NOT_MANAGED_THREAD` for an id of no managed thread.";

    /// The address range of the managed heap that an object is in, with its generation.
    fn object_generation(object: ObjectId<'_>) -> GenerationRange
        = [in gc] GetObjectGeneration(object, @range)
        with "as for [`generation_bounds`](Self::generation_bounds)."
        fails "`E_FAIL` without those events, and for objects outside of all ranges.";

    /// Size of a type, and where its fields are.
    fn class_layout(class: ClassId) -> {ClassLayout}
        = [in gc] GetClassLayout(class, ~[fields], @size)
        fails "`E_INVALIDARG` for arrays and strings, `CORPROF_E_DATAINCOMPLETE` while the type is \
               being loaded.";

    /// The address ranges of the managed heap's generations, as they were at the end of the last
    /// collection.
    fn generation_bounds() -> Vec<GenerationRange> = [in gc] GetGenerationBounds(@[ranges])
        with "[`MONITOR_GC`](crate::EventMask::MONITOR_GC) or \
              [`HIGH_BASIC_GC`](crate::EventMask::HIGH_BASIC_GC), which make the runtime keep \
              them." fails "`E_FAIL` without those events.";

    /// The method that a function is an instance of, with its generic arguments; without a frame.
    ///
    /// Code that several instantiations share has `System.__Canon` for those arguments that are
    /// classes. Exact arguments are known only inside enter and leave hooks.
    fn function_info2(function: FunctionId) -> {FunctionInfo2}
        = [steady] GetFunctionInfo2(function, 0, @class, @module, @token, @[type_arguments])
        fails "`E_INVALIDARG` for dynamic methods, which have no metadata.";

    /// The method that a function is an instance of, with its exact generic arguments in a frame.
    fn function_info2_in_frame(function: FunctionId, frame: FrameInfo<'_>) -> {FunctionInfo2}
        = [steady] GetFunctionInfo2(function, frame, @class, @module, @token, @[type_arguments])
        at "the hook, or the callback of a [stack walk](Self::do_stack_snapshot), that got the frame."
        with "for hooks [`ENABLE_FRAME_INFO`](crate::EventMask::ENABLE_FRAME_INFO)."
        fails "Where objects may have moved since the frame was delivered; `E_INVALIDARG` for \
               dynamic methods, and where the frame is another function's.";

    /// The exception clause that is about to run on this thread, if there is one.
    fn notified_exception_clause_info() -> Option<ExceptionClauseInfo>
        = [steady] GetNotifiedExceptionClauseInfo(@clause) by about_to_run none on S_FALSE
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
    /// `thread` is the one that makes this call where it is `None`. Another thread's stack can be
    /// walked while the runtime is [suspended](super::CorProfilerInfo10::with_suspended_runtime); on Windows
    /// also without, while the thread itself is suspended. `visit` returns whether to go on;
    /// frames without code of the runtime that lie together come as one without a function. Dynamic
    /// methods are left out. A thread that has no managed frames has none.
    ///
    /// `visit` runs where a suspended thread may hold locks: where another thread's stack is walked
    /// it does not allocate or ask the runtime for more than may be asked during a collection. A
    /// panic of it ends the walk and goes on from here.
    #[wraps(ICorProfilerInfo2::DoStackSnapshot
        at "any callback of the thread, or a thread of the profiler's own."
        with ENABLE_STACK_SNAPSHOT
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` without that event, \
               `CORPROF_E_STACKSNAPSHOT_UNSAFE` where the thread cannot be walked now, \
               `CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX` where it is in code of the runtime, \
               `E_NOTIMPL` for other threads except as said above. That `visit` ended the walk \
               is no error.")]
    fn do_stack_snapshot(
        &self,
        thread: Option<ThreadId>,
        options: SnapshotOptions,
        visit: impl FnMut(&StackFrame<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        // SAFETY: there are no registers.
        unsafe { stack::walk(self.handle(), thread, options, None, visit) }
    }

    /// Walks the managed frames of a thread from registers on that the profiler knows.
    ///
    /// `seed` is a `CONTEXT` of the platform. Without one,
    /// [`do_stack_snapshot`](Self::do_stack_snapshot), the runtime begins where the thread last left
    /// managed code.
    ///
    /// Wraps `ICorProfilerInfo2::DoStackSnapshot` with a seed. **Context** and **Events**: as for
    /// [`do_stack_snapshot`](Self::do_stack_snapshot).
    ///
    /// # Safety
    ///
    /// The registers are those that the thread has in its innermost frame, or in one further out
    /// that is still there, and the thread does not run on meanwhile: the runtime reads the memory
    /// that stack and frame pointer name.
    ///
    /// # Errors
    ///
    /// Where `seed` is too short for a `CONTEXT`, and as for
    /// [`do_stack_snapshot`](Self::do_stack_snapshot).
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

    /// Dimensions of an array object, and where its elements are.
    #[wraps(ICorProfilerInfo2::GetArrayObjectInfo [in gc]
        fails "`E_INVALIDARG` for objects that are not arrays.")]
    fn array_object_info(&self, object: ObjectId<'_>) -> Result<ArrayObjectInfo> {
        const CALL: &str = "ICorProfilerInfo2::GetArrayObjectInfo";
        let info = self.handle();
        let class = info.class_from_object(object)?;
        let Some(class) = info.array_class_info(class)? else {
            return Err(Error::invalid(CALL, "the object is no array"));
        };
        let rank = class.rank as usize;
        let (mut sizes, mut lower_bounds) = (zeroed(rank)?, zeroed(rank)?);
        let mut data = std::ptr::null_mut();
        let object = info.place_of(CALL, object)?;
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

/// Runtimes say in two ways that there is none.
fn about_to_run(
    clause: Option<ExceptionClauseInfo>,
    _: &Asked<'_>,
) -> Result<Option<ExceptionClauseInfo>> {
    Ok(clause.filter(|clause| clause.kind != ClauseKind::Unknown(sys::COR_PRF_CLAUSE_NONE)))
}
