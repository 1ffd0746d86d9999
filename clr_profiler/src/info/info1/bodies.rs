//! Method bodies, and native calls whose public wrappers do more than the call.

use super::CorProfilerInfo;
use crate::error::{Error, Hresult, Result};
use crate::ids::{FunctionId, ModuleId};
use crate::image::Images;
use crate::info::{CorProfilerInfo3, ModuleFlags, Sealed};
use crate::metadata::{Metadata, MetadataImport};
use crate::native::CallContext;
use crate::runtime::ProfilerInfo;
#[cfg(feature = "rewrite")]
use clr_profiler_il::body::encoded_length;
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys::Interface;

impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo from info;
    pub(super) fn metadata_and_token(function: FunctionId) -> (Metadata<'_>, MethodDef)
        = [notrigger] GetTokenAndMetaDataFromFunction(
            function, &clr_profiler_sys::IMetaDataImport2::IID, @metadata, @token);

    fn set_body(module: ModuleId, method: MethodDef, start: *const u8) -> ()
        = SetILFunctionBody(module, method, start);
    }
}

/// Refuses a method without IL in a dynamic module, for which runtimes follow a null pointer.
///
/// A method gets its address when its IL is complete, so that a method with an address has IL.
pub(super) fn has_il(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    module: ModuleId,
    method: MethodDef,
) -> Result<()> {
    let info = info.handle();
    // A module with an image is not dynamic.
    if info.extension::<Images>().of(module).is_some() {
        return Ok(());
    }
    let (_, flags) = info.module_info2(module)?;
    if !flags.contains(ModuleFlags::DYNAMIC) {
        return Ok(());
    }
    if info.module_metadata(module)?.method_props(method)?.rva != 0 {
        return Ok(());
    }
    Err(Error::rule_with_code(
        call,
        format!("{method} has no IL yet, in a module that the program builds while it runs"),
        Hresult::CORPROF_E_FUNCTION_NOT_IL,
    ))
}

pub(super) fn whole_body(body: Vec<u8>, context: &CallContext<'_>) -> Result<Vec<u8>> {
    if body.is_empty() {
        return Err(Error::invalid(
            context.call,
            "the runtime returned no method body",
        ));
    }
    Ok(body)
}

/// A method body in its module's memory. The steps that need memory have succeeded.
#[cfg(feature = "rewrite")]
pub(crate) struct BodyMemory {
    module: ModuleId,
    start: *const u8,
}

#[cfg(feature = "rewrite")]
impl BodyMemory {
    pub(crate) fn of(info: &ProfilerInfo, module: ModuleId, body: &[u8]) -> Result<Self> {
        check_body("ICorProfilerInfo::SetILFunctionBody", body)?;
        let allocator = info.il_function_body_allocator(module)?;
        let memory = allocator.alloc(body.len())?;
        if !memory.as_ptr().addr().is_multiple_of(4) {
            return Err(Error::invalid(
                "IMethodMalloc::Alloc",
                "the memory for a method body does not begin at a multiple of four",
            ));
        }
        memory.copy_from_slice(body);
        Ok(Self {
            module,
            start: memory.as_ptr(),
        })
    }

    pub(crate) fn set(self, info: &ProfilerInfo, method: MethodDef) -> Result<()> {
        info.set_body(self.module, method, self.start)
    }
}

/// Refuses bytes that are not exactly one method body.
#[cfg(feature = "rewrite")]
pub(in crate::info) fn check_body(call: &'static str, body: &[u8]) -> Result<()> {
    match encoded_length(body) {
        Ok(length) if length == body.len() => Ok(()),
        Ok(length) => Err(Error::invalid(
            call,
            format_args!(
                "the method body has {length} bytes according to its header, {} were given",
                body.len()
            ),
        )),
        Err(error) => Err(Error::invalid(call, error)),
    }
}
