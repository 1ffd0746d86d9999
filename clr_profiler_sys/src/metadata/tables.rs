//! The tables and heaps of metadata as they lie in memory.

use core::ffi::{c_char, c_void};

use windows_core::{GUID, IUnknown};

use crate::{DWORD, ULONG, ULONGLONG};

use crate::interface::interfaces;

interfaces! {
    /// `IMetaDataTables`.
    "D8F579AB-402D-4B8E-82D9-5D63B1065C68" IMetaDataTables, IMetaDataTables_Vtbl: IUnknown {
        /// `GetStringHeapSize`.
        fn GetStringHeapSize(pcbStrings: *mut ULONG);

        /// `GetBlobHeapSize`.
        fn GetBlobHeapSize(pcbBlobs: *mut ULONG);

        /// `GetGuidHeapSize`.
        fn GetGuidHeapSize(pcbGuids: *mut ULONG);

        /// `GetUserStringHeapSize`.
        fn GetUserStringHeapSize(pcbBlobs: *mut ULONG);

        /// `GetNumTables`.
        fn GetNumTables(pcTables: *mut ULONG);

        /// `GetTableIndex`.
        fn GetTableIndex(token: ULONG, pixTbl: *mut ULONG);

        /// `GetTableInfo`.
        fn GetTableInfo(
            ixTbl: ULONG,
            pcbRow: *mut ULONG,
            pcRows: *mut ULONG,
            pcCols: *mut ULONG,
            piKey: *mut ULONG,
            ppName: *mut *const c_char,
        );

        /// `GetColumnInfo`.
        fn GetColumnInfo(
            ixTbl: ULONG,
            ixCol: ULONG,
            poCol: *mut ULONG,
            pcbCol: *mut ULONG,
            pType: *mut ULONG,
            ppName: *mut *const c_char,
        );

        /// `GetCodedTokenInfo`.
        fn GetCodedTokenInfo(
            ixCdTkn: ULONG,
            pcTokens: *mut ULONG,
            ppTokens: *mut *mut ULONG,
            ppName: *mut *const c_char,
        );

        /// `GetRow`.
        fn GetRow(ixTbl: ULONG, rid: ULONG, ppRow: *mut *mut c_void);

        /// `GetColumn`.
        fn GetColumn(ixTbl: ULONG, ixCol: ULONG, rid: ULONG, pVal: *mut ULONG);

        /// `GetString`.
        fn GetString(ixString: ULONG, ppString: *mut *const c_char);

        /// `GetBlob`.
        fn GetBlob(ixBlob: ULONG, pcbData: *mut ULONG, ppData: *mut *const c_void);

        /// `GetGuid`.
        fn GetGuid(ixGuid: ULONG, ppGUID: *mut *const GUID);

        /// `GetUserString`.
        fn GetUserString(ixUserString: ULONG, pcbData: *mut ULONG, ppData: *mut *const c_void);

        /// `GetNextString`.
        fn GetNextString(ixString: ULONG, pNext: *mut ULONG);

        /// `GetNextBlob`.
        fn GetNextBlob(ixBlob: ULONG, pNext: *mut ULONG);

        /// `GetNextGuid`.
        fn GetNextGuid(ixGuid: ULONG, pNext: *mut ULONG);

        /// `GetNextUserString`.
        fn GetNextUserString(ixUserString: ULONG, pNext: *mut ULONG);
    }

    /// `IMetaDataTables2`.
    "BADB5F70-58DA-43A9-A1C6-D74819F19B15" IMetaDataTables2, IMetaDataTables2_Vtbl: IMetaDataTables {
        /// `GetMetaDataStorage`.
        fn GetMetaDataStorage(ppvMd: *mut *const c_void, pcbMd: *mut ULONG);

        /// `GetMetaDataStreamInfo`.
        fn GetMetaDataStreamInfo(
            ix: ULONG,
            ppchName: *mut *const c_char,
            ppv: *mut *const c_void,
            pcb: *mut ULONG,
        );
    }

    /// `IMetaDataInfo`.
    "7998EA64-7F95-48B8-86FC-17CAF48BF5CB" IMetaDataInfo, IMetaDataInfo_Vtbl: IUnknown {
        /// `GetFileMapping`.
        fn GetFileMapping(
            ppvData: *mut *const c_void,
            pcbData: *mut ULONGLONG,
            pdwMappingType: *mut DWORD,
        );
    }
}
