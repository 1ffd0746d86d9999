//! The types through which paths lead, read from the files of their assemblies, loaded or not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::super::declared::Files;
use crate::error::Result;
use crate::ids::ModuleId;
use crate::runtime::{ProfilerInfo, lock};
use clr_metadata::{Assembly, Metadata, ResolutionScope};
use clr_profiler_il::attributes::{MemberAccess, MethodAttributes, TypeAttributes, TypeVisibility};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::signature::{TokenNames, TypeSig};
use clr_profiler_il::token::{MethodDef, TypeDef, TypeToken};

/// The number of enclosing types after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;

/// A type by name, as any module can refer to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    /// A primitive, or a generic parameter.
    Plain(TypeSig),
    Named(Named),
    Vector(Box<Type>),
    /// A type that has no members here: a pointer, an array of several dimensions.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Named {
    pub(super) assembly: String,
    /// With `/` before nested types.
    pub(super) path: String,
    pub(super) is_value: bool,
    pub(super) arguments: Vec<Type>,
}

impl Type {
    /// The type in the text of symbols.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Plain(plain) => plain.text(&TokenNames).to_string(),
            Self::Named(named) => named.text(),
            Self::Vector(element) => format!("{}[]", element.text()),
            Self::Other => String::new(),
        }
    }

    /// With these arguments in place of the parameters of a generic type.
    pub(super) fn with(&self, arguments: &[Self]) -> Self {
        match self {
            Self::Plain(TypeSig::Var(number)) => {
                let argument = arguments.get(*number as usize);
                argument.cloned().unwrap_or(Self::Other)
            }
            Self::Plain(_) | Self::Other => self.clone(),
            Self::Vector(element) => Self::Vector(Box::new(element.with(arguments))),
            Self::Named(named) => Self::Named(Named {
                arguments: named
                    .arguments
                    .iter()
                    .map(|argument| argument.with(arguments))
                    .collect(),
                ..named.clone()
            }),
        }
    }

    /// Whether it has a part that no text can name.
    pub(super) fn is_nameless(&self) -> bool {
        match self {
            Self::Other => true,
            Self::Plain(_) => false,
            Self::Vector(element) => element.is_nameless(),
            Self::Named(named) => named.arguments.iter().any(Self::is_nameless),
        }
    }
}

impl Named {
    pub(super) fn text(&self) -> String {
        let kind = match self.is_value {
            true => "valuetype",
            false => "class",
        };
        let arguments: Vec<String> = self.arguments.iter().map(Type::text).collect();
        let arguments = match arguments.is_empty() {
            true => String::new(),
            false => format!("<{}>", arguments.join(", ")),
        };
        format!("{kind} {}{arguments}", self.name())
    }

    /// The name of the definition.
    pub(super) fn name(&self) -> String {
        format!("[{}]{}", self.assembly, self.path)
    }
}

/// The names of the types of a signature.
pub(super) trait Names {
    /// The assembly and the path of a type.
    fn name(&self, class: TypeToken) -> Option<(String, String)>;
}

pub(super) fn named(names: &impl Names, of: &TypeSig) -> Type {
    let class = |token: TypeToken, is_value, arguments: &[TypeSig]| {
        let Some((assembly, path)) = names.name(token) else {
            return Type::Other;
        };
        Type::Named(Named {
            assembly,
            path,
            is_value,
            arguments: arguments.iter().map(|one| named(names, one)).collect(),
        })
    };
    match of.unmodified() {
        TypeSig::Class(token) => class(*token, false, &[]),
        TypeSig::ValueType(token) => class(*token, true, &[]),
        TypeSig::GenericInstance {
            is_value_type,
            definition,
            arguments,
        } => class(*definition, *is_value_type, arguments),
        TypeSig::SzArray(element) => Type::Vector(Box::new(named(names, element))),
        TypeSig::Pointer(_)
        | TypeSig::ByRef(_)
        | TypeSig::Array { .. }
        | TypeSig::FunctionPointer(_)
        | TypeSig::Modified { .. }
        | TypeSig::Pinned(_)
        | TypeSig::TypedReference
        | TypeSig::Void => Type::Other,
        plain => Type::Plain(plain.clone()),
    }
}

