//! `IMetaDataTables` and `IMetaDataTables2`.

use uuid::Uuid;

use super::handle::{Metadata, Sealed};
use crate::error::{Error, Hresult, Result};
use crate::metadata::module_bound::InUse;
use crate::native::any_token;
use crate::native::{CallContext, blob, utf8};
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableInfo {
    /// Its name, such as `TypeDef`.
    pub name: String,
    /// The size of a row in bytes.
    pub row_size: u32,
    /// The number of rows.
    pub rows: u32,
    /// The number of columns.
    pub columns: u32,
    /// The column by which its rows are sorted, if they are.
    pub key: Option<u32>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnInfo {
    /// Its name, such as `Flags`.
    pub name: String,
    /// Its offset in a row, in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
    /// The kind of its values: a row of the table of this number (0 to 63), a coded token (64 to 95), a
    /// number (96 to 99), or an index of a heap (101 to 103).
    pub kind: u32,
}

/// A kind of coded token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodedTokenInfo {
    /// Its name, such as `TypeDefOrRef`.
    pub name: String,
    /// The tables that it can refer to, each as the nil token of the table.
    pub tables: Vec<Token>,
}

/// A stream of the metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataStream {
    /// Its name, such as `#Strings`.
    pub name: String,
    /// Its content, without later changes of the metadata.
    pub content: Vec<u8>,
}

fn tables(
    metadata: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<InUse<sys::IMetaDataTables>> {
    metadata.metadata().import()?.query_interface(call)
}

/// Refuses a number at or above the limit, which the runtime would not check.
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
    MetadataTables = IMetaDataTables from query_import;

    /// The size of the string heap in bytes.
    fn string_heap_size() -> u32 = GetStringHeapSize(@number);

    /// The size of the blob heap in bytes.
    fn blob_heap_size() -> u32 = GetBlobHeapSize(@number);

    /// The size of the GUID heap in bytes.
    fn guid_heap_size() -> u32 = GetGuidHeapSize(@number);

    /// The size of the user string heap in bytes.
    fn user_string_heap_size() -> u32 = GetUserStringHeapSize(@number);

    /// The number of possible tables; table numbers are smaller.
    fn num_tables() -> u32 = GetNumTables(@number);

    /// The number of the table of a token.
    fn table_index(token: impl Into<Token> as any_token) -> u32 = GetTableIndex(token, @index)
        fails "`E_INVALIDARG` or a similar code if the token belongs to none.";

    /// The string at an index of the string heap.
    fn string(index: u32) -> String = GetString(index, @text) fails HEAP;

    /// The bytes at an index of the heap of blobs.
    fn blob(index: u32) -> Vec<u8> = GetBlob(index, ~(bytes)) fails HEAP;

    /// The bytes at an index of the user string heap: UTF-16, followed by one byte that tells whether it
    /// contains special characters.
    fn user_string_blob(index: u32) -> Vec<u8> = GetUserString(index, ~(bytes)) fails HEAP;

    /// The index of the next string; `None` after the last.
    fn next_string(index: u32) -> u32 = GetNextString(index, @next) none on S_FALSE fails NO_ITEM;

    /// The index of the next blob; `None` after the last.
    fn next_blob(index: u32) -> u32 = GetNextBlob(index, @next) none on S_FALSE fails NO_ITEM;

    /// The index of the next GUID; `None` after the last.
    fn next_guid(index: u32) -> u32 = GetNextGuid(index, @next) none on S_FALSE fails NO_ITEM;

    /// The index of the next user string; `None` after the last.
    fn next_user_string(index: u32) -> u32 = GetNextUserString(index, @next) none on S_FALSE
        fails NO_ITEM;

    /// The GUID at an index of the GUID heap, which counts from 1.
    fn guid(index: u32) -> Uuid = GetGuid(index, @guid) fails HEAP;

    /// The name, size and key of a table.
    fn table_info(table: u32) -> {TableInfo}
        = GetTableInfo(table, @row_size, @rows, @columns, @key, @name) by with_its_key
        given _table = table_of(table)
        fails "The number is not that of a table; the error of the native call.";

    /// The name, offset and kind of a column.
    fn column_info(table: u32, column: u32) -> {ColumnInfo}
        = GetColumnInfo(table, column, @offset, @size, @kind, @name)
        given _column = column_of(table, column)
        fails "A number is not that of a table or its column; the error of the native call.";

    /// The value of a column in a row; references to other tables are tokens.
    fn column(table: u32, column: u32, row: u32) -> u32 = GetColumn(table, column, row, @value)
        given _cell = cell_of(table, column, row)
        fails "A number is not that of a table, its column or its row; the error of the native \
               call.";
}

