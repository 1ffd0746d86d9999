//! Opening and creating metadata.

use core::ffi::c_void;

use windows_core::IUnknown;

use crate::{DWORD, LPCVOID, LPCWSTR, LPWSTR, REFCLSID, REFGUID, REFIID, ULONG};

use crate::interface::interfaces;

interfaces! {
    /// `IMetaDataDispenser`.
    "809C652E-7396-11D2-9771-00A0C9B4D50C" IMetaDataDispenser, IMetaDataDispenser_Vtbl: IUnknown {
        /// `DefineScope`.
        fn DefineScope(
            rclsid: REFCLSID,
            dwCreateFlags: DWORD,
            riid: REFIID,
            ppIUnk: *mut *mut c_void,
        );

        /// `OpenScope`.
        fn OpenScope(szScope: LPCWSTR, dwOpenFlags: DWORD, riid: REFIID, ppIUnk: *mut *mut c_void);

        /// `OpenScopeOnMemory`.
        fn OpenScopeOnMemory(
            pData: LPCVOID,
            cbData: ULONG,
            dwOpenFlags: DWORD,
            riid: REFIID,
            ppIUnk: *mut *mut c_void,
        );
    }

    /// `IMetaDataDispenserEx`.
    "31BCFCE2-DAFB-11D2-9F81-00C04F79A0A3" IMetaDataDispenserEx, IMetaDataDispenserEx_Vtbl: IMetaDataDispenser {
        /// `SetOption`.
        fn SetOption(optionid: REFGUID, value: *const c_void);

        /// `GetOption`.
        fn GetOption(optionid: REFGUID, pvalue: *mut c_void);

        /// `OpenScopeOnITypeInfo`.
        fn OpenScopeOnITypeInfo(
            pITI: *mut c_void,
            dwOpenFlags: DWORD,
            riid: REFIID,
            ppIUnk: *mut *mut c_void,
        );

        /// `GetCORSystemDirectory`.
        fn GetCORSystemDirectory(szBuffer: LPWSTR, cchBuffer: DWORD, pchBuffer: *mut DWORD);

        /// `FindAssembly`.
        fn FindAssembly(
            szAppBase: LPCWSTR,
            szPrivateBin: LPCWSTR,
            szGlobalBin: LPCWSTR,
            szAssemblyName: LPCWSTR,
            szName: LPCWSTR,
            cchName: ULONG,
            pcName: *mut ULONG,
        );

        /// `FindAssemblyModule`.
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
