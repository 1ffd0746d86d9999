//! The manifest of an assembly: read and written.

mod emit;
mod identity;
mod import;

pub use emit::MetadataAssemblyEmit;
pub use identity::{AssemblyProps, AssemblyRefProps, AssemblyVersion};
pub use import::{ExportedTypeProps, FileProps, ManifestResourceProps, MetadataAssemblyImport};
