//! Reading metadata.

use core::ffi::{c_int, c_void};

use windows_core::{BOOL, GUID, IUnknown};

use crate::{
    COR_FIELD_OFFSET, DWORD, HCORENUM, LPCWSTR, LPWSTR, MDUTF8CSTR, PCCOR_SIGNATURE, REFIID, ULONG,
    UVCP_CONSTANT, mdCustomAttribute, mdEvent, mdFieldDef, mdGenericParam,
    mdGenericParamConstraint, mdInterfaceImpl, mdMemberRef, mdMethodDef, mdMethodSpec, mdModule,
    mdModuleRef, mdParamDef, mdPermission, mdProperty, mdSignature, mdString, mdToken, mdTypeDef,
    mdTypeRef, mdTypeSpec,
};

use crate::interface::interfaces;

interfaces! {
    /// `IMetaDataImport`.
    "7DAC8207-D3AE-4C75-9B67-92801A497D44" IMetaDataImport, IMetaDataImport_Vtbl: IUnknown {
        /// `CloseEnum`.
        fn CloseEnum(hEnum: HCORENUM) -> ();

        /// `CountEnum`.
        fn CountEnum(hEnum: HCORENUM, pulCount: *mut ULONG);

        /// `ResetEnum`.
        fn ResetEnum(hEnum: HCORENUM, ulPos: ULONG);

        /// `EnumTypeDefs`.
        fn EnumTypeDefs(
            phEnum: *mut HCORENUM,
            rTypeDefs: *mut mdTypeDef,
            cMax: ULONG,
            pcTypeDefs: *mut ULONG,
        );

        /// `EnumInterfaceImpls`.
        fn EnumInterfaceImpls(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rImpls: *mut mdInterfaceImpl,
            cMax: ULONG,
            pcImpls: *mut ULONG,
        );

        /// `EnumTypeRefs`.
        fn EnumTypeRefs(
            phEnum: *mut HCORENUM,
            rTypeRefs: *mut mdTypeRef,
            cMax: ULONG,
            pcTypeRefs: *mut ULONG,
        );

        /// `FindTypeDefByName`.
        fn FindTypeDefByName(szTypeDef: LPCWSTR, tkEnclosingClass: mdToken, ptd: *mut mdTypeDef);

        /// `GetScopeProps`.
        fn GetScopeProps(szName: LPWSTR, cchName: ULONG, pchName: *mut ULONG, pmvid: *mut GUID);

        /// `GetModuleFromScope`.
        fn GetModuleFromScope(pmd: *mut mdModule);

        /// `GetTypeDefProps`.
        fn GetTypeDefProps(
            td: mdTypeDef,
            szTypeDef: LPWSTR,
            cchTypeDef: ULONG,
            pchTypeDef: *mut ULONG,
            pdwTypeDefFlags: *mut DWORD,
            ptkExtends: *mut mdToken,
        );

        /// `GetInterfaceImplProps`.
        fn GetInterfaceImplProps(
            iiImpl: mdInterfaceImpl,
            pClass: *mut mdTypeDef,
            ptkIface: *mut mdToken,
        );

        /// `GetTypeRefProps`.
        fn GetTypeRefProps(
            tr: mdTypeRef,
            ptkResolutionScope: *mut mdToken,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
        );

        /// `ResolveTypeRef`.
        fn ResolveTypeRef(
            tr: mdTypeRef,
            riid: REFIID,
            ppIScope: *mut *mut c_void,
            ptd: *mut mdTypeDef,
        );

        /// `EnumMembers`.
        fn EnumMembers(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            rMembers: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumMembersWithName`.
        fn EnumMembersWithName(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            szName: LPCWSTR,
            rMembers: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumMethods`.
        fn EnumMethods(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            rMethods: *mut mdMethodDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumMethodsWithName`.
        fn EnumMethodsWithName(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            szName: LPCWSTR,
            rMethods: *mut mdMethodDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumFields`.
        fn EnumFields(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            rFields: *mut mdFieldDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumFieldsWithName`.
        fn EnumFieldsWithName(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            szName: LPCWSTR,
            rFields: *mut mdFieldDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumParams`.
        fn EnumParams(
            phEnum: *mut HCORENUM,
            mb: mdMethodDef,
            rParams: *mut mdParamDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumMemberRefs`.
        fn EnumMemberRefs(
            phEnum: *mut HCORENUM,
            tkParent: mdToken,
            rMemberRefs: *mut mdMemberRef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumMethodImpls`.
        fn EnumMethodImpls(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rMethodBody: *mut mdToken,
            rMethodDecl: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `EnumPermissionSets`.
        fn EnumPermissionSets(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            dwActions: DWORD,
            rPermission: *mut mdPermission,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `FindMember`.
        fn FindMember(
            td: mdTypeDef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmb: *mut mdToken,
        );

        /// `FindMethod`.
        fn FindMethod(
            td: mdTypeDef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmb: *mut mdMethodDef,
        );

        /// `FindField`.
        fn FindField(
            td: mdTypeDef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmb: *mut mdFieldDef,
        );

        /// `FindMemberRef`.
        fn FindMemberRef(
            td: mdTypeRef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmr: *mut mdMemberRef,
        );

        /// `GetMethodProps`.
        fn GetMethodProps(
            mb: mdMethodDef,
            pClass: *mut mdTypeDef,
            szMethod: LPWSTR,
            cchMethod: ULONG,
            pchMethod: *mut ULONG,
            pdwAttr: *mut DWORD,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pcbSigBlob: *mut ULONG,
            pulCodeRVA: *mut ULONG,
            pdwImplFlags: *mut DWORD,
        );

        /// `GetMemberRefProps`.
        fn GetMemberRefProps(
            mr: mdMemberRef,
            ptk: *mut mdToken,
            szMember: LPWSTR,
            cchMember: ULONG,
            pchMember: *mut ULONG,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pbSig: *mut ULONG,
        );

        /// `EnumProperties`.
        fn EnumProperties(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rProperties: *mut mdProperty,
            cMax: ULONG,
            pcProperties: *mut ULONG,
        );

        /// `EnumEvents`.
        fn EnumEvents(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rEvents: *mut mdEvent,
            cMax: ULONG,
            pcEvents: *mut ULONG,
        );

        /// `GetEventProps`.
        fn GetEventProps(
            ev: mdEvent,
            pClass: *mut mdTypeDef,
            szEvent: LPCWSTR,
            cchEvent: ULONG,
            pchEvent: *mut ULONG,
            pdwEventFlags: *mut DWORD,
            ptkEventType: *mut mdToken,
            pmdAddOn: *mut mdMethodDef,
            pmdRemoveOn: *mut mdMethodDef,
            pmdFire: *mut mdMethodDef,
            rmdOtherMethod: *mut mdMethodDef,
            cMax: ULONG,
            pcOtherMethod: *mut ULONG,
        );

        /// `EnumMethodSemantics`.
        fn EnumMethodSemantics(
            phEnum: *mut HCORENUM,
            mb: mdMethodDef,
            rEventProp: *mut mdToken,
            cMax: ULONG,
            pcEventProp: *mut ULONG,
        );

        /// `GetMethodSemantics`.
        fn GetMethodSemantics(mb: mdMethodDef, tkEventProp: mdToken, pdwSemanticsFlags: *mut DWORD);

        /// `GetClassLayout`.
        fn GetClassLayout(
            td: mdTypeDef,
            pdwPackSize: *mut DWORD,
            rFieldOffset: *mut COR_FIELD_OFFSET,
            cMax: ULONG,
            pcFieldOffset: *mut ULONG,
            pulClassSize: *mut ULONG,
        );

        /// `GetFieldMarshal`.
        fn GetFieldMarshal(
            tk: mdToken,
            ppvNativeType: *mut PCCOR_SIGNATURE,
            pcbNativeType: *mut ULONG,
        );

        /// `GetRVA`.
        fn GetRVA(tk: mdToken, pulCodeRVA: *mut ULONG, pdwImplFlags: *mut DWORD);

        /// `GetPermissionSetProps`.
        fn GetPermissionSetProps(
            pm: mdPermission,
            pdwAction: *mut DWORD,
            ppvPermission: *mut *const c_void,
            pcbPermission: *mut ULONG,
        );

        /// `GetSigFromToken`.
        fn GetSigFromToken(mdSig: mdSignature, ppvSig: *mut PCCOR_SIGNATURE, pcbSig: *mut ULONG);

        /// `GetModuleRefProps`.
        fn GetModuleRefProps(mur: mdModuleRef, szName: LPWSTR, cchName: ULONG, pchName: *mut ULONG);

        /// `EnumModuleRefs`.
        fn EnumModuleRefs(
            phEnum: *mut HCORENUM,
            rModuleRefs: *mut mdModuleRef,
            cmax: ULONG,
            pcModuleRefs: *mut ULONG,
        );

        /// `GetTypeSpecFromToken`.
        fn GetTypeSpecFromToken(
            typespec: mdTypeSpec,
            ppvSig: *mut PCCOR_SIGNATURE,
            pcbSig: *mut ULONG,
        );

        /// `GetNameFromToken`.
        fn GetNameFromToken(tk: mdToken, pszUtf8NamePtr: *mut MDUTF8CSTR);

        /// `EnumUnresolvedMethods`.
        fn EnumUnresolvedMethods(
            phEnum: *mut HCORENUM,
            rMethods: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// `GetUserString`.
        fn GetUserString(stk: mdString, szString: LPWSTR, cchString: ULONG, pchString: *mut ULONG);

        /// `GetPinvokeMap`.
        fn GetPinvokeMap(
            tk: mdToken,
            pdwMappingFlags: *mut DWORD,
            szImportName: LPWSTR,
            cchImportName: ULONG,
            pchImportName: *mut ULONG,
            pmrImportDLL: *mut mdModuleRef,
        );

        /// `EnumSignatures`.
        fn EnumSignatures(
            phEnum: *mut HCORENUM,
            rSignatures: *mut mdSignature,
            cmax: ULONG,
            pcSignatures: *mut ULONG,
        );

        /// `EnumTypeSpecs`.
        fn EnumTypeSpecs(
            phEnum: *mut HCORENUM,
            rTypeSpecs: *mut mdTypeSpec,
            cmax: ULONG,
            pcTypeSpecs: *mut ULONG,
        );

        /// `EnumUserStrings`.
        fn EnumUserStrings(
            phEnum: *mut HCORENUM,
            rStrings: *mut mdString,
            cmax: ULONG,
            pcStrings: *mut ULONG,
        );

        /// `GetParamForMethodIndex`.
        fn GetParamForMethodIndex(md: mdMethodDef, ulParamSeq: ULONG, ppd: *mut mdParamDef);

        /// `EnumCustomAttributes`.
        fn EnumCustomAttributes(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            tkType: mdToken,
            rCustomAttributes: *mut mdCustomAttribute,
            cMax: ULONG,
            pcCustomAttributes: *mut ULONG,
        );

        /// `GetCustomAttributeProps`.
        fn GetCustomAttributeProps(
            cv: mdCustomAttribute,
            ptkObj: *mut mdToken,
            ptkType: *mut mdToken,
            ppBlob: *mut *const c_void,
            pcbSize: *mut ULONG,
        );

        /// `FindTypeRef`.
        fn FindTypeRef(tkResolutionScope: mdToken, szName: LPCWSTR, ptr: *mut mdTypeRef);

        /// `GetMemberProps`.
        fn GetMemberProps(
            mb: mdToken,
            pClass: *mut mdTypeDef,
            szMember: LPWSTR,
            cchMember: ULONG,
            pchMember: *mut ULONG,
            pdwAttr: *mut DWORD,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pcbSigBlob: *mut ULONG,
            pulCodeRVA: *mut ULONG,
            pdwImplFlags: *mut DWORD,
            pdwCPlusTypeFlag: *mut DWORD,
            ppValue: *mut UVCP_CONSTANT,
            pcchValue: *mut ULONG,
        );

        /// `GetFieldProps`.
        fn GetFieldProps(
            mb: mdFieldDef,
            pClass: *mut mdTypeDef,
            szField: LPWSTR,
            cchField: ULONG,
            pchField: *mut ULONG,
            pdwAttr: *mut DWORD,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pcbSigBlob: *mut ULONG,
            pdwCPlusTypeFlag: *mut DWORD,
            ppValue: *mut UVCP_CONSTANT,
            pcchValue: *mut ULONG,
        );

        /// `GetPropertyProps`.
        fn GetPropertyProps(
            prop: mdProperty,
            pClass: *mut mdTypeDef,
            szProperty: LPCWSTR,
            cchProperty: ULONG,
            pchProperty: *mut ULONG,
            pdwPropFlags: *mut DWORD,
            ppvSig: *mut PCCOR_SIGNATURE,
            pbSig: *mut ULONG,
            pdwCPlusTypeFlag: *mut DWORD,
            ppDefaultValue: *mut UVCP_CONSTANT,
            pcchDefaultValue: *mut ULONG,
            pmdSetter: *mut mdMethodDef,
            pmdGetter: *mut mdMethodDef,
            rmdOtherMethod: *mut mdMethodDef,
            cMax: ULONG,
            pcOtherMethod: *mut ULONG,
        );

        /// `GetParamProps`.
        fn GetParamProps(
            tk: mdParamDef,
            pmd: *mut mdMethodDef,
            pulSequence: *mut ULONG,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
            pdwAttr: *mut DWORD,
            pdwCPlusTypeFlag: *mut DWORD,
            ppValue: *mut UVCP_CONSTANT,
            pcchValue: *mut ULONG,
        );

        /// `GetCustomAttributeByName`.
        fn GetCustomAttributeByName(
            tkObj: mdToken,
            szName: LPCWSTR,
            ppData: *mut *const c_void,
            pcbData: *mut ULONG,
        );

        /// `IsValidToken`.
        fn IsValidToken(tk: mdToken) -> BOOL;

        /// `GetNestedClassProps`.
        fn GetNestedClassProps(tdNestedClass: mdTypeDef, ptdEnclosingClass: *mut mdTypeDef);

        /// `GetNativeCallConvFromSig`.
        fn GetNativeCallConvFromSig(pvSig: *const c_void, cbSig: ULONG, pCallConv: *mut ULONG);

        /// `IsGlobal`.
        fn IsGlobal(pd: mdToken, pbGlobal: *mut c_int);
    }

    /// `IMetaDataImport2`.
    "FCE5EFA0-8BBA-4F8E-A036-8F2022B08466" IMetaDataImport2, IMetaDataImport2_Vtbl: IMetaDataImport {
        /// `EnumGenericParams`.
        fn EnumGenericParams(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            rGenericParams: *mut mdGenericParam,
            cMax: ULONG,
            pcGenericParams: *mut ULONG,
        );

        /// `GetGenericParamProps`.
        fn GetGenericParamProps(
            gp: mdGenericParam,
            pulParamSeq: *mut ULONG,
            pdwParamFlags: *mut DWORD,
            ptOwner: *mut mdToken,
            reserved: *mut DWORD,
            wzname: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
        );

        /// `GetMethodSpecProps`.
        fn GetMethodSpecProps(
            mi: mdMethodSpec,
            tkParent: *mut mdToken,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pcbSigBlob: *mut ULONG,
        );

        /// `EnumGenericParamConstraints`.
        fn EnumGenericParamConstraints(
            phEnum: *mut HCORENUM,
            tk: mdGenericParam,
            rGenericParamConstraints: *mut mdGenericParamConstraint,
            cMax: ULONG,
            pcGenericParamConstraints: *mut ULONG,
        );

        /// `GetGenericParamConstraintProps`.
        fn GetGenericParamConstraintProps(
            gpc: mdGenericParamConstraint,
            ptGenericParam: *mut mdGenericParam,
            ptkConstraintType: *mut mdToken,
        );

        /// `GetPEKind`.
        fn GetPEKind(pdwPEKind: *mut DWORD, pdwMAchine: *mut DWORD);

        /// `GetVersionString`.
        fn GetVersionString(pwzBuf: LPWSTR, ccBufSize: DWORD, pccBufSize: *mut DWORD);

        /// `EnumMethodSpecs`.
        fn EnumMethodSpecs(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            rMethodSpecs: *mut mdMethodSpec,
            cMax: ULONG,
            pcMethodSpecs: *mut ULONG,
        );
    }

    /// `IMetaDataWinMDImport`.
    "969EA0C5-964E-411B-A807-B0F3C2DFCBD4" IMetaDataWinMDImport, IMetaDataWinMDImport_Vtbl: IUnknown {
        /// `GetUntransformedTypeRefProps`.
        fn GetUntransformedTypeRefProps(
            tr: mdTypeRef,
            ptkResolutionScope: *mut mdToken,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
        );
    }
}
