//! `ICorProfilerInfo8`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::Result;
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::native::read_text;
use clr_profiler_sys::BOOL;

/// A method without metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamicFunctionInfo {
    /// The module that it is said to belong to.
    pub module: Option<ModuleId>,
    /// Its name.
    pub name: String,
    /// Its signature, as ECMA-335 II.23.2 encodes it.
    pub signature: Vec<u8>,
}

/// What `ICorProfilerInfo8` offers: dynamic methods.
#[doc(alias = "ICorProfilerInfo8")]
pub trait CorProfilerInfo8: Sealed {
    /// Whether a function is a dynamic method: one without metadata.
    ///
    /// Wraps `ICorProfilerInfo8::IsFunctionDynamic`. **Context**: any.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "IsFunctionDynamic")]
    fn is_function_dynamic(&self, function: FunctionId) -> Result<bool> {
        let mut is_dynamic = BOOL::default();
        let info = self.handle();
        ask!(steady info,
            ICorProfilerInfo8::IsFunctionDynamic(function.raw(), &mut is_dynamic)
        )?;
        Ok(is_dynamic.as_bool())
    }

    /// The function, dynamic or not, whose native code an instruction pointer is in, and the ReJIT
    /// id of that code.
    ///
    /// Wraps `ICorProfilerInfo8::GetFunctionFromIP3`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_FAIL` where it is in no managed code.
    #[doc(alias = "GetFunctionFromIP3")]
    fn function_from_ip3(&self, address: usize) -> Result<(FunctionId, RejitId)> {
        let (mut function, mut rejit) = (0, 0);
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo8::GetFunctionFromIP3(
                std::ptr::without_provenance(address),
                &mut function,
                &mut rejit,
            )
        )?;
        Ok((
            FunctionId::from_runtime(function),
            RejitId::from_runtime(rejit),
        ))
    }

    /// Name and signature of a dynamic method.
    ///
    /// Wraps `ICorProfilerInfo8::GetDynamicFunctionInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for methods that have metadata.
    #[doc(alias = "GetDynamicFunctionInfo")]
    fn dynamic_function_info(&self, function: FunctionId) -> Result<DynamicFunctionInfo> {
        let (mut module, mut signature, mut signature_length) = (0, std::ptr::null(), 0);
        let info = self.handle();
        let name = read_text(|capacity, length, buffer| {
            ask!(steady info,
                ICorProfilerInfo8::GetDynamicFunctionInfo(
                    function.raw(),
                    &mut module,
                    &mut signature,
                    &mut signature_length,
                    capacity,
                    length,
                    buffer,
                )
            )
        })?;
        let signature = if signature.is_null() {
            Vec::new()
        } else {
            // SAFETY: the runtime says that the signature of that length stands there; it belongs
            // to the method, which lives while it is being asked about.
            unsafe { std::slice::from_raw_parts(signature, signature_length as usize) }.to_vec()
        };
        Ok(DynamicFunctionInfo {
            module: ModuleId::optional(module),
            name,
            signature,
        })
    }
}

impl CorProfilerInfo8 for ProfilerInfo {}
