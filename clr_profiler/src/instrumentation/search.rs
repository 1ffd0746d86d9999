//! The selected methods of a module, and the precompiled code that has copies of them.

use std::collections::HashMap;
use std::rc::Rc;

use super::rules::{Description, RuleIndex, Selection};
use super::table::MethodKey;
use crate::error::Result;
use crate::ids::ModuleId;
use crate::info::method_facts::{Known, MethodDefinition};
use crate::info::names::type_path;
use crate::info::{CorProfilerInfo, CorProfilerInfo6};
use crate::metadata::{Metadata, MetadataImport, own};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::pattern::{MethodPattern, is_generated, own_name};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The number of patterns from which on it is cheaper to look at each method than to compare each type with each
/// pattern.
const MANY: usize = 32;

/// The patterns that can select methods of an assembly, by the types that they name.
struct Types<'d> {
    /// Those with a name without wildcards, by this name alone.
    named: HashMap<&'d str, Vec<&'d MethodPattern>>,
    others: Vec<&'d MethodPattern>,
}

impl<'d> Types<'d> {
    fn new(description: &'d Description, assembly: &str, is_framework: bool) -> Self {
        let mut types = Self {
            named: HashMap::new(),
            others: Vec::new(),
        };
        for pattern in description.patterns_reaching(assembly, is_framework) {
            match pattern.type_name() {
                Some(name) => types.named.entry(name).or_default().push(pattern),
                None => types.others.push(pattern),
            }
        }
        types
    }

    /// The path of a type, if methods of it can be selected.
    fn reach(&self, metadata: &Metadata<'_>, class: TypeDef) -> Result<Option<String>> {
        // The name alone is read faster than the path, which is needed for wildcards.
        if self.others.is_empty() {
            let name = metadata.type_def_props(class)?.name;
            if !self.named.contains_key(own_name(&name)) {
                return Ok(None);
            }
        }
        let path = type_path(metadata, class)?;
        let is_reached = self.others.len() >= MANY || {
            let named = self.named.get(own_name(&path));
            let mut patterns = named.into_iter().flatten().chain(&self.others);
            patterns.any(|pattern| pattern.matches_type(&path))
        };
        Ok(is_reached.then_some(path))
    }
}

/// The selected methods with IL, with their rules.
pub(super) fn find(
    info: &ProfilerInfo,
    module: ModuleId,
    description: &Description,
    (assembly, is_framework): (&str, bool),
) -> Result<Vec<(MethodDef, Vec<RuleIndex>)>> {
    let metadata = info.module_metadata(module)?;
    let types = Types::new(description, assembly, is_framework);
    let reaching = description.reaching(assembly, is_framework);
    let assembly: Rc<str> = assembly.into();
    let is_of_types = description.are_of_types(&reaching);
    let mut found = Vec::new();
    for class in classes(&metadata)? {
        let Some(path) = types.reach(&metadata, class)? else {
            continue;
        };
        let known = Known {
            assembly: Some(Rc::clone(&assembly)),
            class: Some(path.into()),
        };
        let define = |token, props| -> Result<MethodDefinition<'_>> {
            Ok(MethodDefinition {
                info,
                module,
                metadata: match metadata.of_same_image() {
                    Some(metadata) => metadata,
                    None => info.module_metadata(module)?,
                },
                token,
                props,
                known: known.clone(),
            })
        };
        // Of methods with other names, and of those whose names the compiler has made.
        let mut selections: [Option<Selection>; 2] = [None, None];
        for token in methods(&metadata, class)? {
            if is_of_types
                && let Some((has_body, is_generated)) = metadata.own(|own| outline(own, token))
                && let Some(Some(selection)) = selections.get(usize::from(is_generated))
            {
                if has_body {
                    description.count(selection);
                    let mut rules = selection.rules.clone();
                    let method = || define(token, metadata.method_props(token)?);
                    description.leave_alone(&mut rules, method)?;
                    if !rules.is_empty() {
                        found.push((token, rules));
                    }
                }
                continue;
            }
            let props = metadata.method_props(token)?;
            // A method without an address in the image has no IL, or was added with its body by this library.
            if props.rva == 0 {
                continue;
            }
            let method = define(token, props)?;
            let is_global = class.row() == 1;
            let selection = description.select(&reaching, &method, is_framework, is_global)?;
            let mut rules = selection.rules.clone();
            description.leave_alone(&mut rules, || Ok(&method))?;
            if !rules.is_empty() {
                found.push((token, rules));
            }
            let is_generated = is_generated(&method.props.name);
            if let Some(slot) = selections.get_mut(usize::from(is_generated)) {
                *slot = Some(selection);
            }
        }
    }
    Ok(found)
}

/// The types of a module. The runtime is not asked if its image tells, as it does until the module is opened for writing: for enumerations, it
/// opens the module so itself.
fn classes(metadata: &Metadata<'_>) -> Result<Vec<TypeDef>> {
    let mut all: Vec<TypeDef> = match metadata.own(|own| Some(own::type_defs(own).collect())) {
        Some(own) => own,
        None => metadata.type_defs().collect::<Result<_>>()?,
    };
    // That of global methods is not among them.
    all.extend(TypeDef::from_row(1));
    Ok(all)
}

/// The methods of a type, in the same way.
fn methods(metadata: &Metadata<'_>, class: TypeDef) -> Result<Vec<MethodDef>> {
    match metadata.own(|own| Some(own.methods(class).collect())) {
        Some(own) => Ok(own),
        None => metadata.methods(class).collect(),
    }
}

/// Whether a method has a body, and whether the compiler has made its name.
fn outline(own: &clr_metadata::Metadata<'_>, method: MethodDef) -> Option<(bool, bool)> {
    let row = own.row(method).ok()?;
    let name = own.string(row.name).ok()?;
    Some((row.rva != 0, is_generated(name)))
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
