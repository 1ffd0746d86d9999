//! The manifest of an assembly, for reading and writing.

mod emit;
mod identity;
mod import;

pub use emit::MetadataAssemblyEmit;
pub use identity::{AssemblyProps, AssemblyRefProps, AssemblyVersion};
pub use import::{ExportedTypeProps, FileProps, ManifestResourceProps, MetadataAssemblyImport};
