//! The assembly of patches: its classes and methods, read from its bytes.

use std::collections::BTreeSet;
use std::fmt;

use super::attributes::{Annotations, Role};
use super::bind::{Parameter, PatchMethod, PatchType};
use super::constant;
use super::names::assembly_of;
use super::target::compared_name;
use super::usage;
use crate::error::{Error, Result};
use crate::info::is_framework;
use clr_metadata::token::{GenericParam, MethodDef, ParamDef, TypeDef, TypeToken};
use clr_metadata::{Assembly, Metadata};
use clr_profiler_il::attributes::{MemberAccess, TypeVisibility};
use clr_profiler_il::signature::{MethodSig, TypeNames, TypeSig};
use clr_profiler_il::symbol::MethodSymbol;

/// The priority of patches without one.
const NORMAL: i32 = 400;

/// A class with patches.
pub(super) struct PatchClass {
    pub(super) name: String,
    pub(super) token: TypeDef,
    pub(super) annotations: Annotations,
    /// The targets that the code of the class names, instead of those of the attributes.
    pub(super) targets: Option<Vec<Annotations>>,
    /// Whether its `Prepare` returns false.
    pub(super) is_off: bool,
    pub(super) methods: Vec<ReadMethod>,
}

/// A patch, with its attributes and those of its class.
pub(super) struct ReadMethod {
    pub(super) patch: PatchMethod,
    pub(super) token: MethodDef,
    pub(super) annotations: Annotations,
    /// The types of the assembly in its signature.
    types: Vec<TypeDef>,
}

/// The types in the metadata of a file, with or without their assemblies.
struct FileNames<'a, 'b> {
    metadata: &'b Metadata<'a>,
    /// The name of the file's own assembly.
    own: &'b str,
    assemblies: Assemblies,
}

/// The assemblies that a text has.
#[derive(Clone, Copy)]
enum Assemblies {
    None,
    /// All but .NET's.
    Compared,
    All,
}

impl TypeNames for FileNames<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        let metadata = self.metadata;
        let Ok(name) = metadata.full_name(token) else {
            return out.write_str("?");
        };
        let assembly = assembly_of(metadata, token).unwrap_or(self.own);
        match self.assemblies {
            Assemblies::None => out.write_str(&name),
            Assemblies::Compared => out.write_str(&compared_name(assembly, &name)),
            Assemblies::All => write!(out, "[{assembly}]{name}"),
        }
    }
}

/// Whether a class may have patches: it, or one of its methods, has the attribute.
fn is_annotated(metadata: &Metadata<'_>, class: TypeDef) -> bool {
    const ATTRIBUTE: &str = "HarmonyLib.HarmonyPatch";
    metadata.find_attribute(class, ATTRIBUTE).is_some()
        || metadata
            .methods(class)
            .into_iter()
            .any(|method| metadata.find_attribute(method, ATTRIBUTE).is_some())
}

/// The classes with attributes, and all their mistakes.
pub(super) fn annotated(assembly: &Assembly<'_>) -> (Vec<PatchClass>, Vec<String>) {
    let (mut classes, mut mistakes) = (Vec::new(), Vec::new());
    for class in assembly.metadata.tokens::<TypeDef>() {
        if is_annotated(&assembly.metadata, class) {
            match read(assembly, class, &mut mistakes) {
                Ok(class) if class.is_off => {}
                Ok(class) => classes.push(class),
                Err(mistake) => mistakes.push(mistake.to_string()),
            }
        }
    }
    (classes, mistakes)
}

