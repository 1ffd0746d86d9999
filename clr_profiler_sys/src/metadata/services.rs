//! The small interfaces around metadata: errors, token maps, filters, validation, code generation.

use core::ffi::{c_char, c_void};

use windows_core::{BOOL, HRESULT, IUnknown};

use crate::interface::interfaces;
use crate::{CeeSectionRelocType, DWORD, HCEESECTION, LPWSTR, UCHAR, ULONG, mdToken};

interfaces! {
    /// Receives errors that occur while metadata is resolved or written.
    "B81FF171-20F3-11D2-8DCC-00A0C9B09C19"
    IMetaDataError, IMetaDataError_Vtbl: IUnknown {
        /// An error occurred at a token.
        fn OnError(hrError: HRESULT, token: mdToken);
    }

    /// Receives old and new token when metadata is merged or renumbered.
    "06A3EA8B-0225-11D1-BF72-00C04FC31E12"
    IMapToken, IMapToken_Vtbl: IUnknown {
        /// The first token became the second.
        fn Map(tkImp: mdToken, tkEmit: mdToken);
    }

    /// Marks tokens of a scope.
    "D0E80DD1-12D4-11D3-B39D-00C04FF81795"
    IMetaDataFilter, IMetaDataFilter_Vtbl: IUnknown {
        /// Removes all marks.
        fn UnmarkAll();

        /// Marks a token.
        fn MarkToken(tk: mdToken);

        /// Tells whether a token is marked.
        fn IsTokenMarked(tk: mdToken, pIsMarked: *mut BOOL);
    }

    /// Receives the tokens that a host should keep.
    "D0E80DD3-12D4-11D3-B39D-00C04FF81795"
    IHostFilter, IHostFilter_Vtbl: IUnknown {
        /// A token that should be kept.
        fn MarkToken(tk: mdToken);
    }

    /// Checks a scope against the rules of the format.
    "4709C9C6-81FF-11D3-9FC7-00C04F79A0A3"
    IMetaDataValidate, IMetaDataValidate_Vtbl: IUnknown {
        /// Sets the kind of the module and the handler of errors.
        fn ValidatorInit(dwModuleType: DWORD, pUnk: *mut c_void);

        /// Checks everything.
        fn ValidateMetaData();
    }

    /// Builds sections of an image in memory (.NET Core up to 5).
    "7ED1BDFF-8E36-11D2-9C56-00A0C9B7CC45"
    ICeeGen, ICeeGen_Vtbl: IUnknown {
        /// Adds a string and returns its address.
        fn EmitString(lpString: LPWSTR, RVA: *mut ULONG);

        /// The string at an address.
        fn GetString(RVA: ULONG, lpString: *mut LPWSTR);

        /// Allocates a buffer for a method body.
        fn AllocateMethodBuffer(cchBuffer: ULONG, lpBuffer: *mut *mut UCHAR, RVA: *mut ULONG);

        /// The method body at an address.
        fn GetMethodBuffer(RVA: ULONG, lpBuffer: *mut *mut UCHAR);

        /// The interface that tracks moved tokens.
        fn GetIMapTokenIface(pIMapToken: *mut *mut c_void);

        /// Writes the image file.
        fn GenerateCeeFile();

        /// The section for method bodies.
        fn GetIlSection(section: *mut HCEESECTION);

        /// The section for strings.
        fn GetStringSection(section: *mut HCEESECTION);

        /// Adds a relocation.
        fn AddSectionReloc(
            section: HCEESECTION,
            offset: ULONG,
            relativeTo: HCEESECTION,
            relocType: CeeSectionRelocType,
        );

        /// Finds a section by name, or creates it.
        fn GetSectionCreate(name: *const c_char, flags: DWORD, section: *mut HCEESECTION);

        /// The length of a section.
        fn GetSectionDataLen(section: HCEESECTION, dataLen: *mut ULONG);

        /// Allocates space in a section.
        fn GetSectionBlock(
            section: HCEESECTION,
            len: ULONG,
            align: ULONG,
            ppBytes: *mut *mut c_void,
        );

        /// Truncates a section.
        fn TruncateSection(section: HCEESECTION, len: ULONG);

        /// Builds the image in memory.
        fn GenerateCeeMemoryImage(ppImage: *mut *mut c_void);

        /// The memory of an address in a section.
        fn ComputePointer(section: HCEESECTION, RVA: ULONG, lpBuffer: *mut *mut UCHAR);
    }
}
