//! Opening and creating metadata.

use core::ffi::c_void;

use windows_core::IUnknown;

use crate::interface::interfaces;
use crate::{DWORD, LPCVOID, LPCWSTR, LPWSTR, REFCLSID, REFGUID, REFIID, ULONG};

interfaces! {
    /// Opens metadata and creates new scopes.
    "809C652E-7396-11D2-9771-00A0C9B4D50C"
    IMetaDataDispenser, IMetaDataDispenser_Vtbl: IUnknown {
        /// Creates a new, empty scope.
        fn DefineScope(
            rclsid: REFCLSID,
            dwCreateFlags: DWORD,
            riid: REFIID,
            ppIUnk: *mut *mut c_void,
        );

        /// Opens the metadata of a file.
        fn OpenScope(szScope: LPCWSTR, dwOpenFlags: DWORD, riid: REFIID, ppIUnk: *mut *mut c_void);

        /// Opens metadata that is already in memory.
        fn OpenScopeOnMemory(
            pData: LPCVOID,
            cbData: ULONG,
            dwOpenFlags: DWORD,
            riid: REFIID,
            ppIUnk: *mut *mut c_void,
        );
    }

    /// Adds options and a search for assemblies.
    "31BCFCE2-DAFB-11D2-9F81-00C04F79A0A3"
    IMetaDataDispenserEx, IMetaDataDispenserEx_Vtbl: IMetaDataDispenser {
        /// Sets an option for scopes that are opened later.
        fn SetOption(optionid: REFGUID, value: *const c_void);

        /// Reads an option.
        fn GetOption(optionid: REFGUID, pvalue: *mut c_void);

        /// Not implemented.
        fn OpenScopeOnITypeInfo(
            pITI: *mut c_void,
            dwOpenFlags: DWORD,
            riid: REFIID,
            ppIUnk: *mut *mut c_void,
        );

        /// The folder of the runtime.
        fn GetCORSystemDirectory(szBuffer: LPWSTR, cchBuffer: DWORD, pchBuffer: *mut DWORD);

        /// Finds the file of an assembly; writes to `szName`.
        fn FindAssembly(
            szAppBase: LPCWSTR,
            szPrivateBin: LPCWSTR,
            szGlobalBin: LPCWSTR,
            szAssemblyName: LPCWSTR,
            szName: LPCWSTR,
            cchName: ULONG,
            pcName: *mut ULONG,
        );

        /// Finds the file of a module of an assembly.
        fn FindAssemblyModule(
            szAppBase: LPCWSTR,
            szPrivateBin: LPCWSTR,
            szGlobalBin: LPCWSTR,
            szAssemblyName: LPCWSTR,
            szModuleName: LPCWSTR,
            szName: LPWSTR,
            cchName: ULONG,
            pcName: *mut ULONG,
        );
    }
}
