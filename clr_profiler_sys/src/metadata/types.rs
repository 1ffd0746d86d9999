//! Tokens, signatures and handles of cor.h.

use core::ffi::{c_char, c_void};

use crate::CorTypeAttr;
use crate::tables::aliases;

aliases! {
    /// A scope; obsolete.
    mdScope = *mut c_void;

    /// A metadata token of any kind.
    mdToken = u32;

    /// The token of a module.
    mdModule = mdToken;

    /// The token of a type reference.
    mdTypeRef = mdToken;

    /// The token of a type.
    mdTypeDef = mdToken;

    /// The token of a field.
    mdFieldDef = mdToken;

    /// The token of a method.
    mdMethodDef = mdToken;

    /// The token of a parameter.
    mdParamDef = mdToken;

    /// The token of an interface implementation.
    mdInterfaceImpl = mdToken;

    /// The token of a member reference.
    mdMemberRef = mdToken;

    /// The token of a custom attribute.
    mdCustomAttribute = mdToken;

    /// The token of a security declaration.
    mdPermission = mdToken;

    /// The token of a stand-alone signature.
    mdSignature = mdToken;

    /// The token of an event.
    mdEvent = mdToken;

    /// The token of a property.
    mdProperty = mdToken;

    /// The token of a module reference.
    mdModuleRef = mdToken;

    /// The token of an assembly.
    mdAssembly = mdToken;

    /// The token of an assembly reference.
    mdAssemblyRef = mdToken;

    /// The token of a file.
    mdFile = mdToken;

    /// The token of an exported type.
    mdExportedType = mdToken;

    /// The token of a resource.
    mdManifestResource = mdToken;

    /// The token of a type specification.
    mdTypeSpec = mdToken;

    /// The token of a generic parameter.
    mdGenericParam = mdToken;

    /// The token of an instantiated method.
    mdMethodSpec = mdToken;

    /// The token of a constraint.
    mdGenericParamConstraint = mdToken;

    /// The token of a string literal.
    mdString = mdToken;

    /// A kind of token that cor.h declares and does not use.
    mdCPToken = mdToken;

    /// The row of a token.
    RID = u32;

    /// A byte of a signature.
    COR_SIGNATURE = u8;

    /// A signature, for writing.
    PCOR_SIGNATURE = *mut COR_SIGNATURE;

    /// A signature, for reading.
    PCCOR_SIGNATURE = *const COR_SIGNATURE;

    /// A name in UTF-8, for reading.
    MDUTF8CSTR = *const c_char;

    /// A name in UTF-8.
    MDUTF8STR = *mut c_char;

    /// The older name of `CorTypeAttr`.
    CorRegTypeAttr = CorTypeAttr;

    /// An enumeration; null before the first call.
    HCORENUM = *mut c_void;

    /// Security properties; opaque.
    PSECURITY_PROPS = *mut c_void;

    /// A security value; opaque.
    PSECURITY_VALUE = *mut c_void;

    /// Security properties; opaque.
    PPSECURITY_PROPS = *mut *mut c_void;

    /// A security value; opaque.
    PPSECURITY_VALUE = *mut *mut c_void;

    /// The bytes of a constant, at any alignment.
    UVCP_CONSTANT = *const c_void;

    /// A section.
    HCEESECTION = *mut c_void;

    /// A kind of relocation.
    CeeSectionRelocType = u32;
}
