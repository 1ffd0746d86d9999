//! Writing metadata.

use core::ffi::c_void;

use windows_core::IUnknown;

use crate::{
    COR_FIELD_OFFSET, COR_SECATTR, CorSaveSize, DWORD, LPCWSTR, PCCOR_SIGNATURE, PCOR_SIGNATURE,
    ULONG, mdCustomAttribute, mdEvent, mdFieldDef, mdGenericParam, mdMemberRef, mdMethodDef,
    mdMethodSpec, mdModuleRef, mdParamDef, mdPermission, mdProperty, mdSignature, mdString,
    mdToken, mdTypeDef, mdTypeRef, mdTypeSpec,
};

use crate::interface::interfaces;

interfaces! {
    /// `IMetaDataEmit`.
    "BA3FEE4C-ECB9-4E41-83B7-183FA41CD859" IMetaDataEmit, IMetaDataEmit_Vtbl: IUnknown {
        /// `SetModuleProps`.
        fn SetModuleProps(szName: LPCWSTR);

        /// `Save`.
        fn Save(szFile: LPCWSTR, dwSaveFlags: DWORD);

        /// `SaveToStream`.
        fn SaveToStream(pIStream: *mut c_void, dwSaveFlags: DWORD);

        /// `GetSaveSize`.
        fn GetSaveSize(fSave: CorSaveSize, pdwSaveSize: *mut DWORD);

        /// `DefineTypeDef`.
        fn DefineTypeDef(
            szTypeDef: LPCWSTR,
            dwTypeDefFlags: DWORD,
            tkExtends: mdToken,
            rtkImplements: *const mdToken,
            ptd: *mut mdTypeDef,
        );

        /// `DefineNestedType`.
        fn DefineNestedType(
            szTypeDef: LPCWSTR,
            dwTypeDefFlags: DWORD,
            tkExtends: mdToken,
            rtkImplements: *const mdToken,
            tdEncloser: mdTypeDef,
            ptd: *mut mdTypeDef,
        );

        /// `SetHandler`.
        fn SetHandler(pUnk: *mut c_void);

        /// `DefineMethod`.
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

        /// `DefineMethodImpl`.
        fn DefineMethodImpl(td: mdTypeDef, tkBody: mdToken, tkDecl: mdToken);

        /// `DefineTypeRefByName`.
        fn DefineTypeRefByName(tkResolutionScope: mdToken, szName: LPCWSTR, ptr: *mut mdTypeRef);

        /// `DefineImportType`.
        fn DefineImportType(
            pAssemImport: *mut c_void,
            pbHashValue: *const c_void,
            cbHashValue: ULONG,
            pImport: *mut c_void,
            tdImport: mdTypeDef,
            pAssemEmit: *mut c_void,
            ptr: *mut mdTypeRef,
        );

        /// `DefineMemberRef`.
        fn DefineMemberRef(
            tkImport: mdToken,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmr: *mut mdMemberRef,
        );

        /// `DefineImportMember`.
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

        /// `DefineEvent`.
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

        /// `SetClassLayout`.
        fn SetClassLayout(
            td: mdTypeDef,
            dwPackSize: DWORD,
            rFieldOffsets: *const COR_FIELD_OFFSET,
            ulClassSize: ULONG,
        );

        /// `DeleteClassLayout`.
        fn DeleteClassLayout(td: mdTypeDef);

        /// `SetFieldMarshal`.
        fn SetFieldMarshal(tk: mdToken, pvNativeType: PCCOR_SIGNATURE, cbNativeType: ULONG);

        /// `DeleteFieldMarshal`.
        fn DeleteFieldMarshal(tk: mdToken);

        /// `DefinePermissionSet`.
        fn DefinePermissionSet(
            tk: mdToken,
            dwAction: DWORD,
            pvPermission: *const c_void,
            cbPermission: ULONG,
            ppm: *mut mdPermission,
        );

        /// `SetRVA`.
        fn SetRVA(md: mdMethodDef, ulRVA: ULONG);

        /// `GetTokenFromSig`.
        fn GetTokenFromSig(pvSig: PCCOR_SIGNATURE, cbSig: ULONG, pmsig: *mut mdSignature);

        /// `DefineModuleRef`.
        fn DefineModuleRef(szName: LPCWSTR, pmur: *mut mdModuleRef);

        /// `SetParent`.
        fn SetParent(mr: mdMemberRef, tk: mdToken);

        /// `GetTokenFromTypeSpec`.
        fn GetTokenFromTypeSpec(pvSig: PCCOR_SIGNATURE, cbSig: ULONG, ptypespec: *mut mdTypeSpec);

        /// `SaveToMemory`.
        fn SaveToMemory(pbData: *mut c_void, cbData: ULONG);

        /// `DefineUserString`.
        fn DefineUserString(szString: LPCWSTR, cchString: ULONG, pstk: *mut mdString);

        /// `DeleteToken`.
        fn DeleteToken(tkObj: mdToken);

        /// `SetMethodProps`.
        fn SetMethodProps(
            md: mdMethodDef,
            dwMethodFlags: DWORD,
            ulCodeRVA: ULONG,
            dwImplFlags: DWORD,
        );

        /// `SetTypeDefProps`.
        fn SetTypeDefProps(
            td: mdTypeDef,
            dwTypeDefFlags: DWORD,
            tkExtends: mdToken,
            rtkImplements: *const mdToken,
        );

        /// `SetEventProps`.
        fn SetEventProps(
            ev: mdEvent,
            dwEventFlags: DWORD,
            tkEventType: mdToken,
            mdAddOn: mdMethodDef,
            mdRemoveOn: mdMethodDef,
            mdFire: mdMethodDef,
            rmdOtherMethods: *const mdMethodDef,
        );

        /// `SetPermissionSetProps`.
        fn SetPermissionSetProps(
            tk: mdToken,
            dwAction: DWORD,
            pvPermission: *const c_void,
            cbPermission: ULONG,
            ppm: *mut mdPermission,
        );

        /// `DefinePinvokeMap`.
        fn DefinePinvokeMap(
            tk: mdToken,
            dwMappingFlags: DWORD,
            szImportName: LPCWSTR,
            mrImportDLL: mdModuleRef,
        );

        /// `SetPinvokeMap`.
        fn SetPinvokeMap(
            tk: mdToken,
            dwMappingFlags: DWORD,
            szImportName: LPCWSTR,
            mrImportDLL: mdModuleRef,
        );

        /// `DeletePinvokeMap`.
        fn DeletePinvokeMap(tk: mdToken);

        /// `DefineCustomAttribute`.
        fn DefineCustomAttribute(
            tkOwner: mdToken,
            tkCtor: mdToken,
            pCustomAttribute: *const c_void,
            cbCustomAttribute: ULONG,
            pcv: *mut mdCustomAttribute,
        );

        /// `SetCustomAttributeValue`.
        fn SetCustomAttributeValue(
            pcv: mdCustomAttribute,
            pCustomAttribute: *const c_void,
            cbCustomAttribute: ULONG,
        );

        /// `DefineField`.
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

        /// `DefineProperty`.
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

        /// `DefineParam`.
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

        /// `SetFieldProps`.
        fn SetFieldProps(
            fd: mdFieldDef,
            dwFieldFlags: DWORD,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
        );

        /// `SetPropertyProps`.
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

        /// `SetParamProps`.
        fn SetParamProps(
            pd: mdParamDef,
            szName: LPCWSTR,
            dwParamFlags: DWORD,
            dwCPlusTypeFlag: DWORD,
            pValue: *const c_void,
            cchValue: ULONG,
        );

        /// `DefineSecurityAttributeSet`.
        fn DefineSecurityAttributeSet(
            tkObj: mdToken,
            rSecAttrs: *const COR_SECATTR,
            cSecAttrs: ULONG,
            pulErrorAttr: *mut ULONG,
        );

        /// `ApplyEditAndContinue`.
        fn ApplyEditAndContinue(pImport: *mut c_void);

        /// `TranslateSigWithScope`.
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

        /// `SetMethodImplFlags`.
        fn SetMethodImplFlags(md: mdMethodDef, dwImplFlags: DWORD);

        /// `SetFieldRVA`.
        fn SetFieldRVA(fd: mdFieldDef, ulRVA: ULONG);

        /// `Merge`.
        fn Merge(pImport: *mut c_void, pHostMapToken: *mut c_void, pHandler: *mut c_void);

        /// `MergeEnd`.
        fn MergeEnd();
    }

    /// `IMetaDataEmit2`.
    "F5DD9950-F693-42E6-830E-7B833E8146A9" IMetaDataEmit2, IMetaDataEmit2_Vtbl: IMetaDataEmit {
        /// `DefineMethodSpec`.
        fn DefineMethodSpec(
            tkParent: mdToken,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmi: *mut mdMethodSpec,
        );

        /// `GetDeltaSaveSize`.
        fn GetDeltaSaveSize(fSave: CorSaveSize, pdwSaveSize: *mut DWORD);

        /// `SaveDelta`.
        fn SaveDelta(szFile: LPCWSTR, dwSaveFlags: DWORD);

        /// `SaveDeltaToStream`.
        fn SaveDeltaToStream(pIStream: *mut c_void, dwSaveFlags: DWORD);

        /// `SaveDeltaToMemory`.
        fn SaveDeltaToMemory(pbData: *mut c_void, cbData: ULONG);

        /// `DefineGenericParam`.
        fn DefineGenericParam(
            tk: mdToken,
            ulParamSeq: ULONG,
            dwParamFlags: DWORD,
            szname: LPCWSTR,
            reserved: DWORD,
            rtkConstraints: *const mdToken,
            pgp: *mut mdGenericParam,
        );

        /// `SetGenericParamProps`.
        fn SetGenericParamProps(
            gp: mdGenericParam,
            dwParamFlags: DWORD,
            szName: LPCWSTR,
            reserved: DWORD,
            rtkConstraints: *const mdToken,
        );

        /// `ResetENCLog`.
        fn ResetENCLog();
    }
}
