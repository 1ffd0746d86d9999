//! Helpers on .NET Framework.
//!
//! A reference finds an assembly there in the folder of the application domain, or in the global assembly cache; one that was loaded
//! by a path or from memory is found by no reference. Each application domain loads assemblies of its own, but domains can share the
//! code of a module. So a helper is loaded by its name, as the references will, and the progress is that of each module.

use super::HelperAssembly;
use super::key::token_of;
use super::progress::{Progress, Step};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, CorProfilerInfo3};
use crate::metadata::{AssemblyProps, MetadataAssemblyImport};
use crate::rewrite::lookup::assembly_name;
use crate::rewrite::store::store;
use crate::runtime::{ProfilerInfo, lock};

/// The name of the application domain whose assemblies belong to all.
const SHARED_DOMAIN: &str = "EE Shared Assembly Repository";

/// The name by which the runtime finds an assembly in the cache.
pub(super) fn full_name(assembly: &AssemblyProps) -> String {
    let version = &assembly.version;
    let culture = match version.culture.is_empty() {
        true => "neutral",
        false => &version.culture,
    };
    let token = match assembly.public_key.is_empty() {
        true => "null".to_owned(),
        false => {
            let token = token_of(&assembly.public_key).map(|byte| format!("{byte:02x}"));
            token.concat()
        }
    };
    format!(
        "{}, Version={}.{}.{}.{}, Culture={culture}, PublicKeyToken={token}",
        assembly.name, version.major, version.minor, version.build, version.revision
    )
}

/// Refuses a module whose code several application domains share: each of them would need a helper of its own.
fn check_unshared(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let facts = info.module_info(module)?;
    let domain = facts.assembly.map(|assembly| info.assembly_info(assembly));
    let domain = domain.transpose()?.and_then(|assembly| assembly.app_domain);
    let of_shared = match domain {
        Some(domain) => info.app_domain_info(domain)?.name == SHARED_DOMAIN,
        None => false,
    };
    // Not available while the module is being loaded.
    let domains = info.app_domains_containing_module(module);
    if !of_shared && domains.map_or(1, |domains| domains.len()) <= 1 {
        return Ok(());
    }
    Err(Error::other(format!(
        "all application domains share the code of {}, and each of them would have to load the helper: start the program with \
         COMPLUS_LoaderOptimization=1, or call functions of the profiler instead (RewriteContext::call_native)",
        assembly_name(info, module).unwrap_or(facts.name)
    )))
}

/// Refuses a helper without a strong name for a module that has one: the runtime does not load such a reference.
fn check_strong_name(helper: &HelperAssembly, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    if !helper.props.public_key.is_empty() {
        return Ok(());
    }
    let metadata = info.module_metadata(module)?;
    let manifest = metadata.assembly_from_scope()?;
    let Some(manifest) = manifest.filter(|manifest| !manifest.is_nil()) else {
        return Ok(());
    };
    let own = metadata.assembly_props(manifest)?;
    match own.public_key.is_empty() {
        true => Ok(()),
        false => Err(Error::other(format!(
            "{} has a strong name, and .NET Framework loads only assemblies with one for it: sign the helper assembly {} with a \
             key",
            own.name, helper.props.name
        ))),
    }
}

/// The progress of a module that is about to get the code that loads a helper.
pub(super) fn begin(
    helper: &HelperAssembly,
    info: &ProfilerInfo,
    module: ModuleId,
) -> Result<&'static Progress> {
    check_unshared(info, module)?;
    check_strong_name(helper, info, module)?;
    let progress = Progress::new();
    let cached = store(info).module(module);
    let mut of_module = lock(&cached.helpers);
    of_module.retain(|(of, _)| *of != helper.progress.identity());
    of_module.push((helper.progress.identity(), progress));
    Ok(progress)
}

/// The progress of a module; that of the process if the module does not load the helper.
pub(super) fn of_module(
    helper: &HelperAssembly,
    info: &ProfilerInfo,
    module: ModuleId,
) -> &'static Progress {
    let cached = store(info).module(module);
    let of_module = lock(&cached.helpers);
    let mut found = of_module.iter();
    let found = found.find(|(of, _)| *of == helper.progress.identity());
    found.map_or(helper.progress, |(_, progress)| progress)
}

/// The progress of the module that has come furthest.
pub(super) fn furthest(helper: &HelperAssembly, info: &ProfilerInfo) -> &'static Progress {
    let all = store(info).progress_of_modules(helper.progress.identity());
    let rank = |progress: &&'static Progress| match progress.step() {
        Step::NotBegun => 0,
        Step::Loading => 1,
        Step::Resolving(_) => 2,
        Step::Done => 3,
    };
    all.into_iter().max_by_key(rank).unwrap_or(helper.progress)
}
