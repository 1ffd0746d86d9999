//! The options of dispensers, scopes, merging and validation.

use crate::tables::enumerations;

enumerations! {
    /// Which items are checked for duplicates before they are added.
    CorCheckDuplicatesFor: u32 {
        MDDupAll = 0xffffffff,
        MDDupENC = 0xffffffff,
        MDNoDupChecks = 0x0,
        MDDupTypeDef = 0x1,
        MDDupInterfaceImpl = 0x2,
        MDDupMethodDef = 0x4,
        MDDupTypeRef = 0x8,
        MDDupMemberRef = 0x10,
        MDDupCustomAttribute = 0x20,
        MDDupParamDef = 0x40,
        MDDupPermission = 0x80,
        MDDupProperty = 0x100,
        MDDupEvent = 0x200,
        MDDupFieldDef = 0x400,
        MDDupSignature = 0x800,
        MDDupModuleRef = 0x1000,
        MDDupTypeSpec = 0x2000,
        MDDupImplMap = 0x4000,
        MDDupAssemblyRef = 0x8000,
        MDDupFile = 0x10000,
        MDDupExportedType = 0x20000,
        MDDupManifestResource = 0x40000,
        MDDupGenericParam = 0x80000,
        MDDupMethodSpec = 0x100000,
        MDDupGenericParamConstraint = 0x200000,
        MDDupAssembly = 0x10000000,
        MDDupDefault = 0x102818,
    }

    /// Which references become definitions.
    CorRefToDefCheck: u32 {
        MDRefToDefDefault = 0x3,
        MDRefToDefAll = 0xffffffff,
        MDRefToDefNone = 0x0,
        MDTypeRefToDef = 0x1,
        MDMemberRefToDef = 0x2,
    }

    /// Which moved tokens a handler is notified of.
    CorNotificationForTokenMovement: u32 {
        MDNotifyDefault = 0xf,
        MDNotifyAll = 0xffffffff,
        MDNotifyNone = 0x0,
        MDNotifyMethodDef = 0x1,
        MDNotifyMemberRef = 0x2,
        MDNotifyFieldDef = 0x4,
        MDNotifyTypeRef = 0x8,
        MDNotifyTypeDef = 0x10,
        MDNotifyParamDef = 0x20,
        MDNotifyInterfaceImpl = 0x40,
        MDNotifyProperty = 0x80,
        MDNotifyEvent = 0x100,
        MDNotifySignature = 0x200,
        MDNotifyTypeSpec = 0x400,
        MDNotifyCustomAttribute = 0x800,
        MDNotifySecurityValue = 0x1000,
        MDNotifyPermission = 0x2000,
        MDNotifyModuleRef = 0x4000,
        MDNotifyNameSpace = 0x8000,
        MDNotifyAssemblyRef = 0x1000000,
        MDNotifyFile = 0x2000000,
        MDNotifyExportedType = 0x4000000,
        MDNotifyResource = 0x8000000,
    }

    /// How a scope is updated.
    CorSetENC: u32 {
        MDSetENCOn = 1,
        MDSetENCOff = 2,
        MDUpdateENC = 1,
        MDUpdateFull = 2,
        MDUpdateExtension = 3,
        MDUpdateIncremental = 4,
        MDUpdateDelta = 5,
        MDUpdateMask = 7,
    }

    /// Which items must be added in order.
    CorErrorIfEmitOutOfOrder: u32 {
        MDErrorOutOfOrderDefault = 0x0,
        MDErrorOutOfOrderNone = 0x0,
        MDErrorOutOfOrderAll = 0xffffffff,
        MDMethodOutOfOrder = 0x1,
        MDFieldOutOfOrder = 0x2,
        MDParamOutOfOrder = 0x4,
        MDPropertyOutOfOrder = 0x8,
        MDEventOutOfOrder = 0x10,
    }

    /// Whether deleted items are enumerated.
    CorImportOptions: u32 {
        MDImportOptionDefault = 0x0,
        MDImportOptionAll = 0xffffffff,
        MDImportOptionAllTypeDefs = 0x1,
        MDImportOptionAllMethodDefs = 0x2,
        MDImportOptionAllFieldDefs = 0x4,
        MDImportOptionAllProperties = 0x8,
        MDImportOptionAllEvents = 0x10,
        MDImportOptionAllCustomAttributes = 0x20,
        MDImportOptionAllExportedTypes = 0x40,
    }

    /// Whether scopes are locked.
    CorThreadSafetyOptions: u32 {
        MDThreadSafetyDefault = 0,
        MDThreadSafetyOff = 0,
        MDThreadSafetyOn = 1,
    }

    /// Whether the linker makes an assembly or a module.
    CorLinkerOptions: u32 {
        MDAssembly = 0,
        MDNetModule = 1,
    }

    /// How scopes are merged.
    MergeFlags: u32 {
        MergeFlagsNone = 0,
        MergeManifest = 1,
        DropMemberRefCAs = 2,
        NoDupCheck = 4,
        MergeExportedTypes = 8,
    }

    /// Which references to the module itself are kept.
    CorLocalRefPreservation: u32 {
        MDPreserveLocalRefsNone = 0,
        MDPreserveLocalTypeRef = 1,
        MDPreserveLocalMemberRef = 2,
    }

    /// How a scope is opened.
    CorOpenFlags: u32 {
        ofRead = 0x0,
        ofWrite = 0x1,
        ofReadWriteMask = 0x1,
        ofCopyMemory = 0x2,
        ofReadOnly = 0x10,
        ofTakeOwnership = 0x20,
        ofNoTypeLib = 0x80,
        ofNoTransform = 0x1000,
        ofReserved1 = 0x100,
        ofReserved2 = 0x200,
        ofReserved3 = 0x400,
        ofReserved = 0xffffef40,
    }

    /// How exact a size must be.
    CorSaveSize: u32 {
        cssAccurate = 0,
        cssQuick = 1,
        cssDiscardTransientCAs = 2,
    }

    /// The kind of a validated module.
    CorValidatorModuleType: u32 {
        ValidatorModuleTypeInvalid = 0,
        ValidatorModuleTypeMin = 1,
        ValidatorModuleTypePE = 1,
        ValidatorModuleTypeObj = 2,
        ValidatorModuleTypeEnc = 3,
        ValidatorModuleTypeIncr = 4,
        ValidatorModuleTypeMax = 4,
    }
}
