//! The lookups that need both an image and its metadata.

use clr_profiler_il::attributes::{AssemblyFlags, AssemblyHashAlgorithm};
use clr_profiler_il::token::{Assembly as AssemblyToken, FieldDef, ManifestResource};

use crate::error::{ErrorKind, Result};
use crate::image::{Image, ImageRange};
use crate::metadata::Metadata;
use crate::rows::FieldRvaRow;

/// An assembly, or another module with managed code, in the bytes of its file.
///
/// ```
/// use clr_metadata::Assembly;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = include_bytes!("../../tests/profilees/Basics.dll");
/// let assembly = Assembly::parse(file)?;
/// let metadata = &assembly.metadata;
/// assert_eq!(metadata.manifest()?.name, "Basics");
///
/// let program = metadata.find_type("Basics.Program").ok_or("no such type")?;
/// for method in metadata.methods(program) {
///     let name = metadata.member_name(method)?;
///     if let Some(body) = assembly.body(method)? {
///         println!("{name}: {} bytes", body.len());
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Assembly<'a> {
    /// The image.
    pub image: Image<'a>,
    /// The metadata.
    pub metadata: Metadata<'a>,
}

/// The manifest of an assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest<'a> {
    /// The simple name.
    pub name: &'a str,
    /// Major, minor, build and revision.
    pub version: [u16; 4],
    /// The culture; empty for an assembly with code.
    pub culture: &'a str,
    /// The whole public key; empty where there is none.
    pub public_key: &'a [u8],
    /// The hash algorithm of the assembly's files (II.23.1.1).
    pub hash_algorithm: AssemblyHashAlgorithm,
    /// The flags (II.23.1.2).
    pub flags: AssemblyFlags,
}

impl<'a> Metadata<'a> {
    /// The manifest.
    ///
    /// # Errors
    ///
    /// If this is a module without a manifest, or if a name in it is malformed.
    pub fn manifest(&self) -> Result<Manifest<'a>> {
        let token = self.tokens::<AssemblyToken>().next();
        let row = self.row(token.ok_or(self.error(ErrorKind::NoManifest))?)?;
        Ok(Manifest {
            name: self.string(row.name)?,
            version: [row.major, row.minor, row.build, row.revision],
            culture: self.string(row.culture)?,
            public_key: self.blob(row.public_key)?,
            hash_algorithm: row.hash_algorithm,
            flags: row.flags,
        })
    }
}

impl<'a> Assembly<'a> {
    /// Reads the headers of a file.
    ///
    /// # Errors
    ///
    /// If this is no PE file with managed code, or if the headers are malformed.
    pub fn parse(file: &'a [u8]) -> Result<Self> {
        let image = Image::parse(file)?;
        let metadata = image.metadata()?;
        Ok(Self::new(image, metadata))
    }

    /// An image, and metadata: its own, or that of an edit.
    #[must_use]
    pub const fn new(image: Image<'a>, metadata: Metadata<'a>) -> Self {
        Self { image, metadata }
    }

    /// The IL body of a method, for [`MethodBody::decode`](clr_profiler_il::body::MethodBody::decode); `None` for a method
    /// without one: abstract, of a native library, of the runtime.
    ///
    /// # Errors
    ///
    /// If there is no such method, or if the headers of the body are malformed.
    #[cfg(feature = "bodies")]
    pub fn body(&self, method: clr_profiler_il::token::MethodDef) -> Result<Option<&'a [u8]>> {
        let row = self.metadata.row(method)?;
        if row.rva == 0
            || row.implementation.code_type() != clr_profiler_il::attributes::CodeType::IL
        {
            return Ok(None);
        }
        self.image.body(row.rva).map(Some)
    }

    /// A resource of this file; `None` if another file or assembly has it.
    ///
    /// # Errors
    ///
    /// If there is no such row, or if the resource exceeds the file.
    pub fn resource(&self, resource: ManifestResource) -> Result<Option<&'a [u8]>> {
        let row = self.metadata.row(resource)?;
        if !row.implementation.is_nil() {
            return Ok(None);
        }
        self.image.resource(row.offset).map(Some)
    }

    /// The initial value of a static field, with the size of its type; `None` if it has none.
    ///
    /// # Errors
    ///
    /// If the row is malformed, or the value exceeds the file.
    pub fn field_data(&self, field: FieldDef, size: u32) -> Result<Option<&'a [u8]>> {
        let row = self
            .metadata
            .rows_of::<FieldRvaRow>(field)
            .next()
            .transpose()?;
        row.map(|row| self.image.bytes(ImageRange { rva: row.rva, size }))
            .transpose()
    }
}
