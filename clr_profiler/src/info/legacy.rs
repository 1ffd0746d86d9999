//! What the interfaces still have, and no runtime of today does.

use std::ffi::c_void;
use std::fmt;

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::ids::FunctionId;
use clr_profiler_sys as sys;
use sys::{IUnknown, Interface};

/// An interface for debugging from within the process. No runtime gives one any more.
pub struct InprocInspection {
    native: IUnknown,
}

impl InprocInspection {
    /// # Safety
    ///
    /// Unless it is null, `native` is a reference that is the caller's own.
    unsafe fn from_call(call: &'static str, native: *mut c_void) -> Result<Self> {
        if native.is_null() {
            return Err(Error::invalid(call, "the runtime gave no interface"));
        }
        // SAFETY: as the caller promises; every interface begins like `IUnknown`.
        let native = unsafe { IUnknown::from_raw(native) };
        Ok(Self { native })
    }

    /// The interface, borrowed.
    pub fn as_raw(&self) -> *mut c_void {
        self.native.as_raw()
    }
}

impl fmt::Debug for InprocInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InprocInspection")
    }
}

/// Calls of `ICorProfilerInfo` that runtimes since .NET Framework 2.0 answer with `E_NOTIMPL`.
///
/// They are here so that nothing is missing; there is no use for them.
#[doc(alias = "ICorProfilerInfo")]
pub trait CorProfilerInfoLegacy: Sealed {
    /// Asks for a function to be compiled again. .NET Framework 1 only:
    /// [`request_rejit`](super::CorProfilerInfo4::request_rejit) does that today.
    ///
    /// Wraps `ICorProfilerInfo::SetFunctionReJIT`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL`.
    #[doc(alias = "SetFunctionReJIT")]
    fn set_function_rejit(&self, function: FunctionId) -> Result<()> {
        let info = self.handle();
        ask!(info, ICorProfilerInfo::SetFunctionReJIT(function.raw()))?;
        Ok(())
    }

    /// The interface for debugging this process from within. .NET Framework 1 only.
    ///
    /// Wraps `ICorProfilerInfo::GetInprocInspectionInterface`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL`.
    #[doc(alias = "GetInprocInspectionInterface")]
    fn inproc_inspection_interface(&self) -> Result<InprocInspection> {
        let mut native = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo::GetInprocInspectionInterface(&mut native)
        )?;
        // SAFETY: the runtime gives a reference, or null.
        unsafe {
            InprocInspection::from_call("ICorProfilerInfo::GetInprocInspectionInterface", native)
        }
    }

    /// The interface for debugging this thread from within. .NET Framework 1 only.
    ///
    /// Wraps `ICorProfilerInfo::GetInprocInspectionIThisThread`. **Context**: not during a
    /// collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL`.
    #[doc(alias = "GetInprocInspectionIThisThread")]
    fn inproc_inspection_this_thread(&self) -> Result<InprocInspection> {
        let mut native = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo::GetInprocInspectionIThisThread(&mut native)
        )?;
        // SAFETY: the runtime gives a reference, or null.
        unsafe {
            InprocInspection::from_call("ICorProfilerInfo::GetInprocInspectionIThisThread", native)
        }
    }

    /// Begins debugging from within, and gives the number that ends it. .NET Framework 1 only.
    ///
    /// Wraps `ICorProfilerInfo::BeginInprocDebugging`. **Context**: not during a collection.
    /// **Events**: [`ENABLE_INPROC_DEBUGGING`](crate::EventMask::ENABLE_INPROC_DEBUGGING).
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL`.
    #[doc(alias = "BeginInprocDebugging")]
    fn begin_inproc_debugging(&self, this_thread_only: bool) -> Result<u32> {
        let mut context = 0;
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo::BeginInprocDebugging(this_thread_only.into(), &mut context)
        )?;
        Ok(context)
    }

    /// Ends debugging from within. .NET Framework 1 only.
    ///
    /// Wraps `ICorProfilerInfo::EndInprocDebugging`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL`.
    #[doc(alias = "EndInprocDebugging")]
    fn end_inproc_debugging(&self, context: u32) -> Result<()> {
        let info = self.handle();
        ask!(info, ICorProfilerInfo::EndInprocDebugging(context))?;
        Ok(())
    }
}

impl CorProfilerInfoLegacy for ProfilerInfo {}
