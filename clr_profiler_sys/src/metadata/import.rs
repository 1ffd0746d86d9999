//! Reading metadata.

use core::ffi::{c_int, c_void};

use windows_core::{BOOL, GUID, IUnknown};

use crate::interface::interfaces;
use crate::{
    COR_FIELD_OFFSET, DWORD, HCORENUM, LPCWSTR, LPWSTR, MDUTF8CSTR, PCCOR_SIGNATURE, REFIID, ULONG,
    UVCP_CONSTANT, mdCustomAttribute, mdEvent, mdFieldDef, mdGenericParam,
    mdGenericParamConstraint, mdInterfaceImpl, mdMemberRef, mdMethodDef, mdMethodSpec, mdModule,
    mdModuleRef, mdParamDef, mdPermission, mdProperty, mdSignature, mdString, mdToken, mdTypeDef,
    mdTypeRef, mdTypeSpec,
};

interfaces! {
    /// Reads the metadata of one module.
    "7DAC8207-D3AE-4C75-9B67-92801A497D44"
    IMetaDataImport, IMetaDataImport_Vtbl: IUnknown {
        /// Frees an enumeration.
        fn CloseEnum(hEnum: HCORENUM) -> ();

        /// The number of items of an enumeration.
        fn CountEnum(hEnum: HCORENUM, pulCount: *mut ULONG);

        /// Moves an enumeration to a position.
        fn ResetEnum(hEnum: HCORENUM, ulPos: ULONG);

        /// Enumerates the types, without `<Module>`.
        fn EnumTypeDefs(
            phEnum: *mut HCORENUM,
            rTypeDefs: *mut mdTypeDef,
            cMax: ULONG,
            pcTypeDefs: *mut ULONG,
        );

        /// Enumerates the interface implementations of a type.
        fn EnumInterfaceImpls(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rImpls: *mut mdInterfaceImpl,
            cMax: ULONG,
            pcImpls: *mut ULONG,
        );

        /// Enumerates the references to types of other modules.
        fn EnumTypeRefs(
            phEnum: *mut HCORENUM,
            rTypeRefs: *mut mdTypeRef,
            cMax: ULONG,
            pcTypeRefs: *mut ULONG,
        );

        /// Finds a type by name and enclosing type.
        fn FindTypeDefByName(szTypeDef: LPCWSTR, tkEnclosingClass: mdToken, ptd: *mut mdTypeDef);

        /// Name and MVID of the module.
        fn GetScopeProps(szName: LPWSTR, cchName: ULONG, pchName: *mut ULONG, pmvid: *mut GUID);

        /// The token of the module.
        fn GetModuleFromScope(pmd: *mut mdModule);

        /// Name, flags and base of a type.
        fn GetTypeDefProps(
            td: mdTypeDef,
            szTypeDef: LPWSTR,
            cchTypeDef: ULONG,
            pchTypeDef: *mut ULONG,
            pdwTypeDefFlags: *mut DWORD,
            ptkExtends: *mut mdToken,
        );

        /// Type and interface of an implementation.
        fn GetInterfaceImplProps(
            iiImpl: mdInterfaceImpl,
            pClass: *mut mdTypeDef,
            ptkIface: *mut mdToken,
        );

        /// Scope and name of a type reference.
        fn GetTypeRefProps(
            tr: mdTypeRef,
            ptkResolutionScope: *mut mdToken,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
        );

        /// Finds the module and type that a reference refers to.
        fn ResolveTypeRef(
            tr: mdTypeRef,
            riid: REFIID,
            ppIScope: *mut *mut c_void,
            ptd: *mut mdTypeDef,
        );

        /// Enumerates the members of a type.
        fn EnumMembers(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            rMembers: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the members of a type that have a name.
        fn EnumMembersWithName(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            szName: LPCWSTR,
            rMembers: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the methods of a type.
        fn EnumMethods(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            rMethods: *mut mdMethodDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the methods of a type that have a name.
        fn EnumMethodsWithName(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            szName: LPCWSTR,
            rMethods: *mut mdMethodDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the fields of a type.
        fn EnumFields(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            rFields: *mut mdFieldDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the fields of a type that have a name.
        fn EnumFieldsWithName(
            phEnum: *mut HCORENUM,
            cl: mdTypeDef,
            szName: LPCWSTR,
            rFields: *mut mdFieldDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the parameters of a method.
        fn EnumParams(
            phEnum: *mut HCORENUM,
            mb: mdMethodDef,
            rParams: *mut mdParamDef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the member references under a parent.
        fn EnumMemberRefs(
            phEnum: *mut HCORENUM,
            tkParent: mdToken,
            rMemberRefs: *mut mdMemberRef,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates pairs of body and overridden declaration of a type.
        fn EnumMethodImpls(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rMethodBody: *mut mdToken,
            rMethodDecl: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Enumerates the security declarations of an item.
        fn EnumPermissionSets(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            dwActions: DWORD,
            rPermission: *mut mdPermission,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// Finds a member of a type by name and signature.
        fn FindMember(
            td: mdTypeDef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmb: *mut mdToken,
        );

        /// Finds a method of a type by name and signature.
        fn FindMethod(
            td: mdTypeDef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmb: *mut mdMethodDef,
        );

        /// Finds a field of a type by name and signature.
        fn FindField(
            td: mdTypeDef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmb: *mut mdFieldDef,
        );

        /// Finds a member reference by parent, name and signature.
        fn FindMemberRef(
            td: mdTypeRef,
            szName: LPCWSTR,
            pvSigBlob: PCCOR_SIGNATURE,
            cbSigBlob: ULONG,
            pmr: *mut mdMemberRef,
        );

        /// Owner, name, flags, signature, address and implementation flags of a method.
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

        /// Parent, name and signature of a member reference.
        fn GetMemberRefProps(
            mr: mdMemberRef,
            ptk: *mut mdToken,
            szMember: LPWSTR,
            cchMember: ULONG,
            pchMember: *mut ULONG,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pbSig: *mut ULONG,
        );

        /// Enumerates the properties of a type.
        fn EnumProperties(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rProperties: *mut mdProperty,
            cMax: ULONG,
            pcProperties: *mut ULONG,
        );

        /// Enumerates the events of a type.
        fn EnumEvents(
            phEnum: *mut HCORENUM,
            td: mdTypeDef,
            rEvents: *mut mdEvent,
            cMax: ULONG,
            pcEvents: *mut ULONG,
        );

        /// Owner, name, flags, type and methods of an event; writes to `szEvent`.
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

        /// Enumerates the events and properties that a method belongs to.
        fn EnumMethodSemantics(
            phEnum: *mut HCORENUM,
            mb: mdMethodDef,
            rEventProp: *mut mdToken,
            cMax: ULONG,
            pcEventProp: *mut ULONG,
        );

        /// The role of a method for an event or property.
        fn GetMethodSemantics(mb: mdMethodDef, tkEventProp: mdToken, pdwSemanticsFlags: *mut DWORD);

        /// Packing, field offsets and size that a type declares.
        fn GetClassLayout(
            td: mdTypeDef,
            pdwPackSize: *mut DWORD,
            rFieldOffset: *mut COR_FIELD_OFFSET,
            cMax: ULONG,
            pcFieldOffset: *mut ULONG,
            pulClassSize: *mut ULONG,
        );

        /// How a field or parameter is marshalled.
        fn GetFieldMarshal(
            tk: mdToken,
            ppvNativeType: *mut PCCOR_SIGNATURE,
            pcbNativeType: *mut ULONG,
        );

        /// Address and implementation flags of a method or field.
        fn GetRVA(tk: mdToken, pulCodeRVA: *mut ULONG, pdwImplFlags: *mut DWORD);

        /// Action and blob of a security declaration.
        fn GetPermissionSetProps(
            pm: mdPermission,
            pdwAction: *mut DWORD,
            ppvPermission: *mut *const c_void,
            pcbPermission: *mut ULONG,
        );

        /// The bytes of a stand-alone signature.
        fn GetSigFromToken(mdSig: mdSignature, ppvSig: *mut PCCOR_SIGNATURE, pcbSig: *mut ULONG);

        /// The name of a module reference.
        fn GetModuleRefProps(mur: mdModuleRef, szName: LPWSTR, cchName: ULONG, pchName: *mut ULONG);

        /// Enumerates the module references.
        fn EnumModuleRefs(
            phEnum: *mut HCORENUM,
            rModuleRefs: *mut mdModuleRef,
            cmax: ULONG,
            pcModuleRefs: *mut ULONG,
        );

        /// The signature of a type specification.
        fn GetTypeSpecFromToken(
            typespec: mdTypeSpec,
            ppvSig: *mut PCCOR_SIGNATURE,
            pcbSig: *mut ULONG,
        );

        /// Pointer to an item's name in the string heap, UTF-8; deprecated.
        fn GetNameFromToken(tk: mdToken, pszUtf8NamePtr: *mut MDUTF8CSTR);

        /// Enumerates methods that are declared without a body.
        fn EnumUnresolvedMethods(
            phEnum: *mut HCORENUM,
            rMethods: *mut mdToken,
            cMax: ULONG,
            pcTokens: *mut ULONG,
        );

        /// The text of a string literal, which is not terminated by zero.
        fn GetUserString(stk: mdString, szString: LPWSTR, cchString: ULONG, pchString: *mut ULONG);

        /// Flags, name and module of an imported native function.
        fn GetPinvokeMap(
            tk: mdToken,
            pdwMappingFlags: *mut DWORD,
            szImportName: LPWSTR,
            cchImportName: ULONG,
            pchImportName: *mut ULONG,
            pmrImportDLL: *mut mdModuleRef,
        );

        /// Enumerates the stand-alone signatures.
        fn EnumSignatures(
            phEnum: *mut HCORENUM,
            rSignatures: *mut mdSignature,
            cmax: ULONG,
            pcSignatures: *mut ULONG,
        );

        /// Enumerates the type specifications.
        fn EnumTypeSpecs(
            phEnum: *mut HCORENUM,
            rTypeSpecs: *mut mdTypeSpec,
            cmax: ULONG,
            pcTypeSpecs: *mut ULONG,
        );

        /// Enumerates the string literals.
        fn EnumUserStrings(
            phEnum: *mut HCORENUM,
            rStrings: *mut mdString,
            cmax: ULONG,
            pcStrings: *mut ULONG,
        );

        /// Finds a parameter by its number; 0 is the return value. Writes to `ppd`.
        fn GetParamForMethodIndex(md: mdMethodDef, ulParamSeq: ULONG, ppd: *mut mdParamDef);

        /// Enumerates the custom attributes of an item, of one type or all.
        fn EnumCustomAttributes(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            tkType: mdToken,
            rCustomAttributes: *mut mdCustomAttribute,
            cMax: ULONG,
            pcCustomAttributes: *mut ULONG,
        );

        /// Owner, constructor and blob of a custom attribute.
        fn GetCustomAttributeProps(
            cv: mdCustomAttribute,
            ptkObj: *mut mdToken,
            ptkType: *mut mdToken,
            ppBlob: *mut *const c_void,
            pcbSize: *mut ULONG,
        );

        /// Finds a type reference by scope and name.
        fn FindTypeRef(tkResolutionScope: mdToken, szName: LPCWSTR, ptr: *mut mdTypeRef);

        /// The properties of a method or field, as `GetMethodProps` or `GetFieldProps` returns them.
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

        /// Owner, name, flags, signature and constant of a field.
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

        /// All properties of a property, its methods included; writes to `szProperty`.
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

        /// Method, number, name, flags and constant of a parameter.
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

        /// The blob of an item's first custom attribute of that type name.
        fn GetCustomAttributeByName(
            tkObj: mdToken,
            szName: LPCWSTR,
            ppData: *mut *const c_void,
            pcbData: *mut ULONG,
        );

        /// Tells whether a token has a row.
        fn IsValidToken(tk: mdToken) -> BOOL;

        /// The type that encloses a nested type.
        fn GetNestedClassProps(tdNestedClass: mdTypeDef, ptdEnclosingClass: *mut mdTypeDef);

        /// The native calling convention that a signature names.
        fn GetNativeCallConvFromSig(pvSig: *const c_void, cbSig: ULONG, pCallConv: *mut ULONG);

        /// Tells whether a member belongs to the module rather than to a type.
        fn IsGlobal(pd: mdToken, pbGlobal: *mut c_int);
    }

    /// Adds generics and the kind of image.
    "FCE5EFA0-8BBA-4F8E-A036-8F2022B08466"
    IMetaDataImport2, IMetaDataImport2_Vtbl: IMetaDataImport {
        /// Enumerates the generic parameters of a type or method.
        fn EnumGenericParams(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            rGenericParams: *mut mdGenericParam,
            cMax: ULONG,
            pcGenericParams: *mut ULONG,
        );

        /// Number, flags, owner and name of a generic parameter.
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

        /// Method and type arguments of an instantiated method.
        fn GetMethodSpecProps(
            mi: mdMethodSpec,
            tkParent: *mut mdToken,
            ppvSigBlob: *mut PCCOR_SIGNATURE,
            pcbSigBlob: *mut ULONG,
        );

        /// Enumerates the constraints of a generic parameter.
        fn EnumGenericParamConstraints(
            phEnum: *mut HCORENUM,
            tk: mdGenericParam,
            rGenericParamConstraints: *mut mdGenericParamConstraint,
            cMax: ULONG,
            pcGenericParamConstraints: *mut ULONG,
        );

        /// Parameter and type of a constraint.
        fn GetGenericParamConstraintProps(
            gpc: mdGenericParamConstraint,
            ptGenericParam: *mut mdGenericParam,
            ptkConstraintType: *mut mdToken,
        );

        /// Bitness and machine of the image.
        fn GetPEKind(pdwPEKind: *mut DWORD, pdwMAchine: *mut DWORD);

        /// The runtime version that the metadata was written for.
        fn GetVersionString(pwzBuf: LPWSTR, ccBufSize: DWORD, pccBufSize: *mut DWORD);

        /// Enumerates the instantiations of a generic method.
        fn EnumMethodSpecs(
            phEnum: *mut HCORENUM,
            tk: mdToken,
            rMethodSpecs: *mut mdMethodSpec,
            cMax: ULONG,
            pcMethodSpecs: *mut ULONG,
        );
    }

    /// Reads Windows Runtime metadata as it is in the file, without projections.
    "969EA0C5-964E-411B-A807-B0F3C2DFCBD4"
    IMetaDataWinMDImport, IMetaDataWinMDImport_Vtbl: IUnknown {
        /// Scope and name of a type reference as stored.
        fn GetUntransformedTypeRefProps(
            tr: mdTypeRef,
            ptkResolutionScope: *mut mdToken,
            szName: LPWSTR,
            cchName: ULONG,
            pchName: *mut ULONG,
        );
    }
}
