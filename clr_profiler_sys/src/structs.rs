//! The structures of corprof.idl.

use core::ffi::c_void;

use windows_core::BOOL;

use crate::tables::structures;
use crate::{
    COR_PRF_CLAUSE_TYPE, COR_PRF_GC_GENERATION, DWORD, FunctionID, LPCWSTR, LPWSTR, ModuleID,
    ObjectID, ReJITID, SIZE_T, UINT_PTR, UINT32, UINT64, ULONG, ULONG32, USHORT, WCHAR, mdFieldDef,
    mdMethodDef,
};

structures! {
    /// An operating system that an assembly names.
    struct OSINFO {
        dwOSPlatformId: DWORD,
        dwOSMajorVersion: DWORD,
        dwOSMinorVersion: DWORD,
    }

    /// Version, culture, processors and systems of an assembly.
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

    /// One offset of replaced IL and the corresponding original one.
    struct COR_IL_MAP {
        oldOffset: ULONG32,
        newOffset: ULONG32,
        fAccurate: BOOL,
    }

    /// One IL offset and its native range.
    struct COR_DEBUG_IL_TO_NATIVE_MAP {
        ilOffset: ULONG32,
        nativeStartOffset: ULONG32,
        nativeEndOffset: ULONG32,
    }

    /// One field and its offset.
    struct COR_FIELD_OFFSET {
        ridOfField: mdFieldDef,
        ulOffset: ULONG,
    }

    /// The argument of a hook: the function, or the value of the id mapper for it.
    union FunctionIDOrClientID {
        functionID: FunctionID,
        clientID: UINT_PTR,
    }

    /// A block of memory that holds arguments or a return value.
    struct COR_PRF_FUNCTION_ARGUMENT_RANGE {
        startAddress: UINT_PTR,
        length: ULONG,
    }

    /// All arguments of a call, in left-to-right order; `ranges` has variable length.
    struct COR_PRF_FUNCTION_ARGUMENT_INFO {
        numRanges: ULONG,
        totalArgumentSize: ULONG,
        ranges: [COR_PRF_FUNCTION_ARGUMENT_RANGE; 1],
    }

    /// A range of native code.
    struct COR_PRF_CODE_INFO {
        startAddress: UINT_PTR,
        size: SIZE_T,
    }

    /// A function and its version.
    struct COR_PRF_FUNCTION {
        functionId: FunctionID,
        reJitId: ReJITID,
    }

    /// A reference to an assembly.
    struct COR_PRF_ASSEMBLY_REFERENCE_INFO {
        pbPublicKeyOrToken: *mut c_void,
        cbPublicKeyOrToken: ULONG,
        szName: LPCWSTR,
        pMetaData: *mut ASSEMBLYMETADATA,
        pbHashValue: *mut c_void,
        cbHashValue: ULONG,
        dwAssemblyRefFlags: DWORD,
    }

    /// A method by module and token.
    struct COR_PRF_METHOD {
        moduleId: ModuleID,
        methodId: mdMethodDef,
    }

    /// A provider with keywords and level.
    struct COR_PRF_EVENTPIPE_PROVIDER_CONFIG {
        providerName: *const WCHAR,
        keywords: UINT64,
        loggingLevel: UINT32,
        filterData: *const WCHAR,
    }

    /// Type and name of an event's parameter.
    struct COR_PRF_EVENTPIPE_PARAM_DESC {
        r#type: UINT32,
        elementType: UINT32,
        name: *const WCHAR,
    }

    /// A piece of an event's payload.
    struct COR_PRF_EVENT_DATA {
        ptr: UINT64,
        size: UINT32,
        reserved: UINT32,
    }

    /// Filter arguments of a session.
    struct COR_PRF_FILTER_DATA {
        Ptr: UINT64,
        Size: UINT32,
        Type: UINT32,
    }

    /// A memory range of a generation.
    struct COR_PRF_GC_GENERATION_RANGE {
        generation: COR_PRF_GC_GENERATION,
        rangeStart: ObjectID,
        rangeLength: UINT_PTR,
        rangeLengthReserved: UINT_PTR,
    }

    /// A memory range that is never collected.
    struct COR_PRF_NONGC_HEAP_RANGE {
        rangeStart: ObjectID,
        rangeLength: UINT_PTR,
        rangeLengthReserved: UINT_PTR,
    }

    /// The exception clause that is about to run, and its frame.
    struct COR_PRF_EX_CLAUSE_INFO {
        clauseType: COR_PRF_CLAUSE_TYPE,
        programCounter: UINT_PTR,
        framePointer: UINT_PTR,
        shadowStackPointer: UINT_PTR,
    }
}
