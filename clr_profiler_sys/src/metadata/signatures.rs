//! The bytes of signatures and marshalling descriptors.

use crate::tables::enumerations;

enumerations! {
    /// The bytes that begin a type in a signature.
    CorElementType: u32 {
        ELEMENT_TYPE_END = 0x0,
        ELEMENT_TYPE_VOID = 0x1,
        ELEMENT_TYPE_BOOLEAN = 0x2,
        ELEMENT_TYPE_CHAR = 0x3,
        ELEMENT_TYPE_I1 = 0x4,
        ELEMENT_TYPE_U1 = 0x5,
        ELEMENT_TYPE_I2 = 0x6,
        ELEMENT_TYPE_U2 = 0x7,
        ELEMENT_TYPE_I4 = 0x8,
        ELEMENT_TYPE_U4 = 0x9,
        ELEMENT_TYPE_I8 = 0xa,
        ELEMENT_TYPE_U8 = 0xb,
        ELEMENT_TYPE_R4 = 0xc,
        ELEMENT_TYPE_R8 = 0xd,
        ELEMENT_TYPE_STRING = 0xe,
        ELEMENT_TYPE_PTR = 0xf,
        ELEMENT_TYPE_BYREF = 0x10,
        ELEMENT_TYPE_VALUETYPE = 0x11,
        ELEMENT_TYPE_CLASS = 0x12,
        ELEMENT_TYPE_VAR = 0x13,
        ELEMENT_TYPE_ARRAY = 0x14,
        ELEMENT_TYPE_GENERICINST = 0x15,
        ELEMENT_TYPE_TYPEDBYREF = 0x16,
        ELEMENT_TYPE_I = 0x18,
        ELEMENT_TYPE_U = 0x19,
        ELEMENT_TYPE_FNPTR = 0x1b,
        ELEMENT_TYPE_OBJECT = 0x1c,
        ELEMENT_TYPE_SZARRAY = 0x1d,
        ELEMENT_TYPE_MVAR = 0x1e,
        ELEMENT_TYPE_CMOD_REQD = 0x1f,
        ELEMENT_TYPE_CMOD_OPT = 0x20,
        ELEMENT_TYPE_INTERNAL = 0x21,
        ELEMENT_TYPE_MAX = 0x22,
        ELEMENT_TYPE_MODIFIER = 0x40,
        ELEMENT_TYPE_SENTINEL = 0x41,
        ELEMENT_TYPE_PINNED = 0x45,
    }

    /// The bytes that begin a type in a custom attribute's blob.
    CorSerializationType: u32 {
        SERIALIZATION_TYPE_UNDEFINED = 0x0,
        SERIALIZATION_TYPE_BOOLEAN = 0x2,
        SERIALIZATION_TYPE_CHAR = 0x3,
        SERIALIZATION_TYPE_I1 = 0x4,
        SERIALIZATION_TYPE_U1 = 0x5,
        SERIALIZATION_TYPE_I2 = 0x6,
        SERIALIZATION_TYPE_U2 = 0x7,
        SERIALIZATION_TYPE_I4 = 0x8,
        SERIALIZATION_TYPE_U4 = 0x9,
        SERIALIZATION_TYPE_I8 = 0xa,
        SERIALIZATION_TYPE_U8 = 0xb,
        SERIALIZATION_TYPE_R4 = 0xc,
        SERIALIZATION_TYPE_R8 = 0xd,
        SERIALIZATION_TYPE_STRING = 0xe,
        SERIALIZATION_TYPE_SZARRAY = 0x1d,
        SERIALIZATION_TYPE_TYPE = 0x50,
        SERIALIZATION_TYPE_TAGGED_OBJECT = 0x51,
        SERIALIZATION_TYPE_FIELD = 0x53,
        SERIALIZATION_TYPE_PROPERTY = 0x54,
        SERIALIZATION_TYPE_ENUM = 0x55,
    }

    /// Calling conventions of native functions.
    CorUnmanagedCallingConvention: u32 {
        IMAGE_CEE_UNMANAGED_CALLCONV_C = 1,
        IMAGE_CEE_UNMANAGED_CALLCONV_STDCALL = 2,
        IMAGE_CEE_UNMANAGED_CALLCONV_THISCALL = 3,
        IMAGE_CEE_UNMANAGED_CALLCONV_FASTCALL = 4,
    }

    /// The first byte of a signature.
    CorCallingConvention: u32 {
        IMAGE_CEE_CS_CALLCONV_DEFAULT = 0x0,
        IMAGE_CEE_CS_CALLCONV_C = 0x1,
        IMAGE_CEE_CS_CALLCONV_STDCALL = 0x2,
        IMAGE_CEE_CS_CALLCONV_THISCALL = 0x3,
        IMAGE_CEE_CS_CALLCONV_FASTCALL = 0x4,
        IMAGE_CEE_CS_CALLCONV_VARARG = 0x5,
        IMAGE_CEE_CS_CALLCONV_FIELD = 0x6,
        IMAGE_CEE_CS_CALLCONV_LOCAL_SIG = 0x7,
        IMAGE_CEE_CS_CALLCONV_PROPERTY = 0x8,
        IMAGE_CEE_CS_CALLCONV_UNMANAGED = 0x9,
        IMAGE_CEE_CS_CALLCONV_GENERICINST = 0xa,
        IMAGE_CEE_CS_CALLCONV_NATIVEVARARG = 0xb,
        IMAGE_CEE_CS_CALLCONV_MAX = 0xc,
        IMAGE_CEE_CS_CALLCONV_MASK = 0xf,
        IMAGE_CEE_CS_CALLCONV_HASTHIS = 0x20,
        IMAGE_CEE_CS_CALLCONV_EXPLICITTHIS = 0x40,
        IMAGE_CEE_CS_CALLCONV_GENERIC = 0x10,
    }

    /// Native argument kinds.
    CorArgType: u32 {
        IMAGE_CEE_CS_END = 0x0,
        IMAGE_CEE_CS_VOID = 0x1,
        IMAGE_CEE_CS_I4 = 0x2,
        IMAGE_CEE_CS_I8 = 0x3,
        IMAGE_CEE_CS_R4 = 0x4,
        IMAGE_CEE_CS_R8 = 0x5,
        IMAGE_CEE_CS_PTR = 0x6,
        IMAGE_CEE_CS_OBJECT = 0x7,
        IMAGE_CEE_CS_STRUCT4 = 0x8,
        IMAGE_CEE_CS_STRUCT32 = 0x9,
        IMAGE_CEE_CS_BYVALUE = 0xa,
    }

    /// The bytes of a marshalling descriptor.
    CorNativeType: u32 {
        NATIVE_TYPE_END = 0x0,
        NATIVE_TYPE_VOID = 0x1,
        NATIVE_TYPE_BOOLEAN = 0x2,
        NATIVE_TYPE_I1 = 0x3,
        NATIVE_TYPE_U1 = 0x4,
        NATIVE_TYPE_I2 = 0x5,
        NATIVE_TYPE_U2 = 0x6,
        NATIVE_TYPE_I4 = 0x7,
        NATIVE_TYPE_U4 = 0x8,
        NATIVE_TYPE_I8 = 0x9,
        NATIVE_TYPE_U8 = 0xa,
        NATIVE_TYPE_R4 = 0xb,
        NATIVE_TYPE_R8 = 0xc,
        NATIVE_TYPE_SYSCHAR = 0xd,
        NATIVE_TYPE_VARIANT = 0xe,
        NATIVE_TYPE_CURRENCY = 0xf,
        NATIVE_TYPE_PTR = 0x10,
        NATIVE_TYPE_DECIMAL = 0x11,
        NATIVE_TYPE_DATE = 0x12,
        NATIVE_TYPE_BSTR = 0x13,
        NATIVE_TYPE_LPSTR = 0x14,
        NATIVE_TYPE_LPWSTR = 0x15,
        NATIVE_TYPE_LPTSTR = 0x16,
        NATIVE_TYPE_FIXEDSYSSTRING = 0x17,
        NATIVE_TYPE_OBJECTREF = 0x18,
        NATIVE_TYPE_IUNKNOWN = 0x19,
        NATIVE_TYPE_IDISPATCH = 0x1a,
        NATIVE_TYPE_STRUCT = 0x1b,
        NATIVE_TYPE_INTF = 0x1c,
        NATIVE_TYPE_SAFEARRAY = 0x1d,
        NATIVE_TYPE_FIXEDARRAY = 0x1e,
        NATIVE_TYPE_INT = 0x1f,
        NATIVE_TYPE_UINT = 0x20,
        NATIVE_TYPE_NESTEDSTRUCT = 0x21,
        NATIVE_TYPE_BYVALSTR = 0x22,
        NATIVE_TYPE_ANSIBSTR = 0x23,
        NATIVE_TYPE_TBSTR = 0x24,
        NATIVE_TYPE_VARIANTBOOL = 0x25,
        NATIVE_TYPE_FUNC = 0x26,
        NATIVE_TYPE_ASANY = 0x28,
        NATIVE_TYPE_ARRAY = 0x2a,
        NATIVE_TYPE_LPSTRUCT = 0x2b,
        NATIVE_TYPE_CUSTOMMARSHALER = 0x2c,
        NATIVE_TYPE_ERROR = 0x2d,
        NATIVE_TYPE_IINSPECTABLE = 0x2e,
        NATIVE_TYPE_HSTRING = 0x2f,
        NATIVE_TYPE_LPUTF8STR = 0x30,
        NATIVE_TYPE_MAX = 0x50,
    }

    /// Flags of arrays in a marshalling descriptor.
    NativeTypeArrayFlags: u32 {
        ntaSizeParamIndexSpecified = 0x1,
        ntaReserved = 0xfffe,
    }

    /// Element types of homogeneous floating-point aggregates.
    CorInfoHFAElemType: u32 {
        CORINFO_HFA_ELEM_NONE = 0,
        CORINFO_HFA_ELEM_FLOAT = 1,
        CORINFO_HFA_ELEM_DOUBLE = 2,
        CORINFO_HFA_ELEM_VECTOR64 = 3,
        CORINFO_HFA_ELEM_VECTOR128 = 4,
    }

    /// Sign bits of compressed signed integers of one, two and four bytes.
    SIGN_MASK: u32 {
        SIGN_MASK_ONEBYTE = 0xffffffc0,
        SIGN_MASK_TWOBYTE = 0xffffe000,
        SIGN_MASK_FOURBYTE = 0xf0000000,
    }
}
