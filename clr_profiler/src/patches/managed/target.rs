//! The values of a patched method, from metadata.

use std::fmt;

use super::bind::{Target, TargetField, TargetParameter, TargetType};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::info::method_facts::definition;
use crate::metadata::{
    Instantiation, Metadata, MetadataImport, MetadataImport2, method_name, nested_names,
};
use crate::patches::plan::{is_value_type, parameter_names};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::attributes::FieldAttributes;
use clr_profiler_il::signature::{TypeNames, TypeSig};
use clr_profiler_il::token::{MethodDef, Token, TypeDef, TypeToken};

/// The number of base types after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;

/// The names of types without assemblies, as those of the patches' assembly are written.
struct BareNames<'a, 'info>(&'a Metadata<'info>);

impl TypeNames for BareNames<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match nested_names(self.0, token) {
            Ok(names) => out.write_str(&names.join("/")),
            Err(_) => out.write_str("?"),
        }
    }
}

pub(super) fn type_of(metadata: &Metadata<'_>, sig: &TypeSig) -> TargetType {
    TargetType {
        shown: sig.display(&BareNames(metadata)).to_string(),
        text: sig.text(&BareNames(metadata)).to_string(),
        sig: sig.clone(),
    }
}

pub(super) fn parameter(
    metadata: &Metadata<'_>,
    name: Option<String>,
    sig: &TypeSig,
) -> TargetParameter {
    let (inner, is_by_ref) = match sig.unmodified() {
        TypeSig::ByRef(inner) => (inner.unmodified(), true),
        other => (other, false),
    };
    TargetParameter {
        name,
        class: type_of(metadata, inner),
        is_by_ref,
    }
}

/// A method of a module.
pub(super) fn of_method(
    info: &ProfilerInfo,
    module: ModuleId,
    method: MethodDef,
    this: Option<TypeSig>,
) -> Result<Target> {
    let metadata = info.module_metadata(module)?;
    let props = metadata.method_props(method)?;
    let signature = props.signature()?;
    let this = match (signature.has_this, this) {
        (false, _) => None,
        (true, Some(this)) => Some(this),
        (true, None) => Some(own_instance(&metadata, props.class)?),
    };
    let this = this.map(|this| {
        let is_by_ref = is_value_type(&this);
        let this = parameter(&metadata, None, &this);
        TargetParameter { is_by_ref, ..this }
    });
    let names = parameter_names(&metadata, method, signature.params.len())?;
    let parameters = signature.params.iter().zip(names);
    let result = signature.return_type.unmodified();
    let mut fields = Vec::new();
    for field in metadata.fields(props.class) {
        let props = metadata.field_props(field?)?;
        if props.attributes.contains(FieldAttributes::LITERAL) {
            continue;
        }
        fields.push(TargetField {
            class: type_of(&metadata, props.signature()?.field_type.unmodified()),
            is_static: props.attributes.is_static(),
            is_init_only: props.attributes.contains(FieldAttributes::INIT_ONLY),
            name: props.name,
        });
    }
    Ok(Target {
        name: method_name(&metadata, method, &props, Instantiation::default())?,
        this,
        parameters: parameters
            .map(|(sig, name)| parameter(&metadata, name, sig))
            .collect(),
        result: (!result.is_void()).then(|| type_of(&metadata, result)),
        fields,
        is_call: false,
    })
}

/// Whether a type that a module names is a struct or an enumeration; `None` if the assembly that defines it is not loaded.
pub(super) fn is_struct(
    info: &ProfilerInfo,
    module: ModuleId,
    class: TypeToken,
) -> Result<Option<bool>> {
    let metadata = info.module_metadata(module)?;
    let Some((module, class)) = definition(info, module, &metadata, class)? else {
        return Ok(None);
    };
    extends_value_type(&info.module_metadata(module)?, class).map(Some)
}

fn extends_value_type(metadata: &Metadata<'_>, class: TypeDef) -> Result<bool> {
    let extends = metadata.type_def_props(class)?.extends;
    let base = match TypeToken::try_from(extends) {
        Ok(base) if !extends.is_nil() => nested_names(metadata, base)?.join("/"),
        _ => String::new(),
    };
    Ok(matches!(&base[..], "System.ValueType" | "System.Enum"))
}

/// A type as its own code refers to it.
fn own_instance(metadata: &Metadata<'_>, class: TypeDef) -> Result<TypeSig> {
    let is_value_type = extends_value_type(metadata, class)?;
    let count = metadata.generic_params(Token::from(class)).count();
    Ok(match (count, is_value_type) {
        (0, true) => TypeSig::ValueType(class.into()),
        (0, false) => TypeSig::Class(class.into()),
        (count, is_value_type) => TypeSig::GenericInstance {
            is_value_type,
            definition: class.into(),
            arguments: (0..).take(count).map(TypeSig::Var).collect(),
        },
    })
}

/// Whether a class derives from another one, or implements an interface, that is not generic; `None` if a type in between is
/// not loaded.
pub(super) fn derives(
    info: &ProfilerInfo,
    module: ModuleId,
    sig: &TypeSig,
    base: &str,
) -> Option<bool> {
    let base = base.strip_prefix("class ")?;
    let class = match sig {
        TypeSig::Class(class) => *class,
        TypeSig::GenericInstance {
            definition,
            is_value_type: false,
            ..
        } => *definition,
        // Strings and arrays have base types, too, but no patch needs them by those.
        _ => return Some(false),
    };
    let mut todo = vec![(module, class)];
    let mut is_known = true;
    for _ in 0..DEPTH_LIMIT {
        let Some((module, class)) = todo.pop() else {
            return is_known.then_some(false);
        };
        let more = bases(info, module, class, base);
        match more {
            Ok(Bases::Found) => return Some(true),
            Ok(Bases::More(more)) => todo.extend(more),
            Ok(Bases::Unknown) | Err(_) => is_known = false,
        }
    }
    None
}

enum Bases {
    Found,
    More(Vec<(ModuleId, TypeToken)>),
    Unknown,
}

fn bases(info: &ProfilerInfo, module: ModuleId, class: TypeToken, base: &str) -> Result<Bases> {
    let metadata = info.module_metadata(module)?;
    let found = definition(info, module, &metadata, class)?;
    let Some((module, class)) = found else {
        // The root of all types has none.
        let is_root = nested_names(&metadata, class).is_ok_and(|it| it == ["System.Object"]);
        return Ok(match is_root {
            true => Bases::More(Vec::new()),
            false => Bases::Unknown,
        });
    };
    let metadata = info.module_metadata(module)?;
    if nested_names(&metadata, class.into())?.join("/") == base {
        return Ok(Bases::Found);
    }
    let mut more = Vec::new();
    let extends = metadata.type_def_props(class)?.extends;
    if !extends.is_nil() {
        let extends = TypeToken::try_from(extends).map_err(Error::other)?;
        more.push((module, extends));
    }
    for implementation in metadata.interface_impls(class) {
        let interface = metadata.interface_impl_props(implementation?)?.interface;
        let interface = TypeToken::try_from(interface).map_err(Error::other)?;
        more.push((module, interface));
    }
    // An interface is found by its name alone, because the assembly that defines it may not be loaded.
    for (_, class) in &more {
        if !matches!(class, TypeToken::Spec(_))
            && nested_names(&metadata, *class)?.join("/") == base
        {
            return Ok(Bases::Found);
        }
    }
    Ok(Bases::More(more))
}
