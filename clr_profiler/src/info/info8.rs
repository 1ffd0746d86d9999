//! `ICorProfilerInfo8`.

use super::ProfilerInfo;
use super::handle::Sealed;
use super::info4::living;
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::native::pointer;

/// A method without metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamicFunctionInfo {
    /// The module that it is associated with.
    pub module: Option<ModuleId>,
    /// Its name.
    pub name: String,
    /// Its signature, as ECMA-335 II.23.2 encodes it.
    pub signature: Vec<u8>,
}

table! { ($) __cor_profiler_info8:
    CorProfilerInfo8 = ICorProfilerInfo8 from info;

    /// Whether a function is a dynamic method: one without metadata.
    fn is_function_dynamic(function: FunctionId) -> bool
        = [notrigger] IsFunctionDynamic(function, @is_dynamic);

    /// The function, dynamic or not, whose native code contains an instruction pointer, and the ReJIT id of
    /// that code.
    fn function_from_ip3(address: usize as pointer) -> (FunctionId, RejitId)
        = GetFunctionFromIP3(address, @function, @rejit) by living
        fails "`E_FAIL` for an address outside managed code.";

    /// The name and signature of a dynamic method.
    fn dynamic_function_info(function: FunctionId) -> {DynamicFunctionInfo}
        = [notrigger] GetDynamicFunctionInfo(function, @module, @(signature), @{name})
        fails "`E_INVALIDARG` for methods that have metadata.";
}

/// The calls of `ICorProfilerInfo8`: dynamic methods.
#[doc(alias = "ICorProfilerInfo8")]
pub trait CorProfilerInfo8: Sealed {
    __cor_profiler_info8! { calls }
}

impl CorProfilerInfo8 for ProfilerInfo {}
