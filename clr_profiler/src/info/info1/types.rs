//! What the calls of `ICorProfilerInfo` return.

use crate::ids::{AppDomainId, AssemblyId, ClassId, ModuleId};
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
