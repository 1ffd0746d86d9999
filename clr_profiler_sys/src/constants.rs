//! The constants that cor.h and corhdr.h define one by one.
//!
//! Rust has one kind of string: the wide (`_W`) and narrow names of a constant are the same here.

use crate::tables::constants;
use crate::{
    COR_SIGNATURE, ELEMENT_TYPE_BOOLEAN, ELEMENT_TYPE_I2, ELEMENT_TYPE_I4, ELEMENT_TYPE_STRING,
    ELEMENT_TYPE_VOID, IMAGE_CEE_CS_CALLCONV_DEFAULT, IMAGE_CEE_CS_CALLCONV_GENERICINST,
    IMAGE_CEE_CS_CALLCONV_HASTHIS, mdAssembly, mdAssemblyRef, mdCustomAttribute, mdEvent,
    mdExportedType, mdFieldDef, mdFile, mdGenericParam, mdGenericParamConstraint, mdInterfaceImpl,
    mdManifestResource, mdMemberRef, mdMethodDef, mdMethodSpec, mdModule, mdModuleRef, mdParamDef,
    mdPermission, mdProperty, mdSignature, mdString, mdToken, mdTypeDef, mdTypeRef, mdTypeSpec,
    mdtAssembly, mdtAssemblyRef, mdtCustomAttribute, mdtEvent, mdtExportedType, mdtFieldDef,
    mdtFile, mdtGenericParam, mdtGenericParamConstraint, mdtInterfaceImpl, mdtManifestResource,
    mdtMemberRef, mdtMethodDef, mdtMethodSpec, mdtModule, mdtModuleRef, mdtParamDef, mdtPermission,
    mdtProperty, mdtSignature, mdtString, mdtTypeDef, mdtTypeRef, mdtTypeSpec,
};

constants! {
    NUMBERS: Number;
    IMAGE_CEE_CS_CALLCONV_INSTANTIATION: u32 = IMAGE_CEE_CS_CALLCONV_GENERICINST;
    IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS: u32 =
        IMAGE_CEE_CS_CALLCONV_DEFAULT | IMAGE_CEE_CS_CALLCONV_HASTHIS;
    INVALID_CONNECTION_ID: u32 = 0;
    INVALID_TASK_ID: u32 = 0;
    MAX_CONNECTION_NAME: u32 = 260;
}

constants! {
    NIL_TOKENS: Number;
    mdTokenNil: mdToken = 0;
    mdModuleNil: mdModule = mdtModule;
    mdTypeRefNil: mdTypeRef = mdtTypeRef;
    mdTypeDefNil: mdTypeDef = mdtTypeDef;
    mdFieldDefNil: mdFieldDef = mdtFieldDef;
    mdMethodDefNil: mdMethodDef = mdtMethodDef;
    mdParamDefNil: mdParamDef = mdtParamDef;
    mdInterfaceImplNil: mdInterfaceImpl = mdtInterfaceImpl;
    mdMemberRefNil: mdMemberRef = mdtMemberRef;
    mdCustomAttributeNil: mdCustomAttribute = mdtCustomAttribute;
    mdPermissionNil: mdPermission = mdtPermission;
    mdSignatureNil: mdSignature = mdtSignature;
    mdEventNil: mdEvent = mdtEvent;
    mdPropertyNil: mdProperty = mdtProperty;
    mdModuleRefNil: mdModuleRef = mdtModuleRef;
    mdTypeSpecNil: mdTypeSpec = mdtTypeSpec;
    mdAssemblyNil: mdAssembly = mdtAssembly;
    mdAssemblyRefNil: mdAssemblyRef = mdtAssemblyRef;
    mdFileNil: mdFile = mdtFile;
    mdExportedTypeNil: mdExportedType = mdtExportedType;
    mdManifestResourceNil: mdManifestResource = mdtManifestResource;
    mdGenericParamNil: mdGenericParam = mdtGenericParam;
    mdGenericParamConstraintNil: mdGenericParamConstraint = mdtGenericParamConstraint;
    mdMethodSpecNil: mdMethodSpec = mdtMethodSpec;
    mdStringNil: mdString = mdtString;
}

