//! `ICorProfilerInfo`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Hresult, Result};
use crate::events::EventMask;
use crate::ids::{AppDomainId, AssemblyId, ClassId, FunctionId, ModuleId, ObjectId, ThreadId};
use crate::metadata::Metadata;
use crate::native::{read_text, typed};
use clr_profiler_il::body::encoded_length;
use clr_profiler_il::token::{MethodDef, TypeDef};

/// A function: the method that it is an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// The type; absent where the code is shared by several instantiations.
    pub class: Option<ClassId>,
    /// The module that defines the method.
    pub module: ModuleId,
    /// The method in the metadata of that module.
    pub token: MethodDef,
}

/// A type: where it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassIdInfo {
    /// The module; absent for arrays and other composed types.
    pub module: Option<ModuleId>,
    /// The type in the metadata of that module.
    pub token: TypeDef,
}

/// An array type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayClassInfo {
    /// The kind of its elements: `CorElementType`, ECMA-335 II.23.1.16.
    pub element_type: u32,
    /// The type of its elements, where the runtime has loaded it.
    pub element_class: Option<ClassId>,
    /// The number of its dimensions.
    pub rank: u32,
}

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleInfo {
    /// The address at which its image is loaded; absent for modules made at run time.
    pub base_address: Option<usize>,
    /// The path of its file, or another name where it has no file.
    pub name: String,
    /// Its assembly; absent until the module was attached to one.
    pub assembly: Option<AssemblyId>,
}

/// An assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssemblyInfo {
    /// Its simple name, such as `System.Runtime`.
    pub name: String,
    /// The application domain that it is loaded in.
    pub app_domain: Option<AppDomainId>,
    /// The module that holds its manifest.
    pub module: Option<ModuleId>,
}

