//! The manifest of an assembly, read from its file (ECMA-335 II.22 to II.25) without a runtime.
//!
//! ```
//! use clr_profiler_il::assembly::{AssemblyError, Manifest};
//!
//! assert_eq!(Manifest::read(b"\x7fELF"), Err(AssemblyError::NotAnImage));
//! ```

mod image;
mod tables;
#[cfg(test)]
mod tests;

use std::error::Error;

use crate::attributes::{AssemblyFlags, AssemblyHashAlgorithm};
use crate::messages::messages;
use image::Bytes;

messages! {
    /// Why a file is not an assembly.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum AssemblyError {
        /// A file of another kind.
        NotAnImage => "it is not a PE file, as .NET assemblies are";
        /// An image without a CLI header.
        Native => "it is a native library: it has no managed code";
        /// An offset or size reaches past the end of the file.
        UnexpectedEnd => "it ends in the middle of its metadata";
        /// The metadata do not start with their signature.
        NoMetadata => "its metadata has no signature";
        /// The stream of tables is missing.
        NoTables => "it has no metadata tables";
        /// One of several modules of an assembly, without the manifest.
        NoManifest => "it is a module without a manifest";
        /// A name that is not UTF-8.
        InvalidText => "a name in it is not UTF-8";
    }
}

impl Error for AssemblyError {}

/// The manifest of an assembly, and further facts that are needed before the assembly is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The simple name.
    pub name: String,
    /// Major, minor, build and revision.
    pub version: [u16; 4],
    /// The culture; empty for an assembly with code.
    pub culture: String,
    /// The whole public key; empty where there is none.
    pub public_key: Vec<u8>,
    /// The hash algorithm of the assembly's files (II.23.1.1).
    pub hash_algorithm: AssemblyHashAlgorithm,
    /// The flags (II.23.1.2).
    pub flags: AssemblyFlags,
    /// The number of types of other assemblies that it refers to.
    pub type_refs: u32,
}

impl Manifest {
    /// Reads the manifest of a whole file, whatever its contents.
    ///
    /// # Errors
    ///
    /// If the file has no readable manifest.
    pub fn read(file: &[u8]) -> Result<Self, AssemblyError> {
        let streams = image::streams(image::metadata(Bytes(file))?)?;
        let row = tables::assembly(streams.tables.ok_or(AssemblyError::NoTables)?)?;
        let row = row.ok_or(AssemblyError::NoManifest)?;
        let string = |index: u32| match (index, streams.strings) {
            (0, _) => Ok(""),
            (_, Some(strings)) => strings.text(index as usize),
            (_, None) => Err(AssemblyError::UnexpectedEnd),
        };
        let public_key = match (row.public_key, streams.blobs) {
            (0, _) => &[],
            (index, Some(blobs)) => blobs.blob(index as usize)?,
            (_, None) => return Err(AssemblyError::UnexpectedEnd),
        };
        Ok(Self {
            name: string(row.name)?.to_owned(),
            version: row.version,
            culture: string(row.culture)?.to_owned(),
            public_key: public_key.to_vec(),
            hash_algorithm: AssemblyHashAlgorithm::from_number(row.hash_algorithm),
            flags: AssemblyFlags::from_bits_retain(row.flags),
            type_refs: row.type_refs,
        })
    }
}
