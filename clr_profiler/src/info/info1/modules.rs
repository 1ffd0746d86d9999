//! The method and the metadata that name a function.

use super::CorProfilerInfo;
use crate::error::Result;
use crate::ids::FunctionId;
use crate::info::Sealed;
use crate::metadata::Metadata;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys::Interface;

impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo from info;
    fn metadata_and_token(function: FunctionId) -> (Metadata<'_>, MethodDef)
        = [steady] GetTokenAndMetaDataFromFunction(
            function, &clr_profiler_sys::IMetaDataImport2::IID, @metadata, @token);
    }
}

pub(super) fn token_and_metadata_from_function(
    info: &ProfilerInfo,
    function: FunctionId,
) -> Result<(MethodDef, Metadata<'_>)> {
    // That is the metadata of the module, which the handle below has for all of its versions.
    let (_, token) = info.metadata_and_token(function)?;
    let module = info.function_info(function)?.module;
    Ok((token, info.module_metadata(module)?))
}
