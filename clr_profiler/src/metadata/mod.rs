//! The metadata of a module: [`Metadata`], [`MetadataWriter`] and the traits over them, one for each
//! native interface.

mod assembly;
mod attribute;
mod dispenser;
mod emit;
mod emit2;
mod enumerate;
mod handle;
mod import;
mod import2;
mod kept;
mod names;
mod parts;
mod rare;
mod signature;
mod stream;
mod tables;
mod value;

pub use assembly::*;
pub use dispenser::{Dispenser, DispenserOption, MetadataDispenser, MetadataDispenserEx};
pub use emit::*;
pub use emit2::MetadataEmit2;
pub use enumerate::{MetadataItem, MetadataIter, MethodImpl};
pub use handle::{Metadata, MetadataWriter};
pub use import::*;
pub use import2::{
    GenericParamConstraintProps, GenericParamProps, MetadataImport2, MethodSpecProps, PeKind,
};
pub(crate) use names::{
    Instantiation, find_type_def, keyword, method_name, type_def_name, type_ref_name,
};
pub use rare::{
    AssemblySearch, CeeGen, CeeSection, CorProfilerInfoLegacy, MetadataEvents, MetadataFilter,
    MetadataHandler, MetadataValidate, MetadataWinMdImport, TokenMap,
};
pub(crate) use signature::Encoded;
pub use signature::{AnySignature, AsSignature, SignatureFilter};
pub use tables::{
    CodedTokenInfo, ColumnInfo, FileMapping, MetadataInfo, MetadataStream, MetadataTables,
    MetadataTables2, TableInfo,
};
pub use value::DefaultValue;
