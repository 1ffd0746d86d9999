//! Modules, assemblies and application domains: the calls behind the methods.

use super::{AppDomainInfo, AssemblyInfo, CorProfilerInfo, ModuleInfo};
use crate::error::{Error, Result};
use crate::ids::{AppDomainId, AssemblyId, FunctionId, ModuleId};
use crate::info::ProfilerInfo;
use crate::metadata::Metadata;
use crate::native::{read_text, typed};
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys as sys;
use sys::Interface;

pub(super) fn module_info(info: &ProfilerInfo, module: ModuleId) -> Result<ModuleInfo> {
    let (mut base, mut assembly) = (std::ptr::null(), 0);
    let name = read_text(|capacity, length, buffer| {
        ask!(steady info,
            ICorProfilerInfo::GetModuleInfo(
                module.raw(),
                &mut base,
                capacity,
                length,
                buffer,
                &mut assembly,
            )
        )
    })?;
    Ok(ModuleInfo {
        base_address: (!base.is_null()).then(|| base.addr()),
        name,
        assembly: AssemblyId::optional(assembly),
    })
}

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

pub(super) fn app_domain_info(
    info: &ProfilerInfo,
    app_domain: AppDomainId,
) -> Result<AppDomainInfo> {
    let mut process_id = 0;
    let name = read_text(|capacity, length, buffer| {
        ask!(
            info,
            ICorProfilerInfo::GetAppDomainInfo(
                app_domain.raw(),
                capacity,
                length,
                buffer,
                &mut process_id,
            )
        )
    })?;
    Ok(AppDomainInfo { name, process_id })
}

pub(super) fn assembly_info(info: &ProfilerInfo, assembly: AssemblyId) -> Result<AssemblyInfo> {
    let (mut app_domain, mut module) = (0, 0);
    let name = read_text(|capacity, length, buffer| {
        ask!(steady info,
            ICorProfilerInfo::GetAssemblyInfo(
                assembly.raw(),
                capacity,
                length,
                buffer,
                &mut app_domain,
                &mut module,
            )
        )
    })?;
    Ok(AssemblyInfo {
        name,
        app_domain: AppDomainId::optional(app_domain),
        module: ModuleId::optional(module),
    })
}
