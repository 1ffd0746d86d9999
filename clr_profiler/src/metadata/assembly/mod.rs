//! The manifest of an assembly, for reading and writing.

#[cfg(feature = "rewrite")]
mod emit;
mod identity;
mod import;

#[cfg(feature = "rewrite")]
pub use emit::MetadataAssemblyEmit;
pub use identity::{AssemblyProps, AssemblyRefProps, AssemblyVersion};
pub use import::{ExportedTypeProps, FileProps, ManifestResourceProps, MetadataAssemblyImport};
