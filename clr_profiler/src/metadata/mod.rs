//! The metadata of a module: [`Metadata`] and the traits over it, one for each native interface.

mod convert;
mod enumerate;
mod handle;
mod import;
mod import2;
mod names;
mod signature;
mod value;

pub use enumerate::{MetadataItem, MetadataIter, MethodImpl};
pub use handle::{Metadata, MetadataWriter};
pub use import::*;
pub use import2::{
    GenericParamConstraintProps, GenericParamProps, MetadataImport2, MethodSpecProps, PeKind,
};
pub(crate) use names::{Instantiation, keyword, method_name, type_def_name};
pub use signature::{AnySignature, AsSignature, SignatureFilter};
pub use value::DefaultValue;