/// An application domain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppDomainInfo {
    /// Its name.
    pub name: String,
    /// The process that it is in.
    pub process_id: usize,
}

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
        ask!(in gc info, ICorProfilerInfo::GetClassFromObject(object.address(), &mut class))?;
        Ok(ClassId::from_raw(class))
    }

    /// The method that a function is an instance of. [`ProfilerInfo::method`] builds on it.
    ///
    /// Wraps `ICorProfilerInfo::GetFunctionInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for dynamic methods, which have no metadata.
    #[doc(alias = "GetFunctionInfo")]
    fn function_info(&self, function: FunctionId) -> Result<FunctionInfo> {
        let (mut class, mut module, mut token) = (0, 0, 0);
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo::GetFunctionInfo(function.raw(), &mut class, &mut module, &mut token)
        )?;
        Ok(FunctionInfo {
            class: ClassId::optional(class),
            module: ModuleId::from_raw(module),
            token: typed("ICorProfilerInfo::GetFunctionInfo", token)?,
        })
    }

    /// Where a type is defined. [`class_id_info2`](super::CorProfilerInfo2::class_id_info2) says more.
    ///
    /// Wraps `ICorProfilerInfo::GetClassIDInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetClassIDInfo")]
    fn class_id_info(&self, class: ClassId) -> Result<ClassIdInfo> {
        let (mut module, mut token) = (0, 0);
        let info = self.handle();
        ask!(
            info,
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
        Ok(ClassId::from_raw(loaded))
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
        ask!(
            info,
            ICorProfilerInfo::GetFunctionFromToken(module.raw(), method.raw(), &mut function)
        )?;
        Ok(FunctionId::from_raw(function))
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
        Ok(ThreadId::from_raw(thread))
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
        let (mut base, mut assembly) = (std::ptr::null(), 0);
        let info = self.handle();
        let name = read_text(|capacity, length, buffer| {
            ask!(
                info,
                ICorProfilerInfo::GetModuleInfo(
                    module.raw(),
                    &mut base,
                    capacity,
                    length,
                    buffer,
                    &mut assembly,
                )
            )
        })?;
        Ok(ModuleInfo {
            base_address: (!base.is_null()).then(|| base.addr()),
            name,
            assembly: AssemblyId::optional(assembly),
        })
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
        let (mut start, mut size) = (std::ptr::null(), 0);
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo::GetILFunctionBody(module.raw(), method.raw(), &mut start, &mut size)
        )?;
        if start.is_null() {
            return Err(Error::invalid(
                "ICorProfilerInfo::GetILFunctionBody",
                "the runtime gave no method body",
            ));
        }
        // SAFETY: the runtime says that the body of `size` bytes stands at `start`; it is part of
        // the loaded image or of memory from the module's allocator, neither of which is freed
        // while the module is loaded.
        Ok(unsafe { std::slice::from_raw_parts(start, size as usize) }.to_vec())
    }

    /// Replaces the method body: header, IL and exception clauses, in the form of ECMA-335 II.25.4.
    ///
    /// It counts from the next compilation of the method on. The bytes are copied into memory that
    /// belongs to the module.
    ///
    /// Wraps `ICorProfilerInfo::SetILFunctionBody` and `GetILFunctionBodyAllocator`. **Context**:
    /// in `jit_compilation_started` of the method, or before; not during a collection. A profiler
    /// that has done so cannot be detached.
    ///
    /// # Errors
    ///
    /// An error of its own where the bytes are not one whole method body: the runtime would read
    /// past their end. What the instructions do is not checked here.
    #[doc(alias = "SetILFunctionBody")]
    #[doc(alias = "GetILFunctionBodyAllocator")]
    fn set_il_function_body(&self, module: ModuleId, method: MethodDef, body: &[u8]) -> Result<()> {
        const CALL: &str = "ICorProfilerInfo::SetILFunctionBody";
        check_body(CALL, body)?;
        let info = self.handle();
        let mut allocator = None;
        ask!(
            info,
            ICorProfilerInfo::GetILFunctionBodyAllocator(module.raw(), &mut allocator)
        )?;
        let Some(allocator) = allocator else {
            return Err(Error::invalid(
                "ICorProfilerInfo::GetILFunctionBodyAllocator",
                "the runtime gave no allocator",
            ));
        };
        // SAFETY: any size may be asked for; a failure is a null pointer.
        let memory = unsafe { allocator.Alloc(body.len() as u32) }.cast::<u8>();
        if memory.is_null() || !memory.addr().is_multiple_of(4) {
            return Err(Error::invalid(
                "IMethodMalloc::Alloc",
                format_args!("no memory for a method body of {} bytes", body.len()),
            ));
        }
        // SAFETY: the allocator gave `body.len()` bytes at `memory`, which nobody else knows yet.
        unsafe { memory.copy_from_nonoverlapping(body.as_ptr(), body.len()) };
        ask!(
            info,
            ICorProfilerInfo::SetILFunctionBody(module.raw(), method.raw(), memory)
        )?;
        Ok(())
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
        let mut process_id = 0;
        let info = self.handle();
        let name = read_text(|capacity, length, buffer| {
            ask!(
                info,
                ICorProfilerInfo::GetAppDomainInfo(
                    app_domain.raw(),
                    capacity,
                    length,
                    buffer,
                    &mut process_id,
                )
            )
        })?;
        Ok(AppDomainInfo { name, process_id })
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
        let (mut app_domain, mut module) = (0, 0);
        let info = self.handle();
        let name = read_text(|capacity, length, buffer| {
            ask!(
                info,
                ICorProfilerInfo::GetAssemblyInfo(
                    assembly.raw(),
                    capacity,
                    length,
                    buffer,
                    &mut app_domain,
                    &mut module,
                )
            )
        })?;
        Ok(AssemblyInfo {
            name,
            app_domain: AppDomainId::optional(app_domain),
            module: ModuleId::optional(module),
        })
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
        ask!(info, ICorProfilerInfo::GetEventMask(&mut low))?;
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

/// Refuses bytes that are not one whole method body.
pub(super) fn check_body(call: &'static str, body: &[u8]) -> Result<()> {
    match encoded_length(body) {
        Ok(length) if length == body.len() => Ok(()),
        Ok(length) => Err(Error::invalid(
            call,
            format_args!(
                "the method body has {length} bytes by its header, {} were given",
                body.len()
            ),
        )),
        Err(error) => Err(Error::invalid(call, error)),
    }
}
