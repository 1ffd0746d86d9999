//! Names in source form: `Shop.Cart<T>+Line.Add<U>(string, int&)`.
//!
//! Namespaces and nesting are written as in reflection (`.` and `+`), generic parameters in angle brackets
//! after the type that declares them, and primitive types by their C# names.

use std::fmt::{self, Write};

use super::handle::Metadata;
use super::import::{MetadataImport, MethodProps};
#[cfg(feature = "rewrite")]
use super::import2::MetadataImport2;
use super::own;
use crate::error::OptionalExt;
use crate::error::Result;
#[cfg(feature = "rewrite")]
use clr_profiler_il::signature::{LocalsSig, MemberRefSig, MethodSig, MethodSpecSig};
use clr_profiler_il::signature::{TypeNames, TypeSig, TypeSpecSig};
#[cfg(feature = "rewrite")]
use clr_profiler_il::token::{
    FieldDef, MemberRef, MethodSpec, StandAloneSig, TokenTable, UserString, WrongTable,
};
use clr_profiler_il::token::{MethodDef, Token, TypeDef, TypeRef, TypeSpec, TypeToken};

/// The depth of nesting beyond which metadata counts as malformed.
const NESTING_LIMIT: usize = 64;

/// The generic arguments in a name, if they are known.
#[derive(Default)]
pub(crate) struct Instantiation {
    pub(crate) type_arguments: Vec<String>,
    pub(crate) method_arguments: Vec<String>,
}

/// The name of a method with its type, generic arguments and parameter types.
pub(crate) fn method_name(
    metadata: &Metadata<'_>,
    method: MethodDef,
    props: &MethodProps,
    instantiation: Instantiation,
) -> Result<String> {
    let Instantiation {
        type_arguments,
        method_arguments,
    } = instantiation;
    let names = SignatureNames {
        metadata,
        type_arguments: known_or_named(type_arguments, metadata, props.class.into())?,
        method_arguments: known_or_named(method_arguments, metadata, method.into())?,
    };
    let signature = props.signature()?;
    let mut name = String::new();
    // `<Module>` is the type of global members; its name would not help.
    if props.class.row() != 1 {
        name = type_def_name(metadata, props.class, &names.type_arguments)?;
        name.push('.');
    }
    name.push_str(&props.name);
    push_arguments(&mut name, &names.method_arguments);
    name.push('(');
    for (index, parameter) in signature.params.iter().enumerate() {
        if index > 0 {
            name.push_str(", ");
        }
        // Writing to a `String` cannot fail; an item without a name prints as its token.
        let _ = write!(name, "{}", parameter.display(&names));
    }
    name.push(')');
    Ok(name)
}

/// The types of a method's parameters, with generic parameters by their names.
pub(crate) fn parameter_types(
    metadata: &Metadata<'_>,
    method: MethodDef,
    props: &MethodProps,
) -> Result<Vec<String>> {
    let names = SignatureNames {
        metadata,
        type_arguments: parameter_names(metadata, props.class.into())?,
        method_arguments: parameter_names(metadata, method.into())?,
    };
    let signature = props.signature()?;
    let types = signature.params.iter();
    Ok(types
        .map(|class| class.display(&names).to_string())
        .collect())
}

/// The name of a type that a module names, with the generic parameters of `owner`.
pub(crate) fn token_name(
    metadata: &Metadata<'_>,
    class: TypeToken,
    owner: Option<TypeDef>,
) -> Result<String> {
    let type_arguments = match owner {
        Some(owner) => parameter_names(metadata, owner.into())?,
        None => Vec::new(),
    };
    let names = SignatureNames {
        metadata,
        type_arguments,
        method_arguments: Vec::new(),
    };
    names.name(class)
}

/// The name of the operand of an instruction of a method: a type, a member with its type and the types of its
/// parameters, the text of a string, or a signature.
#[cfg(feature = "rewrite")]
pub(crate) fn operand_name(
    metadata: &Metadata<'_>,
    token: Token,
    method: MethodDef,
) -> Result<String> {
    let mut names = SignatureNames {
        metadata,
        type_arguments: Vec::new(),
        method_arguments: Vec::new(),
    };
    if !method.is_nil() {
        let (class, ..) = metadata.method_parts(method)?;
        names.type_arguments = parameter_names(metadata, class.into())?;
        names.method_arguments = parameter_names(metadata, method.into())?;
    }
    names.operand(token)
}

/// The arguments, or if they are not known the names of their parameters.
fn known_or_named(
    arguments: Vec<String>,
    metadata: &Metadata<'_>,
    owner: Token,
) -> Result<Vec<String>> {
    let names = parameter_names(metadata, owner)?;
    Ok(if arguments.len() == names.len() {
        arguments
    } else {
        names
    })
}

