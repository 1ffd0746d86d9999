//! The Windows types that the definitions are written in, and the identifiers of corprof.idl.

use core::ffi::c_void;

use windows_core::GUID;

use crate::tables::aliases;

aliases! {
    /// `BYTE`.
    BYTE = u8;

    /// `UCHAR`.
    UCHAR = u8;

    /// `UINT8`.
    UINT8 = u8;

    /// `WCHAR`.
    WCHAR = u16;

    /// `USHORT`.
    USHORT = u16;

    /// `LONG32`.
    LONG32 = i32;

    /// `UINT`.
    UINT = u32;

    /// `UINT32`.
    UINT32 = u32;

    /// `ULONG`.
    ULONG = u32;

    /// `ULONG32`.
    ULONG32 = u32;

    /// `DWORD`.
    DWORD = u32;

    /// `UINT64`.
    UINT64 = u64;

    /// `ULONGLONG`.
    ULONGLONG = u64;

    /// `UINT_PTR`.
    UINT_PTR = usize;

    /// `SIZE_T`.
    SIZE_T = usize;

    /// `HANDLE`.
    HANDLE = *mut c_void;

    /// `PVOID`.
    PVOID = *mut c_void;

    /// `LPCVOID`.
    LPCVOID = *const c_void;

    /// `LPWSTR`.
    LPWSTR = *mut WCHAR;

    /// `LPCWSTR`.
    LPCWSTR = *const WCHAR;

    /// `LPCGUID`.
    LPCGUID = *const GUID;

    /// `REFGUID`.
    REFGUID = *const GUID;

    /// `REFIID`.
    REFIID = *const GUID;

    /// `REFCLSID`.
    REFCLSID = *const GUID;

    /// `LPCBYTE`.
    LPCBYTE = *const BYTE;

    /// `LPBYTE`.
    LPBYTE = *mut BYTE;

    /// `ProcessID`.
    ProcessID = UINT_PTR;

    /// `AssemblyID`.
    AssemblyID = UINT_PTR;

    /// `AppDomainID`.
    AppDomainID = UINT_PTR;

    /// `ModuleID`.
    ModuleID = UINT_PTR;

    /// `ClassID`.
    ClassID = UINT_PTR;

    /// `ThreadID`.
    ThreadID = UINT_PTR;

    /// `ContextID`.
    ContextID = UINT_PTR;

    /// `FunctionID`.
    FunctionID = UINT_PTR;

    /// `ObjectID`.
    ObjectID = UINT_PTR;

    /// `GCHandleID`.
    GCHandleID = UINT_PTR;

    /// `COR_PRF_ELT_INFO`.
    COR_PRF_ELT_INFO = UINT_PTR;

    /// `ReJITID`.
    ReJITID = UINT_PTR;

    /// `COR_PRF_FRAME_INFO`.
    COR_PRF_FRAME_INFO = UINT_PTR;

    /// `EVENTPIPE_PROVIDER`.
    EVENTPIPE_PROVIDER = UINT_PTR;

    /// `EVENTPIPE_EVENT`.
    EVENTPIPE_EVENT = UINT_PTR;

    /// `EVENTPIPE_SESSION`.
    EVENTPIPE_SESSION = UINT64;

    /// `ObjectHandleID`.
    ObjectHandleID = *mut *mut c_void;
}
