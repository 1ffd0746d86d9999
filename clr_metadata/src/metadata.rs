//! The root of the metadata (ECMA-335 II.24.2), its streams and rows.

use clr_profiler_il::token::{self, Token, TokenTable};

use crate::bytes::Bytes;
use crate::columns::Key;
use crate::error::{Error, ErrorKind, Result};
use crate::heaps::{BlobIndex, GuidIndex, Heaps, StringIndex, UserString};
use crate::iterators::{Numbers, Rows, Tokens};
use crate::raw::Value;
use crate::rows::{COLUMNS, OwnedRow, Row, RowToken};
use crate::tables::{RowCounts, Tables, row_counts};

/// `BSJB`.
const SIGNATURE: u32 = 0x424a_5342;

/// The metadata of a module, or of a portable PDB: a view of its bytes.
///
/// [`parse`](Self::parse) reads the headers alone; rows are decoded when they are asked for.
///
/// ```
/// use clr_metadata::rows::TypeRefRow;
/// use clr_metadata::Image;
/// use clr_metadata::token::MethodDef;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = include_bytes!("../../tests/profilees/Basics.dll");
/// let image = Image::parse(file)?;
/// let metadata = image.metadata()?;
/// for method in metadata.tokens::<MethodDef>() {
///     println!("{method}: {}", metadata.string(metadata.row(method)?.name)?);
/// }
/// let references = metadata.rows::<TypeRefRow>();
/// assert!(references.count() > 10);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Metadata<'a> {
    bytes: Bytes<'a>,
    version: &'a [u8],
    pub(crate) heaps: Heaps<'a>,
    pub(crate) tables: Tables<'a>,
    pdb: Option<PdbStream>,
}

/// The stream `#Pdb` of a portable PDB.
#[derive(Clone, Debug)]
pub struct PdbStream {
    /// The id of the PDB. The debug directory of its assembly has the same.
    pub id: [u8; 20],
    /// The method with which the program starts; nil for a library.
    pub entry_point: Token,
    rows: RowCounts,
    /// The offset of the stream, which begins with the id.
    pub(crate) offset: usize,
}

impl PdbStream {
    fn parse(stream: Bytes<'_>) -> Result<Self> {
        let id = stream.array(0)?;
        let entry_point = Token::new(stream.u32(20)?);
        let (rows, _) = row_counts(stream, stream.u64(24)?, 32)?;
        Ok(Self {
            id,
            entry_point,
            rows,
            offset: stream.position(0),
        })
    }

    /// The number of rows of a table of the assembly.
    #[must_use]
    pub fn rows(&self, table: TokenTable) -> u32 {
        self.rows.get(usize::from(table.0)).copied().unwrap_or(0)
    }
}

/// The streams by name.
#[derive(Default)]
struct Streams<'a> {
    tables: Option<Bytes<'a>>,
    strings: Option<Bytes<'a>>,
    user_strings: Option<Bytes<'a>>,
    blobs: Option<Bytes<'a>>,
    guids: Option<Bytes<'a>>,
    pdb: Option<Bytes<'a>>,
}

impl<'a> Streams<'a> {
    fn parse(bytes: Bytes<'a>, headers: Bytes<'a>) -> Result<Self> {
        let mut streams = Self::default();
        let mut at = 4;
        for _ in 0..headers.u16(2)? {
            let name = headers.until_zero(at + 8)?;
            let (slot, known) = match name {
                b"#~" => (&mut streams.tables, "#~"),
                b"#-" => (&mut streams.tables, "#-"),
                b"#Strings" => (&mut streams.strings, "#Strings"),
                b"#US" => (&mut streams.user_strings, "#US"),
                b"#Blob" => (&mut streams.blobs, "#Blob"),
                b"#GUID" => (&mut streams.guids, "#GUID"),
                b"#Pdb" => (&mut streams.pdb, "#Pdb"),
                _ => (&mut None, ""),
            };
            let content = bytes.part(headers.size(at)?, headers.size(at + 4)?)?;
            if slot.replace(content).is_some() {
                return Err(headers.error(ErrorKind::TwoStreams(known), at));
            }
            // With its zero, padded to a multiple of four.
            at += 8 + (name.len() + 1).next_multiple_of(4);
        }
        Ok(streams)
    }
}

