//! The metadata of modules: names, signatures and attributes of types and members.
//!
//! [`Metadata`] is the metadata of a module, and [`MetadataWriter`] adds to it; [`Dispenser`] opens the
//! metadata of files. Each native interface is a trait that one of them implements. The tokens and signatures
//! are those of [`il`](crate::il).
//!
//! ```
//! use clr_profiler::prelude::*;
//!
//! /// The name of the type that declares a method.
//! fn declaring_type(info: &ProfilerInfo, module: ModuleId, method: MethodDef) -> Result<String> {
//!     let metadata = info.module_metadata(module)?;
//!     let class = metadata.method_props(method)?.class;
//!     Ok(metadata.type_def_props(class)?.name)
//! }
//! ```

// First, because the traits use its macro `enumerations!`.
#[macro_use]
mod enumerate;
mod assembly;
mod attribute;
#[cfg(feature = "rewrite")]
mod dispenser;
#[cfg(feature = "rewrite")]
mod emit;
#[cfg(feature = "rewrite")]
mod emit2;
mod handle;
mod import;
mod import2;
mod module_bound;
mod names;
pub(crate) mod own;
mod own_names;
mod parts;
#[cfg(feature = "rewrite")]
mod rare;
mod signature;
#[cfg(feature = "rewrite")]
mod stream;
mod tables;
mod value;

pub use assembly::*;
#[cfg(feature = "rewrite")]
pub use dispenser::{Dispenser, DispenserOption, MetadataDispenser, MetadataDispenserEx};
#[cfg(feature = "rewrite")]
pub use emit::*;
#[cfg(feature = "rewrite")]
pub use emit2::MetadataEmit2;
pub use enumerate::{MetadataItem, MetadataIter, MethodImpl};
pub use handle::Metadata;
#[cfg(feature = "rewrite")]
pub use handle::MetadataWriter;
pub use import::*;
pub use import2::{
    GenericParamConstraintProps, GenericParamProps, MetadataImport2, MethodSpecProps, PeFlags,
    PeKind,
};
#[cfg(feature = "rewrite")]
pub(crate) use names::operand_name;
pub(crate) use names::{
    Instantiation, find_type_def, keyword, method_name, nested_names, parameter_names,
    parameter_types, token_name, type_def_name, type_def_named, type_ref_name,
};
pub(crate) use own_names::plain_method_name;
#[cfg(feature = "rewrite")]
pub use rare::{
    AssemblySearch, CeeGen, CeeSection, MetadataEvents, MetadataFilter, MetadataHandler,
    MetadataValidate, MetadataWinMdImport, TokenMap,
};
pub(crate) use signature::Encoded;
pub use signature::{AnySignature, AsSignature, SignatureFilter};
pub use tables::{
    CodedTokenInfo, ColumnInfo, FileMapping, MetadataInfo, MetadataStream, MetadataTables,
    MetadataTables2, TableInfo,
};
pub use value::ConstantValue;
