//! The kinds of metadata tokens.

use crate::tables::enumerations;

enumerations! {
    /// The high byte of a token: its table.
    CorTokenType: u32 {
        mdtModule = 0x0,
        mdtTypeRef = 0x1000000,
        mdtTypeDef = 0x2000000,
        mdtFieldDef = 0x4000000,
        mdtMethodDef = 0x6000000,
        mdtParamDef = 0x8000000,
        mdtInterfaceImpl = 0x9000000,
        mdtMemberRef = 0xa000000,
        mdtCustomAttribute = 0xc000000,
        mdtPermission = 0xe000000,
        mdtSignature = 0x11000000,
        mdtEvent = 0x14000000,
        mdtProperty = 0x17000000,
        mdtMethodImpl = 0x19000000,
        mdtModuleRef = 0x1a000000,
        mdtTypeSpec = 0x1b000000,
        mdtAssembly = 0x20000000,
        mdtAssemblyRef = 0x23000000,
        mdtFile = 0x26000000,
        mdtExportedType = 0x27000000,
        mdtManifestResource = 0x28000000,
        mdtNestedClass = 0x29000000,
        mdtGenericParam = 0x2a000000,
        mdtMethodSpec = 0x2b000000,
        mdtGenericParamConstraint = 0x2c000000,
        mdtString = 0x70000000,
        mdtName = 0x71000000,
        mdtBaseType = 0x72000000,
    }
}
