//! `IMetaDataImport2`.

use super::handle::{Metadata, Sealed};
use crate::metadata::enumerate::Source;
use crate::native::{into_token, native_flags};
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::token::{GenericParam, GenericParamConstraint, MethodSpec, Token};

/// A generic parameter of a type or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenericParamProps {
    /// Its place in the list of parameters, from 0.
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
    /// What an image holds, and what it needs.
    PeFlags = CorPEKind {
        /// Only IL.
        IL_ONLY = peILonly,
        /// A process of 32 bits.
        REQUIRES_32_BIT = pe32BitRequired,
        /// The format of 64-bit images (PE32+).
        PE32_PLUS = pe32Plus,
        /// Code that is not managed, of 32 bits.
        UNMANAGED_32_BIT = pe32Unmanaged,
        /// It prefers a process of 32 bits.
        PREFERS_32_BIT = pe32BitPreferred,
        _ = !0,
    }
}

/// For which processors an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeKind {
    /// Whether it holds only IL, and needs 32 bits.
    pub kind: PeFlags,
    /// The machine, as the header of the image has it: `IMAGE_FILE_MACHINE_...`.
    pub machine: u32,
}

table! { ($) __metadata_import2_enumerations:
    MetadataImport2 = IMetaDataImport2 from import;

    /// The generic parameters of a type or a method.
    fn generic_params(owner: impl Into<Token> as into_token) -> GenericParam
        = EnumGenericParams(owner);

    /// The constraints of a generic parameter: the types that an argument must derive from.
    fn generic_param_constraints(parameter: GenericParam) -> GenericParamConstraint
        = EnumGenericParamConstraints(parameter);

    /// The instantiations of a generic method that the module uses, or of all of them.
    fn method_specs(method: Option<Token>) -> MethodSpec = EnumMethodSpecs(method);
}

table! { ($) __metadata_import2:
    MetadataImport2 = IMetaDataImport2 from import;

    /// Name and place of a generic parameter.
    fn generic_param_props(parameter: GenericParam) -> {GenericParamProps}
        = GetGenericParamProps(parameter, @number, @attributes, @owner, &mut 0, ~{name})
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such parameter.";

    /// Parameter and type of a constraint.
    fn generic_param_constraint_props(
        constraint: GenericParamConstraint
    ) -> {GenericParamConstraintProps}
        = GetGenericParamConstraintProps(constraint, @parameter, @constraint_type)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such constraint.";

    /// Method and arguments of an instantiation.
    fn method_spec_props(method: MethodSpec) -> {MethodSpecProps}
        = GetMethodSpecProps(method, @parent, @(signature_blob))
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such instantiation.";

    /// For which processors the image is.
    fn pe_kind() -> {PeKind} = GetPEKind(@kind, @machine);

    /// The version of the runtime that the metadata was written for, such as `v4.0.30319`.
    fn version_string() -> String = GetVersionString(~{text});
}

/// What `IMetaDataImport2` offers: generics.
///
/// All of it may be called from every callback that is not during a collection.
#[doc(alias = "IMetaDataImport2")]
pub trait MetadataImport2: Sealed {
    __metadata_import2_enumerations! { enumerations }
    __metadata_import2! { calls }
}

impl MetadataImport2 for Metadata<'_> {}