/// The patches of a class.
pub(super) fn read(
    assembly: &Assembly<'_>,
    class: TypeDef,
    mistakes: &mut Vec<String>,
) -> Result<PatchClass> {
    let metadata = &assembly.metadata;
    let path = metadata.full_name(class.into()).map_err(Error::other)?;
    let name = path.replace('/', ".");
    let of_class =
        |mistake: &dyn fmt::Display| Error::other(format!("the class {name}: {mistake}"));
    let annotations = Annotations::read(metadata, class).map_err(|mistake| of_class(&mistake))?;
    let mut read = PatchClass {
        name: name.clone(),
        token: class,
        annotations,
        targets: None,
        is_off: false,
        methods: Vec::new(),
    };
    let before = mistakes.len();
    for method in metadata.methods(class) {
        let simple = metadata.member_name(method).map_err(Error::other)?;
        let own = match Annotations::read(metadata, method) {
            Ok(own) => own,
            Err(mistake) => {
                mistakes.push(format!("{name}.{simple}: {mistake}"));
                continue;
            }
        };
        match own.role.or_else(|| Role::of(simple)) {
            None => continue,
            Some(Role::Unsupported(why)) => {
                mistakes.push(format!("{name}.{simple}: {why}"));
                continue;
            }
            Some(Role::Target) => {
                let targets = read.targets.get_or_insert_default();
                match constant::targets(assembly, method) {
                    Ok(found) => {
                        let found = found.into_iter();
                        targets.extend(found.map(|one| read.annotations.of(one)));
                    }
                    Err(mistake) => mistakes.push(format!("{name}.{simple}: {mistake}")),
                }
            }
            Some(Role::Prepare) => match constant::is_prepared(assembly, method) {
                Ok(is_prepared) => read.is_off |= !is_prepared,
                Err(mistake) => mistakes.push(format!("{name}.{simple}: {mistake}")),
            },
            Some(Role::Cleanup) => {
                if let Err(mistake) = constant::check_cleanup(assembly, method) {
                    mistakes.push(format!("{name}.{simple}: {mistake}"));
                }
            }
            Some(Role::Patch(kind)) => {
                let owner = Owner {
                    assembly,
                    path: &path,
                    annotations: &read.annotations,
                };
                match owner.method(method, simple, kind, own) {
                    Ok(patch) => read.methods.push(patch),
                    Err(mistake) => mistakes.push(format!("{name}.{simple}: {mistake}")),
                }
            }
        }
    }
    if metadata.tokens_of::<GenericParam>(class).next().is_some() {
        return Err(of_class(
            &"it is generic, and no call could name its instance",
        ));
    }
    if read.methods.is_empty() && mistakes.len() == before {
        return Err(of_class(
            &"it has no patch: a method called Prefix, Postfix or Finalizer, or with the attribute of one",
        ));
    }
    Ok(read)
}

struct Owner<'a, 'b> {
    assembly: &'b Assembly<'a>,
    path: &'b str,
    annotations: &'b Annotations,
}

impl Owner<'_, '_> {
    fn method(
        &self,
        method: MethodDef,
        simple: &str,
        kind: super::bind::Kind,
        own: Annotations,
    ) -> Result<ReadMethod> {
        let metadata = &self.assembly.metadata;
        let row = metadata.row(method).map_err(Error::other)?;
        let signature: MethodSig = metadata.signature(row.signature).map_err(Error::other)?;
        if !row.attributes.is_static() {
            return Err(Error::other("a patch is a static method"));
        }
        if signature.generic_parameter_count > 0 {
            return Err(Error::other(
                "it is generic, and no call could name its instance",
            ));
        }
        usage::check(self.assembly, method)?;
        let manifest = metadata.manifest().map_err(Error::other)?;
        let names_with = |assemblies: Assemblies| FileNames {
            metadata,
            own: manifest.name,
            assemblies,
        };
        let named = names_with(Assemblies::All);
        let class = |sig: &TypeSig| PatchType {
            shown: sig
                .display(&names_with(Assemblies::None))
                .to_string()
                .into(),
            text: sig
                .text(&names_with(Assemblies::Compared))
                .to_string()
                .into(),
            symbol: sig.text(&named).to_string().into(),
            is_reference: matches!(
                sig,
                TypeSig::Class(_)
                    | TypeSig::String
                    | TypeSig::Object
                    | TypeSig::SzArray(_)
                    | TypeSig::Array { .. }
                    | TypeSig::GenericInstance {
                        is_value_type: false,
                        ..
                    }
            ),
        };
        let mut parameters = Vec::new();
        let names = names(metadata, method, signature.params.len())?;
        for (sig, (name, of)) in signature.params.iter().zip(names) {
            let (inner, is_by_ref) = match sig.unmodified() {
                TypeSig::ByRef(inner) => (inner.unmodified(), true),
                other => (other, false),
            };
            parameters.push(Parameter {
                name: self.bound_name(&name, of, &own)?.into(),
                own: name.into(),
                class: class(inner),
                is_by_ref,
            });
        }
        let result = signature.return_type.unmodified();
        let mut patch = PatchMethod {
            name: format!("{}.{simple}", self.path.replace('/', ".")).into(),
            kind,
            parameters,
            result: (!result.is_void()).then(|| class(result)),
            assemblies: Vec::new(),
            symbol: MethodSymbol::new(
                &format!("[{}]{}", manifest.name, self.path),
                simple,
                &signature.text(&named).to_string(),
            ),
            token: method,
            priority: own
                .priority
                .or(self.annotations.priority)
                .filter(|priority| *priority >= 0)
                .unwrap_or(NORMAL),
        };
        patch.check().map_err(Error::other)?;
        let mut all = Vec::new();
        for sig in signature.params.iter().chain([&signature.return_type]) {
            named_types(sig, &mut all);
        }
        let mut types = Vec::new();
        for class in all {
            match class {
                TypeToken::Def(class) => types.push(class),
                class => {
                    let assembly = assembly_of(metadata, class);
                    let assembly = assembly.filter(|assembly| !is_framework(assembly));
                    patch.assemblies.extend(assembly.map(Into::into));
                }
            }
        }
        patch.assemblies.sort();
        patch.assemblies.dedup();
        Ok(ReadMethod {
            patch,
            token: method,
            annotations: self.annotations.with(&own),
            types,
        })
    }

