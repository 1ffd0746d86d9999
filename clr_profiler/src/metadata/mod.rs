//! The metadata of a module: [`Metadata`] and the traits over it, one for each native interface.

mod enumerate;
mod handle;
mod import;
mod import2;
mod names;

pub use enumerate::MetadataIter;
pub use handle::Metadata;
pub use import::{MetadataImport, MethodProps, ScopeProps, TypeDefProps, TypeRefProps};
pub use import2::{GenericParamProps, MetadataImport2};
pub(crate) use names::{Instantiation, keyword, method_name, type_def_name};