/// The facts about a type.
#[derive(Debug)]
pub(super) struct Facts {
    /// The assembly that defines it.
    pub(super) home: String,
    pub(super) is_value: bool,
    pub(super) is_by_ref_like: bool,
    pub(super) is_interface: bool,
    /// Whether all code may name it; otherwise, whether code of its assembly may.
    pub(super) is_public: bool,
    pub(super) is_internal: bool,
    pub(super) base: Option<Type>,
    pub(super) interfaces: Vec<Type>,
    pub(super) members: Vec<Member>,
}

/// An instance member: a field, or a method.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) access: MemberAccess,
    /// The parameters of a method.
    pub(super) parameters: Option<Vec<Type>>,
    /// The type of a field, or the result of a method.
    pub(super) value: Type,
    /// Whether a method only reads a field, and no other can take its place.
    pub(super) is_plain: bool,
}

impl Member {
    /// The signature of a method in the text of symbols.
    pub(super) fn signature(&self) -> String {
        let parameters = self.parameters.iter().flatten();
        let parameters: Vec<String> = parameters.map(Type::text).collect();
        format!("instance {} ({})", self.value.text(), parameters.join(", "))
    }
}

/// `None` for types that no file has.
type ByName = HashMap<(String, String), Option<Arc<Facts>>>;

/// The facts about types that paths have led through, by assembly and path.
#[derive(Debug, Default)]
pub(super) struct KnownTypes(Mutex<ByName>);

impl KnownTypes {
    /// The facts about a type, for code of a module; `None` if no file has it.
    pub(super) fn find(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        files: &mut Option<Files>,
        of: &Named,
    ) -> Result<Option<Arc<Facts>>> {
        let key = (of.assembly.clone(), of.path.clone());
        if let Some(known) = lock(&self.0).get(&key) {
            return Ok(known.clone());
        }
        let files = match files {
            Some(files) => files,
            none => none.insert(Files::of(info, module)?),
        };
        let found = files.find_type(&of.assembly, &of.path, |file, class, home| {
            facts(file, class, home)
        });
        let found = found.flatten().map(Arc::new);
        if found.is_some() {
            lock(&self.0).insert(key, found.clone());
        }
        Ok(found)
    }
}

/// The names of the types of a file.
struct InFile<'a> {
    metadata: &'a Metadata<'a>,
    home: &'a str,
}

impl Names for InFile<'_> {
    fn name(&self, class: TypeToken) -> Option<(String, String)> {
        let path = self.metadata.full_name(class).ok()?;
        let assembly = match class {
            TypeToken::Def(_) => self.home.to_owned(),
            TypeToken::Ref(class) => match self.metadata.outermost_scope(class).ok()? {
                ResolutionScope::AssemblyRef(assembly) => {
                    let row = self.metadata.row(assembly).ok()?;
                    self.metadata.string(row.name).ok()?.to_owned()
                }
                _ => self.home.to_owned(),
            },
            TypeToken::Spec(_) => return None,
        };
        Some((assembly, path))
    }
}