impl<'a> Metadata<'a> {
    /// Reads the headers of metadata, which begin with `BSJB`: a portable PDB, the metadata of a loaded module, or
    /// the part of a file that [`Image::metadata`](crate::Image::metadata) returns.
    ///
    /// # Errors
    ///
    /// If the headers are malformed, or a stream exceeds the bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        Self::parse_part(Bytes::new(bytes))
    }

    pub(crate) fn parse_part(bytes: Bytes<'a>) -> Result<Self> {
        if bytes.u32(0)? != SIGNATURE {
            return Err(bytes.error(ErrorKind::NoMetadata, 0));
        }
        let version = bytes.part(16, bytes.size(12)?)?;
        let headers = bytes.skip(16)?.skip(version.data().len())?;
        let streams = Streams::parse(bytes, headers)?;
        let tables = streams
            .tables
            .ok_or(bytes.error(ErrorKind::NoStream("#~"), 16))?;
        let pdb = streams.pdb.map(PdbStream::parse).transpose()?;
        Ok(Self {
            bytes,
            version: version
                .data()
                .split(|&byte| byte == 0)
                .next()
                .unwrap_or_default(),
            heaps: Heaps {
                strings: streams.strings.unwrap_or_default(),
                user_strings: streams.user_strings.unwrap_or_default(),
                blobs: streams.blobs.unwrap_or_default(),
                guids: streams.guids.unwrap_or_default(),
            },
            tables: Tables::parse(tables, pdb.as_ref().map(|pdb| &pdb.rows))?,
            pdb,
        })
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        self.bytes.error(kind, 0)
    }

    /// The bytes of the metadata.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes.data()
    }

    /// The version of the runtime that the compiler named, such as `v4.0.30319`; for a PDB its version.
    #[must_use]
    pub const fn version(&self) -> &'a [u8] {
        self.version
    }

    /// The stream `#Pdb`; `None` for the metadata of a module.
    #[must_use]
    pub const fn pdb_stream(&self) -> Option<&PdbStream> {
        self.pdb.as_ref()
    }

    /// The number of rows of a table, which are numbered from 1; 0 for an unknown table.
    #[must_use]
    pub fn row_count(&self, table: TokenTable) -> u32 {
        self.tables.rows(table)
    }

    /// Whether a token refers to a row of this module, or to a string literal within the heap.
    #[must_use]
    pub fn is_valid(&self, token: Token) -> bool {
        if token.table() == TokenTable::USER_STRING {
            return (token.row() as usize) < self.heaps.user_strings.data().len();
        }
        (1..=self.row_count(token.table())).contains(&token.row())
    }

    /// The row of a token.
    ///
    /// # Errors
    ///
    /// If there is no such row, or if a coded index in it is malformed.
    #[inline]
    pub fn row<T: RowToken>(&self, token: T) -> Result<T::Row> {
        crate::rows::Decode::decode(self.tables.row(token.into())?)
    }

    /// The offset in the input of the bytes of a row: of the file, if the metadata was read from one.
    ///
    /// # Errors
    ///
    /// If there is no such row.
    pub fn row_offset(&self, token: impl Into<Token>) -> Result<usize> {
        self.tables.row(token.into()).map(|row| row.position())
    }

    /// The values of all columns of a row, whatever its table.
    ///
    /// # Errors
    ///
    /// If there is no such row, or if a coded index in it is malformed.
    pub fn values(&self, token: Token) -> Result<Vec<Value>> {
        let columns = COLUMNS.get(usize::from(token.table().0));
        let row = self.tables.row(token)?;
        row.values(columns.copied().unwrap_or_default())
    }

    /// The tokens of all rows of a table.
    #[must_use]
    pub fn tokens<T: RowToken>(&self) -> Tokens<'a, T> {
        Tokens::new(Numbers::all(self.tables.table(<T as RowToken>::TABLE)))
    }

    /// The tokens of the rows with an owner, such as the generic parameters of a method.
    #[must_use]
    pub fn tokens_of<T>(&self, owner: impl Into<<T::Row as OwnedRow>::Owner>) -> Tokens<'a, T>
    where
        T: RowToken<Row: OwnedRow>,
    {
        Tokens::new(self.numbers_of::<T::Row>(owner.into()))
    }

    /// All rows of a table. An item is an error if a coded index in it is malformed.
    #[must_use]
    pub fn rows<R: Row>(&self) -> Rows<'a, R> {
        Rows::new(Numbers::all(self.tables.table(R::TABLE)))
    }

    /// The rows with an owner: the custom attributes of an item, the interfaces of a type, the constant of
    /// a field. An item is an error if a coded index in it is malformed.
    ///
    /// The table is searched by bisection if the metadata declares it as sorted, as compilers do.
    #[must_use]
    pub fn rows_of<R: OwnedRow>(&self, owner: impl Into<R::Owner>) -> Rows<'a, R> {
        Rows::new(self.numbers_of::<R>(owner.into()))
    }

    pub(crate) fn numbers_of<R: OwnedRow>(&self, owner: R::Owner) -> Numbers<'a> {
        let Some(number) = owner.number() else {
            return Numbers::none();
        };
        let sorted = self.tables.is_sorted(R::TABLE);
        Numbers::with(self.tables.table(R::TABLE), sorted, R::OWNER_COLUMN, number)
    }

    /// A text of the stream `#Strings`; empty for the index 0.
    ///
    /// # Errors
    ///
    /// If the index exceeds the stream, or the text is not UTF-8.
    pub fn string(&self, index: StringIndex) -> Result<&'a str> {
        self.heaps.string(index)
    }

    /// The bytes of a text of the stream `#Strings`, whatever its encoding.
    ///
    /// # Errors
    ///
    /// If the index exceeds the stream.
    pub fn string_bytes(&self, index: StringIndex) -> Result<&'a [u8]> {
        self.heaps.string_bytes(index)
    }

    /// A blob of the stream `#Blob`; empty for the index 0.
    ///
    /// # Errors
    ///
    /// If the blob exceeds the stream.
    pub fn blob(&self, index: BlobIndex) -> Result<&'a [u8]> {
        self.heaps.blob(index).map(Bytes::data)
    }

    /// A GUID in the order of its bytes in the stream `#GUID`; `None` for the index 0.
    ///
    /// # Errors
    ///
    /// If the index exceeds the stream.
    pub fn guid(&self, index: GuidIndex) -> Result<Option<[u8; 16]>> {
        self.heaps.guid(index)
    }

    /// A string literal: the operand of an `ldstr`.
    ///
    /// # Errors
    ///
    /// If the token exceeds the stream `#US`, or the bytes are not code units.
    pub fn user_string(&self, token: token::UserString) -> Result<UserString<'a>> {
        self.heaps.user_string(token.row())
    }
}