constants! {
    NAMES: Text;
    COR_CTOR_METHOD_NAME: &str = ".ctor";
    COR_CTOR_METHOD_NAME_W: &str = ".ctor";
    COR_CCTOR_METHOD_NAME: &str = ".cctor";
    COR_CCTOR_METHOD_NAME_W: &str = ".cctor";
    COR_ENUM_FIELD_NAME: &str = "value__";
    COR_ENUM_FIELD_NAME_W: &str = "value__";
    COR_DELETED_NAME_A: &str = "_Deleted";
    COR_DELETED_NAME_W: &str = "_Deleted";
    COR_VTABLEGAP_NAME_A: &str = "_VtblGap";
    COR_VTABLEGAP_NAME_W: &str = "_VtblGap";
    INTEROP_DISPID_TYPE_W: &str = "System.Runtime.InteropServices.DispIdAttribute";
    INTEROP_DISPID_TYPE: &str = "System.Runtime.InteropServices.DispIdAttribute";
    INTEROP_INTERFACETYPE_TYPE_W: &str = "System.Runtime.InteropServices.InterfaceTypeAttribute";
    INTEROP_INTERFACETYPE_TYPE: &str = "System.Runtime.InteropServices.InterfaceTypeAttribute";
    INTEROP_GUID_TYPE_W: &str = "System.Runtime.InteropServices.GuidAttribute";
    INTEROP_GUID_TYPE: &str = "System.Runtime.InteropServices.GuidAttribute";
    INTEROP_TYPELIBVERSION_TYPE_W: &str = "System.Runtime.InteropServices.TypeLibVersionAttribute";
    INTEROP_TYPELIBVERSION_TYPE: &str = "System.Runtime.InteropServices.TypeLibVersionAttribute";
    INTEROP_COMEVENTINTERFACE_TYPE_W: &str =
        "System.Runtime.InteropServices.ComEventInterfaceAttribute";
    INTEROP_COMEVENTINTERFACE_TYPE: &str =
        "System.Runtime.InteropServices.ComEventInterfaceAttribute";
    FRIEND_ASSEMBLY_TYPE_W: &str = "System.Runtime.CompilerServices.InternalsVisibleToAttribute";
    FRIEND_ASSEMBLY_TYPE: &str = "System.Runtime.CompilerServices.InternalsVisibleToAttribute";
    FRIEND_ASSEMBLY_TYPE_NAMESPACE: &str = "System.Runtime.CompilerServices";
    FRIEND_ASSEMBLY_TYPE_NAME: &str = "InternalsVisibleToAttribute";
    SUBJECT_ASSEMBLY_TYPE_W: &str =
        "System.Runtime.CompilerServices.IgnoresAccessChecksToAttribute";
    SUBJECT_ASSEMBLY_TYPE: &str = "System.Runtime.CompilerServices.IgnoresAccessChecksToAttribute";
    SUBJECT_ASSEMBLY_TYPE_NAMESPACE: &str = "System.Runtime.CompilerServices";
    SUBJECT_ASSEMBLY_TYPE_NAME: &str = "IgnoresAccessChecksToAttribute";
    DEFAULTDOMAIN_STA_TYPE_W: &str = "System.STAThreadAttribute";
    DEFAULTDOMAIN_STA_TYPE: &str = "System.STAThreadAttribute";
    DEFAULTDOMAIN_MTA_TYPE_W: &str = "System.MTAThreadAttribute";
    DEFAULTDOMAIN_MTA_TYPE: &str = "System.MTAThreadAttribute";
    DEBUGGABLE_ATTRIBUTE_TYPE_W: &str = "System.Diagnostics.DebuggableAttribute";
    DEBUGGABLE_ATTRIBUTE_TYPE: &str = "System.Diagnostics.DebuggableAttribute";
    DEBUGGABLE_ATTRIBUTE_TYPE_NAMESPACE: &str = "System.Diagnostics";
    DEBUGGABLE_ATTRIBUTE_TYPE_NAME: &str = "DebuggableAttribute";
    RUNTIMECOMPATIBILITY_TYPE_W: &str =
        "System.Runtime.CompilerServices.RuntimeCompatibilityAttribute";
    RUNTIMECOMPATIBILITY_TYPE: &str =
        "System.Runtime.CompilerServices.RuntimeCompatibilityAttribute";
    CMOD_CALLCONV_NAMESPACE_OLD: &str = "System.Runtime.InteropServices";
    CMOD_CALLCONV_NAMESPACE: &str = "System.Runtime.CompilerServices";
    CMOD_CALLCONV_NAME_CDECL: &str = "CallConvCdecl";
    CMOD_CALLCONV_NAME_STDCALL: &str = "CallConvStdcall";
    CMOD_CALLCONV_NAME_THISCALL: &str = "CallConvThiscall";
    CMOD_CALLCONV_NAME_FASTCALL: &str = "CallConvFastcall";
    CMOD_CALLCONV_NAME_SUPPRESSGCTRANSITION: &str = "CallConvSuppressGCTransition";
    CMOD_CALLCONV_NAME_MEMBERFUNCTION: &str = "CallConvMemberFunction";
    MAIN_CLR_MODULE_NAME_W: &str = "coreclr";
    MAIN_CLR_MODULE_NAME_A: &str = "coreclr";
    COR_BASE_SECURITY_ATTRIBUTE_CLASS: &str = "System.Security.Permissions.SecurityAttribute";
    COR_BASE_SECURITY_ATTRIBUTE_CLASS_ANSI: &str = "System.Security.Permissions.SecurityAttribute";
    COR_SUPPRESS_UNMANAGED_CODE_CHECK_ATTRIBUTE: &str =
        "System.Security.SuppressUnmanagedCodeSecurityAttribute";
    COR_SUPPRESS_UNMANAGED_CODE_CHECK_ATTRIBUTE_ANSI: &str =
        "System.Security.SuppressUnmanagedCodeSecurityAttribute";
    COR_UNVER_CODE_ATTRIBUTE: &str = "System.Security.UnverifiableCodeAttribute";
    COR_UNVER_CODE_ATTRIBUTE_ANSI: &str = "System.Security.UnverifiableCodeAttribute";
    COR_REQUIRES_SECOBJ_ATTRIBUTE: &str = "System.Security.DynamicSecurityMethodAttribute";
    COR_REQUIRES_SECOBJ_ATTRIBUTE_ANSI: &str = "System.Security.DynamicSecurityMethodAttribute";
    COR_COMPILERSERVICE_DISCARDABLEATTRIBUTE: &str =
        "System.Runtime.CompilerServices.DiscardableAttribute";
    COR_COMPILERSERVICE_DISCARDABLEATTRIBUTE_ASNI: &str =
        "System.Runtime.CompilerServices.DiscardableAttribute";
}