fn facts(file: &Assembly<'_>, class: TypeDef, home: &str) -> Option<Facts> {
    const BY_REF_LIKE: &str = "System.Runtime.CompilerServices.IsByRefLikeAttribute";
    let metadata = &file.metadata;
    let names = InFile { metadata, home };
    let row = metadata.row(class).ok()?;
    let named_type = |token: TypeToken| match token {
        TypeToken::Spec(spec) => {
            let row = metadata.row(spec).ok()?;
            let spec: clr_profiler_il::signature::TypeSpecSig =
                metadata.signature(row.signature).ok()?;
            Some(named(&names, &spec.type_sig))
        }
        _ => Some(named(&names, &TypeSig::Class(token))),
    };
    let base = (!row.extends.is_nil()).then(|| named_type(row.extends));
    let base = base.flatten();
    let is_value = matches!(&base, Some(Type::Named(base))
        if ["System.ValueType", "System.Enum"].contains(&&*base.path) && metadata.full_name(class.into()).ok()? != "System.Enum");
    let interfaces = metadata
        .rows_of::<clr_metadata::rows::InterfaceImplRow>(class)
        .filter_map(|row| named_type(row.ok()?.interface));
    let (is_public, is_internal) = visibility(metadata, class)?;
    let is_sealed = row.attributes.contains(TypeAttributes::SEALED);
    let mut members = Vec::new();
    for field in metadata.fields(class) {
        let row = metadata.row(field).ok()?;
        if row.attributes.is_static() {
            continue;
        }
        members.push(Member {
            name: metadata.string(row.name).ok()?.to_owned(),
            access: row.attributes.access(),
            parameters: None,
            value: named(&names, &metadata.field_signature(field).ok()?.field_type),
            is_plain: true,
        });
    }
    for method in metadata.methods(class) {
        let row = metadata.row(method).ok()?;
        let signature = metadata.method_signature(method).ok()?;
        if !signature.has_this || signature.generic_parameter_count > 0 {
            continue;
        }
        let is_final = is_sealed
            || !row.attributes.contains(MethodAttributes::VIRTUAL)
            || row.attributes.contains(MethodAttributes::FINAL);
        let parameters: Vec<Type> = signature
            .params
            .iter()
            .map(|one| named(&names, one))
            .collect();
        members.push(Member {
            name: metadata.string(row.name).ok()?.to_owned(),
            access: row.attributes.access(),
            is_plain: is_final && parameters.is_empty() && reads_field(file, method),
            parameters: Some(parameters),
            value: named(&names, &signature.return_type),
        });
    }
    Some(Facts {
        home: home.to_owned(),
        is_value,
        is_by_ref_like: metadata.find_attribute(class, BY_REF_LIKE).is_some(),
        is_interface: row.attributes.is_interface(),
        is_public,
        is_internal,
        base,
        interfaces: interfaces.collect(),
        members,
    })
}

/// Whether all code may name a type, and whether code of its assembly may.
fn visibility(metadata: &Metadata<'_>, class: TypeDef) -> Option<(bool, bool)> {
    let (mut is_public, mut is_internal) = (true, true);
    let mut next = Some(class);
    for _ in 0..DEPTH_LIMIT {
        let Some(class) = next else {
            break;
        };
        match metadata.row(class).ok()?.attributes.visibility() {
            TypeVisibility::Public | TypeVisibility::NestedPublic => {}
            TypeVisibility::NotPublic
            | TypeVisibility::NestedAssembly
            | TypeVisibility::NestedFamOrAssem => is_public = false,
            _ => (is_public, is_internal) = (false, false),
        }
        next = metadata.enclosing_type(class);
    }
    Some((is_public, is_internal))
}

/// Whether a method does nothing but return a field of `this`.
fn reads_field(file: &Assembly<'_>, method: MethodDef) -> bool {
    let bytes = file.body(method).ok().flatten();
    let body = bytes.and_then(|bytes| MethodBody::decode(bytes).ok());
    body.is_some_and(|body| {
        let names = body
            .instructions()
            .map(|instruction| instruction.opcode().mnemonic());
        let names: Vec<&str> = names.filter(|name| *name != "nop").collect();
        matches!(
            names[..],
            ["ldarg.0", "ldfld", "ret"]
                // Without optimisation.
                | ["ldarg.0", "ldfld", "stloc.0", "br.s", "ldloc.0", "ret"]
        )
    })
}
