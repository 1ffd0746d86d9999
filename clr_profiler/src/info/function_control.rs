//! [`FunctionControl`], which takes the IL of a ReJIT.

use super::callback_interface::callback_interface;
use super::code::IlMapEntry;
#[cfg(feature = "rewrite")]
use super::info1::check_body;
use crate::error::Result;
use crate::native::native_flags;
use clr_profiler_sys as sys;

native_flags! {
    /// How a method is compiled.
    CodegenFlags = COR_PRF_CODEGEN_FLAGS {
        /// Nothing is inlined into it.
        DISABLE_INLINING = COR_PRF_CODEGEN_DISABLE_INLINING,
        /// It is not optimised.
        DISABLE_ALL_OPTIMIZATIONS = COR_PRF_CODEGEN_DISABLE_ALL_OPTIMIZATIONS,
    }
}

callback_interface! {
    /// Takes the new IL of a method in [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters).
    FunctionControl = ICorProfilerFunctionControl of "ICorProfilerCallback4::GetReJITParameters";
}

table! { ($) __function_control:
    FunctionControl = ICorProfilerFunctionControl from native;

    /// Sets how the method is compiled.
    pub fn set_codegen_flags(flags: CodegenFlags) -> () = SetCodegenFlags(flags)
        at REJIT_PARAMETERS;

    /// Maps offsets of the original method body to offsets of the new one, for debuggers.
    pub fn set_il_instrumented_code_map(map: &[IlMapEntry]) -> ()
        = SetILInstrumentedCodeMap(map.len(), map.as_ptr()) at REJIT_PARAMETERS;
}

impl FunctionControl<'_> {
    /// Sets the new method body; the runtime copies it. Needs the feature `rewrite`.
    #[cfg(feature = "rewrite")]
    #[wraps(ICorProfilerFunctionControl::SetILFunctionBody at REJIT_PARAMETERS
        fails "The bytes are not exactly one method body; the error of the native call.")]
    pub fn set_il_function_body(&self, body: &[u8]) -> Result<()> {
        check_body("ICorProfilerFunctionControl::SetILFunctionBody", body)?;
        native_call!(
            &self.native,
            ICorProfilerFunctionControl::SetILFunctionBody(body.len() as u32, body.as_ptr())
        )
        .map(drop)
    }

    fn native(&self) -> &sys::ICorProfilerFunctionControl {
        &self.native
    }

    __function_control! { calls }
}
