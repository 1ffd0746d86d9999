//! The verification of a new body: IL that could crash the JIT must not reach it.

use std::sync::Arc;

use super::error::Refused;
use super::scope::Scope;
use super::subject::Subject;
use crate::error::{Error, Result};
use crate::metadata::{Metadata, MetadataImport2};
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::metadata::{Cache, MetadataResolver};
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::{Token, TypeDef};
use clr_profiler_il::verify::MethodContext;

/// The maximum number of violations in an error.
const LISTED: usize = 3;

/// Verifies the bytes of a body, as the JIT will read them, against the metadata of its module.
///
/// A rule that the body breaks already (`before`; empty for a new method) is not checked: the program runs
/// with it. `body` is reused memory for decoding.
pub(super) fn check(
    bytes: &[u8],
    before: &[u8],
    subject: &Subject<'_>,
    resolver: &MetadataResolver<'_, Scope<'_>>,
    known: &Cache<TypeDef, Arc<[u32]>>,
    body: &mut MethodBody,
) -> Result<()> {
    body.decode_into(bytes).map_err(Error::other)?;
    let implementation = subject.props.implementation;
    let mut signature = subject.signature.clone();
    if let Some(effective) = subject.signature.effective_return_type(implementation) {
        signature.return_type = effective.clone();
    }
    let references = references(subject, known);
    let context = MethodContext {
        signature: &signature,
        this_is_pointer: resolver.is_in_value_type(subject.props.class.into()),
        references: &references,
    };
    let violations = body.verify_changes(before, &context, resolver);
    if violations.is_empty() {
        return Ok(());
    }
    let first: Vec<_> = violations.iter().take(LISTED).collect();
    Err(Error::other(Refused {
        problem: first
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; "),
        listing: body.to_string(),
    }))
}

/// The type parameters of the method and its type that are constrained to reference types.
fn references(subject: &Subject<'_>, known: &Cache<TypeDef, Arc<[u32]>>) -> Vec<TypeSig> {
    let class = subject.props.class;
    let of_type = known.get(class, || {
        constrained(&subject.metadata, class.into()).collect()
    });
    let of_type = of_type.iter().copied().map(TypeSig::Var);
    // Few methods have type parameters.
    let is_generic = subject.signature.generic_parameter_count > 0;
    let of_method = is_generic.then(|| constrained(&subject.metadata, subject.method.into()));
    let of_method = of_method.into_iter().flatten().map(TypeSig::MVar);
    of_type.chain(of_method).collect()
}

/// The numbers of the type parameters of a type or method that are constrained to reference types.
fn constrained(metadata: &Metadata<'_>, owner: Token) -> impl Iterator<Item = u32> {
    let parameters = metadata.generic_params(owner).filter_map(Result::ok);
    parameters.filter_map(move |parameter| {
        let props = metadata.generic_param_props(parameter).ok()?;
        let is_reference = props
            .attributes
            .contains(GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT);
        is_reference.then_some(props.number)
    })
}
