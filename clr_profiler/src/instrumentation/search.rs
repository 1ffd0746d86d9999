//! The selected methods of a module, and the precompiled code that has copies of them.

use super::rules::{Description, RuleIndex};
use super::table::MethodKey;
use crate::error::Result;
use crate::ids::ModuleId;
use crate::info::method_facts::MethodDefinition;
use crate::info::names::type_path;
use crate::info::{CorProfilerInfo, CorProfilerInfo6};
use crate::metadata::MetadataImport;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::pattern::MethodPattern;
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The number of patterns from which on it is cheaper to look at each method than to compare each type with each
/// pattern.
const MANY: usize = 32;

/// The selected methods with IL, with their rules.
pub(super) fn find(
    info: &ProfilerInfo,
    module: ModuleId,
    description: &Description,
    is_framework: bool,
) -> Result<Vec<(MethodDef, Vec<RuleIndex>)>> {
    let metadata = info.module_metadata(module)?;
    let included = description.all_patterns();
    let included: Vec<&MethodPattern> = included.filter(|one| !one.is_exclusion()).collect();
    // The type of global methods is not among those that are enumerated.
    let global = TypeDef::from_row(1).into_iter().map(Ok);
    let mut found = Vec::new();
    for class in metadata.type_defs().chain(global) {
        let class = class?;
        if included.len() < MANY {
            let path = type_path(&metadata, class)?;
            if !included.iter().any(|pattern| pattern.matches_type(&path)) {
                continue;
            }
        }
        for token in metadata.methods(class) {
            let token = token?;
            let props = metadata.method_props(token)?;
            // A method without an address in the image has no IL, or was added with its body by this library.
            if props.rva == 0 {
                continue;
            }
            let method = MethodDefinition {
                info,
                module,
                metadata: info.module_metadata(module)?,
                token,
                props,
            };
            let rules = description.select_definition(&method, is_framework, class.row() == 1)?;
            if !rules.is_empty() {
                found.push((token, rules));
            }
        }
    }
    Ok(found)
}

/// The methods of a precompiled module whose code has copies of these methods of it; `None` if its image does not
/// tell.
pub(super) fn inliners(
    info: &ProfilerInfo,
    module: ModuleId,
    methods: impl Iterator<Item = MethodDef>,
) -> Option<Vec<MethodKey>> {
    let mut all = Vec::new();
    for method in methods {
        let found = info.ngen_module_methods_inlining_this_method(module, module, method);
        for inliner in found.ok()?.methods {
            all.push(inliner.ok()?);
        }
    }
    Some(all)
}
