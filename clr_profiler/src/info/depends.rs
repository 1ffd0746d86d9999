//! The collectible modules that functions and types depend on, and with which they are unloaded.

use std::collections::BTreeSet;

use super::collectible::is_collectible;
use super::{CorProfilerInfo, CorProfilerInfo2, ProfilerInfo};
use crate::ids::{ClassId, FunctionId, ModuleId};
use crate::metadata::MetadataImport2;
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys as sys;

/// The maximum depth of nested element types and type arguments.
const DEEPEST: u32 = 64;

/// The ids of the collectible modules that a function depends on; `None` if they cannot be determined.
pub(crate) fn modules_of_function(
    info: &ProfilerInfo,
    function: FunctionId,
) -> Option<BTreeSet<usize>> {
    dependencies(info, function, &mut BTreeSet::new())
}

/// As [`modules_of_function`], and adds the types that the runtime names on the way.
pub(super) fn dependencies(
    info: &ProfilerInfo,
    function: FunctionId,
    classes: &mut BTreeSet<ClassId>,
) -> Option<BTreeSet<usize>> {
    let mut modules = BTreeSet::new();
    let facts = info.function_info2(function).ok()?;
    of_module(info, facts.module, &mut modules);
    let named = facts.class.into_iter().chain(facts.type_arguments);
    // All of them, before one is refused.
    let named: Vec<ClassId> = named.collect();
    classes.extend(&named);
    for class in named {
        of_class(info, class, &mut modules, classes, 0)?;
    }
    // The runtime does not report the type arguments of code that several instantiations share. One such
    // argument represents all classes; another one can be a value type of any module.
    let is_sure = facts.class.is_some() || type_parameters(info, facts.module, facts.token)? < 2;
    is_sure.then_some(modules)
}

/// The number of generic parameters of a method and its type.
fn type_parameters(info: &ProfilerInfo, module: ModuleId, method: MethodDef) -> Option<usize> {
    let metadata = info.module_metadata(module).ok()?;
    let (class, _, _) = metadata.method_parts(method).ok()?;
    let of_class = metadata.generic_params(class).count();
    let of_method = metadata.generic_params(method).count();
    Some(of_class + of_method)
}

/// Whether an element type (`CorElementType`) denotes a type of the core library.
fn is_of_core_library(element_type: u32) -> bool {
    const PRIMITIVE: std::ops::RangeInclusive<u32> =
        sys::ELEMENT_TYPE_VOID..=sys::ELEMENT_TYPE_STRING;
    const OTHERS: [u32; 3] = [
        sys::ELEMENT_TYPE_I,
        sys::ELEMENT_TYPE_U,
        sys::ELEMENT_TYPE_OBJECT,
    ];
    PRIMITIVE.contains(&element_type) || OTHERS.contains(&element_type)
}

/// The ids of the collectible modules that a type depends on; `None` if they cannot be determined.
pub(crate) fn modules_of_class(info: &ProfilerInfo, class: ClassId) -> Option<BTreeSet<usize>> {
    dependencies_of_class(info, class, &mut BTreeSet::new())
}

/// As [`modules_of_class`], and adds the types that the runtime names on the way.
pub(super) fn dependencies_of_class(
    info: &ProfilerInfo,
    class: ClassId,
    classes: &mut BTreeSet<ClassId>,
) -> Option<BTreeSet<usize>> {
    let mut modules = BTreeSet::new();
    of_class(info, class, &mut modules, classes, 0)?;
    Some(modules)
}

fn of_class(
    info: &ProfilerInfo,
    class: ClassId,
    modules: &mut BTreeSet<usize>,
    classes: &mut BTreeSet<ClassId>,
    depth: u32,
) -> Option<()> {
    if depth == DEEPEST {
        return None;
    }
    if let Some(array) = info.array_class_info(class).ok()? {
        return match array.element_class {
            Some(element) => {
                classes.insert(element);
                of_class(info, element, modules, classes, depth + 1)
            }
            None => is_of_core_library(array.element_type).then_some(()),
        };
    }
    let facts = info.class_id_info2(class).ok()?;
    of_module(info, facts.module?, modules);
    classes.extend(facts.parent);
    classes.extend(&facts.type_arguments);
    for argument in facts.type_arguments {
        of_class(info, argument, modules, classes, depth + 1)?;
    }
    Some(())
}

fn of_module(info: &ProfilerInfo, module: ModuleId, modules: &mut BTreeSet<usize>) {
    if is_collectible(info, module) {
        modules.insert(module.raw());
    }
}
