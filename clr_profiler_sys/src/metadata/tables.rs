//! The tables and heaps of metadata as they are in memory.

use core::ffi::{c_char, c_void};

use windows_core::{GUID, IUnknown};

use crate::interface::interfaces;
use crate::{DWORD, ULONG, ULONGLONG};

interfaces! {
    /// Reads tables, rows, columns and heaps as they are stored.
    "D8F579AB-402D-4B8E-82D9-5D63B1065C68"
    IMetaDataTables, IMetaDataTables_Vtbl: IUnknown {
        /// Size of the string heap in bytes.
        fn GetStringHeapSize(pcbStrings: *mut ULONG);

        /// Size of the blob heap in bytes.
        fn GetBlobHeapSize(pcbBlobs: *mut ULONG);

        /// Size of the GUID heap in bytes.
        fn GetGuidHeapSize(pcbGuids: *mut ULONG);

        /// Size of the heap of string literals in bytes.
        fn GetUserStringHeapSize(pcbBlobs: *mut ULONG);

        /// The number of kinds of tables.
        fn GetNumTables(pcTables: *mut ULONG);

        /// The table that a token belongs to.
        fn GetTableIndex(token: ULONG, pixTbl: *mut ULONG);

        /// Row size, rows, columns, key column and name of a table.
        fn GetTableInfo(
            ixTbl: ULONG,
            pcbRow: *mut ULONG,
            pcRows: *mut ULONG,
            pcCols: *mut ULONG,
            piKey: *mut ULONG,
            ppName: *mut *const c_char,
        );

        /// Offset, size, type and name of a column.
        fn GetColumnInfo(
            ixTbl: ULONG,
            ixCol: ULONG,
            poCol: *mut ULONG,
            pcbCol: *mut ULONG,
            pType: *mut ULONG,
            ppName: *mut *const c_char,
        );

        /// The tables that a kind of coded token can refer to.
        fn GetCodedTokenInfo(
            ixCdTkn: ULONG,
            pcTokens: *mut ULONG,
            ppTokens: *mut *mut ULONG,
            ppName: *mut *const c_char,
        );

        /// Pointer to a row.
        fn GetRow(ixTbl: ULONG, rid: ULONG, ppRow: *mut *mut c_void);

        /// The value of a column in a row.
        fn GetColumn(ixTbl: ULONG, ixCol: ULONG, rid: ULONG, pVal: *mut ULONG);

        /// The text at an index of the string heap, UTF-8.
        fn GetString(ixString: ULONG, ppString: *mut *const c_char);

        /// The bytes at an index of the blob heap.
        fn GetBlob(ixBlob: ULONG, pcbData: *mut ULONG, ppData: *mut *const c_void);

        /// The GUID at an index of the GUID heap.
        fn GetGuid(ixGuid: ULONG, ppGUID: *mut *const GUID);

        /// The bytes at an index of the heap of string literals.
        fn GetUserString(ixUserString: ULONG, pcbData: *mut ULONG, ppData: *mut *const c_void);

        /// The index of the string that follows.
        fn GetNextString(ixString: ULONG, pNext: *mut ULONG);

        /// The index of the blob that follows.
        fn GetNextBlob(ixBlob: ULONG, pNext: *mut ULONG);

        /// The index of the GUID that follows.
        fn GetNextGuid(ixGuid: ULONG, pNext: *mut ULONG);

        /// The index of the string literal that follows.
        fn GetNextUserString(ixUserString: ULONG, pNext: *mut ULONG);
    }

    /// Adds the storage that contains the tables.
    "BADB5F70-58DA-43A9-A1C6-D74819F19B15"
    IMetaDataTables2, IMetaDataTables2_Vtbl: IMetaDataTables {
        /// Start and size of the whole metadata.
        fn GetMetaDataStorage(ppvMd: *mut *const c_void, pcbMd: *mut ULONG);

        /// Name, start and size of one stream.
        fn GetMetaDataStreamInfo(
            ix: ULONG,
            ppchName: *mut *const c_char,
            ppv: *mut *const c_void,
            pcb: *mut ULONG,
        );
    }

    /// Tells how the file of a scope is mapped.
    "7998EA64-7F95-48B8-86FC-17CAF48BF5CB"
    IMetaDataInfo, IMetaDataInfo_Vtbl: IUnknown {
        /// Start, size and kind of the mapped file.
        fn GetFileMapping(
            ppvData: *mut *const c_void,
            pcbData: *mut ULONGLONG,
            pdwMappingType: *mut DWORD,
        );
    }
}
