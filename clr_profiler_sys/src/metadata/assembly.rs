//! Reading and writing the manifest of an assembly.

use core::ffi::c_void;

use windows_core::IUnknown;

use crate::{
    ASSEMBLYMETADATA, DWORD, HCORENUM, LPCWSTR, LPWSTR, ULONG, mdAssembly, mdAssemblyRef,
    mdExportedType, mdFile, mdManifestResource, mdToken, mdTypeDef,
};

use crate::interface::interfaces;

interfaces! {
    /// `IMetaDataAssemblyImport`.
    "EE62470B-E94B-424E-9B7C-2F00C9249F93" IMetaDataAssemblyImport, IMetaDataAssemblyImport_Vtbl: IUnknown {
        /// `GetAssemblyProps`.
        fn GetAssemblyProps(
            mda: mdAssembly,
            ppbPublicKey: *mut *const c_void,
            pcbPublicKey: *mut ULONG,
            pulHashAlgId: *mut ULONG,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            pMetaData: *mut ASSEMBLYMETADATA,
            pdwAssemblyFlags: *mut DWORD,
        );

        /// `GetAssemblyRefProps`.
        fn GetAssemblyRefProps(
            mdar: mdAssemblyRef,
            ppbPublicKeyOrToken: *mut *const c_void,
            pcbPublicKeyOrToken: *mut ULONG,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            pMetaData: *mut ASSEMBLYMETADATA,
            ppbHashValue: *mut *const c_void,
            pcbHashValue: *mut ULONG,
            pdwAssemblyRefFlags: *mut DWORD,
        );

        /// `GetFileProps`.
        fn GetFileProps(
            mdf: mdFile,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            ppbHashValue: *mut *const c_void,
            pcbHashValue: *mut ULONG,
            pdwFileFlags: *mut DWORD,
        );

        /// `GetExportedTypeProps`.
        fn GetExportedTypeProps(
            mdct: mdExportedType,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            ptkImplementation: *mut mdToken,
            ptkTypeDef: *mut mdTypeDef,
            pdwExportedTypeFlags: *mut DWORD,
        );

        /// `GetManifestResourceProps`.
        fn GetManifestResourceProps(
            mdmr: mdManifestResource,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            ptkImplementation: *mut mdToken,
            pdwOffset: *mut DWORD,
            pdwResourceFlags: *mut DWORD,
        );

        /// `EnumAssemblyRefs`.
        fn EnumAssemblyRefs(
            phEnum: *mut HCORENUM,
            rAssemblyRefs: *mut mdAssemblyRef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumFiles`.
        fn EnumFiles(phEnum: *mut HCORENUM, rFiles: *mut mdFile, cMax: ULONG, pcTokens: *mut ULONG);

        /// `EnumExportedTypes`.
        fn EnumExportedTypes(
            phEnum: *mut HCORENUM,
            rExportedTypes: *mut mdExportedType,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumManifestResources`.
        fn EnumManifestResources(
            phEnum: *mut HCORENUM,
            rManifestResources: *mut mdManifestResource,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `GetAssemblyFromScope`.
        fn GetAssemblyFromScope(ptkAssembly: *mut mdAssembly);

        /// `FindExportedTypeByName`.
        fn FindExportedTypeByName(
            szName: LPCWSTR,
            mdtExportedType: mdToken,
            ptkExportedType: *mut mdExportedType,
        );

        /// `FindManifestResourceByName`.
        fn FindManifestResourceByName(
            szName: LPCWSTR,
            ptkManifestResource: *mut mdManifestResource,
        );

        /// `CloseEnum`.
        fn CloseEnum(hEnum: HCORENUM) -> ();

        /// `FindAssembliesByName`.
        fn FindAssembliesByName(
            szAppBase: LPCWSTR,
            szPrivateBin: LPCWSTR,
            szAssemblyName: LPCWSTR,
            ppIUnk: *mut *mut c_void,
            cMax: ULONG,
            pcAssemblies: *mut ULONG,
        );
    }

    /// `IMetaDataAssemblyEmit`.
    "211EF15B-5317-4438-B196-DEC87B887693" IMetaDataAssemblyEmit, IMetaDataAssemblyEmit_Vtbl: IUnknown {
        /// `DefineAssembly`.
        fn DefineAssembly(
            pbPublicKey: *const c_void,
            cbPublicKey: ULONG,
            ulHashAlgId: ULONG,
            szName: LPCWSTR,
            pMetaData: *const ASSEMBLYMETADATA,
            dwAssemblyFlags: DWORD,
            pma: *mut mdAssembly,
        );

        /// `DefineAssemblyRef`.
        fn DefineAssemblyRef(
            pbPublicKeyOrToken: *const c_void,
            cbPublicKeyOrToken: ULONG,
            szName: LPCWSTR,
            pMetaData: *const ASSEMBLYMETADATA,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            dwAssemblyRefFlags: DWORD,
            pmdar: *mut mdAssemblyRef,
        );

        /// `DefineFile`.
        fn DefineFile(
            szName: LPCWSTR,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            dwFileFlags: DWORD,
            pmdf: *mut mdFile,
        );

        /// `DefineExportedType`.
        fn DefineExportedType(
            szName: LPCWSTR,
            tkImplementation: mdToken,
            tkTypeDef: mdTypeDef,
            dwExportedTypeFlags: DWORD,
            pmdct: *mut mdExportedType,
        );

        /// `DefineManifestResource`.
        fn DefineManifestResource(
            szName: LPCWSTR,
            tkImplementation: mdToken,
            dwOffset: DWORD,
            dwResourceFlags: DWORD,
            pmdmr: *mut mdManifestResource,
        );

        /// `SetAssemblyProps`.
        fn SetAssemblyProps(
            pma: mdAssembly,
            pbPublicKey: *const c_void,
            cbPublicKey: ULONG,
            ulHashAlgId: ULONG,
            szName: LPCWSTR,
            pMetaData: *const ASSEMBLYMETADATA,
            dwAssemblyFlags: DWORD,
        );

        /// `SetAssemblyRefProps`.
        fn SetAssemblyRefProps(
            ar: mdAssemblyRef,
            pbPublicKeyOrToken: *const c_void,
            cbPublicKeyOrToken: ULONG,
            szName: LPCWSTR,
            pMetaData: *const ASSEMBLYMETADATA,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            dwAssemblyRefFlags: DWORD,
        );

        /// `SetFileProps`.
        fn SetFileProps(
            file: mdFile,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            dwFileFlags: DWORD,
        );

        /// `SetExportedTypeProps`.
        fn SetExportedTypeProps(
            ct: mdExportedType,
            tkImplementation: mdToken,
            tkTypeDef: mdTypeDef,
            dwExportedTypeFlags: DWORD,
        );

        /// `SetManifestResourceProps`.
        fn SetManifestResourceProps(
            mr: mdManifestResource,
            tkImplementation: mdToken,
            dwOffset: DWORD,
            dwResourceFlags: DWORD,
        );
    }
}
