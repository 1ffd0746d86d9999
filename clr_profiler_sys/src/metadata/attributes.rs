//! The flags of metadata rows.

use crate::tables::enumerations;

enumerations! {
    /// Flags of types.
    CorTypeAttr: u32 {
        tdVisibilityMask = 0x7,
        tdNotPublic = 0x0,
        tdPublic = 0x1,
        tdNestedPublic = 0x2,
        tdNestedPrivate = 0x3,
        tdNestedFamily = 0x4,
        tdNestedAssembly = 0x5,
        tdNestedFamANDAssem = 0x6,
        tdNestedFamORAssem = 0x7,
        tdLayoutMask = 0x18,
        tdAutoLayout = 0x0,
        tdSequentialLayout = 0x8,
        tdExplicitLayout = 0x10,
        tdClassSemanticsMask = 0x20,
        tdClass = 0x0,
        tdInterface = 0x20,
        tdAbstract = 0x80,
        tdSealed = 0x100,
        tdSpecialName = 0x400,
        tdImport = 0x1000,
        tdSerializable = 0x2000,
        tdWindowsRuntime = 0x4000,
        tdStringFormatMask = 0x30000,
        tdAnsiClass = 0x0,
        tdUnicodeClass = 0x10000,
        tdAutoClass = 0x20000,
        tdCustomFormatClass = 0x30000,
        tdCustomFormatMask = 0xc00000,
        tdBeforeFieldInit = 0x100000,
        tdForwarder = 0x200000,
        tdReservedMask = 0x40800,
        tdRTSpecialName = 0x800,
        tdHasSecurity = 0x40000,
    }

    /// Flags of methods.
    CorMethodAttr: u32 {
        mdMemberAccessMask = 0x7,
        mdPrivateScope = 0x0,
        mdPrivate = 0x1,
        mdFamANDAssem = 0x2,
        mdAssem = 0x3,
        mdFamily = 0x4,
        mdFamORAssem = 0x5,
        mdPublic = 0x6,
        mdStatic = 0x10,
        mdFinal = 0x20,
        mdVirtual = 0x40,
        mdHideBySig = 0x80,
        mdVtableLayoutMask = 0x100,
        mdReuseSlot = 0x0,
        mdNewSlot = 0x100,
        mdCheckAccessOnOverride = 0x200,
        mdAbstract = 0x400,
        mdSpecialName = 0x800,
        mdPinvokeImpl = 0x2000,
        mdUnmanagedExport = 0x8,
        mdReservedMask = 0xd000,
        mdRTSpecialName = 0x1000,
        mdHasSecurity = 0x4000,
        mdRequireSecObject = 0x8000,
    }

    /// Flags of fields.
    CorFieldAttr: u32 {
        fdFieldAccessMask = 0x7,
        fdPrivateScope = 0x0,
        fdPrivate = 0x1,
        fdFamANDAssem = 0x2,
        fdAssembly = 0x3,
        fdFamily = 0x4,
        fdFamORAssem = 0x5,
        fdPublic = 0x6,
        fdStatic = 0x10,
        fdInitOnly = 0x20,
        fdLiteral = 0x40,
        fdNotSerialized = 0x80,
        fdSpecialName = 0x200,
        fdPinvokeImpl = 0x2000,
        fdReservedMask = 0x9500,
        fdRTSpecialName = 0x400,
        fdHasFieldMarshal = 0x1000,
        fdHasDefault = 0x8000,
        fdHasFieldRVA = 0x100,
    }

    /// Flags of parameters.
    CorParamAttr: u32 {
        pdIn = 0x1,
        pdOut = 0x2,
        pdOptional = 0x10,
        pdReservedMask = 0xf000,
        pdHasDefault = 0x1000,
        pdHasFieldMarshal = 0x2000,
        pdUnused = 0xcfe0,
    }

    /// Flags of properties.
    CorPropertyAttr: u32 {
        prSpecialName = 0x200,
        prReservedMask = 0xf400,
        prRTSpecialName = 0x400,
        prHasDefault = 0x1000,
        prUnused = 0xe9ff,
    }

    /// Flags of events.
    CorEventAttr: u32 {
        evSpecialName = 0x200,
        evReservedMask = 0x400,
        evRTSpecialName = 0x400,
    }

    /// The role of a method for its property or event.
    CorMethodSemanticsAttr: u32 {
        msSetter = 0x1,
        msGetter = 0x2,
        msOther = 0x4,
        msAddOn = 0x8,
        msRemoveOn = 0x10,
        msFire = 0x20,
    }

    /// Actions of security declarations.
    CorDeclSecurity: u32 {
        dclActionMask = 0x1f,
        dclActionNil = 0x0,
        dclRequest = 0x1,
        dclDemand = 0x2,
        dclAssert = 0x3,
        dclDeny = 0x4,
        dclPermitOnly = 0x5,
        dclLinktimeCheck = 0x6,
        dclInheritanceCheck = 0x7,
        dclRequestMinimum = 0x8,
        dclRequestOptional = 0x9,
        dclRequestRefuse = 0xa,
        dclPrejitGrant = 0xb,
        dclPrejitDenied = 0xc,
        dclNonCasDemand = 0xd,
        dclNonCasLinkDemand = 0xe,
        dclNonCasInheritance = 0xf,
        dclMaximumValue = 0xf,
    }

    /// Implementation flags of methods.
    CorMethodImpl: u32 {
        miCodeTypeMask = 0x3,
        miIL = 0x0,
        miNative = 0x1,
        miOPTIL = 0x2,
        miRuntime = 0x3,
        miManagedMask = 0x4,
        miUnmanaged = 0x4,
        miManaged = 0x0,
        miForwardRef = 0x10,
        miPreserveSig = 0x80,
        miInternalCall = 0x1000,
        miSynchronized = 0x20,
        miNoInlining = 0x8,
        miAggressiveInlining = 0x100,
        miNoOptimization = 0x40,
        miAggressiveOptimization = 0x200,
        miUserMask = 0x13fc,
        miMaxMethodImplVal = 0xffff,
    }

    /// Flags of native imports.
    CorPinvokeMap: u32 {
        pmNoMangle = 0x1,
        pmCharSetMask = 0x6,
        pmCharSetNotSpec = 0x0,
        pmCharSetAnsi = 0x2,
        pmCharSetUnicode = 0x4,
        pmCharSetAuto = 0x6,
        pmBestFitUseAssem = 0x0,
        pmBestFitEnabled = 0x10,
        pmBestFitDisabled = 0x20,
        pmBestFitMask = 0x30,
        pmThrowOnUnmappableCharUseAssem = 0x0,
        pmThrowOnUnmappableCharEnabled = 0x1000,
        pmThrowOnUnmappableCharDisabled = 0x2000,
        pmThrowOnUnmappableCharMask = 0x3000,
        pmSupportsLastError = 0x40,
        pmCallConvMask = 0x700,
        pmCallConvWinapi = 0x100,
        pmCallConvCdecl = 0x200,
        pmCallConvStdcall = 0x300,
        pmCallConvThiscall = 0x400,
        pmCallConvFastcall = 0x500,
        pmMaxValue = 0xffff,
    }

    /// Flags of assemblies.
    CorAssemblyFlags: u32 {
        afPublicKey = 0x1,
        afPA_None = 0x0,
        afPA_MSIL = 0x10,
        afPA_x86 = 0x20,
        afPA_IA64 = 0x30,
        afPA_AMD64 = 0x40,
        afPA_ARM = 0x50,
        afPA_ARM64 = 0x60,
        afPA_NoPlatform = 0x70,
        afPA_Specified = 0x80,
        afPA_Mask = 0x70,
        afPA_FullMask = 0xf0,
        afPA_Shift = 0x4,
        afEnableJITcompileTracking = 0x8000,
        afDisableJITcompileOptimizer = 0x4000,
        afDebuggableAttributeMask = 0xc000,
        afRetargetable = 0x100,
        afContentType_Default = 0x0,
        afContentType_WindowsRuntime = 0x200,
        afContentType_Mask = 0xe00,
    }

    /// Flags of resources.
    CorManifestResourceFlags: u32 {
        mrVisibilityMask = 7,
        mrPublic = 1,
        mrPrivate = 2,
    }

    /// Flags of the files of an assembly.
    CorFileFlags: u32 {
        ffContainsMetaData = 0,
        ffContainsNoMetaData = 1,
    }

    /// Variance and special constraints of generic parameters.
    CorGenericParamAttr: u32 {
        gpVarianceMask = 0x3,
        gpNonVariant = 0x0,
        gpCovariant = 0x1,
        gpContravariant = 0x2,
        gpSpecialConstraintMask = 0x3c,
        gpNoSpecialConstraint = 0x0,
        gpReferenceTypeConstraint = 0x4,
        gpNotNullableValueTypeConstraint = 0x8,
        gpDefaultConstructorConstraint = 0x10,
        gpAcceptByRefLike = 0x20,
    }

    /// The targets of a custom attribute.
    CorAttributeTargets: u32 {
        catAssembly = 0x1,
        catModule = 0x2,
        catClass = 0x4,
        catStruct = 0x8,
        catEnum = 0x10,
        catConstructor = 0x20,
        catMethod = 0x40,
        catProperty = 0x80,
        catField = 0x100,
        catEvent = 0x200,
        catInterface = 0x400,
        catParameter = 0x800,
        catDelegate = 0x1000,
        catGenericParameter = 0x4000,
        catAll = 0x5fff,
        catClassMembers = 0x17fc,
    }

    /// Values of the hint when to precompile.
    NGenHintEnum: u32 {
        NGenDefault = 0,
        NGenEager = 1,
        NGenLazy = 2,
        NGenNever = 3,
    }

    /// Values of the hint when to load a dependency.
    LoadHintEnum: u32 {
        LoadDefault = 0,
        LoadAlways = 1,
        LoadSometimes = 2,
        LoadNever = 3,
    }
}
