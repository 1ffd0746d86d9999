//! `ICorProfilerInfo`.

mod bodies;
mod malloc;
mod types;

#[cfg(feature = "rewrite")]
pub(crate) use bodies::BodyMemory;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::ProfilerInfo;
use super::code::{CodeRange, IlMapEntry, IlToNative};
use super::code_lookup::find_code;
use super::collectible::of_living;
use super::handle::Sealed;
use super::hot_reload::refuse_hot_reload;
use super::profiler_info::of_profiler;
use super::type_loading::may_load_types;
#[cfg(feature = "rewrite")]
use super::written::is_written;
use crate::error::{Error, Result};
use crate::event_mask::EventMask;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, FunctionId, ModuleId, ObjectId, ThreadId,
};
use crate::metadata::Metadata;
#[cfg(feature = "rewrite")]
use crate::metadata::MetadataWriter;
use crate::native::{Argument, CallContext, pointer};
use clr_profiler_il::token::{MethodDef, TypeDef};

#[cfg(feature = "rewrite")]
pub(super) use bodies::check_body;
use bodies::{has_il, whole_body};
pub use malloc::MethodMalloc;
pub use types::{
    AppDomainInfo, ArrayClassInfo, AssemblyInfo, ClassIdInfo, FunctionInfo, ModuleInfo,
};

