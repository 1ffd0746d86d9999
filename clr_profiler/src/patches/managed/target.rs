//! The values of a patched method, from metadata.

use std::fmt;

use super::bind::{Inherited, Target, TargetField, TargetParameter, TargetType};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::method_facts::definition;
use crate::info::names::assembly_name;
use crate::info::{CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo3};
use crate::instrumentation::is_framework;
use crate::metadata::{
    Instantiation, Metadata, MetadataAssemblyImport, MetadataImport, MetadataImport2, method_name,
    nested_names,
};
use crate::patches::callers::Callee;
use crate::patches::plan::{is_value_type, parameter_names};
use crate::rewrite::{DeclaredMethod, methods_in_file};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::attributes::{FieldAttributes, MemberAccess};
use clr_profiler_il::signature::{TokenNames, TypeNames, TypeSig};
use clr_profiler_il::token::{AssemblyRef, MethodDef, Token, TypeDef, TypeRef, TypeToken};

/// The number of base types after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;

/// The types that a module names.
pub(super) struct Types<'info> {
    metadata: Metadata<'info>,
    /// The module's own assembly.
    own: String,
}

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

/// Names with the assemblies that a module has them in, for symbols.
struct Qualified<'a, 'info>(&'a Types<'info>);

impl TypeNames for Qualified<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        let types = self.0;
        let names = nested_names(&types.metadata, token);
        let (Ok(names), Ok(assembly)) = (names, types.assembly(token)) else {
            return out.write_str("?");
        };
        let assembly = assembly.as_deref().unwrap_or(&types.own);
        write!(out, "[{assembly}]{}", names.join("/"))
    }
}

impl<'info> Types<'info> {
    pub(super) fn of(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        let metadata = info.module_metadata(module)?;
        let own = assembly_name(info, module, &metadata)?;
        Ok(Self { metadata, own })
    }

    fn name(&self, class: TypeToken) -> Result<String> {
        let name = nested_names(&self.metadata, class)?.join("/");
        let assembly = self.assembly(class)?;
        Ok(compared_name(
            assembly.as_deref().unwrap_or(&self.own),
            &name,
        ))
    }

    /// The assembly that is referred to for a type; `None` for the own one.
    fn assembly(&self, class: TypeToken) -> Result<Option<String>> {
        let mut next = class;
        for _ in 0..DEPTH_LIMIT {
            let TypeToken::Ref(class) = next else {
                break;
            };
            let scope = self.metadata.type_ref_props(class)?.resolution_scope;
            if let Ok(assembly) = AssemblyRef::try_from(scope) {
                return Ok(Some(self.metadata.assembly_ref_props(assembly)?.name));
            }
            match TypeRef::try_from(scope) {
                Ok(outer) if !outer.is_nil() => next = TypeToken::Ref(outer),
                _ => break,
            }
        }
        Ok(None)
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
    let mut fields = Vec::new();
    add_fields(&types, (module, props.class), None, &mut fields)?;
    // Those of base types, the nearest first. An unknown base has no fields.
    let mut next = base(&metadata, props.class)?;
    let mut at = module;
    let mut has_unknown_base = false;
    for _ in 0..DEPTH_LIMIT {
        let Some(class) = next.filter(|class| !matches!(class, TypeToken::Spec(_))) else {
            break;
        };
        let here = info.module_metadata(at)?;
        let Some((defined, class)) = definition(info, at, &here, class)? else {
            has_unknown_base = true;
            break;
        };
        let of_base = Types::of(info, defined)?;
        add_fields(&of_base, (defined, class), Some(module), &mut fields)?;
        next = base(&of_base.metadata, class)?;
        at = defined;
    }
    Ok(Target {
        name: method_name(&metadata, method, &props, Instantiation::default())?,
        this,
        parameters: parameters
            .map(|(sig, name)| types.parameter(name, sig))
            .collect(),
        result: (!result.is_void()).then(|| types.class(result)),
        fields,
        has_unknown_base,
        is_call: false,
    })
}

/// The base of a type, if it has one.
fn base(metadata: &Metadata<'_>, class: TypeDef) -> Result<Option<TypeToken>> {
    let extends = metadata.type_def_props(class)?.extends;
    match extends.is_nil() {
        true => Ok(None),
        false => TypeToken::try_from(extends).map(Some).map_err(Error::other),
    }
}

/// Adds the fields that a type declares: the patched method's own type, or a base type of one in another module or the same.
fn add_fields(
    types: &Types<'_>,
    (module, class): (ModuleId, TypeDef),
    derived: Option<ModuleId>,
    fields: &mut Vec<TargetField>,
) -> Result<()> {
    let is_same = derived.is_none_or(|derived| derived == module);
    let owner = match derived {
        None => String::new(),
        Some(_) => {
            let name = nested_names(&types.metadata, class.into())?.join("/");
            match is_same {
                true => name,
                false => format!("[{}]{name}", types.own),
            }
        }
    };
    for field in types.metadata.fields(class) {
        let field = field?;
        let props = types.metadata.field_props(field)?;
        if props.attributes.contains(FieldAttributes::LITERAL) {
            continue;
        }
        let signature = props.signature()?;
        let sig = signature.field_type.unmodified();
        let mut of = types.class(sig);
        let inherited = derived.map(|_| Inherited {
            owner: owner.clone(),
            type_text: match is_same {
                true => sig.text(&TokenNames).to_string(),
                false => sig.text(&Qualified(types)).to_string(),
            },
            is_accessible: match props.attributes.access() {
                MemberAccess::Public | MemberAccess::Family | MemberAccess::FamOrAssem => true,
                MemberAccess::Assembly | MemberAccess::FamAndAssem => is_same,
                _ => false,
            },
        });
        if !is_same {
            // Tokens of the other module mean nothing here: the type is known by its text alone.
            of.sig = TypeSig::Object;
        }
        fields.push(TargetField {
            class: of,
            is_static: props.attributes.is_static(),
            is_init_only: props.attributes.contains(FieldAttributes::INIT_ONLY),
            name: props.name,
            at: (module, class, field),
            inherited,
        });
    }
    Ok(())
}

/// The bytes from one instance field of an object to another one.
pub(super) fn distance(info: &ProfilerInfo, from: &TargetField, to: &TargetField) -> Result<i32> {
    let offset = |field: &TargetField| {
        let (module, class, token) = field.at;
        let layout = info.class_layout(info.class_from_token(module, class)?)?;
        let mut offsets = layout.fields.into_iter();
        let found = offsets.find(|(of, _)| *of == token);
        let found = found.and_then(|(_, offset)| i32::try_from(offset).ok());
        found.ok_or_else(|| Error::other("it has no offset"))
    };
    Ok(offset(to)? - offset(from)?)
}

/// Whether a module is the one that has the root of all types.
pub(super) fn is_core_library(info: &ProfilerInfo, module: ModuleId) -> Result<bool> {
    let own = Types::of(info, module)?.own;
    Ok(own == "System.Private.CoreLib")
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
