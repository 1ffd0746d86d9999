//! Reading and writing the manifest of an assembly.

use core::ffi::c_void;

use windows_core::IUnknown;

use crate::interface::interfaces;
use crate::{
    ASSEMBLYMETADATA, DWORD, HCORENUM, LPCWSTR, LPWSTR, ULONG, mdAssembly, mdAssemblyRef,
    mdExportedType, mdFile, mdManifestResource, mdToken, mdTypeDef,
};

interfaces! {
    /// Reads the manifest of an assembly.
    "EE62470B-E94B-424E-9B7C-2F00C9249F93"
    IMetaDataAssemblyImport, IMetaDataAssemblyImport_Vtbl: IUnknown {
        /// Key, hash algorithm, name, version and flags of the assembly.
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

        /// Key or token, name, version, hash and flags of a reference.
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

        /// Name, hash and flags of a file.
        fn GetFileProps(
            mdf: mdFile,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            ppbHashValue: *mut *const c_void,
            pcbHashValue: *mut ULONG,
            pdwFileFlags: *mut DWORD,
        );

        /// Name, implementation, token and flags of an exported type.
        fn GetExportedTypeProps(
            mdct: mdExportedType,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            ptkImplementation: *mut mdToken,
            ptkTypeDef: *mut mdTypeDef,
            pdwExportedTypeFlags: *mut DWORD,
        );

        /// Name, implementation, offset and flags of a resource.
        fn GetManifestResourceProps(
            mdmr: mdManifestResource,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            ptkImplementation: *mut mdToken,
            pdwOffset: *mut DWORD,
            pdwResourceFlags: *mut DWORD,
        );

        /// Enumerates the assembly references.
        fn EnumAssemblyRefs(
            phEnum: *mut HCORENUM,
            rAssemblyRefs: *mut mdAssemblyRef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the files.
        fn EnumFiles(phEnum: *mut HCORENUM, rFiles: *mut mdFile, cMax: ULONG, pcTokens: *mut ULONG);

        /// Enumerates the exported types.
        fn EnumExportedTypes(
            phEnum: *mut HCORENUM,
            rExportedTypes: *mut mdExportedType,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the resources.
        fn EnumManifestResources(
            phEnum: *mut HCORENUM,
            rManifestResources: *mut mdManifestResource,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// The token of the assembly, if the module has a manifest.
        fn GetAssemblyFromScope(ptkAssembly: *mut mdAssembly);

        /// Finds an exported type by name and enclosing type.
        fn FindExportedTypeByName(
            szName: LPCWSTR,
            mdtExportedType: mdToken,
            ptkExportedType: *mut mdExportedType,
        );

        /// Finds a resource by name.
        fn FindManifestResourceByName(
            szName: LPCWSTR,
            ptkManifestResource: *mut mdManifestResource,
        );

        /// Frees an enumeration.
        fn CloseEnum(hEnum: HCORENUM) -> ();

        /// Finds assemblies on the runtime's search path.
        fn FindAssembliesByName(
            szAppBase: LPCWSTR,
            szPrivateBin: LPCWSTR,
            szAssemblyName: LPCWSTR,
            ppIUnk: *mut *mut c_void,
            cMax: ULONG,
            pcAssemblies: *mut ULONG,
        );
    }

    /// Adds to and changes the manifest of an assembly.
    "211EF15B-5317-4438-B196-DEC87B887693"
    IMetaDataAssemblyEmit, IMetaDataAssemblyEmit_Vtbl: IUnknown {
        /// Makes the module the manifest module of an assembly.
        fn DefineAssembly(
            pbPublicKey: *const c_void,
            cbPublicKey: ULONG,
            ulHashAlgId: ULONG,
            szName: LPCWSTR,
            pMetaData: *const ASSEMBLYMETADATA,
            dwAssemblyFlags: DWORD,
            pma: *mut mdAssembly,
        );

        /// Adds a reference to an assembly.
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

        /// Adds a file of the assembly.
        fn DefineFile(
            szName: LPCWSTR,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            dwFileFlags: DWORD,
            pmdf: *mut mdFile,
        );

        /// Adds a type that is defined in another file or forwarded.
        fn DefineExportedType(
            szName: LPCWSTR,
            tkImplementation: mdToken,
            tkTypeDef: mdTypeDef,
            dwExportedTypeFlags: DWORD,
            pmdct: *mut mdExportedType,
        );

        /// Adds a resource.
        fn DefineManifestResource(
            szName: LPCWSTR,
            tkImplementation: mdToken,
            dwOffset: DWORD,
            dwResourceFlags: DWORD,
            pmdmr: *mut mdManifestResource,
        );

        /// Changes the assembly.
        fn SetAssemblyProps(
            pma: mdAssembly,
            pbPublicKey: *const c_void,
            cbPublicKey: ULONG,
            ulHashAlgId: ULONG,
            szName: LPCWSTR,
            pMetaData: *const ASSEMBLYMETADATA,
            dwAssemblyFlags: DWORD,
        );

        /// Changes an assembly reference.
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

        /// Changes a file.
        fn SetFileProps(
            file: mdFile,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            dwFileFlags: DWORD,
        );

        /// Changes an exported type.
        fn SetExportedTypeProps(
            ct: mdExportedType,
            tkImplementation: mdToken,
            tkTypeDef: mdTypeDef,
            dwExportedTypeFlags: DWORD,
        );

        /// Changes a resource.
        fn SetManifestResourceProps(
            mr: mdManifestResource,
            tkImplementation: mdToken,
            dwOffset: DWORD,
            dwResourceFlags: DWORD,
        );
    }
}
