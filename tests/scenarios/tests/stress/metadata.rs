//! Calls about metadata.

use clr_profiler::metadata::AnySignature;
use clr_profiler::prelude::*;

use super::calls::Random;
use super::world::{Module, State, Type};

type Outcome = Option<Result<bool>>;

/// With the metadata of any known module.
fn with(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
    ask: impl FnOnce(&Metadata<'_>, &Module) -> Result<bool>,
) -> Outcome {
    let module = random.pick(&state.modules)?;
    let metadata = info.module_metadata(module.id);
    Some(metadata.and_then(|metadata| ask(&metadata, module)))
}

/// With any of its types.
fn with_type(
    info: &ProfilerInfo,
    state: &State,
    random: &mut Random,
    ask: impl FnOnce(&Metadata<'_>, &Type) -> Result<bool>,
) -> Outcome {
    let module = random.pick(&state.modules)?;
    let class = random.pick(&module.types)?;
    let metadata = info.module_metadata(module.id);
    Some(metadata.and_then(|metadata| ask(&metadata, class)))
}

/// Declares a call: about a module, or a type of one.
macro_rules! asks {
    ($($with:ident $name:ident = |$metadata:ident, $known:ident| $is_right:expr;)*) => {$(
        pub(super) fn $name(info: &ProfilerInfo, state: &State, random: &mut Random) -> Outcome {
            $with(info, state, random, |$metadata, $known| Ok($is_right))
        }
    )*};
}

/// The number of items, each of which must succeed.
fn count<T>(items: impl Iterator<Item = Result<T>>) -> Result<usize> {
    items.map(|item| item.map(|_| 1)).sum()
}

asks! {
    with scope_props = |it, known| {
        let props = it.scope_props()?;
        (props.name.as_str(), props.mvid) == (&known.name, known.mvid)
    };
    with type_defs = |it, known| count(it.type_defs())? == known.type_count;
    with_type type_def_props = |it, known| it.type_def_props(known.token)?.name == known.name;
    with_type find_type_def_by_name = |it, known| {
        let found = it.find_type_def_by_name(&known.name, known.outer)?;
        // `<Module>` cannot be found by its name.
        found == known.token
    };
    with find_no_type = |it, _known| it.find_type_def_by_name("No.Such", None).map(|_| false)?;
    with_type nested_class_props = |it, known| it.nested_class_props(known.token)? == known.outer;
    with_type methods = |it, known| {
        let methods = it.methods(known.token).collect::<Result<Vec<_>>>()?;
        methods.iter().eq(known.methods.iter().map(|(token, _)| token))
    };
    with_type method_props = |it, known| {
        let mut right = true;
        for (token, name) in known.methods.iter().take(8) {
            let props = it.method_props(*token)?;
            right &= props.name == *name && props.class == known.token;
        }
        right
    };
    with_type find_method = |it, known| match known.methods.first() {
        Some((_, name)) => {
            let found = it.find_method(Some(known.token), name, AnySignature)?;
            it.method_props(found)?.name == *name
        }
        None => true,
    };
    with_type fields = |it, known| count(it.fields(known.token))? == known.fields;
    with type_refs = |it, known| count(it.type_refs())? == known.type_ref_count;
    with_type custom_attributes = |it, known| {
        count(it.custom_attributes(Some(known.token.into()), None))? == known.attributes
    };
    with user_strings = |it, known| count(it.user_strings())? == known.user_strings;
    with_type generic_params = |it, known| {
        count(it.generic_params(known.token))? == known.generic_params
    };
    with pe_kind = |it, _known| it.pe_kind().is_ok();
    with assembly_props = |it, known| match it.assembly_from_scope()? {
        Some(assembly) => it.assembly_props(assembly)?.name == known.assembly_name,
        None => false,
    };
    with assembly_refs = |it, known| count(it.assembly_refs()?)? == known.assembly_refs;
    with table_info = |it, known| {
        let info = it.table_info(TYPE_DEF)?;
        info.name == "TypeDef" && info.rows as usize == known.type_count + 1
    };
    with_type column = |it, known| {
        let name = it.column(TYPE_DEF, TYPE_NAME, known.token.row())?;
        known.name.ends_with(&it.string(name)?)
    };
}

/// The table of types, and its column with their names.
const TYPE_DEF: u32 = 2;
const TYPE_NAME: u32 = 1;
