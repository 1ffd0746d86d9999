//! The structures of corprof.idl.

use core::ffi::c_void;

use windows_core::BOOL;

use crate::{
    COR_PRF_CLAUSE_TYPE, COR_PRF_GC_GENERATION, DWORD, FunctionID, LPCWSTR, LPWSTR, ModuleID,
    ObjectID, ReJITID, SIZE_T, UINT_PTR, UINT32, UINT64, ULONG, ULONG32, USHORT, WCHAR, mdFieldDef,
    mdMethodDef,
};

use crate::tables::structures;

structures! {
    /// `OSINFO`.
    struct OSINFO {
        dwOSPlatformId: DWORD,
        dwOSMajorVersion: DWORD,
        dwOSMinorVersion: DWORD,
    }

    /// `ASSEMBLYMETADATA`.
    struct ASSEMBLYMETADATA {
        usMajorVersion: USHORT,
        usMinorVersion: USHORT,
        usBuildNumber: USHORT,
        usRevisionNumber: USHORT,
        szLocale: LPWSTR,
        cbLocale: ULONG,
        rProcessor: *mut DWORD,
        ulProcessor: ULONG,
        rOS: *mut OSINFO,
        ulOS: ULONG,
    }

    /// `COR_IL_MAP`.
    struct COR_IL_MAP {
        oldOffset: ULONG32,
        newOffset: ULONG32,
        fAccurate: BOOL,
    }

    /// `COR_DEBUG_IL_TO_NATIVE_MAP`.
    struct COR_DEBUG_IL_TO_NATIVE_MAP {
        ilOffset: ULONG32,
        nativeStartOffset: ULONG32,
        nativeEndOffset: ULONG32,
    }

    /// `COR_FIELD_OFFSET`.
    struct COR_FIELD_OFFSET {
        ridOfField: mdFieldDef,
        ulOffset: ULONG,
    }

    /// `FunctionIDOrClientID`.
    union FunctionIDOrClientID {
        functionID: FunctionID,
        clientID: UINT_PTR,
    }

    /// `COR_PRF_FUNCTION_ARGUMENT_RANGE`.
    struct COR_PRF_FUNCTION_ARGUMENT_RANGE {
        startAddress: UINT_PTR,
        length: ULONG,
    }

    /// `COR_PRF_FUNCTION_ARGUMENT_INFO`.
    struct COR_PRF_FUNCTION_ARGUMENT_INFO {
        numRanges: ULONG,
        totalArgumentSize: ULONG,
        ranges: [COR_PRF_FUNCTION_ARGUMENT_RANGE; 1],
    }

    /// `COR_PRF_CODE_INFO`.
    struct COR_PRF_CODE_INFO {
        startAddress: UINT_PTR,
        size: SIZE_T,
    }

    /// `COR_PRF_FUNCTION`.
    struct COR_PRF_FUNCTION {
        functionId: FunctionID,
        reJitId: ReJITID,
    }

    /// `COR_PRF_ASSEMBLY_REFERENCE_INFO`.
    struct COR_PRF_ASSEMBLY_REFERENCE_INFO {
        pbPublicKeyOrToken: *mut c_void,
        cbPublicKeyOrToken: ULONG,
        szName: LPCWSTR,
        pMetaData: *mut ASSEMBLYMETADATA,
        pbHashValue: *mut c_void,
        cbHashValue: ULONG,
        dwAssemblyRefFlags: DWORD,
    }

    /// `COR_PRF_METHOD`.
    struct COR_PRF_METHOD {
        moduleId: ModuleID,
        methodId: mdMethodDef,
    }

    /// `COR_PRF_EVENTPIPE_PROVIDER_CONFIG`.
    struct COR_PRF_EVENTPIPE_PROVIDER_CONFIG {
        providerName: *const WCHAR,
        keywords: UINT64,
        loggingLevel: UINT32,
        filterData: *const WCHAR,
    }

    /// `COR_PRF_EVENTPIPE_PARAM_DESC`.
    struct COR_PRF_EVENTPIPE_PARAM_DESC {
        r#type: UINT32,
        elementType: UINT32,
        name: *const WCHAR,
    }

    /// `COR_PRF_EVENT_DATA`.
    struct COR_PRF_EVENT_DATA {
        ptr: UINT64,
        size: UINT32,
        reserved: UINT32,
    }

    /// `COR_PRF_FILTER_DATA`.
    struct COR_PRF_FILTER_DATA {
        Ptr: UINT64,
        Size: UINT32,
        Type: UINT32,
    }

    /// `COR_PRF_GC_GENERATION_RANGE`.
    struct COR_PRF_GC_GENERATION_RANGE {
        generation: COR_PRF_GC_GENERATION,
        rangeStart: ObjectID,
        rangeLength: UINT_PTR,
        rangeLengthReserved: UINT_PTR,
    }

    /// `COR_PRF_NONGC_HEAP_RANGE`.
    struct COR_PRF_NONGC_HEAP_RANGE {
        rangeStart: ObjectID,
        rangeLength: UINT_PTR,
        rangeLengthReserved: UINT_PTR,
    }

    /// `COR_PRF_EX_CLAUSE_INFO`.
    struct COR_PRF_EX_CLAUSE_INFO {
        clauseType: COR_PRF_CLAUSE_TYPE,
        programCounter: UINT_PTR,
        framePointer: UINT_PTR,
        shadowStackPointer: UINT_PTR,
    }
}
