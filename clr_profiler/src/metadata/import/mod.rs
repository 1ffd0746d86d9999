//! `IMetaDataImport`, by topic.

mod attributes;
mod member_props;
mod members;
mod semantics;
mod signatures;
mod types;

use super::handle::{Metadata, Sealed};

pub use attributes::{
    CustomAttributeProps, DeclaredLayout, FieldOffset, MetadataImportAttributes,
    PermissionSetProps, PinvokeMap,
};
pub use member_props::{FieldProps, MemberProps, MemberRefProps, MethodProps, ParamProps, Rva};
pub use members::MetadataImportMembers;
pub use semantics::{EventProps, MetadataImportSemantics, PropertyProps};
pub use signatures::MetadataImportSignatures;
pub use types::{InterfaceImplProps, MetadataImportTypes, ScopeProps, TypeDefProps, TypeRefProps};

/// What `IMetaDataImport` offers: the definitions and references of a module.
///
/// All of it may be called from every callback that is not during a collection. Its methods stand
/// in the traits that it consists of, one for each topic; the [prelude](crate::prelude) has all of
/// them.
#[doc(alias = "IMetaDataImport")]
pub trait MetadataImport:
    Sealed
    + MetadataImportTypes
    + MetadataImportMembers
    + MetadataImportSemantics
    + MetadataImportAttributes
    + MetadataImportSignatures
{
}

impl MetadataImport for Metadata<'_> {}
