//! Which types live on the stack alone: `ref struct` in C#.
//!
//! The type's own module says so by an attribute, so a reference is followed there. The runtime does
//! not tell which module that is; what is loaded is searched by the name of the assembly, and
//! forwarded types are followed.

use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, CorProfilerInfo3, ProfilerInfo};
use crate::metadata::{
    Metadata, MetadataAssemblyImport, MetadataImportAttributes, MetadataImportTypes,
};
use clr_profiler_il::token::{
    AssemblyRef, ExportedType, Token, TokenTable, TypeDef, TypeRef, TypeToken,
};

const ATTRIBUTE: &str = "System.Runtime.CompilerServices.IsByRefLikeAttribute";

/// How often a type is forwarded, or nested, before hostile metadata is suspected.
const LIMIT: usize = 16;

/// Whether values of a type live on the stack alone; `None` if that cannot be told.
pub(super) fn is_by_ref_like(
    info: &ProfilerInfo,
    module: ModuleId,
    class: TypeToken,
) -> Option<bool> {
    let metadata = info.module_metadata(module).ok()?;
    match class {
        TypeToken::Def(class) => has_attribute(&metadata, class),
        TypeToken::Ref(class) => {
            let (scope, path) = path(&metadata, class)?;
            match scope.table() {
                TokenTable::MODULE => has_attribute(&metadata, find(&metadata, &path)?),
                TokenTable::ASSEMBLY_REF => {
                    let assembly = AssemblyRef::try_from(scope).ok()?;
                    let assembly = metadata.assembly_ref_props(assembly).ok()?;
                    search(info, &assembly.name, &path, LIMIT)
                }
                _ => None,
            }
        }
        TypeToken::Spec(_) => None,
    }
}

fn has_attribute(metadata: &Metadata<'_>, class: TypeDef) -> Option<bool> {
    let attribute = metadata.custom_attribute_by_name(class, ATTRIBUTE).ok()?;
    Some(attribute.is_some())
}

/// The scope of a reference, and the names of the types from the outermost to the innermost.
fn path(metadata: &Metadata<'_>, class: TypeRef) -> Option<(Token, Vec<String>)> {
    let mut path = Vec::new();
    let mut class = class;
    while path.len() < LIMIT {
        let props = metadata.type_ref_props(class).ok()?;
        path.push(props.name);
        match TypeRef::try_from(props.resolution_scope) {
            Ok(outer) => class = outer,
            Err(_) => {
                path.reverse();
                return Some((props.resolution_scope, path));
            }
        }
    }
    None
}

fn find(metadata: &Metadata<'_>, path: &[String]) -> Option<TypeDef> {
    let mut found = None;
    for name in path {
        found = Some(metadata.find_type_def_by_name(name, found).ok()?);
    }
    found
}

/// Searches the loaded modules of an assembly. Where it is loaded more than once, one that says yes
/// decides.
fn search(info: &ProfilerInfo, assembly: &str, path: &[String], depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let mut answer = None;
    for module in info.modules().ok()? {
        let Some(metadata) = module
            .ok()
            .and_then(|module| of_assembly(info, module, assembly))
        else {
            continue;
        };
        let found = match find(&metadata, path) {
            Some(class) => has_attribute(&metadata, class),
            None => forwarded(&metadata, path).and_then(|next| search(info, &next, path, depth)),
        };
        match found {
            Some(true) => return Some(true),
            Some(false) => answer = Some(false),
            None => {}
        }
    }
    answer
}

/// The metadata of a module, if it belongs to an assembly of that name.
fn of_assembly<'info>(
    info: &'info ProfilerInfo,
    module: ModuleId,
    assembly: &str,
) -> Option<Metadata<'info>> {
    let id = info.module_info(module).ok()?.assembly?;
    let name = info.assembly_info(id).ok()?.name;
    if !name.eq_ignore_ascii_case(assembly) {
        return None;
    }
    info.module_metadata(module).ok()
}

/// The assembly that the outermost type is forwarded to.
fn forwarded(metadata: &Metadata<'_>, path: &[String]) -> Option<String> {
    let outermost: ExportedType = metadata
        .find_exported_type_by_name(path.first()?, None)
        .ok()?;
    let implementation = metadata.exported_type_props(outermost).ok()?.implementation;
    let assembly = AssemblyRef::try_from(implementation).ok()?;
    Some(metadata.assembly_ref_props(assembly).ok()?.name)
}
