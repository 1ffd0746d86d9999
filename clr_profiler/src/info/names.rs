//! The full names of loaded types, and the names of definitions.

use super::{CorProfilerInfo, CorProfilerInfo2, ProfilerInfo};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ModuleId};
use crate::metadata::{Metadata, MetadataImport, keyword, nested_names, type_def_name};
use clr_profiler_il::token::TypeDef;

/// The maximum depth of named generic arguments: `A<B<C<...>>>`.
const ARGUMENT_DEPTH: u32 = 8;

impl ProfilerInfo {
    /// The full name of a loaded type, such as `Shop.Cart<int>+Line[]`: with its namespace, enclosing
    /// types, generic arguments, and the ranks of arrays.
    ///
    /// A generic argument that the runtime does not report is `?`, and arguments that are nested more than
    /// eight deep end in `...`.
    ///
    /// Calls `ICorProfilerInfo2::GetClassIDInfo2`, `ICorProfilerInfo::IsArrayClass` and
    /// `IMetaDataImport::GetTypeDefProps`. **Context**: any callback, but not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call, such as `CORPROF_E_DATAINCOMPLETE` for a type that is being loaded.
    pub fn class_full_name(&self, class: ClassId) -> Result<String> {
        if let Some(array) = self.array_class_info(class)? {
            return Ok(array_name(self, array.element_class, array.rank, 0));
        }
        type_name(self, class, 0)
    }
}

pub(super) fn class_names(info: &ProfilerInfo, classes: &[ClassId], depth: u32) -> Vec<String> {
    classes
        .iter()
        .map(|class| class_name(info, *class, depth))
        .collect()
}

/// The name of a loaded type; `?` for parts that the runtime does not report.
fn class_name(info: &ProfilerInfo, class: ClassId, depth: u32) -> String {
    if depth >= ARGUMENT_DEPTH {
        return "...".to_owned();
    }
    if let Ok(Some(array)) = info.array_class_info(class) {
        return array_name(info, array.element_class, array.rank, depth);
    }
    type_name(info, class, depth).unwrap_or_else(|_| "?".to_owned())
}

fn array_name(info: &ProfilerInfo, element: Option<ClassId>, rank: u32, depth: u32) -> String {
    let element = match element {
        Some(element) => class_name(info, element, depth + 1),
        None => "?".to_owned(),
    };
    format!("{element}[{}]", ",".repeat(rank.saturating_sub(1) as usize))
}

/// The name of a type that is not an array.
fn type_name(info: &ProfilerInfo, class: ClassId, depth: u32) -> Result<String> {
    let facts = info.class_id_info2(class)?;
    let module = facts
        .module
        .ok_or_else(|| Error::other("the runtime does not report the module of this type"))?;
    let arguments = class_names(info, &facts.type_arguments, depth + 1);
    let name = type_def_name(&info.module_metadata(module)?, facts.token, &arguments)?;
    Ok(keyword(&name).to_owned())
}

/// The simple name of a module's assembly.
pub(crate) fn assembly_name(
    info: &ProfilerInfo,
    module: ModuleId,
    metadata: &Metadata<'_>,
) -> Result<String> {
    match info.module_info(module)?.assembly {
        Some(assembly) => Ok(info.assembly_info(assembly)?.name),
        None => Ok(metadata.scope_props()?.name),
    }
}

/// The name of a type in the form of the metadata: ``Shop.Cart`1+Line``.
pub(crate) fn type_path(metadata: &Metadata<'_>, class: TypeDef) -> Result<String> {
    Ok(nested_names(metadata, class.into())?.join("+"))
}
