//! The Windows types that the definitions use, and the identifiers of corprof.idl.

use core::ffi::c_void;

use crate::tables::aliases;
use windows_core::GUID;

aliases! {
    /// 8 bits, unsigned.
    BYTE = u8;

    /// 8 bits, unsigned.
    UCHAR = u8;

    /// 8 bits, unsigned.
    UINT8 = u8;

    /// A code unit of UTF-16, on all systems.
    WCHAR = u16;

    /// 16 bits, unsigned.
    USHORT = u16;

    /// 32 bits, signed.
    LONG32 = i32;

    /// 32 bits, unsigned.
    UINT = u32;

    /// 32 bits, unsigned.
    UINT32 = u32;

    /// 32 bits, unsigned, on all systems.
    ULONG = u32;

    /// 32 bits, unsigned.
    ULONG32 = u32;

    /// 32 bits, unsigned.
    DWORD = u32;

    /// 64 bits, unsigned.
    UINT64 = u64;

    /// 64 bits, unsigned.
    ULONGLONG = u64;

    /// As wide as a pointer, unsigned.
    UINT_PTR = usize;

    /// As wide as a pointer, unsigned.
    SIZE_T = usize;

    /// A handle of the operating system.
    HANDLE = *mut c_void;

    /// A pointer to anything.
    PVOID = *mut c_void;

    /// A pointer to anything, for reading.
    LPCVOID = *const c_void;

    /// A UTF-16 string, for writing.
    LPWSTR = *mut WCHAR;

    /// A UTF-16 string, for reading.
    LPCWSTR = *const WCHAR;

    /// A GUID, for reading.
    LPCGUID = *const GUID;

    /// A GUID, for reading.
    REFGUID = *const GUID;

    /// An interface identifier.
    REFIID = *const GUID;

    /// A class identifier.
    REFCLSID = *const GUID;

    /// Bytes, for reading.
    LPCBYTE = *const BYTE;

    /// Bytes, for writing.
    LPBYTE = *mut BYTE;

    /// A process.
    ProcessID = UINT_PTR;

    /// A loaded assembly.
    AssemblyID = UINT_PTR;

    /// An application domain.
    AppDomainID = UINT_PTR;

    /// A loaded module.
    ModuleID = UINT_PTR;

    /// A loaded type, with its type arguments.
    ClassID = UINT_PTR;

    /// A managed thread.
    ThreadID = UINT_PTR;

    /// A context.
    ContextID = UINT_PTR;

    /// A function, with its type arguments.
    FunctionID = UINT_PTR;

    /// The address of an object; valid until the next collection.
    ObjectID = UINT_PTR;

    /// A garbage collection handle.
    GCHandleID = UINT_PTR;

    /// The value that a hook passes on to ask for details.
    COR_PRF_ELT_INFO = UINT_PTR;

    /// A version of a function; 0 is the original.
    ReJITID = UINT_PTR;

    /// A frame, for queries about generic code.
    COR_PRF_FRAME_INFO = UINT_PTR;

    /// A provider of events.
    EVENTPIPE_PROVIDER = UINT_PTR;

    /// A defined event.
    EVENTPIPE_EVENT = UINT_PTR;

    /// A session.
    EVENTPIPE_SESSION = UINT64;

    /// A handle to an object.
    ObjectHandleID = *mut *mut c_void;
}
