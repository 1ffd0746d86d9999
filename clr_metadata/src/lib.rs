//! Reads .NET assemblies, portable PDBs and single-file applications (ECMA-335 II.22 to II.25) without a runtime.
//!
//! ```
//! use clr_metadata::Assembly;
//! use clr_metadata::rows::CustomAttributeRow;
//! use clr_metadata::token::TypeDef;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = include_bytes!("../../tests/profilees/Attributes.dll");
//! let assembly = Assembly::parse(file)?;
//! let metadata = &assembly.metadata;
//! for class in metadata.tokens::<TypeDef>() {
//!     println!("{}", metadata.full_name(class.into())?);
//!     for attribute in metadata.rows_of::<CustomAttributeRow>(class) {
//!         println!("    [{}]", metadata.attribute_name(&attribute?)?.name);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! - [`Assembly`]: a file with managed code: its [`Image`] and its [`Metadata`].
//! - [`Metadata`]: tables, heaps, and the lookups between them; [`rows`]: a type for the rows of each table;
//!   [`token`]: the tokens that name rows.
//! - [`Image`]: PE files and loaded images; [`Headers`]: their headers, from any [`Source`] of bytes.
//! - [`Bundle`]: single-file applications.
//! - [`pdb`]: portable PDBs.
//!
//! # Conventions
//!
//! - Bytes from outside are hostile: reading them returns a value or an [`Error`] with an offset, never panics, and needs
//!   memory bounded by a small multiple of their length.
//! - Headers are read at once, rows and values when they are asked for: a malformed row fails when it is read.
//! - A nil index or token stands for the absence of a value.
//!
//! # Features
//!
//! All are on by default: `bodies` has the lengths of method bodies, `bundles` single-file applications, `pdbs` portable
//! PDBs. `deflate` decompresses the files of bundles and embedded PDBs, and `checksum` compares PDBs with the hashes of
//! their assemblies.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Which private items are needed is seen with all features.
#![cfg_attr(not(all(feature = "bundles", feature = "pdbs")), allow(dead_code))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

mod assembly;
#[cfg(feature = "bundles")]
mod bundle;
mod bytes;
mod columns;
mod deflate;
mod error;
mod heaps;
mod image;
mod iterators;
mod members;
mod metadata;
mod names;
#[cfg(feature = "pdbs")]
pub mod pdb;
mod raw;
pub mod rows;
mod signatures;
mod tables;
mod values;

pub use assembly::{Assembly, Manifest};
#[cfg(feature = "bundles")]
pub use bundle::{Bundle, BundledFile, BundledFileKind};
pub use clr_profiler_il::token;
pub use columns::{
    CustomAttributeType, HasConstant, HasCustomAttribute, HasCustomDebugInformation,
    HasDeclSecurity, HasFieldMarshal, HasSemantics, Implementation, MemberForwarded,
    MemberRefParent, MethodDefOrRef, ResolutionScope, TypeOrMethodDef,
};
pub use error::{Error, ErrorKind, Result};
pub use heaps::{BlobIndex, GuidIndex, StringIndex, UserString};
pub use image::{
    CliHeader, CodeView, DebugContents, DebugEntry, EmbeddedPdb, Headers, Image, ImageLayout,
    ImageRange, Location, PdbChecksum, Source,
};
pub use iterators::{Rows, Tokens};
pub use members::Members;
pub use metadata::{Metadata, PdbStream};
pub use names::TypeName;
pub use raw::Value;
pub use signatures::{Signature, TypeKind};
pub use values::ConstantValue;

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "bodies"))]
#[doc = include_str!("../README.md")]
struct Readme;
