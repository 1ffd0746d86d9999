//! `IMetaDataImport2`.

use super::handle::{Metadata, Sealed};
use super::own;
use crate::error::Result;
use crate::metadata::enumerate::Source;
use crate::native::{into_token, native_flags};
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::token::{GenericParam, GenericParamConstraint, MethodSpec, Token};

/// A generic parameter of a type or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenericParamProps {
    /// Its position among the parameters, from 0.
    pub number: u32,
    /// Its attributes (ECMA-335 II.23.1.7).
    pub attributes: GenericParamAttributes,
    /// The type or method that has it.
    pub owner: Token,
    /// Its name, such as `TKey`.
    pub name: String,
}

/// A constraint of a generic parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenericParamConstraintProps {
    /// The parameter.
    pub parameter: GenericParam,
    /// The type that an argument must derive from: a `TypeDef`, `TypeRef` or `TypeSpec`.
    pub constraint_type: Token,
}

/// A generic method with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodSpecProps {
    /// The generic method: a `MethodDef` or `MemberRef`.
    pub parent: Token,
    /// The arguments as the metadata encodes them; [`signature`](Self::signature) decodes them.
    pub signature_blob: Vec<u8>,
}

native_flags! {
    /// The contents and requirements of an image.
    PeFlags = CorPEKind {
        /// The image contains only IL.
        IL_ONLY = peILonly,
        /// The image requires a 32-bit process.
        REQUIRES_32_BIT = pe32BitRequired,
        /// The image has the 64-bit format (PE32+).
        PE32_PLUS = pe32Plus,
        /// The image contains unmanaged 32-bit code.
        UNMANAGED_32_BIT = pe32Unmanaged,
        /// The image prefers a 32-bit process.
        PREFERS_32_BIT = pe32BitPreferred,
        _ = !0,
    }
}

/// The processors for which an image is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeKind {
    /// Its contents, and whether it requires 32 bits.
    pub kind: PeFlags,
    /// The machine in the header of the image: `IMAGE_FILE_MACHINE_...`.
    pub machine: u32,
}

impl Metadata<'_> {
    /// The generic parameters of a type or a method.
    pub(crate) fn all_generic_params(&self, owner: Token) -> Result<Vec<GenericParamProps>> {
        if let Some(own) = self.own(|own| own::generic_params(own, owner)) {
            return Ok(own);
        }
        let parameters = self.generic_params(owner);
        parameters
            .map(|parameter| self.generic_param_props(parameter?))
            .collect()
    }
}

table! { ($) __metadata_import2_enumerations:
    MetadataImport2 = IMetaDataImport2 from import;

    /// The generic parameters of a type or a method.
    fn generic_params(owner: impl Into<Token> as into_token) -> GenericParam
        = EnumGenericParams(owner);

    /// The constraints of a generic parameter: the types that an argument must derive from.
    fn generic_param_constraints(parameter: GenericParam) -> GenericParamConstraint
        = EnumGenericParamConstraints(parameter);

    /// The instantiations of a generic method that the module uses, or those of all generic methods.
    fn method_specs(method: Option<Token>) -> MethodSpec = EnumMethodSpecs(method);
}

table! { ($) __metadata_import2:
    MetadataImport2 = IMetaDataImport2 from import;

    /// The name and position of a generic parameter.
    fn generic_param_props(parameter: GenericParam) -> {GenericParamProps}
        = [own] GetGenericParamProps(parameter, @number, @attributes, @owner, &mut 0, ~{name})
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such parameter.";

    /// The parameter and type of a constraint.
    fn generic_param_constraint_props(
        constraint: GenericParamConstraint
    ) -> {GenericParamConstraintProps}
        = GetGenericParamConstraintProps(constraint, @parameter, @constraint_type)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such constraint.";

    /// The method and arguments of an instantiation.
    fn method_spec_props(method: MethodSpec) -> {MethodSpecProps}
        = [own] GetMethodSpecProps(method, @parent, @(signature_blob))
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such instantiation.";

    /// The processors for which the image is built.
    fn pe_kind() -> {PeKind} = GetPEKind(@kind, @machine);

    /// The version of the runtime that the metadata was written for, such as `v4.0.30319`.
    fn version_string() -> String = GetVersionString(~{text});
}

/// The calls of `IMetaDataImport2`: generics.
///
/// All calls are allowed in every callback that is not during a collection.
#[doc(alias = "IMetaDataImport2")]
pub trait MetadataImport2: Sealed {
    __metadata_import2_enumerations! { enumerations }
    __metadata_import2! { calls }
}

impl MetadataImport2 for Metadata<'_> {}
