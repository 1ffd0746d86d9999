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
    FIELD_DEF = 0x04, "FieldDef", "mdtFieldDef";
    METHOD_DEF = 0x06, "MethodDef", "mdtMethodDef";
    PARAM_DEF = 0x08, "ParamDef", "mdtParamDef";
    INTERFACE_IMPL = 0x09, "InterfaceImpl", "mdtInterfaceImpl";
    MEMBER_REF = 0x0a, "MemberRef", "mdtMemberRef";
    CUSTOM_ATTRIBUTE = 0x0c, "CustomAttribute", "mdtCustomAttribute";
    PERMISSION = 0x0e, "Permission", "mdtPermission";
    STAND_ALONE_SIG = 0x11, "StandAloneSig", "mdtSignature";
    EVENT = 0x14, "Event", "mdtEvent";
    PROPERTY = 0x17, "Property", "mdtProperty";
    METHOD_IMPL = 0x19, "MethodImpl", "mdtMethodImpl";
    MODULE_REF = 0x1a, "ModuleRef", "mdtModuleRef";
    TYPE_SPEC = 0x1b, "TypeSpec", "mdtTypeSpec";
    ASSEMBLY = 0x20, "Assembly", "mdtAssembly";
    ASSEMBLY_REF = 0x23, "AssemblyRef", "mdtAssemblyRef";
    FILE = 0x26, "File", "mdtFile";
    EXPORTED_TYPE = 0x27, "ExportedType", "mdtExportedType";
    MANIFEST_RESOURCE = 0x28, "ManifestResource", "mdtManifestResource";
    NESTED_CLASS = 0x29, "NestedClass", "mdtNestedClass";
    GENERIC_PARAM = 0x2a, "GenericParam", "mdtGenericParam";
    METHOD_SPEC = 0x2b, "MethodSpec", "mdtMethodSpec";
    GENERIC_PARAM_CONSTRAINT = 0x2c, "GenericParamConstraint", "mdtGenericParamConstraint";
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
        assert_eq!(named.count(), 28);
        assert_eq!(TokenTable(0xee).0, 0xee);
        assert_eq!(TokenTable(0xee).to_string(), "table 0xee");
        assert_eq!(format!("{:?}", TokenTable::FILE), "TokenTable(File)");
    }
}
