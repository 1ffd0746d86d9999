//! PE images: headers, metadata, method bodies, resources and the debug directory.

mod debug;
mod headers;

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::metadata::Metadata;

pub use debug::{CodeView, DebugContents, DebugEntry, EmbeddedPdb, PdbChecksum};
pub use headers::{CliHeader, Headers, ImageLayout, ImageRange, Location, Source};

/// A PE image in memory: the bytes of a file, or a copy of a loaded image.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    headers: Headers,
    bytes: Bytes<'a>,
}

impl<'a> Image<'a> {
    /// The image in the bytes of a file.
    ///
    /// # Errors
    ///
    /// If this is no PE file, or if the headers are incomplete.
    pub fn parse(file: &'a [u8]) -> Result<Self> {
        Self::with_layout(file, ImageLayout::File)
    }

    /// The image in the bytes of a file, or of a loaded image from its first byte to its last one.
    ///
    /// # Errors
    ///
    /// If this is no PE file, or if the headers are incomplete.
    pub fn with_layout(bytes: &'a [u8], layout: ImageLayout) -> Result<Self> {
        let headers = Headers::read(bytes, layout);
        let bytes = Bytes::new(bytes);
        let inside = |error: Error| bytes.error(error.kind().clone(), error.offset());
        Ok(Self {
            headers: headers.map_err(inside)?,
            bytes,
        })
    }

    /// The headers.
    #[must_use]
    pub const fn headers(&self) -> &Headers {
        &self.headers
    }

    /// The whole image.
    pub(crate) const fn all_bytes(&self) -> &'a [u8] {
        self.bytes.data()
    }

    /// The bytes from an address to the end of its section.
    ///
    /// # Errors
    ///
    /// If the address is in no section, or beyond the end of the bytes.
    pub fn from_rva(&self, rva: u32) -> Result<&'a [u8]> {
        self.at(rva).map(Bytes::data)
    }

    fn at(&self, rva: u32) -> Result<Bytes<'a>> {
        let location = self.headers.locate(rva)?;
        let offset = usize::try_from(location.offset).unwrap_or(usize::MAX);
        // A file may end before the end of its last section, which is padded.
        Ok(self.bytes.skip(offset)?.at_most(location.size as usize))
    }

    fn range(&self, range: ImageRange) -> Result<Bytes<'a>> {
        self.at(range.rva)?.part(0, range.size as usize)
    }

    /// The bytes of a range: of the initial value of a field, for example.
    ///
    /// # Errors
    ///
    /// If the range is in no section, or exceeds the bytes.
    pub fn bytes(&self, range: ImageRange) -> Result<&'a [u8]> {
        self.range(range).map(Bytes::data)
    }

    fn cli(&self) -> Result<&CliHeader> {
        let native = self.bytes.error(ErrorKind::Native, 0);
        self.headers.cli.as_ref().ok_or(native)
    }

    /// The metadata. Offsets in errors are those in the image.
    ///
    /// # Errors
    ///
    /// If the image has no managed code, or if the headers of its metadata are malformed.
    pub fn metadata(&self) -> Result<Metadata<'a>> {
        Metadata::parse_part(self.range(self.cli()?.metadata)?)
    }

    /// The method body at an address: header, code and sections, without the bytes after it.
    ///
    /// # Errors
    ///
    /// If the address is in no section, or if the headers of the body are malformed.
    #[cfg(feature = "bodies")]
    pub fn body(&self, rva: u32) -> Result<&'a [u8]> {
        let bytes = self.at(rva)?;
        let length = clr_profiler_il::body::encoded_length(bytes.data())
            .map_err(|error| bytes.error(ErrorKind::Body, error.offset))?;
        bytes.part(0, length).map(Bytes::data)
    }

    /// The resource at an offset of the resources: the column `offset` of a
    /// [`ManifestResourceRow`](crate::rows::ManifestResourceRow) without an implementation.
    ///
    /// # Errors
    ///
    /// If the offset or the size of the resource exceeds the resources.
    pub fn resource(&self, offset: u32) -> Result<&'a [u8]> {
        let resources = self.range(self.cli()?.resources)?;
        let resource = resources.skip(offset as usize)?;
        resource.part(4, resource.size(0)?).map(Bytes::data)
    }
}
