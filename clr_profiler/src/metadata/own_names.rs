//! Names in source form from a module's own metadata, without copies of its rows.

use std::fmt::{self, Write};

use super::handle::Metadata;
use super::names::split_arity;
use clr_metadata::rows::GenericParamRow;
use clr_metadata::{ResolutionScope, TypeOrMethodDef};
use clr_profiler_il::signature::{MethodSig, TypeNames};
use clr_profiler_il::token::{MethodDef, TypeDef, TypeRef, TypeToken};

/// The number of types that enclose each other; of more, the general functions make the name.
const NESTING: usize = 8;
/// The initial size of a name: most are shorter.
const SIZE: usize = 128;

type Own<'a> = clr_metadata::Metadata<'a>;

/// The result of [`method_name`](super::method_name) for a method that is not generic, in a type that is not
/// generic. `None` for others, and where the module's own metadata has no answer.
pub(crate) fn plain_method_name(metadata: &Metadata<'_>, method: MethodDef) -> Option<String> {
    metadata.own(|own| {
        let row = own.row(method).ok()?;
        let signature = MethodSig::parse(own.blob(row.signature).ok()?).ok()?;
        let class = own.method_owner(method).ok()?;
        let owner = TypeOrMethodDef::TypeDef(class);
        let is_generic = signature.generic_parameter_count > 0
            || own.rows_of::<GenericParamRow>(owner).next().is_some();
        // `<Module>` is the type of global members.
        if is_generic || class.row() == 1 {
            return None;
        }
        let mut name = String::with_capacity(SIZE);
        push_type_def(own, class, &mut name).ok()?;
        name.push('.');
        name.push_str(own.string(row.name).ok()?);
        name.push('(');
        for (index, parameter) in signature.params.iter().enumerate() {
            if index > 0 {
                name.push_str(", ");
            }
            write!(name, "{}", parameter.display(&OwnNames(own))).ok()?;
        }
        name.push(')');
        Some(name)
    })
}

/// Writes the parts of a nested name, of which the innermost is the first.
fn push_parts<T: Copy>(
    innermost: T,
    out: &mut dyn Write,
    outer: impl Fn(T) -> Result<Option<T>, fmt::Error>,
    push: impl Fn(T, &mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    let mut parts = [innermost; NESTING];
    let mut count = 1;
    let mut last = innermost;
    while let Some(next) = outer(last)? {
        *parts.get_mut(count).ok_or(fmt::Error)? = next;
        (last, count) = (next, count + 1);
    }
    for (index, part) in parts.iter().take(count).rev().enumerate() {
        if index > 0 {
            out.write_char('+')?;
        }
        push(*part, out)?;
    }
    Ok(())
}

fn push_type_def(own: &Own<'_>, class: TypeDef, out: &mut dyn Write) -> fmt::Result {
    let push = |class: TypeDef, out: &mut dyn Write| push_type(own, class.into(), out);
    push_parts(class, out, |class| Ok(own.enclosing_type(class)), push)
}

fn push_type_ref(own: &Own<'_>, class: TypeRef, out: &mut dyn Write) -> fmt::Result {
    let outer = |class: TypeRef| {
        let row = own.row(class).map_err(|_| fmt::Error)?;
        Ok(match row.scope {
            ResolutionScope::TypeRef(outer) if !outer.is_nil() => Some(outer),
            _ => None,
        })
    };
    let push = |class: TypeRef, out: &mut dyn Write| push_type(own, class.into(), out);
    push_parts(class, out, outer, push)
}

/// Writes namespace and name, without the enclosing types and the number of parameters.
fn push_type(own: &Own<'_>, class: TypeToken, out: &mut dyn Write) -> fmt::Result {
    let name = own.type_name(class).map_err(|_| fmt::Error)?;
    if !name.namespace.is_empty() {
        out.write_str(name.namespace)?;
        out.write_char('.')?;
    }
    out.write_str(split_arity(name.name).0)
}

/// The names of the types in a signature. An error for those that the general functions must name.
struct OwnNames<'m, 'a>(&'m Own<'a>);

impl TypeNames for OwnNames<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn Write) -> fmt::Result {
        match token {
            TypeToken::Def(class) => push_type_def(self.0, class, out),
            TypeToken::Ref(class) => push_type_ref(self.0, class, out),
            TypeToken::Spec(_) => Err(fmt::Error),
        }
    }

    fn type_parameter(&self, _number: u32, _out: &mut dyn Write) -> fmt::Result {
        Err(fmt::Error)
    }

    fn method_parameter(&self, _number: u32, _out: &mut dyn Write) -> fmt::Result {
        Err(fmt::Error)
    }
}
