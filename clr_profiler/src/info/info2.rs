//! `ICorProfilerInfo2`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::Result;
use crate::ids::{ClassId, FunctionId, ModuleId};
use crate::native::{read_array, typed};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// A function: the method that it is an instance of, and its generic arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo2 {
    /// The type; absent where the code is shared by several instantiations.
    pub class: Option<ClassId>,
    /// The module that defines the method.
    pub module: ModuleId,
    /// The method in the metadata of that module.
    pub token: MethodDef,
    /// The generic arguments of the method itself, as far as they are known.
    pub type_arguments: Vec<ClassId>,
}

/// A type: where it is defined, what it derives from, and its generic arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassIdInfo2 {
    /// The module that defines it.
    pub module: Option<ModuleId>,
    /// The type in the metadata of that module.
    pub token: TypeDef,
    /// The type that it derives from; absent for `object` and interfaces.
    pub parent: Option<ClassId>,
    /// Its generic arguments.
    pub type_arguments: Vec<ClassId>,
}

/// What `ICorProfilerInfo2` offers: generics.
#[doc(alias = "ICorProfilerInfo2")]
pub trait CorProfilerInfo2: Sealed {
    /// The method that a function is an instance of, with its generic arguments.
    ///
    /// Code that several instantiations share has `System.__Canon` for those arguments that are
    /// classes. Exact arguments are known only inside enter and leave hooks.
    ///
    /// Wraps `ICorProfilerInfo2::GetFunctionInfo2` without a frame. **Context**: not during a
    /// collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for dynamic methods, which have no metadata.
    #[doc(alias = "GetFunctionInfo2")]
    fn function_info2(&self, function: FunctionId) -> Result<FunctionInfo2> {
        let (mut class, mut module, mut token) = (0, 0, 0);
        let info = self.handle();
        let type_arguments = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo2::GetFunctionInfo2(
                    function.raw(),
                    0,
                    &mut class,
                    &mut module,
                    &mut token,
                    capacity,
                    count,
                    buffer,
                )
            )
        })?;
        Ok(FunctionInfo2 {
            class: ClassId::optional(class),
            module: ModuleId::from_raw(module),
            token: typed("ICorProfilerInfo2::GetFunctionInfo2", token)?,
            type_arguments: class_ids(type_arguments),
        })
    }

    /// Where a type is defined, what it derives from, and its generic arguments.
    ///
    /// Wraps `ICorProfilerInfo2::GetClassIDInfo2`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_CLASSID_IS_ARRAY` for arrays, `CORPROF_E_CLASSID_IS_COMPOSITE` for pointers and
    /// other composed types, `CORPROF_E_DATAINCOMPLETE` while the type is being loaded.
    #[doc(alias = "GetClassIDInfo2")]
    fn class_id_info2(&self, class: ClassId) -> Result<ClassIdInfo2> {
        let (mut module, mut token, mut parent) = (0, 0, 0);
        let info = self.handle();
        let type_arguments = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo2::GetClassIDInfo2(
                    class.raw(),
                    &mut module,
                    &mut token,
                    &mut parent,
                    capacity,
                    count,
                    buffer,
                )
            )
        })?;
        Ok(ClassIdInfo2 {
            module: ModuleId::optional(module),
            token: typed("ICorProfilerInfo2::GetClassIDInfo2", token)?,
            parent: ClassId::optional(parent),
            type_arguments: class_ids(type_arguments),
        })
    }

    /// The function of a method, the type that has it, and its own generic arguments; the runtime
    /// loads what it needs for it.
    ///
    /// `class` is the type with its arguments.
    ///
    /// Wraps `ICorProfilerInfo2::GetFunctionFromTokenAndTypeArgs`. **Context**: not during a
    /// collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for a wrong number of arguments, `CORPROF_E_DATAINCOMPLETE` while the module
    /// is being loaded.
    #[doc(alias = "GetFunctionFromTokenAndTypeArgs")]
    fn function_from_token_and_type_args(
        &self,
        module: ModuleId,
        method: MethodDef,
        class: ClassId,
        type_arguments: &[ClassId],
    ) -> Result<FunctionId> {
        let arguments: Vec<usize> = type_arguments.iter().map(|class| class.raw()).collect();
        let mut function = 0;
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo2::GetFunctionFromTokenAndTypeArgs(
                module.raw(),
                method.raw(),
                class.raw(),
                arguments.len() as u32,
                arguments.as_ptr(),
                &mut function,
            )
        )?;
        Ok(FunctionId::from_raw(function))
    }

    /// The type of a definition and its generic arguments; the runtime loads it if need be.
    ///
    /// `type_arguments` are those of the type and of all types around it, as metadata has them;
    /// empty for types that are not generic. Loading calls the profiler back on this thread, before
    /// this returns.
    ///
    /// Wraps `ICorProfilerInfo2::GetClassFromTokenAndTypeArgs`. **Context**: not during a
    /// collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for a wrong number of arguments, `CORPROF_E_DATAINCOMPLETE` while the module
    /// is being loaded.
    #[doc(alias = "GetClassFromTokenAndTypeArgs")]
    fn class_from_token_and_type_args(
        &self,
        module: ModuleId,
        class: TypeDef,
        type_arguments: &[ClassId],
    ) -> Result<ClassId> {
        let arguments: Vec<usize> = type_arguments.iter().map(|class| class.raw()).collect();
        let mut loaded = 0;
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo2::GetClassFromTokenAndTypeArgs(
                module.raw(),
                class.raw(),
                arguments.len() as u32,
                arguments.as_ptr(),
                &mut loaded,
            )
        )?;
        Ok(ClassId::from_raw(loaded))
    }
}

impl CorProfilerInfo2 for ProfilerInfo {}

fn class_ids(raw: Vec<usize>) -> Vec<ClassId> {
    raw.into_iter().map(ClassId::from_raw).collect()
}
