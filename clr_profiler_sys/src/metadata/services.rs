//! The small interfaces around metadata: errors, token maps, filters, validation, code generation.

use core::ffi::{c_char, c_void};

use windows_core::{BOOL, HRESULT, IUnknown};

use crate::{CeeSectionRelocType, DWORD, HCEESECTION, LPWSTR, UCHAR, ULONG, mdToken};

use crate::interface::interfaces;

interfaces! {
    /// `IMetaDataError`.
    "B81FF171-20F3-11D2-8DCC-00A0C9B09C19" IMetaDataError, IMetaDataError_Vtbl: IUnknown {
        /// `OnError`.
        fn OnError(hrError: HRESULT, token: mdToken);
    }

    /// `IMapToken`.
    "06A3EA8B-0225-11D1-BF72-00C04FC31E12" IMapToken, IMapToken_Vtbl: IUnknown {
        /// `Map`.
        fn Map(tkImp: mdToken, tkEmit: mdToken);
    }

    /// `IMetaDataFilter`.
    "D0E80DD1-12D4-11D3-B39D-00C04FF81795" IMetaDataFilter, IMetaDataFilter_Vtbl: IUnknown {
        /// `UnmarkAll`.
        fn UnmarkAll();

        /// `MarkToken`.
        fn MarkToken(tk: mdToken);

        /// `IsTokenMarked`.
        fn IsTokenMarked(tk: mdToken, pIsMarked: *mut BOOL);
    }

    /// `IHostFilter`.
    "D0E80DD3-12D4-11D3-B39D-00C04FF81795" IHostFilter, IHostFilter_Vtbl: IUnknown {
        /// `MarkToken`.
        fn MarkToken(tk: mdToken);
    }

    /// `IMetaDataValidate`.
    "4709C9C6-81FF-11D3-9FC7-00C04F79A0A3" IMetaDataValidate, IMetaDataValidate_Vtbl: IUnknown {
        /// `ValidatorInit`.
        fn ValidatorInit(dwModuleType: DWORD, pUnk: *mut c_void);

        /// `ValidateMetaData`.
        fn ValidateMetaData();
    }

    /// `ICeeGen`.
    "7ED1BDFF-8E36-11D2-9C56-00A0C9B7CC45" ICeeGen, ICeeGen_Vtbl: IUnknown {
        /// `EmitString`.
        fn EmitString(lpString: LPWSTR, RVA: *mut ULONG);

        /// `GetString`.
        fn GetString(RVA: ULONG, lpString: *mut LPWSTR);

        /// `AllocateMethodBuffer`.
        fn AllocateMethodBuffer(cchBuffer: ULONG, lpBuffer: *mut *mut UCHAR, RVA: *mut ULONG);

        /// `GetMethodBuffer`.
        fn GetMethodBuffer(RVA: ULONG, lpBuffer: *mut *mut UCHAR);

        /// `GetIMapTokenIface`.
        fn GetIMapTokenIface(pIMapToken: *mut *mut c_void);

        /// `GenerateCeeFile`.
        fn GenerateCeeFile();

        /// `GetIlSection`.
        fn GetIlSection(section: *mut HCEESECTION);

        /// `GetStringSection`.
        fn GetStringSection(section: *mut HCEESECTION);

        /// `AddSectionReloc`.
        fn AddSectionReloc(
            section: HCEESECTION,
            offset: ULONG,
            relativeTo: HCEESECTION,
            relocType: CeeSectionRelocType,
        );

        /// `GetSectionCreate`.
        fn GetSectionCreate(name: *const c_char, flags: DWORD, section: *mut HCEESECTION);

        /// `GetSectionDataLen`.
        fn GetSectionDataLen(section: HCEESECTION, dataLen: *mut ULONG);

        /// `GetSectionBlock`.
        fn GetSectionBlock(
            section: HCEESECTION,
            len: ULONG,
            align: ULONG,
            ppBytes: *mut *mut c_void,
        );

        /// `TruncateSection`.
        fn TruncateSection(section: HCEESECTION, len: ULONG);

        /// `GenerateCeeMemoryImage`.
        fn GenerateCeeMemoryImage(ppImage: *mut *mut c_void);

        /// `ComputePointer`.
        fn ComputePointer(section: HCEESECTION, RVA: ULONG, lpBuffer: *mut *mut UCHAR);
    }
}
