//! The structures of cor.h and corhdr.h.
//!
//! Bit-fields are joined to the words they share: `Flags_Size_MaxStack` holds `Flags` in its lowest bits.

use core::ffi::c_void;

use crate::{BYTE, CorExceptionFlag, mdMemberRef, mdSignature};

use crate::tables::structures;

structures! {
    /// `IMAGE_DATA_DIRECTORY`.
    struct IMAGE_DATA_DIRECTORY {
        VirtualAddress: u32,
        Size: u32,
    }

    /// `IMAGE_COR20_HEADER`.
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

    /// `IMAGE_COR_ILMETHOD_SECT_SMALL`.
    struct IMAGE_COR_ILMETHOD_SECT_SMALL {
        Kind: u8,
        DataSize: u8,
    }

    /// `IMAGE_COR_ILMETHOD_SECT_FAT`.
    struct IMAGE_COR_ILMETHOD_SECT_FAT {
        /// Bits 0 to 7: `Kind`; bits 8 to 31: `DataSize`.
        Kind_DataSize: u32,
    }

    /// `IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_FAT`.
    struct IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_FAT {
        Flags: CorExceptionFlag,
        TryOffset: u32,
        TryLength: u32,
        HandlerOffset: u32,
        HandlerLength: u32,
        /// `ClassToken` or `FilterOffset`: the same word.
        ClassToken_FilterOffset: u32,
    }

    /// `IMAGE_COR_ILMETHOD_SECT_EH_FAT`.
    struct IMAGE_COR_ILMETHOD_SECT_EH_FAT {
        SectFat: IMAGE_COR_ILMETHOD_SECT_FAT,
        Clauses: [IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_FAT; 1],
    }

    /// `IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_SMALL`.
    struct IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_SMALL {
        /// Bits 0 to 15: `Flags`; bits 16 to 31: `TryOffset`.
        Flags_TryOffset: u32,
        /// Bits 0 to 7: `TryLength`; bits 8 to 23: `HandlerOffset`; bits 24 to 31: `HandlerLength`.
        TryLength_HandlerOffset_HandlerLength: u32,
        /// `ClassToken` or `FilterOffset`: the same word.
        ClassToken_FilterOffset: u32,
    }

    /// `IMAGE_COR_ILMETHOD_SECT_EH_SMALL`.
    struct IMAGE_COR_ILMETHOD_SECT_EH_SMALL {
        SectSmall: IMAGE_COR_ILMETHOD_SECT_SMALL,
        Reserved: u16,
        Clauses: [IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_SMALL; 1],
    }

    /// `IMAGE_COR_ILMETHOD_SECT_EH`.
    union IMAGE_COR_ILMETHOD_SECT_EH {
        Small: IMAGE_COR_ILMETHOD_SECT_EH_SMALL,
        Fat: IMAGE_COR_ILMETHOD_SECT_EH_FAT,
    }

    /// `IMAGE_COR_ILMETHOD_TINY`.
    struct IMAGE_COR_ILMETHOD_TINY {
        Flags_CodeSize: u8,
    }

    /// `IMAGE_COR_ILMETHOD_FAT`.
    struct IMAGE_COR_ILMETHOD_FAT {
        /// Bits 0 to 11: `Flags`; bits 12 to 15: `Size`; bits 16 to 31: `MaxStack`.
        Flags_Size_MaxStack: u32,
        CodeSize: u32,
        LocalVarSigTok: mdSignature,
    }

    /// `IMAGE_COR_ILMETHOD`.
    union IMAGE_COR_ILMETHOD {
        Tiny: IMAGE_COR_ILMETHOD_TINY,
        Fat: IMAGE_COR_ILMETHOD_FAT,
    }

    /// `IMAGE_COR_VTABLEFIXUP`.
    struct IMAGE_COR_VTABLEFIXUP {
        RVA: u32,
        Count: u16,
        Type: u16,
    }

    /// `COR_SECATTR`.
    struct COR_SECATTR {
        tkCtor: mdMemberRef,
        pCustomAttribute: *const c_void,
        cbCustomAttribute: u32,
    }

    /// `COR_NATIVE_LINK`.
    struct COR_NATIVE_LINK {
        m_linkType: BYTE,
        m_flags: BYTE,
        m_entryPoint: mdMemberRef,
    }
}
