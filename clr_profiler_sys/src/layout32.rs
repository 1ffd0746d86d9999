//! The structures on 32-bit machines: size and alignment, then the offset of each field, by the
//! layout rules of C.
//!
//! The compiler checks them when it builds for such a machine. The tests pass them to a C compiler.

use crate::tables::layouts;

/// Platforms differ in one rule: Linux on x86 aligns 64-bit numbers to 4 bytes inside of
/// structures, Windows and the other architectures to 8.
const _: () = {
    let narrow = cfg!(all(target_arch = "x86", not(windows)));
    assert!(align_of::<u64>() == if narrow { 4 } else { 8 });
};

layouts! {
    COMMON: u64 aligned to 4 or 8;
    OSINFO: 12, 4 {
        dwOSPlatformId: 0,
        dwOSMajorVersion: 4,
        dwOSMinorVersion: 8,
    }

    ASSEMBLYMETADATA: 32, 4 {
        usMajorVersion: 0,
        usMinorVersion: 2,
        usBuildNumber: 4,
        usRevisionNumber: 6,
        szLocale: 8,
        cbLocale: 12,
        rProcessor: 16,
        ulProcessor: 20,
        rOS: 24,
        ulOS: 28,
    }

    COR_IL_MAP: 12, 4 {
        oldOffset: 0,
        newOffset: 4,
        fAccurate: 8,
    }

    COR_DEBUG_IL_TO_NATIVE_MAP: 12, 4 {
        ilOffset: 0,
        nativeStartOffset: 4,
        nativeEndOffset: 8,
    }

    COR_FIELD_OFFSET: 8, 4 {
        ridOfField: 0,
        ulOffset: 4,
    }

    FunctionIDOrClientID: 4, 4 {
        functionID: 0,
        clientID: 0,
    }

    COR_PRF_FUNCTION_ARGUMENT_RANGE: 8, 4 {
        startAddress: 0,
        length: 4,
    }

    COR_PRF_FUNCTION_ARGUMENT_INFO: 16, 4 {
        numRanges: 0,
        totalArgumentSize: 4,
        ranges: 8,
    }

    COR_PRF_CODE_INFO: 8, 4 {
        startAddress: 0,
        size: 4,
    }

    COR_PRF_FUNCTION: 8, 4 {
        functionId: 0,
        reJitId: 4,
    }

    COR_PRF_ASSEMBLY_REFERENCE_INFO: 28, 4 {
        pbPublicKeyOrToken: 0,
        cbPublicKeyOrToken: 4,
        szName: 8,
        pMetaData: 12,
        pbHashValue: 16,
        cbHashValue: 20,
        dwAssemblyRefFlags: 24,
    }

    COR_PRF_METHOD: 8, 4 {
        moduleId: 0,
        methodId: 4,
    }

    COR_PRF_EVENTPIPE_PARAM_DESC: 12, 4 {
        r#type: 0,
        elementType: 4,
        name: 8,
    }

    COR_PRF_GC_GENERATION_RANGE: 16, 4 {
        generation: 0,
        rangeStart: 4,
        rangeLength: 8,
        rangeLengthReserved: 12,
    }

    COR_PRF_NONGC_HEAP_RANGE: 12, 4 {
        rangeStart: 0,
        rangeLength: 4,
        rangeLengthReserved: 8,
    }

    COR_PRF_EX_CLAUSE_INFO: 16, 4 {
        clauseType: 0,
        programCounter: 4,
        framePointer: 8,
        shadowStackPointer: 12,
    }

    IMAGE_DATA_DIRECTORY: 8, 4 {
        VirtualAddress: 0,
        Size: 4,
    }

    IMAGE_COR20_HEADER: 72, 4 {
        cb: 0,
        MajorRuntimeVersion: 4,
        MinorRuntimeVersion: 6,
        MetaData: 8,
        Flags: 16,
        EntryPointToken_EntryPointRVA: 20,
        Resources: 24,
        StrongNameSignature: 32,
        CodeManagerTable: 40,
        VTableFixups: 48,
        ExportAddressTableJumps: 56,
        ManagedNativeHeader: 64,
    }

    IMAGE_COR_ILMETHOD_SECT_SMALL: 2, 1 {
        Kind: 0,
        DataSize: 1,
    }

    IMAGE_COR_ILMETHOD_SECT_FAT: 4, 4 {
        Kind_DataSize: 0,
    }

    IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_FAT: 24, 4 {
        Flags: 0,
        TryOffset: 4,
        TryLength: 8,
        HandlerOffset: 12,
        HandlerLength: 16,
        ClassToken_FilterOffset: 20,
    }

    IMAGE_COR_ILMETHOD_SECT_EH_FAT: 28, 4 {
        SectFat: 0,
        Clauses: 4,
    }

    IMAGE_COR_ILMETHOD_SECT_EH_CLAUSE_SMALL: 12, 4 {
        Flags_TryOffset: 0,
        TryLength_HandlerOffset_HandlerLength: 4,
        ClassToken_FilterOffset: 8,
    }

    IMAGE_COR_ILMETHOD_SECT_EH_SMALL: 16, 4 {
        SectSmall: 0,
        Reserved: 2,
        Clauses: 4,
    }

    IMAGE_COR_ILMETHOD_SECT_EH: 28, 4 {
        Small: 0,
        Fat: 0,
    }

    IMAGE_COR_ILMETHOD_TINY: 1, 1 {
        Flags_CodeSize: 0,
    }

    IMAGE_COR_ILMETHOD_FAT: 12, 4 {
        Flags_Size_MaxStack: 0,
        CodeSize: 4,
        LocalVarSigTok: 8,
    }

    IMAGE_COR_ILMETHOD: 12, 4 {
        Tiny: 0,
        Fat: 0,
    }

    IMAGE_COR_VTABLEFIXUP: 8, 4 {
        RVA: 0,
        Count: 4,
        Type: 6,
    }

    COR_SECATTR: 12, 4 {
        tkCtor: 0,
        pCustomAttribute: 4,
        cbCustomAttribute: 8,
    }

    COR_NATIVE_LINK: 6, 1 {
        m_linkType: 0,
        m_flags: 1,
        m_entryPoint: 2,
    }
}

layouts! {
    WIDE: u64 aligned to 8;
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG: 24, 8 {
        providerName: 0,
        keywords: 8,
        loggingLevel: 16,
        filterData: 20,
    }

    COR_PRF_EVENT_DATA: 16, 8 {
        ptr: 0,
        size: 8,
        reserved: 12,
    }

    COR_PRF_FILTER_DATA: 16, 8 {
        Ptr: 0,
        Size: 8,
        Type: 12,
    }
}

layouts! {
    NARROW: u64 aligned to 4;
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG: 20, 4 {
        providerName: 0,
        keywords: 4,
        loggingLevel: 12,
        filterData: 16,
    }

    COR_PRF_EVENT_DATA: 16, 4 {
        ptr: 0,
        size: 8,
        reserved: 12,
    }

    COR_PRF_FILTER_DATA: 16, 4 {
        Ptr: 0,
        Size: 8,
        Type: 12,
    }
}
