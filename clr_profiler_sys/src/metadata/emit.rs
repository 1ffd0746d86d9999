//! Writing metadata.

use core::ffi::c_void;

use windows_core::IUnknown;

use crate::interface::interfaces;
use crate::{
    COR_FIELD_OFFSET, COR_SECATTR, CorSaveSize, DWORD, LPCWSTR, PCCOR_SIGNATURE, PCOR_SIGNATURE,
    ULONG, mdCustomAttribute, mdEvent, mdFieldDef, mdGenericParam, mdMemberRef, mdMethodDef,
    mdMethodSpec, mdModuleRef, mdParamDef, mdPermission, mdProperty, mdSignature, mdString,
    mdToken, mdTypeDef, mdTypeRef, mdTypeSpec,
};

interfaces! {
    /// Adds to and changes the metadata of one module.
    "BA3FEE4C-ECB9-4E41-83B7-183FA41CD859"
    IMetaDataEmit, IMetaDataEmit_Vtbl: IUnknown {
        /// Sets the name of the module.
        fn SetModuleProps(szName: LPCWSTR);

        /// Writes the metadata to a file.
        fn Save(szFile: LPCWSTR, dwSaveFlags: DWORD);

        /// Writes the metadata to a stream.
        fn SaveToStream(pIStream: *mut c_void, dwSaveFlags: DWORD);

        /// The number of bytes that saving will need.
        fn GetSaveSize(fSave: CorSaveSize, pdwSaveSize: *mut DWORD);

        /// Adds a type.
        fn DefineTypeDef(
            szTypeDef: LPCWSTR,
            dwTypeDefFlags: DWORD,
            tkExtends: mdToken,
            rtkImplements: *const mdToken,
            ptd: *mut mdTypeDef,
        );

        /// Adds a type that is nested in another.
        fn DefineNestedType(
            szTypeDef: LPCWSTR,
            dwTypeDefFlags: DWORD,
            tkExtends: mdToken,
            rtkImplements: *const mdToken,
            tdEncloser: mdTypeDef,
            ptd: *mut mdTypeDef,
        );

        /// Sets the handler of errors and of tokens that move.
        fn SetHandler(pUnk: *mut c_void);

        /// Adds a method; an address of 0 leaves the body for later.
        fn DefineMethod(
            td: mdTypeDef,
            szName: LPCWSTR,
            dwMethodFlags: DWORD,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            ulCodeRVA: ULONG,
            dwImplFlags: DWORD,
            pmd: *mut mdMethodDef,
        );

        /// Defines which body overrides which declaration.
        fn DefineMethodImpl(td: mdTypeDef, tkBody: mdToken, tkDecl: mdToken);

        /// Adds a reference to a type by its name and scope.
        fn DefineTypeRefByName(tkResolutionScope: mdToken, szName: LPCWSTR, ptr: *mut mdTypeRef);

        /// Adds a reference to a type of another, opened module.
        fn DefineImportType(
            pAssemImport: *mut c_void,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            pImport: *mut c_void,
            tdImport: mdTypeDef,
            pAssemEmit: *mut c_void,
            ptr: *mut mdTypeRef,
        );

        /// Adds a reference to a method or field by name and signature.
        fn DefineMemberRef(
            tkImport: mdToken,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmr: *mut mdMemberRef,
        );

        /// Adds a reference to a member of another, opened module.
        fn DefineImportMember(
            pAssemImport: *mut c_void,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            pImport: *mut c_void,
            mbMember: mdToken,
            pAssemEmit: *mut c_void,
            tkParent: mdToken,
            pmr: *mut mdMemberRef,
        );

        /// Adds an event.
        fn DefineEvent(
            td: mdTypeDef,
            szEvent: LPCWSTR,
            dwEventFlags: DWORD,
            tkEventType: mdToken,
            mdAddOn: mdMethodDef,
            mdRemoveOn: mdMethodDef,
            mdFire: mdMethodDef,
            rmdOtherMethods: *const mdMethodDef,
            pmdEvent: *mut mdEvent,
        );

        /// Sets packing, field offsets and size of a type.
        fn SetClassLayout(
            td: mdTypeDef,
            dwPackSize: DWORD,
            rFieldOffsets: *const COR_FIELD_OFFSET,
            ulClassSize: ULONG,
        );

        /// Removes the declared layout of a type.
        fn DeleteClassLayout(td: mdTypeDef);

        /// Sets how a field or parameter is marshalled.
        fn SetFieldMarshal(tk: mdToken, pvNativeType: PCCOR_SIGNATURE, cbNativeType: ULONG);

        /// Removes the marshalling of a field or parameter.
        fn DeleteFieldMarshal(tk: mdToken);

        /// Adds a security declaration.
        fn DefinePermissionSet(
            tk: mdToken,
            dwAction: DWORD,
            pvPermission: *const c_void,
            cbPermission: ULONG,
            ppm: *mut mdPermission,
        );

        /// Sets the address of a method's body.
        fn SetRVA(md: mdMethodDef, ulRVA: ULONG);

        /// The token of a stand-alone signature, added where needed.
        fn GetTokenFromSig(pvSig: PCCOR_SIGNATURE, cbSig: ULONG, pmsig: *mut mdSignature);

        /// Adds a reference to a module.
        fn DefineModuleRef(szName: LPCWSTR, pmur: *mut mdModuleRef);

        /// Moves a member reference to another parent.
        fn SetParent(mr: mdMemberRef, tk: mdToken);

        /// The token of a type specification, added where needed.
        fn GetTokenFromTypeSpec(pvSig: PCCOR_SIGNATURE, cbSig: ULONG, ptypespec: *mut mdTypeSpec);

        /// Writes the metadata to memory.
        fn SaveToMemory(pbData: *mut c_void, cbData: ULONG);

        /// The token of a string literal, added where needed.
        fn DefineUserString(szString: LPCWSTR, cchString: ULONG, pstk: *mut mdString);

        /// Marks an item as deleted.
        fn DeleteToken(tkObj: mdToken);

        /// Changes flags, address and implementation flags of a method.
        fn SetMethodProps(
            md: mdMethodDef,
            dwMethodFlags: DWORD,
            ulCodeRVA: ULONG,
            dwImplFlags: DWORD,
        );

        /// Changes flags, base and interfaces of a type.
        fn SetTypeDefProps(
            td: mdTypeDef,
            dwTypeDefFlags: DWORD,
            tkExtends: mdToken,
            rtkImplements: *const mdToken,
        );

        /// Changes flags, type and methods of an event.
        fn SetEventProps(
            ev: mdEvent,
            dwEventFlags: DWORD,
            tkEventType: mdToken,
            mdAddOn: mdMethodDef,
            mdRemoveOn: mdMethodDef,
            mdFire: mdMethodDef,
            rmdOtherMethods: *const mdMethodDef,
        );

        /// Changes a security declaration.
        fn SetPermissionSetProps(
            tk: mdToken,
            dwAction: DWORD,
            pvPermission: *const c_void,
            cbPermission: ULONG,
            ppm: *mut mdPermission,
        );

        /// Sets the native function that a method imports.
        fn DefinePinvokeMap(
            tk: mdToken,
            dwMappingFlags: DWORD,
            szImportName: LPCWSTR,
            mrImportDLL: mdModuleRef,
        );

        /// Changes the native function that a method imports.
        fn SetPinvokeMap(
            tk: mdToken,
            dwMappingFlags: DWORD,
            szImportName: LPCWSTR,
            mrImportDLL: mdModuleRef,
        );

        /// Removes the native import of a method.
        fn DeletePinvokeMap(tk: mdToken);

        /// Adds a custom attribute.
        fn DefineCustomAttribute(
            tkOwner: mdToken,
            tkCtor: mdToken,
            pCustomAttribute: *const c_void,
            cbCustomAttribute: ULONG,
            pcv: *mut mdCustomAttribute,
        );

        /// Changes the blob of a custom attribute.
        fn SetCustomAttributeValue(
            pcv: mdCustomAttribute,
            pCustomAttribute: *const c_void,
            cbCustomAttribute: ULONG,
        );

        /// Adds a field.
        fn DefineField(
            td: mdTypeDef,
            szName: LPCWSTR,
            dwFieldFlags: DWORD,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
            pmd: *mut mdFieldDef,
        );

        /// Adds a property.
        fn DefineProperty(
            td: mdTypeDef,
            szProperty: LPCWSTR,
            dwPropFlags: DWORD,
            pvSig: PCCOR_SIGNATURE,
            cbSig: ULONG,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
            mdSetter: mdMethodDef,
            mdGetter: mdMethodDef,
            rmdOtherMethods: *const mdMethodDef,
            pmdProp: *mut mdProperty,
        );

        /// Adds name, flags or constant of a parameter.
        fn DefineParam(
            md: mdMethodDef,
            ulParamSeq: ULONG,
            szName: LPCWSTR,
            dwParamFlags: DWORD,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
            ppd: *mut mdParamDef,
        );

        /// Changes flags and constant of a field.
        fn SetFieldProps(
            fd: mdFieldDef,
            dwFieldFlags: DWORD,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
        );

        /// Changes flags, constant and methods of a property.
        fn SetPropertyProps(
            pr: mdProperty,
            dwPropFlags: DWORD,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
            mdSetter: mdMethodDef,
            mdGetter: mdMethodDef,
            rmdOtherMethods: *const mdMethodDef,
        );

        /// Changes name, flags and constant of a parameter.
        fn SetParamProps(
            pd: mdParamDef,
            szName: LPCWSTR,
            dwParamFlags: DWORD,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
        );

        /// Adds several security attributes at once.
        fn DefineSecurityAttributeSet(
            tkObj: mdToken,
            rSecAttrs: *const COR_SECATTR,
            cSecAttrs: ULONG,
            pulErrorAttr: *mut ULONG,
        );

        /// Applies a delta to this scope.
        fn ApplyEditAndContinue(pImport: *mut c_void);

        /// Rewrites a signature so that its tokens are valid in another scope.
        fn TranslateSigWithScope(
            pAssemImport: *mut c_void,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            import: *mut c_void,
            pbSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pAssemEmit: *mut c_void,
            emit: *mut c_void,
            pvTranslatedSig: PCOR_SIGNATURE,
            cbTranslatedSigMax: ULONG,
            pcbTranslatedSig: *mut ULONG,
        );

        /// Changes the implementation flags of a method.
        fn SetMethodImplFlags(md: mdMethodDef, dwImplFlags: DWORD);

        /// Sets the address of a field's data.
        fn SetFieldRVA(fd: mdFieldDef, ulRVA: ULONG);

        /// Queues a scope for merging into this one.
        fn Merge(pImport: *mut c_void, pHostMapToken: *mut c_void, pHandler: *mut c_void);

        /// Merges the queued scopes.
        fn MergeEnd();
    }

    /// Adds generics and deltas.
    "F5DD9950-F693-42E6-830E-7B833E8146A9"
    IMetaDataEmit2, IMetaDataEmit2_Vtbl: IMetaDataEmit {
        /// Adds an instantiation of a generic method.
        fn DefineMethodSpec(
            tkParent: mdToken,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmi: *mut mdMethodSpec,
        );

        /// The number of bytes that saving the delta will need.
        fn GetDeltaSaveSize(fSave: CorSaveSize, pdwSaveSize: *mut DWORD);

        /// Writes the changes to a file.
        fn SaveDelta(szFile: LPCWSTR, dwSaveFlags: DWORD);

        /// Writes the changes to a stream.
        fn SaveDeltaToStream(pIStream: *mut c_void, dwSaveFlags: DWORD);

        /// Writes the changes to memory.
        fn SaveDeltaToMemory(pbData: *mut c_void, cbData: ULONG);

        /// Adds a generic parameter.
        fn DefineGenericParam(
            tk: mdToken,
            ulParamSeq: ULONG,
            dwParamFlags: DWORD,
            szname: LPCWSTR,
            reserved: DWORD,
            rtkConstraints: *const mdToken,
            pgp: *mut mdGenericParam,
        );

        /// Changes a generic parameter.
        fn SetGenericParamProps(
            gp: mdGenericParam,
            dwParamFlags: DWORD,
            szName: LPCWSTR,
            reserved: DWORD,
            rtkConstraints: *const mdToken,
        );

        /// Clears the log of changes.
        fn ResetENCLog();
    }
}
