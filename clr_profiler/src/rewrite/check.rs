//! The verification of a new body: IL that could crash the JIT must not reach it.

use std::cell::OnceCell;
use std::sync::Arc;

use super::error::Refused;
use super::module_metadata::ModuleMetadata;
use super::names::IlNames;
use super::subject::Subject;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::metadata::{Cache, MetadataResolver};
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::token::{Token, TypeDef};
use clr_profiler_il::verify::{MethodContext, VerifyBuffers};

/// The maximum number of violations in an error.
const LISTED: usize = 3;

/// Verifies the bytes of an edited body, as the JIT will read them, against the metadata of its module.
///
/// A rule that the body breaks already (`before`; empty for a new method) is not checked: the program runs
/// with it. `body` and `buffers` are reused memory.
pub(super) fn check<'n>(
    edited: &MethodBody,
    (bytes, before): (&[u8], &[u8]),
    subject: &Subject<'_>,
    resolver: &MetadataResolver<'_, ModuleMetadata<'_>>,
    known: &Cache<TypeDef, Arc<[u32]>>,
    (body, buffers): (&mut MethodBody, &mut VerifyBuffers),
    names: impl FnOnce() -> IlNames<'n>,
) -> Result<()> {
    let (changed, constrained) = (OnceCell::new(), OnceCell::new());
    // Much of it is looked up, which neutral code does not need.
    let context = || {
        let declared = &subject.signature;
        let signature = match declared.effective_return_type(subject.props.implementation) {
            Some(effective) if !std::ptr::eq(effective, &declared.return_type) => changed
                .get_or_init(|| MethodSig {
                    return_type: effective.clone(),
                    ..declared.clone()
                }),
            _ => declared,
        };
        MethodContext {
            signature,
            this_is_pointer: resolver.is_in_value_type(subject.props.class.into()),
            references: constrained.get_or_init(|| references(subject, declared, known)),
        }
    };
    let violations = edited
        .verify_encoded_with(bytes, before, (&mut *body, buffers), context, resolver)
        .map_err(Error::other)?;
    if violations.is_empty() {
        return Ok(());
    }
    let names = names();
    let first = violations.iter().take(LISTED);
    let first: Vec<_> = first
        .map(|violation| violation.named(body, &names).to_string())
        .collect();
    Err(Error::other(Refused {
        problem: first.join("; "),
        listing: body.named(&names).to_string(),
    }))
}

/// The type parameters of the method and its type that are constrained to reference types.
fn references(
    subject: &Subject<'_>,
    declared: &MethodSig,
    known: &Cache<TypeDef, Arc<[u32]>>,
) -> Vec<TypeSig> {
    let class = subject.props.class;
    let of_type = known.get(class, || {
        constrained(&subject.metadata, class.into()).collect()
    });
    let of_type = of_type.iter().copied().map(TypeSig::Var);
    // Few methods have type parameters.
    let is_generic = declared.generic_parameter_count > 0;
    let of_method = is_generic.then(|| constrained(&subject.metadata, subject.method.into()));
    let of_method = of_method.into_iter().flatten().map(TypeSig::MVar);
    of_type.chain(of_method).collect()
}

/// The numbers of the type parameters of a type or method that are constrained to reference types.
fn constrained(metadata: &Metadata<'_>, owner: Token) -> impl Iterator<Item = u32> + use<> {
    let parameters = metadata.all_generic_params(owner).unwrap_or_default();
    parameters.into_iter().filter_map(|parameter| {
        let is_reference = parameter
            .attributes
            .contains(GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT);
        is_reference.then_some(parameter.number)
    })
}
