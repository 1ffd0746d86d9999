//! `IMetaDataTables` and `IMetaDataTables2`.

use uuid::Uuid;

use super::handle::{Metadata, Sealed};
use crate::error::{Error, Hresult, Result};
use crate::metadata::kept::InUse;
use crate::native::any_token;
use crate::native::{Asked, blob, utf8};
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableInfo {
    /// Its name, such as `TypeDef`.
    pub name: String,
    /// How many bytes a row has.
    pub row_size: u32,
    /// How many rows it has.
    pub rows: u32,
    /// How many columns it has.
    pub columns: u32,
    /// The column that its rows are sorted by, where they are.
    pub key: Option<u32>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnInfo {
    /// Its name, such as `Flags`.
    pub name: String,
    /// Where it stands in a row, in bytes.
    pub offset: u32,
    /// How many bytes it has.
    pub size: u32,
    /// What it holds: a row of the table of this number (0 to 63), a coded token (64 to 95), a
    /// number (96 to 99), or an index of a heap (101 to 103).
    pub kind: u32,
}

/// A kind of coded token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodedTokenInfo {
    /// Its name, such as `TypeDefOrRef`.
    pub name: String,
    /// The tables that it can name, each as the nil token of the table.
    pub tables: Vec<Token>,
}

/// A stream of the metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataStream {
    /// Its name, such as `#Strings`.
    pub name: String,
    /// Its content, as the metadata was before anything was changed.
    pub content: Vec<u8>,
}

fn tables(
    metadata: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<InUse<sys::IMetaDataTables>> {
    metadata.metadata().import.beside(call)
}

/// Refuses what the runtime would not check: a number that is not below the limit.
fn below(call: &'static str, what: &str, number: u32, limit: u32) -> Result<()> {
    if number < limit {
        Ok(())
    } else {
        Err(Error::invalid(
            call,
            format_args!("there is no {what} {number}: there are {limit}"),
        ))
    }
}

table! { ($) __metadata_tables:
    MetadataTables = IMetaDataTables from beside_import;

    /// The size of the heap of names in bytes.
    fn string_heap_size() -> u32 = GetStringHeapSize(@number);

    /// The size of the heap of blobs in bytes.
    fn blob_heap_size() -> u32 = GetBlobHeapSize(@number);

    /// The size of the heap of GUIDs in bytes.
    fn guid_heap_size() -> u32 = GetGuidHeapSize(@number);

    /// The size of the heap of string literals in bytes.
    fn user_string_heap_size() -> u32 = GetUserStringHeapSize(@number);

    /// How many tables there can be: those with a larger number are none.
    fn num_tables() -> u32 = GetNumTables(@number);

    /// The number of the table that a token is of.
    fn table_index(token: impl Into<Token> as any_token) -> u32 = GetTableIndex(token, @index)
        fails "`E_INVALIDARG` or the like for tokens that are of none.";

    /// The text at an index of the heap of names.
    fn string(index: u32) -> String = GetString(index, @text) fails HEAP;

    /// The bytes at an index of the heap of blobs.
    fn blob(index: u32) -> Vec<u8> = GetBlob(index, ~(bytes)) fails HEAP;

    /// The bytes at an index of the heap of string literals: UTF-16, and one byte more that says
    /// whether there are special characters in it.
    fn user_string_blob(index: u32) -> Vec<u8> = GetUserString(index, ~(bytes)) fails HEAP;

    /// The index of the name behind this one; `None` behind the last.
    fn next_string(index: u32) -> u32 = GetNextString(index, @next) none on S_FALSE fails NO_ITEM;

    /// The index of the blob behind this one; `None` behind the last.
    fn next_blob(index: u32) -> u32 = GetNextBlob(index, @next) none on S_FALSE fails NO_ITEM;

    /// The index of the GUID behind this one; `None` behind the last.
    fn next_guid(index: u32) -> u32 = GetNextGuid(index, @next) none on S_FALSE fails NO_ITEM;

    /// The index of the string literal behind this one; `None` behind the last.
    fn next_user_string(index: u32) -> u32 = GetNextUserString(index, @next) none on S_FALSE
        fails NO_ITEM;

    /// The GUID at an index of the heap of GUIDs, which counts from 1.
    fn guid(index: u32) -> Uuid = GetGuid(index, @guid) fails HEAP;

    /// Name, size and key of a table.
    fn table_info(table: u32) -> {TableInfo}
        = GetTableInfo(table, @row_size, @rows, @columns, @key, @name) by with_its_key
        given _table = table_of(table)
        fails "A number that is not that of a table; what the metadata answers.";

    /// Name, place and kind of a column.
    fn column_info(table: u32, column: u32) -> {ColumnInfo}
        = GetColumnInfo(table, column, @offset, @size, @kind, @name)
        given _column = column_of(table, column)
        fails "Numbers that are not those of a table and its column; what the metadata answers.";

    /// The value of a column in a row; references to other tables are tokens.
    fn column(table: u32, column: u32, row: u32) -> u32 = GetColumn(table, column, row, @value)
        given _cell = cell_of(table, column, row)
        fails "Numbers that are not those of a table, its column and row; what the metadata \
               answers.";
}

fn table_of<M: MetadataTables + ?Sized>(
    metadata: &M,
    call: &'static str,
    table: u32,
) -> Result<()> {
    below(call, "table", table, metadata.num_tables()?)
}

/// Only a column of the table is its key.
fn with_its_key(table: TableInfo, _: &Asked<'_>) -> Result<TableInfo> {
    let key = table.key.filter(|key| *key < table.columns);
    Ok(TableInfo { key, ..table })
}

fn column_of<M: MetadataTables + ?Sized>(
    metadata: &M,
    call: &'static str,
    table: u32,
    column: u32,
) -> Result<TableInfo> {
    let info = metadata.table_info(table)?;
    below(call, "column", column, info.columns)?;
    Ok(info)
}

fn cell_of<M: MetadataTables + ?Sized>(
    metadata: &M,
    call: &'static str,
    table: u32,
    column: u32,
    row: u32,
) -> Result<()> {
    let info = column_of(metadata, call, table, column)?;
    below(call, "row before", row.wrapping_sub(1), info.rows)
}

/// How the file of a module is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMapping {
    /// Where it begins. To be compared or logged; reading from there is unsafe.
    pub address: usize,
    /// Its size in bytes.
    pub size: u64,
    /// Whether as a file (0) or as an image with its sections apart (1): `CorFileMapping`.
    pub kind: u32,
}

