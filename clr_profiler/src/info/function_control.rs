//! [`FunctionControl`]: the answer to the runtime's question for the IL of a ReJIT.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use super::code::IlMapEntry;
use super::info1::check_body;
use crate::error::{Error, Result};
use crate::native::native_flags;
use clr_profiler_sys as sys;
use sys::Interface;

native_flags! {
    /// How a method is compiled.
    CodegenFlags = COR_PRF_CODEGEN_FLAGS {
        /// Nothing is inlined into it.
        DISABLE_INLINING = COR_PRF_CODEGEN_DISABLE_INLINING,
        /// It is not optimised.
        DISABLE_ALL_OPTIMIZATIONS = COR_PRF_CODEGEN_DISABLE_ALL_OPTIMIZATIONS,
    }
}

/// Takes the new IL of a method in [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters).
///
/// Wraps `ICorProfilerFunctionControl`.
#[doc(alias = "ICorProfilerFunctionControl")]
pub struct FunctionControl<'callback> {
    native: sys::ICorProfilerFunctionControl,
    callback: PhantomData<&'callback ()>,
}

table! { ($) __function_control:
    FunctionControl = ICorProfilerFunctionControl from native;

    /// Sets how the method is compiled.
    pub fn set_codegen_flags(flags: CodegenFlags) -> () = SetCodegenFlags(flags)
        at REJIT_PARAMETERS;

    /// Says which offsets of the new method body stand for which of the original, for debuggers.
    pub fn set_il_instrumented_code_map(map: &[IlMapEntry]) -> ()
        = SetILInstrumentedCodeMap(map.len(), map.as_ptr()) at REJIT_PARAMETERS;
}

impl FunctionControl<'_> {
    /// # Safety
    ///
    /// `native` is null or an `ICorProfilerFunctionControl` that lives during the callback.
    pub(crate) unsafe fn from_callback(native: *mut c_void) -> Result<Self> {
        // SAFETY: as the caller promises.
        let native = unsafe { sys::ICorProfilerFunctionControl::from_raw_borrowed(&native) };
        match native {
            Some(native) => Ok(Self {
                native: native.clone(),
                callback: PhantomData,
            }),
            None => Err(Error::invalid(
                "ICorProfilerCallback4::GetReJITParameters",
                "the runtime passed no ICorProfilerFunctionControl",
            )),
        }
    }

    /// Sets the new method body; the runtime copies it.
    ///
    /// Wraps `ICorProfilerFunctionControl::SetILFunctionBody`.
    ///
    /// # Errors
    ///
    /// An error of its own where the bytes are not one whole method body, and what the runtime
    /// answers.
    #[doc(alias = "SetILFunctionBody")]
    pub fn set_il_function_body(&self, body: &[u8]) -> Result<()> {
        check_body("ICorProfilerFunctionControl::SetILFunctionBody", body)?;
        native_call!(
            &self.native,
            ICorProfilerFunctionControl::SetILFunctionBody(body.len() as u32, body.as_ptr())
        )?;
        Ok(())
    }

    fn native(&self) -> &sys::ICorProfilerFunctionControl {
        &self.native
    }

    __function_control! { calls }
}

impl fmt::Debug for FunctionControl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FunctionControl")
    }
}