    /// The name that a parameter binds by: another one if an attribute of it, of the method or of the class says so.
    fn bound_name(&self, name: &str, of: Option<ParamDef>, own: &Annotations) -> Result<String> {
        if let Some(of) = of {
            let own = Annotations::read(&self.assembly.metadata, of)?;
            if let Some((original, _)) = own.renames.into_iter().next() {
                return Ok(original);
            }
        }
        let mut renames = own.renames.iter().chain(&self.annotations.renames);
        let renamed = renames.find(|(_, new)| new.as_deref() == Some(name));
        Ok(renamed.map_or(name, |(original, _)| original).to_owned())
    }
}

/// The types that a signature names.
fn named_types(sig: &TypeSig, types: &mut Vec<TypeToken>) {
    match sig.unmodified() {
        TypeSig::Class(class) | TypeSig::ValueType(class) => types.push(*class),
        TypeSig::SzArray(of) | TypeSig::ByRef(of) | TypeSig::Pointer(of) => named_types(of, types),
        TypeSig::GenericInstance {
            definition,
            arguments,
            ..
        } => {
            types.push(*definition);
            arguments.iter().for_each(|one| named_types(one, types));
        }
        _ => {}
    }
}

/// The names of parameters, and their rows.
fn names(
    metadata: &Metadata<'_>,
    method: MethodDef,
    count: usize,
) -> Result<Vec<(String, Option<ParamDef>)>> {
    let unnamed = |index: usize| (format!("parameter {index}"), None);
    let mut names: Vec<(String, Option<ParamDef>)> = (0..count).map(unnamed).collect();
    for of in metadata.params(method) {
        let row = metadata.row(of).map_err(Error::other)?;
        let index = usize::from(row.sequence).checked_sub(1);
        if let Some(name) = index.and_then(|index| names.get_mut(index)) {
            let text = metadata.string(row.name).map_err(Error::other)?;
            *name = (text.to_owned(), Some(of));
        }
    }
    Ok(names)
}

/// The bytes with the patches, their classes and the types of their parameters public; `None` if they are. C# makes members private that say nothing, and
/// the code that calls them is in other assemblies.
pub(super) fn public(
    bytes: &[u8],
    assembly: &Assembly<'_>,
    classes: &[PatchClass],
) -> Result<Option<Vec<u8>>> {
    /// The offset of the flags in a row.
    const METHOD_FLAGS: usize = 6;
    let metadata = &assembly.metadata;
    let mut changed: Option<Vec<u8>> = None;
    let mut write = |at: usize, new: &[u8]| {
        let all = changed.get_or_insert_with(|| bytes.to_vec());
        let place = at
            .checked_add(new.len())
            .and_then(|end| all.get_mut(at..end));
        match place {
            Some(place) => place.copy_from_slice(new),
            None => debug_assert!(false, "a row was read there"),
        }
    };
    let mut types: BTreeSet<TypeDef> = classes.iter().map(|class| class.token).collect();
    for method in classes.iter().flat_map(|class| &class.methods) {
        types.extend(&method.types);
        let method = method.token;
        let attributes = metadata.row(method).map_err(Error::other)?.attributes;
        if attributes.access() != MemberAccess::Public {
            let at = metadata.row_offset(method).map_err(Error::other)? + METHOD_FLAGS;
            let public = attributes.with_access(MemberAccess::Public);
            // The column has 16 bits.
            let [low, high, ..] = public.bits().to_le_bytes();
            write(at, &[low, high]);
        }
    }
    for class in types {
        let mut next = Some(class);
        while let Some(class) = next {
            let attributes = metadata.row(class).map_err(Error::other)?.attributes;
            next = metadata.enclosing_type(class);
            let public = attributes.with_visibility(match next {
                Some(_) => TypeVisibility::NestedPublic,
                None => TypeVisibility::Public,
            });
            if public != attributes {
                let at = metadata.row_offset(class).map_err(Error::other)?;
                write(at, &public.bits().to_le_bytes());
            }
        }
    }
    Ok(changed)
}
