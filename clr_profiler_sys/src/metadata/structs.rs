//! The structures of cor.h and corhdr.h.
//!
//! Bit-fields are joined to the words they share: `Flags_Size_MaxStack` holds `Flags` in
//! its lowest bits.

use core::ffi::c_void;

use crate::tables::structures;
use crate::{BYTE, CorExceptionFlag, mdMemberRef, mdSignature};

structures! {
    /// Address and size of a part of an image.
    struct IMAGE_DATA_DIRECTORY {
        VirtualAddress: u32,
        Size: u32,
    }

    /// The CLR header of an image.
    struct IMAGE_COR20_HEADER {
        cb: u32,
        MajorRuntimeVersion: u16,
        MinorRuntimeVersion: u16,
        MetaData: IMAGE_DATA_DIRECTORY,
        Flags: u32,
        /// `EntryPointToken` or `EntryPointRVA`: the same word.
        EntryPointToken_EntryPointRVA: u32,
        Resources: IMAGE_DATA_DIRECTORY,
        StrongNameSignature: IMAGE_DATA_DIRECTORY,
        CodeManagerTable: IMAGE_DATA_DIRECTORY,
        VTableFixups: IMAGE_DATA_DIRECTORY,
        ExportAddressTableJumps: IMAGE_DATA_DIRECTORY,
        ManagedNativeHeader: IMAGE_DATA_DIRECTORY,
    }

    /// Header of a small section after a method body.
    struct IMAGE_COR_ILMETHOD_SECT_SMALL {
        Kind: u8,
        DataSize: u8,
    }

    /// Header of a fat section after a method body.
    struct IMAGE_COR_ILMETHOD_SECT_FAT {
        /// Bits 0 to 7: `Kind`; bits 8 to 31: `DataSize`.
        Kind_DataSize: u32,
    }

    /// An exception clause in a fat section.
    struct IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_FAT {
        Flags: CorExceptionFlag,
        TryOffset: u32,
        TryLength: u32,
        HandlerOffset: u32,
        HandlerLength: u32,
        /// `ClassToken` or `FilterOffset`: the same word.
        ClassToken_FilterOffset: u32,
    }

    /// A fat section of exception clauses; `Clauses` has variable length.
    struct IMAGE_COR_ILMETHOD_SECT_EH_FAT {
        SectFat: IMAGE_COR_ILMETHOD_SECT_FAT,
        Clauses: [IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_FAT; 1],
    }

    /// An exception clause in a small section.
    struct IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_SMALL {
        /// Bits 0 to 15: `Flags`; bits 16 to 31: `TryOffset`.
        Flags_TryOffset: u32,
        /// Bits 0 to 7: `TryLength`; bits 8 to 23: `HandlerOffset`; bits 24 to 31: `HandlerLength`.
        TryLength_HandlerOffset_HandlerLength: u32,
        /// `ClassToken` or `FilterOffset`: the same word.
        ClassToken_FilterOffset: u32,
    }

    /// A small section of exception clauses; `Clauses` has variable length.
    struct IMAGE_COR_ILMETHOD_SECT_EH_SMALL {
        SectSmall: IMAGE_COR_ILMETHOD_SECT_SMALL,
        Reserved: u16,
        Clauses: [IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_SMALL; 1],
    }

    /// A section of exception clauses, of either size.
    union IMAGE_COR_ILMETHOD_SECT_EH {
        Small: IMAGE_COR_ILMETHOD_SECT_EH_SMALL,
        Fat: IMAGE_COR_ILMETHOD_SECT_EH_FAT,
    }

    /// The tiny header of a method body: format in 2 bits, code size in 6.
    struct IMAGE_COR_ILMETHOD_TINY {
        Flags_CodeSize: u8,
    }

    /// The fat header of a method body.
    struct IMAGE_COR_ILMETHOD_FAT {
        /// Bits 0 to 11: `Flags`; bits 12 to 15: `Size`; bits 16 to 31: `MaxStack`.
        Flags_Size_MaxStack: u32,
        CodeSize: u32,
        LocalVarSigTok: mdSignature,
    }

    /// The header of a method body, of either size.
    union IMAGE_COR_ILMETHOD {
        Tiny: IMAGE_COR_ILMETHOD_TINY,
        Fat: IMAGE_COR_ILMETHOD_FAT,
    }

    /// Slots of an image that are filled with method addresses.
    struct IMAGE_COR_VTABLEFIXUP {
        RVA: u32,
        Count: u16,
        Type: u16,
    }

    /// A security attribute: constructor and blob.
    struct COR_SECATTR {
        tkCtor: mdMemberRef,
        pCustomAttribute: *const c_void,
        cbCustomAttribute: u32,
    }

    /// How a method is linked to native code; packed, without padding.
    packed COR_NATIVE_LINK {
        m_linkType: BYTE,
        m_flags: BYTE,
        m_entryPoint: mdMemberRef,
    }
}
