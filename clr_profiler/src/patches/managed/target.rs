//! The values of a patched method, from metadata.

use std::fmt;

use super::bind::{Target, TargetField, TargetParameter, TargetType};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::is_framework;
use crate::info::method_facts::definition;
use crate::info::{CorProfilerInfo, CorProfilerInfo3};
use crate::metadata::{
    Instantiation, Metadata, MetadataImport, MetadataImport2, method_name, nested_names,
};
use crate::patches::callers::Callee;
use crate::patches::fields::{self, DEPTH_LIMIT, Types};
use crate::patches::plan::{is_value_type, parameter_names};
use crate::rewrite::{DeclaredMethod, methods_in_file};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::{TypeNames, TypeSig};
use clr_profiler_il::token::{MethodDef, Token, TypeDef, TypeToken};

/// Names without assemblies, for messages.
struct Shown<'a, 'info>(&'a Types<'info>);

/// Names to be compared, as those of the patches' assembly are written: types of .NET without assemblies, because the same type
/// can have several.
impl TypeNames for Types<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.name(token) {
            Ok(name) => out.write_str(&name),
            Err(_) => out.write_str("?"),
        }
    }
}

impl TypeNames for Shown<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match nested_names(&self.0.metadata, token) {
            Ok(names) => out.write_str(&names.join("/")),
            Err(_) => out.write_str("?"),
        }
    }
}

impl Types<'_> {
    fn name(&self, class: TypeToken) -> Result<String> {
        let name = nested_names(&self.metadata, class)?.join("/");
        let assembly = self.assembly(class)?;
        Ok(compared_name(
            assembly.as_deref().unwrap_or(&self.own),
            &name,
        ))
    }

    pub(super) fn class(&self, sig: &TypeSig) -> TargetType {
        TargetType {
            shown: sig.display(&Shown(self)).to_string(),
            text: sig.text(self).to_string(),
            sig: sig.clone(),
        }
    }

    pub(super) fn parameter(&self, name: Option<String>, sig: &TypeSig) -> TargetParameter {
        let (inner, is_by_ref) = match sig.unmodified() {
            TypeSig::ByRef(inner) => (inner.unmodified(), true),
            other => (other, false),
        };
        TargetParameter {
            name,
            class: self.class(inner),
            is_by_ref,
        }
    }
}

/// The names of the parameters of a called method: of its definition if that is loaded, otherwise of the file that has it.
pub(super) fn names_at_call(
    info: &ProfilerInfo,
    module: ModuleId,
    callee: &Callee,
    params: &[TypeSig],
) -> Result<Vec<Option<String>>> {
    let types = Types::of(info, module)?;
    let texts = |types: &Types<'_>, params: &[TypeSig]| -> Vec<String> {
        let params = params.iter();
        params
            .map(|one| one.text(&Shown(types)).to_string())
            .collect()
    };
    let [assembly, path, name] = callee.parts();
    let mut found = Vec::new();
    match definition(info, module, &types.metadata, callee.parent())? {
        Some((module, class)) => {
            let types = Types::of(info, module)?;
            for method in types.metadata.methods_with_name(class, name)? {
                let method = method?;
                let params = types.metadata.method_props(method)?.signature()?.params;
                found.push(DeclaredMethod {
                    types: texts(&types, &params),
                    names: parameter_names(&types.metadata, method, params.len())?,
                });
            }
        }
        None => found = methods_in_file(info, module, assembly, &path.replace('+', "/"), name)?,
    }
    found.retain(|one| one.names.len() == params.len());
    // Types of instances differ from those of the definition: then there must be no other method.
    let wanted = texts(&types, params);
    let same = found.iter().position(|one| one.types == wanted);
    Ok(match same {
        Some(index) => found.swap_remove(index).names,
        None if found.len() == 1 => found.swap_remove(0).names,
        None => vec![None; params.len()],
    })
}

/// The name of a type with its assembly, without that of .NET.
pub(super) fn compared_name(assembly: &str, name: &str) -> String {
    match is_framework(assembly) {
        true => name.to_owned(),
        false => format!("[{assembly}]{name}"),
    }
}

/// Refuses types of assemblies that are loaded twice: the patches find one of them, and the method may be of the other.
pub(super) fn check_unique(info: &ProfilerInfo, assemblies: &[Box<str>]) -> Result<()> {
    if assemblies.is_empty() {
        return Ok(());
    }
    let mut counts = vec![0; assemblies.len()];
    for module in info.modules()? {
        // One that is being loaded, or unloaded, has no assembly yet.
        let Ok(Some(of)) = info.module_info(module?).map(|facts| facts.assembly) else {
            continue;
        };
        let Ok(name) = info.assembly_info(of).map(|facts| facts.name) else {
            continue;
        };
        for (wanted, count) in assemblies.iter().zip(&mut counts) {
            *count += i32::from(wanted.eq_ignore_ascii_case(&name));
        }
    }
    let twice = assemblies.iter().zip(counts).find(|(_, count)| *count > 1);
    match twice {
        None => Ok(()),
        Some((name, _)) => Err(Error::other(format!(
            "the assembly {name} is loaded more than once, and the types of the patches are those of one of them"
        ))),
    }
}

/// A method of a module.
pub(super) fn of_method(
    info: &ProfilerInfo,
    module: ModuleId,
    method: MethodDef,
    this: Option<TypeSig>,
) -> Result<Target> {
    let types = Types::of(info, module)?;
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
        let this = types.parameter(None, &this);
        TargetParameter { is_by_ref, ..this }
    });
    let names = parameter_names(&metadata, method, signature.params.len())?;
    let parameters = signature.params.iter().zip(names);
    let result = signature.return_type.unmodified();
    let found = fields::of_type(info, module, props.class)?;
    let fields = found.all.into_iter().map(|field| {
        let inherited = field.inherited.as_ref();
        Ok(match inherited.filter(|one| !one.is_same_module) {
            None => TargetField {
                class: types.class(&field.sig),
                field,
            },
            Some(_) => {
                let mut class = Types::of(info, field.at.0)?.class(&field.sig);
                // Tokens of the other module mean nothing here: the type is known by its text alone.
                class.sig = TypeSig::Object;
                TargetField { class, field }
            }
        })
    });
    Ok(Target {
        name: method_name(&metadata, method, &props, Instantiation::default())?,
        this,
        parameters: parameters
            .map(|(sig, name)| types.parameter(name, sig))
            .collect(),
        result: (!result.is_void()).then(|| types.class(result)),
        fields: fields.collect::<Result<_>>()?,
        has_unknown_base: found.has_unknown_base,
        is_call: false,
    })
}

/// The name of a module's assembly.
pub(super) fn assembly(info: &ProfilerInfo, module: ModuleId) -> Result<String> {
    Ok(Types::of(info, module)?.own)
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
    let Some(base) = base.strip_prefix("class ") else {
        return Some(false);
    };
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
    let types = Types::of(info, module)?;
    // By its name alone, because the assembly that defines it may not be loaded.
    if !matches!(class, TypeToken::Spec(_)) && types.name(class)? == base {
        return Ok(Bases::Found);
    }
    let Some((module, class)) = definition(info, module, &types.metadata, class)? else {
        // The root of all types has none.
        let is_root = types.name(class).is_ok_and(|name| name == "System.Object");
        return Ok(match is_root {
            true => Bases::More(Vec::new()),
            false => Bases::Unknown,
        });
    };
    let metadata = info.module_metadata(module)?;
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
    Ok(Bases::More(more))
}
