use std::fmt;

/// The table of a token: its upper 8 bits (ECMA-335 II.22).
///
/// Any number is a `TokenTable`; the ones that metadata uses have constants. An unknown table keeps
/// its number and prints as `table 0x3f`.
///
/// ```
/// use clr_profiler_il::token::TokenTable;
///
/// assert_eq!(TokenTable::TYPE_REF.name(), Some("TypeRef"));
/// assert_eq!(TokenTable(0x3f).name(), None);
/// assert_eq!(TokenTable(0x3f).to_string(), "table 0x3f");
/// ```
#[doc(alias = "CorTokenType")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenTable(pub u8);

/// Declares the tables.
///
/// `TYPE_REF = 0x01, "TypeRef", "mdtTypeRef";` becomes `pub const TYPE_REF: TokenTable`, found in a
/// search for `mdtTypeRef` too, and one arm of [`TokenTable::name`].
macro_rules! tables {
    ($($constant:ident = $number:literal, $name:literal, $alias:literal;)*) => {
        impl TokenTable {
            $(
                #[doc = concat!("The table ", $name, ", number ", stringify!($number), ".")]
                #[doc(alias = $alias)]
                pub const $constant: Self = Self($number);
            )*

            /// The table's name; `None` for a number that metadata does not use today.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$constant => Some($name),)*
                    _ => None,
                }
            }
        }
    };
}

tables! {
    MODULE = 0x00, "Module", "mdtModule";
    TYPE_REF = 0x01, "TypeRef", "mdtTypeRef";
    TYPE_DEF = 0x02, "TypeDef", "mdtTypeDef";
    FIELD_PTR = 0x03, "FieldPtr", "TBL_FieldPtr";
    FIELD_DEF = 0x04, "FieldDef", "mdtFieldDef";
    METHOD_PTR = 0x05, "MethodPtr", "TBL_MethodPtr";
    METHOD_DEF = 0x06, "MethodDef", "mdtMethodDef";
    PARAM_PTR = 0x07, "ParamPtr", "TBL_ParamPtr";
    PARAM_DEF = 0x08, "ParamDef", "mdtParamDef";
    INTERFACE_IMPL = 0x09, "InterfaceImpl", "mdtInterfaceImpl";
    MEMBER_REF = 0x0a, "MemberRef", "mdtMemberRef";
    CONSTANT = 0x0b, "Constant", "TBL_Constant";
    CUSTOM_ATTRIBUTE = 0x0c, "CustomAttribute", "mdtCustomAttribute";
    FIELD_MARSHAL = 0x0d, "FieldMarshal", "TBL_FieldMarshal";
    PERMISSION = 0x0e, "Permission", "mdtPermission";
    CLASS_LAYOUT = 0x0f, "ClassLayout", "TBL_ClassLayout";
    FIELD_LAYOUT = 0x10, "FieldLayout", "TBL_FieldLayout";
    STAND_ALONE_SIG = 0x11, "StandAloneSig", "mdtSignature";
    EVENT_MAP = 0x12, "EventMap", "TBL_EventMap";
    EVENT_PTR = 0x13, "EventPtr", "TBL_EventPtr";
    EVENT = 0x14, "Event", "mdtEvent";
    PROPERTY_MAP = 0x15, "PropertyMap", "TBL_PropertyMap";
    PROPERTY_PTR = 0x16, "PropertyPtr", "TBL_PropertyPtr";
    PROPERTY = 0x17, "Property", "mdtProperty";
    METHOD_SEMANTICS = 0x18, "MethodSemantics", "TBL_MethodSemantics";
    METHOD_IMPL = 0x19, "MethodImpl", "mdtMethodImpl";
    MODULE_REF = 0x1a, "ModuleRef", "mdtModuleRef";
    TYPE_SPEC = 0x1b, "TypeSpec", "mdtTypeSpec";
    IMPL_MAP = 0x1c, "ImplMap", "TBL_ImplMap";
    FIELD_RVA = 0x1d, "FieldRva", "TBL_FieldRVA";
    ENC_LOG = 0x1e, "EncLog", "TBL_ENCLog";
    ENC_MAP = 0x1f, "EncMap", "TBL_ENCMap";
    ASSEMBLY = 0x20, "Assembly", "mdtAssembly";
    ASSEMBLY_PROCESSOR = 0x21, "AssemblyProcessor", "TBL_AssemblyProcessor";
    ASSEMBLY_OS = 0x22, "AssemblyOs", "TBL_AssemblyOS";
    ASSEMBLY_REF = 0x23, "AssemblyRef", "mdtAssemblyRef";
    ASSEMBLY_REF_PROCESSOR = 0x24, "AssemblyRefProcessor", "TBL_AssemblyRefProcessor";
    ASSEMBLY_REF_OS = 0x25, "AssemblyRefOs", "TBL_AssemblyRefOS";
    FILE = 0x26, "File", "mdtFile";
    EXPORTED_TYPE = 0x27, "ExportedType", "mdtExportedType";
    MANIFEST_RESOURCE = 0x28, "ManifestResource", "mdtManifestResource";
    NESTED_CLASS = 0x29, "NestedClass", "mdtNestedClass";
    GENERIC_PARAM = 0x2a, "GenericParam", "mdtGenericParam";
    METHOD_SPEC = 0x2b, "MethodSpec", "mdtMethodSpec";
    GENERIC_PARAM_CONSTRAINT = 0x2c, "GenericParamConstraint", "mdtGenericParamConstraint";
    DOCUMENT = 0x30, "Document", "TBL_Document";
    METHOD_DEBUG_INFORMATION = 0x31, "MethodDebugInformation", "TBL_MethodDebugInformation";
    LOCAL_SCOPE = 0x32, "LocalScope", "TBL_LocalScope";
    LOCAL_VARIABLE = 0x33, "LocalVariable", "TBL_LocalVariable";
    LOCAL_CONSTANT = 0x34, "LocalConstant", "TBL_LocalConstant";
    IMPORT_SCOPE = 0x35, "ImportScope", "TBL_ImportScope";
    STATE_MACHINE_METHOD = 0x36, "StateMachineMethod", "TBL_StateMachineMethod";
    CUSTOM_DEBUG_INFORMATION = 0x37, "CustomDebugInformation", "TBL_CustomDebugInformation";
    USER_STRING = 0x70, "UserString", "mdtString";
    NAME = 0x71, "Name", "mdtName";
    BASE_TYPE = 0x72, "BaseType", "mdtBaseType";
}

impl fmt::Display for TokenTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "table 0x{:02x}", self.0),
        }
    }
}

impl fmt::Debug for TokenTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenTable({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_tables_survive() {
        let named = (0..=u8::MAX).filter(|&number| TokenTable(number).name().is_some());
        assert_eq!(named.count(), 56);
        assert_eq!(TokenTable(0xee).0, 0xee);
        assert_eq!(TokenTable(0xee).to_string(), "table 0xee");
        assert_eq!(format!("{:?}", TokenTable::FILE), "TokenTable(File)");
    }
}
