//! The methods of a module that match a pattern.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::info::method_facts::{Known, MethodDefinition};
use crate::info::names::{assembly_name, type_path};
use crate::metadata::{Metadata, MetadataImport};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::pattern::{MethodPattern, own_name};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The types of modules by their own names, for one search after the other: most patterns name a type.
#[derive(Default)]
pub(super) struct Types(HashMap<ModuleId, HashMap<String, Vec<TypeDef>>>);

impl Types {
    /// The types that a pattern can match.
    fn candidates(
        &mut self,
        metadata: &Metadata<'_>,
        module: ModuleId,
        pattern: &MethodPattern,
    ) -> Result<Vec<TypeDef>> {
        // The type of global methods is not among those that are enumerated.
        let global = TypeDef::from_row(1).into_iter().map(Ok);
        let mut all = metadata.type_defs().chain(global);
        let Some(name) = pattern.type_name() else {
            return all.collect();
        };
        let by_name = match self.0.entry(module) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let mut by_name: HashMap<String, Vec<TypeDef>> = HashMap::new();
                all.try_for_each(|class| {
                    let class = class?;
                    let name = metadata.type_def_props(class)?.name;
                    by_name
                        .entry(own_name(&name).to_owned())
                        .or_default()
                        .push(class);
                    Ok::<_, Error>(())
                })?;
                unknown.insert(by_name)
            }
        };
        Ok(by_name.get(name).cloned().unwrap_or_default())
    }
}

/// The methods with IL that match.
pub(super) fn find(
    info: &ProfilerInfo,
    module: ModuleId,
    pattern: &MethodPattern,
    types: &mut Types,
) -> Result<Vec<MethodDef>> {
    let metadata = info.module_metadata(module)?;
    let mut assembly = None;
    if pattern.assembly().is_some() {
        let name = assembly_name(info, module, &metadata)?;
        if !pattern.matches_assembly(&name) {
            return Ok(Vec::new());
        }
        assembly = Some(name.into());
    }
    let mut found = Vec::new();
    for class in types.candidates(&metadata, module, pattern)? {
        let path = type_path(&metadata, class)?;
        if !pattern.matches_type(&path) {
            continue;
        }
        let known = Known {
            assembly: assembly.clone(),
            class: Some(path.into()),
        };
        for token in metadata.methods(class) {
            let token = token?;
            let props = metadata.method_props(token)?;
            // A method without an address in the image has no IL: it is abstract, for example.
            if props.rva == 0 {
                continue;
            }
            let metadata = info.module_metadata(module)?;
            let method = MethodDefinition {
                info,
                module,
                metadata,
                token,
                props,
                known: known.clone(),
            };
            if pattern.matches(&method)? {
                found.push(token);
            }
        }
    }
    Ok(found)
}
