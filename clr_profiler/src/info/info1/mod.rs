//! `ICorProfilerInfo`.

mod bodies;
mod malloc;
mod modules;
mod types;

pub(crate) use bodies::BodyMemory;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::ProfilerInfo;
use super::code::{CodeRange, IlMapEntry, IlToNative, il_to_native};
use super::handle::Sealed;
use crate::error::{Error, Hresult, Result};
use crate::events::EventMask;
use crate::ids::{
    AppDomainId, AssemblyId, ClassId, ContextId, FunctionId, ModuleId, ObjectId, ThreadId,
};
use crate::metadata::{Metadata, MetadataWriter};
use crate::native::{read_array, typed};
use clr_profiler_il::token::{MethodDef, TypeDef};

pub(super) use bodies::check_body;
pub use malloc::MethodMalloc;
pub use types::{
    AppDomainInfo, ArrayClassInfo, AssemblyInfo, ClassIdInfo, FunctionInfo, ModuleInfo,
};

/// What `ICorProfilerInfo` offers: functions, types, modules, method bodies. Every runtime has it.
#[doc(alias = "ICorProfilerInfo")]
pub trait CorProfilerInfo: Sealed {
    /// The type of an object.
    ///
    /// Wraps `ICorProfilerInfo::GetClassFromObject`. **Context**: any callback, also during a
    /// collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetClassFromObject")]
    fn class_from_object(&self, object: ObjectId<'_>) -> Result<ClassId> {
        let mut class = 0;
        let info = self.handle();
        let object = info.place_of("ICorProfilerInfo::GetClassFromObject", object)?;
        ask!(in gc info, ICorProfilerInfo::GetClassFromObject(object, &mut class))?;
        Ok(ClassId::from_runtime(class))
    }

    /// The size of an object in bytes, up to 4 GB.
    ///
    /// [`object_size2`](super::CorProfilerInfo4::object_size2) is exact for bigger ones too.
    ///
    /// Wraps `ICorProfilerInfo::GetObjectSize`. **Context**: any callback, also during a collection.
    ///
    /// # Errors
    ///
    /// `COR_E_OVERFLOW` for objects of 4 GB and more.
    #[doc(alias = "GetObjectSize")]
    fn object_size(&self, object: ObjectId<'_>) -> Result<u32> {
        let mut size = 0;
        let info = self.handle();
        let object = info.place_of("ICorProfilerInfo::GetObjectSize", object)?;
        ask!(in gc info, ICorProfilerInfo::GetObjectSize(object, &mut size))?;
        Ok(size)
    }

    /// Where the native code of a function is, if it lies together.
    ///
    /// Of code in several pieces it is the first, of several tiers one:
    /// [`code_info4`](super::CorProfilerInfo9::code_info4) tells all.
    ///
    /// Wraps `ICorProfilerInfo::GetCodeInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_NOT_COMPILED` where there is no code yet.
    #[doc(alias = "GetCodeInfo")]
    fn code_info(&self, function: FunctionId) -> Result<CodeRange> {
        let (mut start, mut size) = (std::ptr::null(), 0);
        let info = self.handle();
        ask!(steady info, ICorProfilerInfo::GetCodeInfo(function.raw(), &mut start, &mut size))?;
        Ok(CodeRange {
            start: start.addr(),
            size: size as usize,
        })
    }

    /// The function whose native code an instruction pointer is in; not for dynamic methods.
    ///
    /// [`function_from_ip3`](super::CorProfilerInfo8::function_from_ip3) knows those too, and which
    /// IL the code came from.
    ///
    /// Wraps `ICorProfilerInfo::GetFunctionFromIP`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// `E_FAIL` where it is in no code of a method with metadata.
    #[doc(alias = "GetFunctionFromIP")]
    fn function_from_ip(&self, address: usize) -> Result<FunctionId> {
        let mut function = 0;
        let info = self.handle();
        ask!(
            in gc info,
            ICorProfilerInfo::GetFunctionFromIP(
                std::ptr::without_provenance(address),
                &mut function,
            )
        )?;
        Ok(FunctionId::from_runtime(function))
    }

