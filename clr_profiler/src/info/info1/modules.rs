//! Modules, assemblies and application domains: the calls behind the methods.

use super::CorProfilerInfo;
use crate::error::{Error, Result};
use crate::ids::FunctionId;
use crate::info::ProfilerInfo;
use crate::metadata::Metadata;
use crate::native::typed;
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys as sys;
use sys::Interface;

pub(super) fn token_and_metadata_from_function(
    info: &ProfilerInfo,
    function: FunctionId,
) -> Result<(MethodDef, Metadata<'_>)> {
    const CALL: &str = "ICorProfilerInfo::GetTokenAndMetaDataFromFunction";
    let (mut import, mut token) = (std::ptr::null_mut(), 0);
    ask!(
        steady info,
        ICorProfilerInfo::GetTokenAndMetaDataFromFunction(
            function.raw(),
            &sys::IMetaDataImport2::IID,
            &mut import,
            &mut token,
        )
    )?;
    if import.is_null() {
        return Err(Error::invalid(CALL, "the runtime gave no metadata"));
    }
    // SAFETY: the runtime gives a reference to the interface that was asked for. It is that of
    // the module, which the handle below has for all of its versions.
    drop(unsafe { sys::IMetaDataImport2::from_raw(import) });
    let module = info.function_info(function)?.module;
    Ok((typed(CALL, token)?, info.module_metadata(module)?))
}
