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
use super::profiler_info::of_profiler;
use super::type_loading::may_load_types;
use crate::error::{Error, Result};
use crate::event_mask::EventMask;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, FunctionId, ModuleId, ObjectId, ThreadId,
};
use crate::metadata::{Metadata, MetadataWriter};
use crate::native::{Argument, Asked, pointer};
use clr_profiler_il::token::{MethodDef, TypeDef};

#[cfg(feature = "rewrite")]
pub(super) use bodies::check_body;
use bodies::whole_body;
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
    /// [`object_size2`](super::CorProfilerInfo4::object_size2) is exact for bigger ones too.
    fn object_size(object: ObjectId<'_>) -> u32 = [in gc] GetObjectSize(object, @size)
        fails "`COR_E_OVERFLOW` for objects of 4 GB and more.";

    /// Where the native code of a function is, if it lies together.
    ///
    /// Of code in several pieces it is the first, of several tiers one:
    /// [`code_info4`](super::CorProfilerInfo9::code_info4) tells all.
    fn code_info(function: FunctionId) -> {CodeRange}
        = [steady] GetCodeInfo(function, @start, @size)
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` where there is no code yet.";

    /// The function whose native code an instruction pointer is in; not for dynamic methods.
    ///
    /// [`function_from_ip3`](super::CorProfilerInfo8::function_from_ip3) knows those too, and which
    /// IL the code came from.
    fn function_from_ip(address: usize as pointer) -> FunctionId
        = [in gc] GetFunctionFromIP(address, @function) by living
        fails "`E_FAIL` where it is in no code of a method with metadata.";

    /// Which IL the native code of a function came from.
    ///
    /// Of several tiers it is that of one of them:
    /// [`il_to_native_mapping3`](super::CorProfilerInfo9::il_to_native_mapping3) tells for each.
    fn il_to_native_mapping(function: FunctionId) -> Vec<IlToNative>
        = GetILToNativeMapping(function, @[entries]) given _found = found(function)
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` or `E_INVALIDARG` where there is no code yet.";

    /// The method that a function is an instance of. [`ProfilerInfo::method`] builds on it.
    ///
    /// Dynamic methods have no metadata: their token is nil.
    fn function_info(function: FunctionId) -> {FunctionInfo}
        = [in gc] GetFunctionInfo(function, @class, @module, @token);

    /// Where a type is defined. [`class_id_info2`](super::CorProfilerInfo2::class_id_info2) says more.
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
        = [steady] GetFunctionFromToken(module, method, @function)
        fails "`CORPROF_E_FUNCTION_IS_PARAMETERIZED` for generic methods, \
               `CORPROF_E_DATAINCOMPLETE` while the type is not loaded.";

    /// The operating system's id of the thread that a managed thread runs on.
    fn thread_info(thread: ThreadId) -> u32 = [in gc] GetThreadInfo(thread, @os_thread);

    /// The operating system's handle of a managed thread: on Windows. It belongs to the runtime.
    ///
    /// Elsewhere it is a handle of the runtime's own, good for nothing outside of it.
    fn handle_from_thread(thread: ThreadId) -> Option<NonNull<c_void>>
        = [in gc] GetHandleFromThread(thread, @handle)
        fails "`E_INVALIDARG` for an id of no managed thread.";

    /// The context that a managed thread is in; in .NET (Core) that is its application domain.
    fn thread_context(thread: ThreadId) -> ContextId = [in gc] GetThreadContext(thread, @context)
        fails "`E_INVALIDARG` for an id of no managed thread, `CORPROF_E_DATAINCOMPLETE` where it \
               has none.";

    /// Collects all garbage, and returns when that is done.
    fn force_gc() -> () = ForceGC()
        at NATIVE_THREAD
        fails "`CORPROF_E_UNSUPPORTED_CALL_SEQUENCE` or `CORPROF_E_ASYNCHRONOUS_UNSAFE` from \
               elsewhere.";

    /// The id of the managed thread that this thread is.
    fn current_thread_id() -> ThreadId = [in gc] GetCurrentThreadID(@thread)
        fails "`CORPROF_E_NOT_MANAGED_THREAD` on threads that never ran managed code.";

    /// Elements and dimensions of an array type; `None` for other types.
    fn array_class_info(class: ClassId) -> {ArrayClassInfo}
        = [in gc] IsArrayClass(class, @element_type, @element_class, @rank) none on S_FALSE;

    /// Path, load address and assembly of a module.
    fn module_info(module: ModuleId) -> {ModuleInfo}
        = [steady] GetModuleInfo(module, @base_address, @{name}, @assembly) at LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded.";

    /// Name and process of an application domain.
    fn app_domain_info(app_domain: AppDomainId) -> {AppDomainInfo}
        = GetAppDomainInfo(app_domain, @{name}, @process_id)
        fails "`CORPROF_E_DATAINCOMPLETE` while the domain is being created.";

    /// Name, application domain and manifest module of an assembly.
    fn assembly_info(assembly: AssemblyId) -> {AssemblyInfo}
        = [steady] GetAssemblyInfo(assembly, @{name}, @app_domain, @module)
        at ASSEMBLY_LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the assembly is being loaded.";

    /// The events that the runtime reports, of the lower half of the mask.
    fn event_mask() -> EventMask = [steady] GetEventMask(@low) by of_profiler;

    /// Says which offsets of a replaced method body stand for which of the original, for debuggers.
    ///
    /// Where the function is about to be compiled, `start_jit` is true.
    fn set_il_instrumented_code_map(function: FunctionId, start_jit: bool, map: &[IlMapEntry]) -> ()
        = SetILInstrumentedCodeMap(function, start_jit, map.len(), map.as_ptr())
        at COMPILING
        fails "`CORPROF_E_DEBUGGING_DISABLED` where the runtime was started without a debugger's \
               support.";

    /// The method body: header, IL and exception clauses, as the runtime has it now.
    ///
    /// After [`set_il_function_body`](Self::set_il_function_body) that is the new one.
    // It is part of the loaded image or of memory from the module's allocator, neither of which is
    // freed while the module is loaded.
    fn il_function_body(module: ModuleId, method: MethodDef) -> Vec<u8>
        = [steady] GetILFunctionBody(module, method, @(bytes)) by whole_body
        fails "`CORPROF_E_FUNCTION_NOT_IL` where there is no IL: abstract methods, P/Invokes and \
               what the runtime implements.";

    /// The allocator of a module's method bodies.
    ///
    /// [`set_il_function_body`](Self::set_il_function_body) takes its memory from there by itself.
    fn il_function_body_allocator(module: ModuleId) -> MethodMalloc<'_>
        = GetILFunctionBodyAllocator(module, @allocator)
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded or unloaded.";

    /// Sets which events the runtime reports, of the lower half of the mask.
    ///
    /// Events of `initialize` belong into its [`Setup`](crate::Setup).
    fn set_event_mask(events: EventMask) -> () = SetEventMask((events | more).low())
        given more = low_events(events)
        at "any; immutable flags must stay as they are."
        fails "An error of its own for flags of the upper half, which \
               [`set_event_mask2`](super::CorProfilerInfo5::set_event_mask2) takes, and for flags \
               which cannot be changed, or not be had.";
}