/// The names of the generic parameters of a type or a method.
pub(crate) fn parameter_names(metadata: &Metadata<'_>, owner: Token) -> Result<Vec<String>> {
    let parameters = metadata.all_generic_params(owner)?.into_iter();
    Ok(parameters.map(|parameter| parameter.name).collect())
}

/// The name of a type with its namespace, enclosing types, and generic arguments.
///
/// `arguments` are those of the type and its enclosing types, in the order of the metadata.
pub(crate) fn type_def_name(
    metadata: &Metadata<'_>,
    class: TypeDef,
    arguments: &[String],
) -> Result<String> {
    let mut arguments = arguments;
    let mut name = String::new();
    for part in &nested_names(metadata, class.into())? {
        if !name.is_empty() {
            name.push('+');
        }
        let (bare, arity) = split_arity(part);
        name.push_str(bare);
        let (own, others) = arguments.split_at(arity.min(arguments.len()));
        push_arguments(&mut name, own);
        arguments = others;
    }
    Ok(name)
}

/// The name of a type of another module, with its namespace and enclosing types.
pub(crate) fn type_ref_name(metadata: &Metadata<'_>, class: TypeRef) -> Result<String> {
    let names = nested_names(metadata, class.into())?;
    let bare: Vec<_> = names.iter().map(|name| split_arity(name).0).collect();
    Ok(bare.join("+"))
}

/// The names of a type and its enclosing types, outermost first, in the form of the metadata.
pub(crate) fn nested_names(metadata: &Metadata<'_>, class: TypeToken) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut next = Some(class);
    while let Some(class) = next
        && names.len() < NESTING_LIMIT
    {
        let name;
        (name, next) = match class {
            TypeToken::Def(class) => (
                metadata.type_def_props(class)?.name,
                metadata.nested_class_props(class)?.map(TypeToken::Def),
            ),
            TypeToken::Ref(class) => {
                let props = metadata.type_ref_props(class)?;
                let outer = TypeRef::try_from(props.resolution_scope).ok();
                let outer = outer.filter(|outer| !outer.is_nil());
                (props.name, outer.map(TypeToken::Ref))
            }
            TypeToken::Spec(class) => (Token::from(class).to_string(), None),
        };
        names.push(name);
    }
    names.reverse();
    Ok(names)
}

/// Finds a type of the module by its name; the names of its enclosing types precede it.
pub(crate) fn find_type_def<'n>(
    metadata: &Metadata<'_>,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Option<TypeDef>> {
    let mut class = None;
    for name in names {
        class = type_def_named(metadata, name, class)?;
        if class.is_none() {
            break;
        }
    }
    Ok(class)
}

/// The type with this name, or the type nested in another one with this name of its own.
pub(crate) fn type_def_named(
    metadata: &Metadata<'_>,
    name: &str,
    outer: Option<TypeDef>,
) -> Result<Option<TypeDef>> {
    let found = match metadata.own(|own| own::type_def(own, name, outer)) {
        Some(own) => Some(own),
        None => metadata.find_type_def_by_name(name, outer).optional()?,
    };
    Ok(found.filter(|class| !class.is_nil()))
}

/// Splits the name of a type: `` List`1 `` is `List` with one parameter.
pub(super) fn split_arity(name: &str) -> (&str, usize) {
    match name.rsplit_once('`') {
        Some((bare, digits)) => match digits.parse() {
            Ok(arity) => (bare, arity),
            Err(_) => (name, 0),
        },
        None => (name, 0),
    }
}

fn push_arguments(name: &mut String, arguments: &[String]) {
    if !arguments.is_empty() {
        name.push('<');
        name.push_str(&arguments.join(", "));
        name.push('>');
    }
}

/// The C# name of a primitive type whose name is known from the runtime instead of a signature.
pub(crate) fn keyword(name: &str) -> &str {
    // `typedref` is a keyword of IL, not of C#.
    let primitive = TypeSig::from_primitive_class(name).filter(|it| *it != TypeSig::TypedReference);
    let names = primitive.as_ref().and_then(TypeSig::primitive_names);
    names.map_or(name, |(keyword, _)| keyword)
}

/// The names of the items in a signature of this module.
struct SignatureNames<'a> {
    metadata: &'a Metadata<'a>,
    type_arguments: Vec<String>,
    method_arguments: Vec<String>,
}

impl SignatureNames<'_> {
    fn name(&self, token: TypeToken) -> Result<String> {
        match token {
            TypeToken::Def(class) => {
                // Without arguments: the signature prints its own after the name.
                type_def_name(self.metadata, class, &[])
            }
            TypeToken::Ref(class) => type_ref_name(self.metadata, class),
            TypeToken::Spec(type_spec) => self.type_spec_name(type_spec),
        }
    }

    fn type_spec_name(&self, type_spec: TypeSpec) -> Result<String> {
        let blob = self.metadata.type_spec_from_token(type_spec)?;
        let signature = TypeSpecSig::parse(&blob).map_err(crate::Error::other)?;
        Ok(signature.display(self).to_string())
    }
}

