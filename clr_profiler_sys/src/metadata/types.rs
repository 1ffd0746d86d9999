//! Tokens, signatures and handles of cor.h.

use core::ffi::{c_char, c_void};

use crate::CorTypeAttr;

use crate::tables::aliases;

aliases! {
    /// `mdScope`.
    mdScope = *mut c_void;

    /// `mdToken`.
    mdToken = u32;

    /// `mdModule`.
    mdModule = mdToken;

    /// `mdTypeRef`.
    mdTypeRef = mdToken;

    /// `mdTypeDef`.
    mdTypeDef = mdToken;

    /// `mdFieldDef`.
    mdFieldDef = mdToken;

    /// `mdMethodDef`.
    mdMethodDef = mdToken;

    /// `mdParamDef`.
    mdParamDef = mdToken;

    /// `mdInterfaceImpl`.
    mdInterfaceImpl = mdToken;

    /// `mdMemberRef`.
    mdMemberRef = mdToken;

    /// `mdCustomAttribute`.
    mdCustomAttribute = mdToken;

    /// `mdPermission`.
    mdPermission = mdToken;

    /// `mdSignature`.
    mdSignature = mdToken;

    /// `mdEvent`.
    mdEvent = mdToken;

    /// `mdProperty`.
    mdProperty = mdToken;

    /// `mdModuleRef`.
    mdModuleRef = mdToken;

    /// `mdAssembly`.
    mdAssembly = mdToken;

    /// `mdAssemblyRef`.
    mdAssemblyRef = mdToken;

    /// `mdFile`.
    mdFile = mdToken;

    /// `mdExportedType`.
    mdExportedType = mdToken;

    /// `mdManifestResource`.
    mdManifestResource = mdToken;

    /// `mdTypeSpec`.
    mdTypeSpec = mdToken;

    /// `mdGenericParam`.
    mdGenericParam = mdToken;

    /// `mdMethodSpec`.
    mdMethodSpec = mdToken;

    /// `mdGenericParamConstraint`.
    mdGenericParamConstraint = mdToken;

    /// `mdString`.
    mdString = mdToken;

    /// `mdCPToken`.
    mdCPToken = mdToken;

    /// `RID`.
    RID = u32;

    /// `COR_SIGNATURE`.
    COR_SIGNATURE = u8;

    /// `PCOR_SIGNATURE`.
    PCOR_SIGNATURE = *mut COR_SIGNATURE;

    /// `PCCOR_SIGNATURE`.
    PCCOR_SIGNATURE = *const COR_SIGNATURE;

    /// `MDUTF8CSTR`.
    MDUTF8CSTR = *const c_char;

    /// `MDUTF8STR`.
    MDUTF8STR = *mut c_char;

    /// `CorRegTypeAttr`.
    CorRegTypeAttr = CorTypeAttr;

    /// `HCORENUM`.
    HCORENUM = *mut c_void;

    /// `PSECURITY_PROPS`.
    PSECURITY_PROPS = *mut c_void;

    /// `PSECURITY_VALUE`.
    PSECURITY_VALUE = *mut c_void;

    /// `PPSECURITY_PROPS`.
    PPSECURITY_PROPS = *mut *mut c_void;

    /// `PPSECURITY_VALUE`.
    PPSECURITY_VALUE = *mut *mut c_void;

    /// `UVCP_CONSTANT`.
    UVCP_CONSTANT = *const c_void;

    /// `HCEESECTION`.
    HCEESECTION = *mut c_void;

    /// `CeeSectionRelocType`.
    CeeSectionRelocType = u32;
}