/// The calls of `ICorProfilerInfo`: functions, types, modules, method bodies. Every runtime has it.
#[doc(alias = "ICorProfilerInfo")]
pub trait CorProfilerInfo: Sealed {
    __cor_profiler_info! { calls }

    /// The metadata of a module, for reading.
    ///
    /// Asked for a module for the first time, the runtime brings its metadata into another form, and
    /// is slower with that module from then on: for the core library, at the start of a small
    /// program, that is about 2 ms.
    #[wraps(ICorProfilerInfo::GetModuleMetaData
        at "from `module_load_finished` on; not during a collection, not from a function that \
            IL calls without a transition."
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded; an error of its \
               own for modules that have no metadata, such as resources.")]
    fn module_metadata(&self, module: ModuleId) -> Result<Metadata<'_>> {
        Metadata::of_module(self.handle(), module)
    }

    /// The metadata of a module, to be added to.
    ///
    /// The runtime turns the module's metadata into a form that can be changed, and uses that from
    /// then on: it is larger, and slower to read. Nothing keeps threads apart that read and write
    /// it; define what is needed in `module_load_finished`, before others use the module.
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
        fails "The errors of [`module_metadata`](Self::module_metadata).")]
    fn module_metadata_for_writing(&self, module: ModuleId) -> Result<MetadataWriter<'_>> {
        MetadataWriter::of_module(self.handle(), module)
    }

    /// The method that a function is an instance of, with the metadata that names it.
    #[wraps(ICorProfilerInfo::GetTokenAndMetaDataFromFunction
        fails "`E_INVALIDARG` for dynamic methods, which have no metadata.")]
    fn token_and_metadata_from_function(
        &self,
        function: FunctionId,
    ) -> Result<(MethodDef, Metadata<'_>)> {
        let info = self.handle();
        // That is the metadata of the module, which the handle below has for all of its versions.
        let (_, token) = info.metadata_and_token(function)?;
        let module = info.function_info(function)?.module;
        Ok((token, info.module_metadata(module)?))
    }

    /// Replaces the method body: header, IL and exception clauses, in the form of ECMA-335 II.25.4.
    ///
    /// It counts from the next compilation of the method on. The bytes are copied into memory from
    /// the module's [allocator](Self::il_function_body_allocator). Needs the feature `rewrite`.
    #[cfg(feature = "rewrite")]
    #[wraps(ICorProfilerInfo::SetILFunctionBody
        at "in `jit_compilation_started` of the method, or before; not during a collection. A \
            profiler that has done so cannot be detached."
        fails "An error of its own where the bytes are not one whole method body: the runtime \
               would read past their end. What the instructions do is not checked here.")]
    fn set_il_function_body(&self, module: ModuleId, method: MethodDef, body: &[u8]) -> Result<()> {
        let info = self.handle();
        BodyMemory::of(info, module, body)?.set(info, method)
    }
}

impl CorProfilerInfo for ProfilerInfo {}

fn living(function: FunctionId, asked: &Asked<'_>) -> Result<FunctionId> {
    of_living(asked, function)?;
    Ok(function)
}

fn found(info: &(impl Sealed + ?Sized), call: &'static str, function: FunctionId) -> Result<()> {
    let info = info.handle();
    find_code(info, call, || {
        let (mut count, none) = (0, std::ptr::null_mut());
        ask!(
            info,
            ICorProfilerInfo::GetILToNativeMapping(
                function.to_native(&Asked::of_info(call, info))?,
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
    if events.high() != 0 {
        return Err(Error::invalid(
            call,
            format_args!("{events:?} has flags that only set_event_mask2 can set"),
        ));
    }
    info.handle().check_events(call, events)?;
    Ok(info.handle().asks_for(events))
}
