use std::fmt;

use clr_profiler_il::attribute::AttributeErrorKind;
use clr_profiler_il::signature::SignatureErrorKind;
use clr_profiler_il::token::{Token, TokenTable};

/// The result of reading.
pub type Result<T> = std::result::Result<T, Error>;

/// A broken rule of the format, and its offset.
///
/// ```
/// use clr_metadata::{ErrorKind, Metadata};
///
/// let error = Metadata::parse(b"BSJB").unwrap_err();
/// assert_eq!(error.kind(), &ErrorKind::UnexpectedEnd);
/// assert_eq!(error.offset(), 4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    offset: usize,
}

impl Error {
    #[cold]
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// The rule that is broken.
    #[must_use]
    pub const fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The offset in the bytes that the caller passed: in the file, or in the metadata if only that was
    /// passed. For a value that has been decompressed, the offset in the decompressed bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at offset 0x{:x})", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}

/// Declares the kinds of errors, each with its text.
macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $kind:ident $(($value:ident: $type:ty))? => $text:literal $(, $argument:expr)*;
    )*) => {
        /// The rule that an [`Error`] reports.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $kind $(($type))?,)*
        }

        impl fmt::Display for ErrorKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind $(($value))? => write!(f, $text $(, $argument)*),)*
                }
            }
        }
    };
}

kinds! {
    /// The bytes end within a value, or an offset or a size exceeds them.
    UnexpectedEnd => "the data ends within a value";
    /// The file is not a PE image.
    NotAnImage => "this is not a PE file, as .NET assemblies are";
    /// The image has no CLI header.
    Native => "this is a native image without managed code";
    /// An address is in no section of the image.
    Rva(rva: u32) => "the address 0x{rva:x} is in no section of the image";
    /// The metadata does not begin with its signature.
    NoMetadata => "there is no metadata: its signature is missing";
    /// The metadata has no stream with this name.
    NoStream(name: &'static str) => "the metadata has no stream {name}";
    /// Two streams have this name.
    TwoStreams(name: &'static str) => "the metadata has two streams {name}";
    /// A table has this number, and its columns are unknown.
    UnknownTable(table: TokenTable) => "{table} is unknown";
    /// A table has more rows than tokens can number.
    TooManyRows(rows: u32) => "a table has {rows} rows, more than tokens can number";
    /// The token refers to no row.
    NoRow(token: Token) => "there is no row {token} ({})", token.table();
    /// The token is of another table than the operation takes.
    WrongToken(token: Token) => "a token of the table {} is not possible here", token.table();
    /// A column has this number, which is no index of a row there.
    Index(value: u32) => "0x{value:x} is no index of a row in this column";
    /// A text is not UTF-8.
    InvalidText => "a text is not UTF-8";
    /// A user string is not UTF-16: it has an odd number of bytes.
    InvalidUserString => "a user string does not consist of UTF-16 code units";
    /// There is no GUID with this index.
    NoGuid(index: u32) => "there is no GUID with the index {index}";
    /// A method body is malformed.
    Body => "the method body is malformed";
    /// A signature is malformed.
    Signature(error: SignatureErrorKind) => "the signature is malformed: {error}";
    /// The value of a custom attribute is malformed.
    Attribute(error: AttributeErrorKind) => "the custom attribute is malformed: {error}";
    /// A constant has a type that constants do not have, or a value of the wrong size.
    Constant(element_type: u8) => "a constant of type 0x{element_type:02x} with this value is not possible";
    /// Types that enclose each other do not end.
    EndlessNesting => "the type is nested in itself, or too deeply";
    /// The module has no manifest: it is one of several modules of an assembly.
    NoManifest => "this is a module without a manifest";
    /// The file is a PDB in the format of Windows.
    WindowsPdb => "this is a Windows PDB, not a portable one";
    /// The name of a document is longer than 64 KiB.
    DocumentName => "the name of a document is longer than 64 KiB";
    /// A sequence point has an IL offset, a line or a column that is not possible.
    SequencePoint => "a sequence point has an impossible offset, line or column";
    /// An import has this kind, which is unknown.
    ImportKind(kind: u32) => "an import has the unknown kind {kind}";
    /// The file is not a single-file application, or one of an unknown version.
    NotABundle => "this is no single-file application of a known version";
    /// Compressed data cannot be decompressed, or has another size than stated.
    Compression => "compressed data is malformed or has an unexpected size";
    /// The data is compressed, and the crate was compiled without the feature `deflate`.
    NoDeflate => "the data is compressed, which needs the feature `deflate` of this crate";
}