fn table_of<M: MetadataTables + ?Sized>(
    metadata: &M,
    call: &'static str,
    table: u32,
) -> Result<()> {
    below(call, "table", table, metadata.num_tables()?)
}

/// The key must be a column of the table; otherwise there is none.
fn with_its_key(table: TableInfo, _: &CallContext<'_>) -> Result<TableInfo> {
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

/// The mapping of a module's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMapping {
    /// Its start address. Use it for comparison and logging; reading from it is unsafe.
    pub address: usize,
    /// Its size in bytes.
    pub size: u64,
    /// Whether the file is mapped as it is (0) or as an image with separate sections (1): `CorFileMapping`.
    pub kind: u32,
}

table! { ($) __metadata_info:
    MetadataInfo = IMetaDataInfo from query_import;

    /// The start, size and kind of the mapping of the module's file.
    fn file_mapping() -> {FileMapping} = GetFileMapping(@address, @size, @kind)
        fails "`COR_E_NOTSUPPORTED` if the metadata is not mapped as a file; `E_INVALIDARG`.";
}

/// The calls of `IMetaDataInfo`: the mapping of a module's file.
#[doc(alias = "IMetaDataInfo")]
pub trait MetadataInfo: Sealed {
    __metadata_info! { calls }
}

impl MetadataInfo for Metadata<'_> {}

/// The calls of `IMetaDataTables`: tables, rows, columns and heaps as they are stored.
///
/// Tables have the numbers of ECMA-335 II.22; rows count from 1, columns from 0. All calls are allowed in
/// every callback that is not during a collection.
#[doc(alias = "IMetaDataTables")]
pub trait MetadataTables: Sealed {
    __metadata_tables! { calls }

    /// The name and the tables of a kind of coded token, which counts from 0.
    ///
    /// Wraps `IMetaDataTables::GetCodedTokenInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The number is not that of a kind; the error of the native call.
    #[doc(alias = "GetCodedTokenInfo")]
    fn coded_token_info(&self, kind: u32) -> Result<CodedTokenInfo> {
        const CALL: &str = "IMetaDataTables::GetCodedTokenInfo";
        // ECMA-335 II.24.2.6 defines 13 kinds; more would not fit into the kinds of columns.
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
            // SAFETY: the runtime returns its constant list, which has this length.
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
    /// A number is not that of a table or its row; the error of the native call.
    #[doc(alias = "GetRow")]
    fn row(&self, table: u32, row: u32) -> Result<Vec<u8>> {
        const CALL: &str = "IMetaDataTables::GetRow";
        let info = self.table_info(table)?;
        below(CALL, "row before", row.wrapping_sub(1), info.rows)?;
        let tables = tables(self, CALL)?;
        let mut start = std::ptr::null_mut();
        native_call!(&tables, IMetaDataTables::GetRow(table, row, &mut start))?;
        // SAFETY: the metadata returns the address of a row, which has the row size of its table.
        Ok(unsafe { blob(start.cast_const().cast(), info.row_size) })
    }
}

impl MetadataTables for Metadata<'_> {}

/// The interface to the stored metadata.
///
/// Refused for the metadata of a loaded module: there its methods dereference a null pointer.
fn stored(
    metadata: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<InUse<sys::IMetaDataTables2>> {
    if metadata.metadata().has_storage {
        metadata.metadata().import()?.query_interface(call)
    } else {
        Err(Error::rule_with_code(
            call,
            "the metadata of a loaded module has no storage, and the runtime does not check that: \
             open the module's file with `info.metadata_dispenser()`",
            Hresult::E_NOTIMPL,
        ))
    }
}

/// The calls of `IMetaDataTables2`: the metadata as it is stored.
///
/// Only for metadata that a [`Dispenser`](crate::metadata::Dispenser) has opened: that of a loaded module has
/// no storage of its own.
#[doc(alias = "IMetaDataTables2")]
pub trait MetadataTables2: Sealed {
    calls! { MetadataTables2 = IMetaDataTables2 from stored;
    /// A copy of the whole metadata, without later changes.
    fn metadata_storage() -> Vec<u8> = GetMetaDataStorage(@(bytes))
        fails "The metadata is that of a loaded module, for which the runtime is not called; the error \
               of the native call.";

    /// The name and content of a stream, which counts from 0; `None` after the last.
    fn metadata_stream(index: u32) -> {MetadataStream}
        = GetMetaDataStreamInfo(index, @name, @(content)) none on S_FALSE_OR_INVALIDARG
        fails "The metadata is that of a loaded module, for which the runtime is not called; the error \
               of the native call.";
    }
}

impl MetadataTables2 for Metadata<'_> {}
