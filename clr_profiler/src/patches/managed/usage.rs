//! Whether the code of patches, or code of their assembly that they call, uses types that no runtime will find: those of
//! Harmony, of which attributes alone are read.

use std::collections::BTreeSet;

use super::attributes::NAMESPACE;
use crate::error::{Error, Result};
use clr_metadata::token::{MethodDef, MethodSpec, Token, TypeRef, TypeToken};
use clr_metadata::{Assembly, MemberRefParent, Metadata, MethodDefOrRef, ResolutionScope};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::instruction::Operand;
use clr_profiler_il::signature::{TypeSig, TypeSpecSig};
use clr_profiler_il::symbol::Reference;

const ASSEMBLY: &str = "0Harmony";

/// The rows of the types that are only named by attributes.
pub(super) fn unneeded_types(metadata: &Metadata<'_>) -> Vec<u32> {
    let refs = metadata.tokens::<TypeRef>();
    refs.filter(|class| is_unneeded(metadata, *class))
        .map(TypeRef::row)
        .collect()
}

fn is_unneeded(metadata: &Metadata<'_>, class: TypeRef) -> bool {
    let scope = metadata.outermost_scope(class);
    if let Ok(ResolutionScope::AssemblyRef(assembly)) = scope
        && let Ok(row) = metadata.row(assembly)
        && metadata.string(row.name).is_ok_and(|name| name == ASSEMBLY)
    {
        return true;
    }
    let name = metadata.type_name(class.into());
    name.is_ok_and(|name| name.namespace == NAMESPACE)
}

/// Refuses code that uses them: the code of a patch, and of all methods of the assembly that it reaches by calls.
pub(super) fn check(assembly: &Assembly<'_>, patch: MethodDef) -> Result<()> {
    let metadata = &assembly.metadata;
    let mut known = BTreeSet::from([patch]);
    let mut todo = vec![patch];
    while let Some(method) = todo.pop() {
        let Ok(Some(code)) = assembly.body(method) else {
            continue;
        };
        let body = MethodBody::decode(code).map_err(Error::other)?;
        for instruction in body.instructions() {
            let Operand::Reference(Reference::Token(token)) = instruction.operand() else {
                continue;
            };
            if let Some(class) = unneeded(metadata, token) {
                let code = metadata.member_name(method).unwrap_or_default();
                return Err(Error::other(format!(
                    "the code of `{code}` uses {class}: of Harmony, only the attributes are supported"
                )));
            }
            if let Some(next) = called(metadata, token)
                && known.insert(next)
            {
                todo.push(next);
            }
        }
    }
    Ok(())
}

fn called(metadata: &Metadata<'_>, token: Token) -> Option<MethodDef> {
    if let Ok(spec) = MethodSpec::try_from(token) {
        return match metadata.row(spec).ok()?.method {
            MethodDefOrRef::MethodDef(method) => Some(method),
            MethodDefOrRef::MemberRef(_) => None,
        };
    }
    MethodDef::try_from(token).ok()
}

/// The type that a token names, of its own or of its member, and that no runtime will find.
fn unneeded(metadata: &Metadata<'_>, token: Token) -> Option<String> {
    if let Ok(spec) = MethodSpec::try_from(token) {
        return unneeded(metadata, metadata.row(spec).ok()?.method.token());
    }
    if let Ok(member) = clr_metadata::token::MemberRef::try_from(token) {
        return match metadata.row(member).ok()?.parent {
            MemberRefParent::TypeRef(class) => of_type(metadata, class.into()),
            MemberRefParent::TypeSpec(class) => of_type(metadata, class.into()),
            _ => None,
        };
    }
    of_type(metadata, TypeToken::try_from(token).ok()?)
}

fn of_type(metadata: &Metadata<'_>, class: TypeToken) -> Option<String> {
    match class {
        TypeToken::Def(_) => None,
        TypeToken::Ref(class) => {
            is_unneeded(metadata, class).then(|| metadata.full_name(class.into()).ok())?
        }
        TypeToken::Spec(spec) => {
            let row = metadata.row(spec).ok()?;
            let signature: TypeSpecSig = metadata.signature(row.signature).ok()?;
            of_sig(metadata, &signature.type_sig)
        }
    }
}

fn of_sig(metadata: &Metadata<'_>, sig: &TypeSig) -> Option<String> {
    match sig {
        TypeSig::Class(class) | TypeSig::ValueType(class) => of_type(metadata, *class),
        TypeSig::SzArray(of) | TypeSig::ByRef(of) | TypeSig::Pointer(of) => of_sig(metadata, of),
        TypeSig::GenericInstance {
            definition,
            arguments,
            ..
        } => {
            let mut arguments = arguments.iter();
            of_type(metadata, *definition)
                .or_else(|| arguments.find_map(|one| of_sig(metadata, one)))
        }
        _ => None,
    }
}