#[cfg(feature = "rewrite")]
impl SignatureNames<'_> {
    fn operand(&self, token: Token) -> Result<String> {
        let metadata = self.metadata;
        let other = |error: WrongTable| crate::Error::other(error);
        match token.table() {
            TokenTable::USER_STRING => {
                let string = UserString::try_from(token).map_err(other)?;
                Ok(format!("{:?}", metadata.user_string(string)?))
            }
            TokenTable::METHOD_DEF => {
                let method = MethodDef::try_from(token).map_err(other)?;
                let props = metadata.method_props(method)?;
                method_name(metadata, method, &props, Instantiation::default())
            }
            TokenTable::FIELD_DEF => {
                let field = FieldDef::try_from(token).map_err(other)?;
                let (class, name, _) = metadata.field_parts(field)?;
                match class.is_nil() {
                    true => Ok(name),
                    false => Ok(format!("{}.{name}", type_def_name(metadata, class, &[])?)),
                }
            }
            TokenTable::MEMBER_REF => {
                self.member_ref(MemberRef::try_from(token).map_err(other)?, Vec::new())
            }
            TokenTable::METHOD_SPEC => {
                let spec = MethodSpec::try_from(token).map_err(other)?;
                let props = metadata.method_spec_props(spec)?;
                let signature = MethodSpecSig::parse(&props.signature_blob);
                let arguments = signature.map_err(crate::Error::other)?.arguments;
                let arguments = self.texts(&arguments);
                match MethodDef::try_from(props.parent) {
                    Ok(method) => {
                        let instantiation = Instantiation {
                            method_arguments: arguments,
                            ..Instantiation::default()
                        };
                        let props = metadata.method_props(method)?;
                        method_name(metadata, method, &props, instantiation)
                    }
                    Err(_) => {
                        let member = MemberRef::try_from(props.parent).map_err(other)?;
                        self.member_ref(member, arguments)
                    }
                }
            }
            TokenTable::STAND_ALONE_SIG => {
                let token = StandAloneSig::try_from(token).map_err(other)?;
                let blob = metadata.sig_from_token(token)?;
                // Of locals, or of a `calli`.
                if let Ok(locals) = LocalsSig::parse(&blob) {
                    return Ok(format!("({})", self.texts(&locals.locals).join(", ")));
                }
                let signature = MethodSig::parse(&blob).map_err(crate::Error::other)?;
                Ok(signature.display(self).to_string())
            }
            _ => self.name(TypeToken::try_from(token).map_err(other)?),
        }
    }

    fn texts(&self, types: &[TypeSig]) -> Vec<String> {
        types
            .iter()
            .map(|class| class.display(self).to_string())
            .collect()
    }

    /// The name of a referenced member, with these arguments of its own.
    fn member_ref(&self, member: MemberRef, method_arguments: Vec<String>) -> Result<String> {
        let metadata = self.metadata;
        let props = metadata.member_ref_props(member)?;
        let mut type_arguments = Vec::new();
        let mut name = String::new();
        if let Ok(class) = TypeToken::try_from(props.parent) {
            if let TypeToken::Spec(spec) = class {
                let blob = metadata.type_spec_from_token(spec)?;
                let signature = TypeSpecSig::parse(&blob).map_err(crate::Error::other)?;
                if let TypeSig::GenericInstance { arguments, .. } = signature.type_sig {
                    type_arguments = self.texts(&arguments);
                }
            }
            name = self.name(class)?;
            name.push('.');
        }
        name.push_str(&props.name);
        push_arguments(&mut name, &method_arguments);
        let signature = MemberRefSig::parse(&props.signature_blob).map_err(crate::Error::other)?;
        if let MemberRefSig::Method(method) = signature {
            let names = SignatureNames {
                metadata,
                type_arguments,
                method_arguments,
            };
            name.push('(');
            name.push_str(&names.texts(&method.params).join(", "));
            name.push(')');
        }
        Ok(name)
    }
}

impl TypeNames for SignatureNames<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn Write) -> fmt::Result {
        match self.name(token) {
            Ok(name) => out.write_str(&name),
            Err(_) => write!(out, "{}", Token::from(token)),
        }
    }

    fn type_parameter(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        match self.type_arguments.get(number as usize) {
            Some(name) => out.write_str(name),
            None => write!(out, "!{number}"),
        }
    }

    fn method_parameter(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        match self.method_arguments.get(number as usize) {
            Some(name) => out.write_str(name),
            None => write!(out, "!!{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arities() {
        assert_eq!(split_arity("List`1"), ("List", 1));
        assert_eq!(split_arity("Plain"), ("Plain", 0));
        assert_eq!(split_arity("Odd`name"), ("Odd`name", 0));
    }

    #[test]
    fn keywords() {
        assert_eq!(keyword("System.Int32"), "int");
        assert_eq!(keyword("Shop.Int32"), "Shop.Int32");
    }
}
