use std::fmt;

use clr_profiler_il::signature::SignatureError;
use clr_profiler_il::token::Token;

/// The result of reading.
pub type Result<T> = std::result::Result<T, Error>;

/// The problem with a file, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset in the data that was read: the file, the metadata, a heap or a blob, by the kind.
    pub offset: usize,
    /// The rule that is broken.
    pub kind: ErrorKind,
}

/// The rules of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end within a read.
    Truncated,
    /// The file is not a PE image, or has no CLI header.
    NotAnAssembly,
    /// An RVA is in no section of the image.
    Rva(u32),
    /// The metadata does not begin with its signature, or its streams are inconsistent.
    Metadata,
    /// The metadata has no stream with this name.
    NoStream(&'static str),
    /// There is a table whose columns are unknown.
    UnknownTable(u32),
    /// A coded index refers to a table that is not allowed there.
    CodedIndex(u32),
    /// The token refers to no row of this file.
    NoRow(Token),
    /// The token is not of the requested kind.
    WrongToken(Token),
    /// A method body begins with this byte, or has a section of an impossible size.
    Body(u8),
    /// The blob is not a signature of the requested kind.
    Signature(SignatureError),
    /// The file is not a single-file application, or one of an unknown version.
    NotABundle,
    /// A compressed file in a bundle cannot be unpacked, or has an unexpected size.
    Compression,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { offset, kind }
    }
}

impl From<SignatureError> for Error {
    fn from(error: SignatureError) -> Self {
        Self::new(ErrorKind::Signature(error), 0)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Truncated => f.write_str("the file is truncated")?,
            ErrorKind::NotAnAssembly => f.write_str("there is no PE image with a CLI header")?,
            ErrorKind::Rva(rva) => write!(f, "the RVA 0x{rva:x} is in no section")?,
            ErrorKind::Metadata => f.write_str("there is no metadata where it should be")?,
            ErrorKind::NoStream(name) => write!(f, "the metadata has no stream {name}")?,
            ErrorKind::UnknownTable(table) => write!(f, "the table 0x{table:02x} is not known")?,
            ErrorKind::CodedIndex(value) => write!(f, "0x{value:x} is no coded index here")?,
            ErrorKind::NoRow(token) => write!(f, "there is no row {token}")?,
            ErrorKind::WrongToken(token) => {
                write!(f, "{token} ({}) has no such signature", token.table())?;
            }
            ErrorKind::Body(byte) => write!(f, "0x{byte:02x} is wrong in a method body")?,
            ErrorKind::Signature(error) => return error.fmt(f),
            ErrorKind::NotABundle => f.write_str("this is no bundle of a known version")?,
            ErrorKind::Compression => f.write_str("a compressed file cannot be unpacked")?,
        }
        write!(f, " (at offset {})", self.offset)
    }
}

impl std::error::Error for Error {}