constants! {
    SIGNATURES: Bytes;
    INTEROP_DISPID_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        1,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
        ELEMENT_TYPE_I4 as COR_SIGNATURE,
    ];
    INTEROP_INTERFACETYPE_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        1,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
        ELEMENT_TYPE_I2 as COR_SIGNATURE,
    ];
    INTEROP_GUID_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        1,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
        ELEMENT_TYPE_STRING as COR_SIGNATURE,
    ];
    INTEROP_TYPELIBVERSION_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        2,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
        ELEMENT_TYPE_I2 as COR_SIGNATURE,
        ELEMENT_TYPE_I2 as COR_SIGNATURE,
    ];
    FRIEND_ASSEMBLY_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        2,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
        ELEMENT_TYPE_STRING as COR_SIGNATURE,
        ELEMENT_TYPE_BOOLEAN as COR_SIGNATURE,
    ];
    SUBJECT_ASSEMBLY_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        1,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
        ELEMENT_TYPE_STRING as COR_SIGNATURE,
    ];
    DEFAULTDOMAIN_STA_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        0,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
    ];
    DEFAULTDOMAIN_MTA_SIG: &[COR_SIGNATURE] = &[
        IMAGE_CEE_CS_CALLCONV_DEFAULT_HASTHIS as COR_SIGNATURE,
        0,
        ELEMENT_TYPE_VOID as COR_SIGNATURE,
    ];
}
