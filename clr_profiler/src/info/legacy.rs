//! The calls of `ICorProfilerInfo` that no current runtime implements.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::ids::FunctionId;
use crate::native::ComObject;

table! { ($) __cor_profiler_info_legacy:
    CorProfilerInfoLegacy = ICorProfilerInfo from info;

    /// Asks for a function to be compiled again. .NET Framework 1 only.
    #[deprecated = "use `CorProfilerInfo4::request_rejit`"]
    fn set_function_rejit(function: FunctionId) -> () = SetFunctionReJIT(function)
        fails "`E_NOTIMPL`.";

    /// The interface for debugging this process from within. .NET Framework 1 only.
    #[deprecated = "a feature of .NET Framework 1"]
    fn inproc_inspection_interface() -> ComObject = GetInprocInspectionInterface(@interface)
        fails "`E_NOTIMPL`.";

    /// The interface for debugging this thread from within. .NET Framework 1 only.
    #[deprecated = "a feature of .NET Framework 1"]
    fn inproc_inspection_this_thread() -> ComObject = GetInprocInspectionIThisThread(@interface)
        fails "`E_NOTIMPL`.";

    /// Begins debugging from within, and gives the number that ends it. .NET Framework 1 only.
    #[deprecated = "a feature of .NET Framework 1"]
    fn begin_inproc_debugging(this_thread_only: bool) -> u32
        = BeginInprocDebugging(this_thread_only, @context)
        with ENABLE_INPROC_DEBUGGING fails "`E_NOTIMPL`.";

    /// Ends debugging from within. .NET Framework 1 only.
    #[deprecated = "a feature of .NET Framework 1"]
    fn end_inproc_debugging(context: u32) -> () = EndInprocDebugging(context)
        fails "`E_NOTIMPL`.";
}

/// Calls of `ICorProfilerInfo` that runtimes since .NET Framework 2.0 answer with `E_NOTIMPL`.
#[doc(alias = "ICorProfilerInfo")]
pub trait CorProfilerInfoLegacy: Sealed {
    __cor_profiler_info_legacy! { calls }
}

impl CorProfilerInfoLegacy for ProfilerInfo {}