    /// Which IL the native code of a function came from.
    ///
    /// Of several tiers it is that of one of them:
    /// [`il_to_native_mapping3`](super::CorProfilerInfo9::il_to_native_mapping3) tells for each.
    ///
    /// Wraps `ICorProfilerInfo::GetILToNativeMapping`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_NOT_COMPILED` or `E_INVALIDARG` where there is no code yet.
    #[doc(alias = "GetILToNativeMapping")]
    fn il_to_native_mapping(&self, function: FunctionId) -> Result<Vec<IlToNative>> {
        let info = self.handle();
        let entries = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo::GetILToNativeMapping(function.raw(), capacity, count, buffer)
            )
        })?;
        Ok(il_to_native(entries))
    }

    /// The method that a function is an instance of. [`ProfilerInfo::method`] builds on it.
    ///
    /// Dynamic methods have no metadata: their token is nil.
    ///
    /// Wraps `ICorProfilerInfo::GetFunctionInfo`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetFunctionInfo")]
    fn function_info(&self, function: FunctionId) -> Result<FunctionInfo> {
        let (mut class, mut module, mut token) = (0, 0, 0);
        let info = self.handle();
        ask!(
            in gc info,
            ICorProfilerInfo::GetFunctionInfo(function.raw(), &mut class, &mut module, &mut token)
        )?;
        Ok(FunctionInfo {
            class: ClassId::optional(class),
            module: ModuleId::from_runtime(module),
            token: typed("ICorProfilerInfo::GetFunctionInfo", token)?,
        })
    }

    /// Where a type is defined. [`class_id_info2`](super::CorProfilerInfo2::class_id_info2) says more.
    ///
    /// Wraps `ICorProfilerInfo::GetClassIDInfo`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetClassIDInfo")]
    fn class_id_info(&self, class: ClassId) -> Result<ClassIdInfo> {
        let (mut module, mut token) = (0, 0);
        let info = self.handle();
        ask!(
            in gc info,
            ICorProfilerInfo::GetClassIDInfo(class.raw(), &mut module, &mut token)
        )?;
        Ok(ClassIdInfo {
            module: ModuleId::optional(module),
            token: typed("ICorProfilerInfo::GetClassIDInfo", token)?,
        })
    }

    /// The loaded type of a definition that is not generic.
    ///
    /// Wraps `ICorProfilerInfo::GetClassFromToken`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_TYPE_IS_PARAMETERIZED` for generic types, `CORPROF_E_DATAINCOMPLETE` while the type
    /// is not loaded.
    #[doc(alias = "GetClassFromToken")]
    fn class_from_token(&self, module: ModuleId, class: TypeDef) -> Result<ClassId> {
        let mut loaded = 0;
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo::GetClassFromToken(module.raw(), class.raw(), &mut loaded)
        )?;
        Ok(ClassId::from_runtime(loaded))
    }

    /// The compiled function of a method that is not generic.
    ///
    /// Wraps `ICorProfilerInfo::GetFunctionFromToken`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_IS_PARAMETERIZED` for generic methods, `CORPROF_E_DATAINCOMPLETE` while
    /// the type is not loaded.
    #[doc(alias = "GetFunctionFromToken")]
    fn function_from_token(&self, module: ModuleId, method: MethodDef) -> Result<FunctionId> {
        let mut function = 0;
        let info = self.handle();
        ask!(steady info,
            ICorProfilerInfo::GetFunctionFromToken(module.raw(), method.raw(), &mut function)
        )?;
        Ok(FunctionId::from_runtime(function))
    }

    /// Elements and dimensions of an array type; `None` for other types.
    ///
    /// Wraps `ICorProfilerInfo::IsArrayClass`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "IsArrayClass")]
    fn array_class_info(&self, class: ClassId) -> Result<Option<ArrayClassInfo>> {
        let (mut element_type, mut element_class, mut rank) = (0, 0, 0);
        let info = self.handle();
        let answer = ask!(
            in gc info,
            ICorProfilerInfo::IsArrayClass(
                class.raw(), &mut element_type, &mut element_class, &mut rank,
            )
        )?;
        Ok((answer == Hresult::S_OK).then_some(ArrayClassInfo {
            element_type,
            element_class: ClassId::optional(element_class),
            rank,
        }))
    }

    /// The operating system's id of the thread that a managed thread runs on.
    ///
    /// Wraps `ICorProfilerInfo::GetThreadInfo`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetThreadInfo")]
    fn thread_info(&self, thread: ThreadId) -> Result<u32> {
        let mut os_thread = 0;
        let info = self.handle();
        ask!(in gc info, ICorProfilerInfo::GetThreadInfo(thread.raw(), &mut os_thread))?;
        Ok(os_thread)
    }

    /// The operating system's handle of a managed thread: on Windows. It belongs to the runtime.
    ///
    /// Elsewhere it is a handle of the runtime's own, good for nothing outside of it.
    ///
    /// Wraps `ICorProfilerInfo::GetHandleFromThread`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for what is no managed thread.
    #[doc(alias = "GetHandleFromThread")]
    fn handle_from_thread(&self, thread: ThreadId) -> Result<Option<NonNull<c_void>>> {
        let mut handle = std::ptr::null_mut();
        let info = self.handle();
        ask!(in gc info, ICorProfilerInfo::GetHandleFromThread(thread.raw(), &mut handle))?;
        Ok(NonNull::new(handle))
    }

    /// The context that a managed thread is in; in .NET (Core) that is its application domain.
    ///
    /// Wraps `ICorProfilerInfo::GetThreadContext`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for what is no managed thread, `CORPROF_E_DATAINCOMPLETE` where it has none.
    #[doc(alias = "GetThreadContext")]
    fn thread_context(&self, thread: ThreadId) -> Result<ContextId> {
        let mut context = 0;
        let info = self.handle();
        ask!(in gc info, ICorProfilerInfo::GetThreadContext(thread.raw(), &mut context))?;
        Ok(ContextId::from_runtime(context))
    }

    /// Collects all garbage, and returns when that is done.
    ///
    /// Wraps `ICorProfilerInfo::ForceGC`. **Context**: a thread of the profiler's own, which never
    /// ran managed code; not a callback.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_UNSUPPORTED_CALL_SEQUENCE` or `CORPROF_E_ASYNCHRONOUS_UNSAFE` from elsewhere.
    #[doc(alias = "ForceGC")]
    fn force_gc(&self) -> Result<()> {
        let info = self.handle();
        ask!(info, ICorProfilerInfo::ForceGC())?;
        Ok(())
    }

    /// The id of the managed thread that this thread is.
    ///
    /// Wraps `ICorProfilerInfo::GetCurrentThreadID`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_NOT_MANAGED_THREAD` on threads that never ran managed code.
    #[doc(alias = "GetCurrentThreadID")]
    fn current_thread_id(&self) -> Result<ThreadId> {
        let mut thread = 0;
        let info = self.handle();
        ask!(in gc info, ICorProfilerInfo::GetCurrentThreadID(&mut thread))?;
        Ok(ThreadId::from_runtime(thread))
    }

    /// Path, load address and assembly of a module.
    ///
    /// Wraps `ICorProfilerInfo::GetModuleInfo`. **Context**: from `module_load_finished` on; not
    /// during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` while the module is being loaded.
    #[doc(alias = "GetModuleInfo")]
    fn module_info(&self, module: ModuleId) -> Result<ModuleInfo> {
        modules::module_info(self.handle(), module)
    }

    /// The metadata of a module, for reading.
    ///
    /// Asked for a module for the first time, the runtime brings its metadata into another form, and
    /// is slower with that module from then on: for the core library, at the start of a small
    /// program, that is about 2 ms.
    ///
    /// Wraps `ICorProfilerInfo::GetModuleMetaData`. **Context**: from `module_load_finished` on; not
    /// during a collection, not from a function that IL calls without a transition.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` while the module is being loaded; an error of its own for modules
    /// that have no metadata, such as resources.
    #[doc(alias = "GetModuleMetaData")]
    fn module_metadata(&self, module: ModuleId) -> Result<Metadata<'_>> {
        Metadata::of_module(self.handle(), module)
    }

    /// The metadata of a module, to be added to.
    ///
    /// The runtime turns the module's metadata into a form that can be changed, and uses that from
    /// then on: it is larger, and slower to read. Nothing keeps threads apart that read and write
    /// it; define what is needed in `module_load_finished`, before others use the module.
    ///
    /// Wraps `ICorProfilerInfo::GetModuleMetaData` with the flags to read and write. **Context**:
    /// from `module_load_finished` on; not during a collection.
    ///
    /// # Errors
    ///
    /// Those of [`module_metadata`](Self::module_metadata).
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn example(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    /// let writer = info.module_metadata_for_writing(module)?;
    /// let greeting = writer.define_user_string("hello")?; // the operand of an `ldstr`
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "GetModuleMetaData")]
    fn module_metadata_for_writing(&self, module: ModuleId) -> Result<MetadataWriter<'_>> {
        MetadataWriter::of_module(self.handle(), module)
    }

    /// The method body: header, IL and exception clauses, as the runtime has it now.
    ///
    /// After [`set_il_function_body`](Self::set_il_function_body) that is the new one.
    ///
    /// Wraps `ICorProfilerInfo::GetILFunctionBody`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_NOT_IL` where there is no IL: abstract methods, P/Invokes and what the
    /// runtime implements.
    #[doc(alias = "GetILFunctionBody")]
    fn il_function_body(&self, module: ModuleId, method: MethodDef) -> Result<Vec<u8>> {
        bodies::il_function_body(self.handle(), module, method)
    }

    /// The method that a function is an instance of, with the metadata that names it.
    ///
    /// Wraps `ICorProfilerInfo::GetTokenAndMetaDataFromFunction`. **Context**: not during a
    /// collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for dynamic methods, which have no metadata.
    #[doc(alias = "GetTokenAndMetaDataFromFunction")]
    fn token_and_metadata_from_function(
        &self,
        function: FunctionId,
    ) -> Result<(MethodDef, Metadata<'_>)> {
        modules::token_and_metadata_from_function(self.handle(), function)
    }

    /// Replaces the method body: header, IL and exception clauses, in the form of ECMA-335 II.25.4.
    ///
    /// It counts from the next compilation of the method on. The bytes are copied into memory from
    /// the module's [allocator](Self::il_function_body_allocator).
    ///
    /// Wraps `ICorProfilerInfo::SetILFunctionBody`. **Context**: in `jit_compilation_started` of the
    /// method, or before; not during a collection. A profiler that has done so cannot be detached.
    ///
    /// # Errors
    ///
    /// An error of its own where the bytes are not one whole method body: the runtime would read
    /// past their end. What the instructions do is not checked here.
    #[doc(alias = "SetILFunctionBody")]
    fn set_il_function_body(&self, module: ModuleId, method: MethodDef, body: &[u8]) -> Result<()> {
        bodies::set_il_function_body(self.handle(), module, method, body)
    }

    /// The allocator of a module's method bodies.
    ///
    /// [`set_il_function_body`](Self::set_il_function_body) takes its memory from there by itself.
    ///
    /// Wraps `ICorProfilerInfo::GetILFunctionBodyAllocator`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` while the module is being loaded or unloaded.
    #[doc(alias = "GetILFunctionBodyAllocator")]
    fn il_function_body_allocator(&self, module: ModuleId) -> Result<MethodMalloc<'_>> {
        bodies::il_function_body_allocator(self.handle(), module)
    }

    /// Says which offsets of a replaced method body stand for which of the original, for debuggers.
    ///
    /// Where the function is about to be compiled, `start_jit` is true.
    ///
    /// Wraps `ICorProfilerInfo::SetILInstrumentedCodeMap`. **Context**: in
    /// `jit_compilation_started` of the method, after its body was replaced; not during a
    /// collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DEBUGGING_DISABLED` where the runtime was started without a debugger's support.
    #[doc(alias = "SetILInstrumentedCodeMap")]
    fn set_il_instrumented_code_map(
        &self,
        function: FunctionId,
        start_jit: bool,
        map: &[IlMapEntry],
    ) -> Result<()> {
        bodies::set_il_instrumented_code_map(self.handle(), function, start_jit, map)
    }

    /// Name and process of an application domain.
    ///
    /// Wraps `ICorProfilerInfo::GetAppDomainInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` while the domain is being created.
    #[doc(alias = "GetAppDomainInfo")]
    fn app_domain_info(&self, app_domain: AppDomainId) -> Result<AppDomainInfo> {
        modules::app_domain_info(self.handle(), app_domain)
    }

    /// Name, application domain and manifest module of an assembly.
    ///
    /// Wraps `ICorProfilerInfo::GetAssemblyInfo`. **Context**: from `assembly_load_finished` on;
    /// not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` while the assembly is being loaded.
    #[doc(alias = "GetAssemblyInfo")]
    fn assembly_info(&self, assembly: AssemblyId) -> Result<AssemblyInfo> {
        modules::assembly_info(self.handle(), assembly)
    }

    /// The events that the runtime reports, of the lower half of the mask.
    ///
    /// Wraps `ICorProfilerInfo::GetEventMask`. **Context**: any.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetEventMask")]
    fn event_mask(&self) -> Result<EventMask> {
        let mut low = 0;
        let info = self.handle();
        ask!(steady info, ICorProfilerInfo::GetEventMask(&mut low))?;
        Ok(EventMask::from_halves(low, 0))
    }

    /// Sets which events the runtime reports, of the lower half of the mask.
    ///
    /// Events of `initialize` belong into its [`Setup`](crate::Setup).
    ///
    /// Wraps `ICorProfilerInfo::SetEventMask`. **Context**: any; immutable flags must stay as they
    /// are.
    ///
    /// # Errors
    ///
    /// An error of its own for flags of the upper half, which
    /// [`set_event_mask2`](super::CorProfilerInfo5::set_event_mask2) takes, and for flags which
    /// cannot be changed, or not be had.
    #[doc(alias = "SetEventMask")]
    fn set_event_mask(&self, events: EventMask) -> Result<()> {
        if events.high() != 0 {
            return Err(Error::invalid(
                "ICorProfilerInfo::SetEventMask",
                format_args!("{events:?} has flags that only set_event_mask2 can set"),
            ));
        }
        let info = self.handle();
        info.check_events("ICorProfilerInfo::SetEventMask", events)?;
        ask!(info, ICorProfilerInfo::SetEventMask(events.low()))?;
        Ok(())
    }
}

impl CorProfilerInfo for ProfilerInfo {}
