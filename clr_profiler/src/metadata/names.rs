//! Names in source form: `Shop.Cart<T>+Line.Add<U>(string, int&)`.
//!
//! Namespaces and nesting are written as in reflection (`.` and `+`), generic parameters in angle brackets
//! after the type that declares them, and primitive types by their C# names.

use std::fmt::{self, Write};

use super::handle::Metadata;
use super::import::{MetadataImport, MethodProps};
use super::import2::MetadataImport2;
use crate::error::OptionalExt;
use crate::error::Result;
use clr_profiler_il::signature::{TypeNames, TypeSig, TypeSpecSig};
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
fn parameter_names(metadata: &Metadata<'_>, owner: Token) -> Result<Vec<String>> {
    metadata
        .generic_params(owner)
        .map(|parameter| Ok(metadata.generic_param_props(parameter?)?.name))
        .collect()
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
pub(super) fn nested_names(metadata: &Metadata<'_>, class: TypeToken) -> Result<Vec<String>> {
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
        class = metadata.find_type_def_by_name(name, class).optional()?;
        if class.is_none() {
            break;
        }
    }
    Ok(class)
}

/// Splits the name of a type: `` List`1 `` is `List` with one parameter.
fn split_arity(name: &str) -> (&str, usize) {
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