table! { ($) __metadata_info:
    MetadataInfo = IMetaDataInfo from beside_import;

    /// Start, size and kind of the mapping of the module's file.
    fn file_mapping() -> {FileMapping} = GetFileMapping(@address, @size, @kind)
        fails "`COR_E_NOTSUPPORTED` where the metadata is not mapped as a file; `E_INVALIDARG`.";
}

/// What `IMetaDataInfo` offers: how the file of a module is mapped.
#[doc(alias = "IMetaDataInfo")]
pub trait MetadataInfo: Sealed {
    __metadata_info! { calls }
}

impl MetadataInfo for Metadata<'_> {}

/// What `IMetaDataTables` offers: tables, rows, columns and heaps as they are stored.
///
/// Tables have the numbers of ECMA-335 II.22; rows count from 1, columns from 0. All of it may be
/// called from every callback that is not during a collection.
#[doc(alias = "IMetaDataTables")]
pub trait MetadataTables: Sealed {
    __metadata_tables! { calls }

    /// Name and tables of a kind of coded token, counted from 0.
    ///
    /// Wraps `IMetaDataTables::GetCodedTokenInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A number that is not that of a kind; what the metadata answers.
    #[doc(alias = "GetCodedTokenInfo")]
    fn coded_token_info(&self, kind: u32) -> Result<CodedTokenInfo> {
        const CALL: &str = "IMetaDataTables::GetCodedTokenInfo";
        // ECMA-335 II.24.2.6 has 13 kinds; more would not fit into the kinds of columns.
        below(CALL, "kind of coded token", kind, 13)?;
        let tables = tables(self, CALL)?;
        let (mut count, mut list, mut name) = (0, std::ptr::null_mut(), std::ptr::null());
        native_call!(
            &tables,
            IMetaDataTables::GetCodedTokenInfo(kind, &mut count, &mut list, &mut name)
        )?;
        let tokens = if list.is_null() {
            &[]
        } else {
            // SAFETY: the runtime says that its constant list of that length stands there.
            unsafe { std::slice::from_raw_parts(list.cast_const(), count as usize) }
        };
        Ok(CodedTokenInfo {
            // SAFETY: names of kinds are constants of the runtime, and end with a zero.
            name: unsafe { utf8(name) },
            tables: tokens.iter().copied().map(Token::new).collect(),
        })
    }

    /// The bytes of a row.
    ///
    /// Wraps `IMetaDataTables::GetRow`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// Numbers that are not those of a table and its row; what the metadata answers.
    #[doc(alias = "GetRow")]
    fn row(&self, table: u32, row: u32) -> Result<Vec<u8>> {
        const CALL: &str = "IMetaDataTables::GetRow";
        let info = self.table_info(table)?;
        below(CALL, "row before", row.wrapping_sub(1), info.rows)?;
        let tables = tables(self, CALL)?;
        let mut start = std::ptr::null_mut();
        native_call!(&tables, IMetaDataTables::GetRow(table, row, &mut start))?;
        // SAFETY: the metadata says that a row stands there, of the size that its table has.
        Ok(unsafe { blob(start.cast_const().cast(), info.row_size) })
    }
}

impl MetadataTables for Metadata<'_> {}

/// The interface to the storage, where there is one.
///
/// Of a module's metadata the runtime keeps none, and would look for it through a null pointer.
fn stored(
    metadata: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<InUse<sys::IMetaDataTables2>> {
    if metadata.metadata().has_storage {
        metadata.metadata().import.beside(call)
    } else {
        Err(Error::rule_with_code(
            call,
            "the metadata of a loaded module has no storage, and the runtime does not check that: \
             open the module's file with `info.metadata_dispenser()`",
            Hresult::E_NOTIMPL,
        ))
    }
}

/// What `IMetaDataTables2` offers: the metadata as it is stored.
///
/// Only for metadata that a [`Dispenser`](crate::metadata::Dispenser) has opened: that of a loaded module has
/// no storage of its own.
#[doc(alias = "IMetaDataTables2")]
pub trait MetadataTables2: Sealed {
    calls! { MetadataTables2 = IMetaDataTables2 from stored;
    /// A copy of the whole metadata, as it was before anything was changed.
    fn metadata_storage() -> Vec<u8> = GetMetaDataStorage(@(bytes))
        fails "Metadata of a loaded module, about which the runtime is not asked; what other \
               metadata answers.";

    /// Name and content of a stream, counted from 0; `None` behind the last.
    fn metadata_stream(index: u32) -> {MetadataStream}
        = GetMetaDataStreamInfo(index, @name, @(content)) none on S_FALSE_OR_INVALIDARG
        fails "Metadata of a loaded module, about which the runtime is not asked; what other \
               metadata answers.";
    }
}

impl MetadataTables2 for Metadata<'_> {}