table! { ($) __cor_profiler_info:
    CorProfilerInfo = ICorProfilerInfo from info;

    /// The type of an object.
    fn class_from_object(object: ObjectId<'_>) -> ClassId
        = [in gc] GetClassFromObject(object, @class);

    /// The size of an object in bytes, up to 4 GB.
    ///
    /// [`object_size2`](super::CorProfilerInfo4::object_size2) also returns the size of larger objects.
    fn object_size(object: ObjectId<'_>) -> u32 = [in gc] GetObjectSize(object, @size)
        fails "`COR_E_OVERFLOW` for objects of 4 GB and more.";

    /// The address range of a function's native code.
    ///
    /// For code in several ranges it is the first one, for several tiers one of them;
    /// [`code_info4`](super::CorProfilerInfo9::code_info4) returns all ranges of one tier.
    fn code_info(function: FunctionId) -> {CodeRange}
        = [notrigger] GetCodeInfo(function, @start, @size)
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` before the function is compiled.";

    /// The function whose native code contains an instruction pointer, except for dynamic methods.
    ///
    /// [`function_from_ip3`](super::CorProfilerInfo8::function_from_ip3) finds dynamic methods, too, and
    /// returns the ReJIT id of the code.
    fn function_from_ip(address: usize as pointer) -> FunctionId
        = [in gc] GetFunctionFromIP(address, @function) by living
        fails "`E_FAIL` for an address outside the code of methods with metadata.";

    /// The mapping from a function's native code to IL.
    ///
    /// For several tiers it is that of one of them;
    /// [`il_to_native_mapping3`](super::CorProfilerInfo9::il_to_native_mapping3) returns it for each.
    fn il_to_native_mapping(function: FunctionId) -> Vec<IlToNative>
        = GetILToNativeMapping(function, @[entries]) given _found = found(function)
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` or `E_INVALIDARG` before the function is compiled.";

    /// The method that a function is an instance of. [`ProfilerInfo::method`] offers more.
    ///
    /// Dynamic methods have no metadata: their token is nil.
    fn function_info(function: FunctionId) -> {FunctionInfo}
        = [in gc] GetFunctionInfo(function, @class, @module, @token);

    /// The definition of a type. [`class_id_info2`](super::CorProfilerInfo2::class_id_info2) returns more.
    fn class_id_info(class: ClassId) -> {ClassIdInfo}
        = [in gc] GetClassIDInfo(class, @module, @token);

    /// The loaded type of a definition that is not generic.
    fn class_from_token(module: ModuleId, class: TypeDef) -> ClassId
        = GetClassFromToken(module, class, @loaded) given _may = may_load_types(module)
        at MANAGED_THREAD
        fails "`CORPROF_E_TYPE_IS_PARAMETERIZED` for generic types, `CORPROF_E_DATAINCOMPLETE` \
               while the type is not loaded.";

    /// The compiled function of a method that is not generic.
    fn function_from_token(module: ModuleId, method: MethodDef) -> FunctionId
        = [notrigger] GetFunctionFromToken(module, method, @function)
        fails "`CORPROF_E_FUNCTION_IS_PARAMETERIZED` for generic methods, \
               `CORPROF_E_DATAINCOMPLETE` while the type is not loaded.";

    /// The operating system's id of the thread that a managed thread runs on.
    fn thread_info(thread: ThreadId) -> u32 = [in gc] GetThreadInfo(thread, @os_thread);

    /// The operating system's handle of a managed thread on Windows. The runtime owns it.
    ///
    /// On other systems it is a handle of the runtime, without use outside of it.
    fn handle_from_thread(thread: ThreadId) -> Option<NonNull<c_void>>
        = [in gc] GetHandleFromThread(thread, @handle)
        fails "`E_INVALIDARG` for an id that is not a managed thread's.";

    /// The context of a managed thread; in .NET (Core) that is its application domain.
    fn thread_context(thread: ThreadId) -> ContextId = [in gc] GetThreadContext(thread, @context)
        fails "`E_INVALIDARG` for an id that is not a managed thread's, `CORPROF_E_DATAINCOMPLETE` if the \
               thread has no context.";

    /// Collects all garbage, and returns when the collection is finished.
    fn force_gc() -> () = ForceGC()
        at NATIVE_THREAD
        fails "`CORPROF_E_UNSUPPORTED_CALL_SEQUENCE` or `CORPROF_E_ASYNCHRONOUS_UNSAFE` on other \
               threads and in callbacks.";

    /// The id of the current managed thread.
    fn current_thread_id() -> ThreadId = [in gc] GetCurrentThreadID(@thread)
        fails "`CORPROF_E_NOT_MANAGED_THREAD` on threads that never ran managed code.";

    /// The element type and rank of an array type; `None` for other types.
    fn array_class_info(class: ClassId) -> {ArrayClassInfo}
        = [in gc] IsArrayClass(class, @element_type, @element_class, @rank) none on S_FALSE;

    /// The path, load address and assembly of a module.
    fn module_info(module: ModuleId) -> {ModuleInfo}
        = [notrigger] GetModuleInfo(module, @base_address, @{name}, @assembly) at LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded.";

    /// The name and process of an application domain.
    fn app_domain_info(app_domain: AppDomainId) -> {AppDomainInfo}
        = GetAppDomainInfo(app_domain, @{name}, @process_id)
        fails "`CORPROF_E_DATAINCOMPLETE` while the domain is being created.";

    /// The name, application domain and manifest module of an assembly.
    fn assembly_info(assembly: AssemblyId) -> {AssemblyInfo}
        = [notrigger] GetAssemblyInfo(assembly, @{name}, @app_domain, @module)
        at ASSEMBLY_LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the assembly is being loaded.";

    /// The events of the lower half of the mask that the runtime reports.
    fn event_mask() -> EventMask = [notrigger] GetEventMask(@low) by of_profiler;

    /// Maps offsets of the original method body to offsets of the replaced one, for debuggers.
    ///
    /// `start_jit` is true if the function is about to be compiled.
    fn set_il_instrumented_code_map(function: FunctionId, start_jit: bool, map: &[IlMapEntry]) -> ()
        = SetILInstrumentedCodeMap(function, start_jit, map.len(), map.as_ptr())
        at COMPILING
        fails "`CORPROF_E_DEBUGGING_DISABLED` if the runtime was started without support for \
               debuggers.";

    /// The current method body: header, IL and exception clauses.
    ///
    /// After [`set_il_function_body`](Self::set_il_function_body) it is the new body.
    // It is part of the loaded image or of memory from the module's allocator, neither of which is
    // freed while the module is loaded.
    fn il_function_body(module: ModuleId, method: MethodDef) -> Vec<u8>
        = [notrigger] GetILFunctionBody(module, method, @(bytes)) by whole_body
        given _has_il = has_il(module, method)
        fails "`CORPROF_E_FUNCTION_NOT_IL` for methods without IL: abstract methods, P/Invokes, \
               methods that the runtime implements, and those of a dynamic module whose IL is not \
               complete yet.";

    /// The allocator of a module's method bodies.
    ///
    /// [`set_il_function_body`](Self::set_il_function_body) uses it itself.
    fn il_function_body_allocator(module: ModuleId) -> MethodMalloc<'_>
        = GetILFunctionBodyAllocator(module, @allocator)
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded or unloaded.";

    /// Sets the events of the lower half of the mask that the runtime reports.
    ///
    /// In `initialize`, use [`Setup`](crate::Setup) instead.
    fn set_event_mask(events: EventMask) -> () = SetEventMask((events | more).low())
        given more = low_events(events)
        at "any; immutable flags must stay as they are."
        fails "The mask has flags of the upper half, which \
               [`set_event_mask2`](super::CorProfilerInfo5::set_event_mask2) takes, or flags that \
               cannot be changed or are not available.";
}

/// The calls of `ICorProfilerInfo`: functions, types, modules, method bodies. Every runtime has it.
#[doc(alias = "ICorProfilerInfo")]
pub trait CorProfilerInfo: Sealed {
    __cor_profiler_info! { calls }

    /// The metadata of a module, for reading.
    ///
    /// On the first request for a module, the runtime converts its metadata to another form, and is slower
    /// with that module from then on: for the core library, at the start of a small program, that costs
    /// about 2 ms.
    #[wraps(ICorProfilerInfo::GetModuleMetaData
        at "from `module_load_finished` on; not during a collection, not from a function that \
            IL calls without a transition."
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded; another error for \
               modules that have no metadata, such as resources.")]
    fn module_metadata(&self, module: ModuleId) -> Result<Metadata<'_>> {
        Metadata::of_module(self.handle(), module)
    }

    /// The metadata of a module, for additions.
    ///
    /// The runtime converts the module's metadata to a writable form, and uses that from then on: it is
    /// larger, and slower to read. The runtime does not synchronise threads that read and write it: define
    /// everything needed in `module_load_finished`, before others use the module.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn example(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    /// let writer = info.module_metadata_for_writing(module)?;
    /// let greeting = writer.define_user_string("hello")?; // the operand of an `ldstr`
    /// # Ok(())
    /// # }
    /// ```
    #[wraps(ICorProfilerInfo::GetModuleMetaData, "with the flags to read and write" at LOADED
        fails "The errors of [`module_metadata`](Self::module_metadata); the program may [edit the \
               module while it runs](crate::ProfilerInfo::is_hot_reload_enabled).")]
    #[cfg(feature = "rewrite")]
    fn module_metadata_for_writing(&self, module: ModuleId) -> Result<MetadataWriter<'_>> {
        let info = self.handle();
        refuse_hot_reload(info, "ICorProfilerInfo::GetModuleMetaData", module)?;
        let writer = MetadataWriter::for_user(info, module)?;
        is_written(info, module);
        Ok(writer)
    }

    /// The method that a function is an instance of, with the metadata that names it.
    #[wraps(ICorProfilerInfo::GetTokenAndMetaDataFromFunction
        fails "`E_INVALIDARG` for dynamic methods, which have no metadata.")]
    fn token_and_metadata_from_function(
        &self,
        function: FunctionId,
    ) -> Result<(MethodDef, Metadata<'_>)> {
        let info = self.handle();
        // The metadata is that of the module, and the handle below has all versions of its interface.
        let (_, token) = info.metadata_and_token(function)?;
        let module = info.function_info(function)?.module;
        Ok((token, info.module_metadata(module)?))
    }

    /// Replaces the method body: header, IL and exception clauses, as encoded by ECMA-335 II.25.4.
    ///
    /// It is used from the next compilation of the method on. The bytes are copied to memory from
    /// the module's [allocator](Self::il_function_body_allocator). Needs the feature `rewrite`.
    #[cfg(feature = "rewrite")]
    #[wraps(ICorProfilerInfo::SetILFunctionBody
        at "in `jit_compilation_started` of the method, or before; not during a collection. A \
            profiler that has done so cannot be detached."
        fails "The bytes are not exactly one method body: the runtime would read past their end. \
               The instructions are not checked.")]
    fn set_il_function_body(&self, module: ModuleId, method: MethodDef, body: &[u8]) -> Result<()> {
        let info = self.handle();
        BodyMemory::of(info, module, body)?.set(info, method)
    }
}

impl CorProfilerInfo for ProfilerInfo {}

fn living(function: FunctionId, context: &CallContext<'_>) -> Result<FunctionId> {
    of_living(context, function)?;
    Ok(function)
}

fn found(info: &(impl Sealed + ?Sized), call: &'static str, function: FunctionId) -> Result<()> {
    let info = info.handle();
    find_code(info, call, || {
        let (mut count, none) = (0, std::ptr::null_mut());
        ask!(
            info,
            ICorProfilerInfo::GetILToNativeMapping(
                function.to_native(&CallContext::of_info(call, info))?,
                0,
                &mut count,
                none
            )
        )?;
        Ok(())
    })
}

/// Refuses events that this call cannot set.
fn low_events(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    events: EventMask,
) -> Result<EventMask> {
    let info = info.handle();
    let all = info.with_events_of_others(events);
    if all.high() != 0 {
        return Err(Error::invalid(
            call,
            format_args!("{all:?} has flags that only set_event_mask2 can set"),
        ));
    }
    info.check_events(call, all)?;
    Ok(info.set_requested(events))
}
