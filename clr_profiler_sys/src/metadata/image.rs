//! Constants of the image format: headers, method bodies, exception clauses.

use crate::tables::enumerations;

enumerations! {
    /// The data directory of the CLR header.
    ReplacesGeneralNumericDefines: u32 {
        IMAGE_DIRECTORY_ENTRY_COMHEADER = 0xe,
    }

    /// Flags and sizes of the CLR header and the image.
    ReplacesCorHdrNumericDefines: u32 {
        COMIMAGE_FLAGS_ILONLY = 0x1,
        COMIMAGE_FLAGS_32BITREQUIRED = 0x2,
        COMIMAGE_FLAGS_IL_LIBRARY = 0x4,
        COMIMAGE_FLAGS_STRONGNAMESIGNED = 0x8,
        COMIMAGE_FLAGS_NATIVE_ENTRYPOINT = 0x10,
        COMIMAGE_FLAGS_TRACKDEBUGDATA = 0x10000,
        COMIMAGE_FLAGS_32BITPREFERRED = 0x20000,
        COR_VERSION_MAJOR_V2 = 0x2,
        COR_VERSION_MAJOR = 0x2,
        COR_VERSION_MINOR = 0x5,
        COR_DELETED_NAME_LENGTH = 0x8,
        COR_VTABLEGAP_NAME_LENGTH = 0x8,
        NATIVE_TYPE_MAX_CB = 0x1,
        COR_ILMETHOD_SECT_SMALL_MAX_DATASIZE = 0xff,
        COR_VTABLE_32BIT = 0x1,
        COR_VTABLE_64BIT = 0x2,
        COR_VTABLE_FROM_UNMANAGED = 0x4,
        COR_VTABLE_FROM_UNMANAGED_RETAIN_APPDOMAIN = 0x8,
        COR_VTABLE_CALL_MOST_DERIVED = 0x10,
        IMAGE_COR_EATJ_THUNK_SIZE = 0x20,
        MAX_CLASS_NAME = 0x400,
        MAX_PACKAGE_NAME = 0x400,
    }

    /// Bitness of images.
    CorPEKind: u32 {
        peNot = 0x0,
        peILonly = 0x1,
        pe32BitRequired = 0x2,
        pe32Plus = 0x4,
        pe32Unmanaged = 0x8,
        pe32BitPreferred = 0x10,
    }

    /// Kinds and flags of the sections after a method body.
    CorILMethodSect: u32 {
        CorILMethod_Sect_Reserved = 0x0,
        CorILMethod_Sect_EHTable = 0x1,
        CorILMethod_Sect_OptILTable = 0x2,
        CorILMethod_Sect_KindMask = 0x3f,
        CorILMethod_Sect_FatFormat = 0x40,
        CorILMethod_Sect_MoreSects = 0x80,
    }

    /// Kinds of exception clauses in a method body.
    CorExceptionFlag: u32 {
        COR_ILEXCEPTION_CLAUSE_NONE = 0,
        COR_ILEXCEPTION_CLAUSE_OFFSETLEN = 0,
        COR_ILEXCEPTION_CLAUSE_DEPRECATED = 0,
        COR_ILEXCEPTION_CLAUSE_FILTER = 1,
        COR_ILEXCEPTION_CLAUSE_FINALLY = 2,
        COR_ILEXCEPTION_CLAUSE_FAULT = 4,
        COR_ILEXCEPTION_CLAUSE_DUPLICATED = 8,
    }

    /// Format and flags in the header of a method body.
    CorILMethodFlags: u32 {
        CorILMethod_InitLocals = 0x10,
        CorILMethod_MoreSects = 0x8,
        CorILMethod_CompressedIL = 0x40,
        CorILMethod_FormatShift = 0x3,
        CorILMethod_FormatMask = 0x7,
        CorILMethod_TinyFormat = 0x2,
        CorILMethod_SmallFormat = 0x0,
        CorILMethod_FatFormat = 0x3,
        CorILMethod_TinyFormat1 = 0x6,
    }

    /// How a file is mapped.
    CorFileMapping: u32 {
        fmFlat = 0,
        fmExecutableImage = 1,
    }

    /// How native names are decorated.
    CorNativeLinkType: u32 {
        nltNone = 1,
        nltAnsi = 2,
        nltUnicode = 3,
        nltAuto = 4,
        nltMaxValue = 7,
    }

    /// Flags of native links.
    CorNativeLinkFlags: u32 {
        nlfNone = 0,
        nlfLastError = 1,
        nlfNoMangle = 2,
        nlfMaxValue = 3,
    }

    /// The groups of method descriptors.
    DESCR_GROUP: u32 {
        DESCR_GROUP_METHODDEF = 0,
        DESCR_GROUP_METHODIMPL = 1,
    }
}
