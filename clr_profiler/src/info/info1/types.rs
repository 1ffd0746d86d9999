//! Types that the calls of `ICorProfilerInfo` return.

use crate::ids::{AppDomainId, AssemblyId, ClassId, ModuleId};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The method that a function is an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// The declaring type; `None` if several instantiations share the code.
    pub class: Option<ClassId>,
    /// The module that defines the method.
    pub module: ModuleId,
    /// The method in the metadata of that module.
    pub token: MethodDef,
}

/// The definition of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassIdInfo {
    /// The module that defines it; `None` for arrays and other composed types.
    pub module: Option<ModuleId>,
    /// The type in the metadata of that module.
    pub token: TypeDef,
}

/// An array type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayClassInfo {
    /// The element type as a `CorElementType`, ECMA-335 II.23.1.16.
    pub element_type: u32,
    /// The type of the elements, if the runtime has loaded it.
    pub element_class: Option<ClassId>,
    /// The number of dimensions.
    pub rank: u32,
}

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleInfo {
    /// The load address of the image; `None` for modules that are built at run time.
    pub base_address: Option<usize>,
    /// The path of the file, or another name for modules without a file.
    pub name: String,
    /// The assembly; `None` before the module is attached to one.
    pub assembly: Option<AssemblyId>,
}

/// An assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssemblyInfo {
    /// The simple name, such as `System.Runtime`.
    pub name: String,
    /// The application domain that it is loaded in.
    pub app_domain: Option<AppDomainId>,
    /// The module that contains the manifest.
    pub module: Option<ModuleId>,
}

/// An application domain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppDomainInfo {
    /// The name.
    pub name: String,
    /// The id of its process.
    pub process_id: usize,
}
