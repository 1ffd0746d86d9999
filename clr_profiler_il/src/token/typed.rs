use std::fmt;

use super::{MAX_ROW, Token, TokenTable, WrongTable};

/// Declares one type for the tokens of one table.
///
/// ```text
/// /// A method that this module defines.
/// MethodDef, METHOD_DEF, "mdMethodDef";
/// ```
///
/// becomes `pub struct MethodDef`, a token whose table is always `TokenTable::METHOD_DEF`, found in
/// a search for `mdMethodDef` too, with `NIL`, `from_row`, `row`, `raw`, `is_nil`, `Display`,
/// `TryFrom<Token>` and `From<MethodDef> for Token`.
macro_rules! typed_tokens {
    ($($(#[$doc:meta])* $name:ident, $table:ident, $alias:literal;)*) => {$(
        $(#[$doc])*
        #[doc(alias = $alias)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(Token);

        impl $name {
            /// The table of these tokens.
            pub const TABLE: TokenTable = TokenTable::$table;

            /// The nil token of this table: row 0.
            pub const NIL: Self = Self(Token::new((TokenTable::$table.0 as u32) << 24));

            /// The token of a row, counted from 1; `None` if the row has more than 24 bits.
            #[must_use]
            pub const fn from_row(row: u32) -> Option<Self> {
                if row > MAX_ROW {
                    return None;
                }
                Some(Self(Token::new(Self::NIL.raw() | row)))
            }

            /// The row, counted from 1; 0 in [`NIL`](Self::NIL).
            #[must_use]
            pub const fn row(self) -> u32 {
                self.0.row()
            }

            /// The 32 bits of the token.
            #[must_use]
            pub const fn raw(self) -> u32 {
                self.0.raw()
            }

            /// Whether the row is 0.
            #[must_use]
            pub const fn is_nil(self) -> bool {
                self.0.is_nil()
            }

            /// The token as a [`Token`].
            #[must_use]
            pub const fn token(self) -> Token {
                self.0
            }
        }

        impl TryFrom<Token> for $name {
            type Error = WrongTable;

            fn try_from(token: Token) -> Result<Self, WrongTable> {
                if token.table() == Self::TABLE {
                    Ok(Self(token))
                } else {
                    Err(WrongTable::new(stringify!($name), token))
                }
            }
        }

        impl From<$name> for Token {
            fn from(token: $name) -> Token {
                token.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

typed_tokens! {
    /// The module itself (ECMA-335 II.22.30).
    Module, MODULE, "mdModule";
    /// A type that another module or assembly defines (ECMA-335 II.22.38).
    TypeRef, TYPE_REF, "mdTypeRef";
    /// A type that this module defines (ECMA-335 II.22.37).
    TypeDef, TYPE_DEF, "mdTypeDef";
    /// A field that this module defines (ECMA-335 II.22.15).
    FieldDef, FIELD_DEF, "mdFieldDef";
    /// A method that this module defines (ECMA-335 II.22.26).
    MethodDef, METHOD_DEF, "mdMethodDef";
    /// The name, attributes and default of a parameter of a method in this module (ECMA-335
    /// II.22.33).
    ParamDef, PARAM_DEF, "mdParamDef";
    /// An interface that a type of this module implements (ECMA-335 II.22.23).
    InterfaceImpl, INTERFACE_IMPL, "mdInterfaceImpl";
    /// A reference to a method or field by parent, name and signature (ECMA-335 II.22.25).
    MemberRef, MEMBER_REF, "mdMemberRef";
    /// A custom attribute of an item in this module (ECMA-335 II.22.10).
    CustomAttribute, CUSTOM_ATTRIBUTE, "mdCustomAttribute";
    /// A declarative security permission set (ECMA-335 II.22.11).
    Permission, PERMISSION, "mdPermission";
    /// A stand-alone signature: of a method's locals or the target of `calli` (ECMA-335 II.22.36).
    StandAloneSig, STAND_ALONE_SIG, "mdSignature";
    /// An event of a type in this module (ECMA-335 II.22.13).
    Event, EVENT, "mdEvent";
    /// A property of a type in this module (ECMA-335 II.22.34).
    Property, PROPERTY, "mdProperty";
    /// A module of the same assembly, or a native library (ECMA-335 II.22.31).
    ModuleRef, MODULE_REF, "mdModuleRef";
    /// A type by its signature: generic, array, pointer (ECMA-335 II.22.39).
    TypeSpec, TYPE_SPEC, "mdTypeSpec";
    /// The assembly whose manifest is in this module (ECMA-335 II.22.2).
    Assembly, ASSEMBLY, "mdAssembly";
    /// Another assembly (ECMA-335 II.22.5).
    AssemblyRef, ASSEMBLY_REF, "mdAssemblyRef";
    /// A file of this assembly (ECMA-335 II.22.19).
    File, FILE, "mdFile";
    /// A type that the assembly exports or forwards (ECMA-335 II.22.14).
    ExportedType, EXPORTED_TYPE, "mdExportedType";
    /// A resource of the assembly (ECMA-335 II.22.24).
    ManifestResource, MANIFEST_RESOURCE, "mdManifestResource";
    /// A generic parameter of a type or method in this module (ECMA-335 II.22.20).
    GenericParam, GENERIC_PARAM, "mdGenericParam";
    /// A generic method with type arguments (ECMA-335 II.22.29).
    MethodSpec, METHOD_SPEC, "mdMethodSpec";
    /// A constraint on a generic parameter (ECMA-335 II.22.21).
    GenericParamConstraint, GENERIC_PARAM_CONSTRAINT, "mdGenericParamConstraint";
    /// A string literal, the operand of `ldstr` (ECMA-335 II.24.2.4). Its "row" is the offset in
    /// the user string heap.
    UserString, USER_STRING, "mdString";
    /// A source file, in a portable PDB.
    Document, DOCUMENT, "TBL_Document";
    /// The sequence points of a method, in a portable PDB.
    MethodDebugInformation, METHOD_DEBUG_INFORMATION, "TBL_MethodDebugInformation";
    /// A range of IL with local variables, in a portable PDB.
    LocalScope, LOCAL_SCOPE, "TBL_LocalScope";
    /// A local variable with a name, in a portable PDB.
    LocalVariable, LOCAL_VARIABLE, "TBL_LocalVariable";
    /// A local constant, in a portable PDB.
    LocalConstant, LOCAL_CONSTANT, "TBL_LocalConstant";
    /// The imported namespaces and types of a scope, in a portable PDB.
    ImportScope, IMPORT_SCOPE, "TBL_ImportScope";
    /// Debug information of a compiler's own kind, in a portable PDB.
    CustomDebugInformation, CUSTOM_DEBUG_INFORMATION, "TBL_CustomDebugInformation";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks one typed token against its table's number.
    macro_rules! check {
        ($($name:ident = $table:literal),* $(,)?) => {$({
            let nil = ($table as u32) << 24;
            assert_eq!($name::NIL.raw(), nil);
            assert!($name::NIL.is_nil());
            assert_eq!($name::TABLE, TokenTable($table));
            let token = $name::from_row(0x12_3456).unwrap();
            assert_eq!(token.raw(), nil | 0x12_3456);
            assert_eq!(token.row(), 0x12_3456);
            assert_eq!(token.token(), Token::from(token));
            assert_eq!($name::try_from(Token::from(token)), Ok(token));
            assert_eq!($name::from_row(MAX_ROW).unwrap().row(), MAX_ROW);
            assert_eq!($name::from_row(MAX_ROW + 1), None);
            assert_eq!(token.to_string(), Token::from(token).to_string());
            assert_eq!(
                format!("{token:?}"),
                format!("{}({token})", stringify!($name)),
            );
            let other = Token::new(0x7f00_0001);
            let error = $name::try_from(other).unwrap_err();
            assert_eq!(error.expected(), stringify!($name));
            assert_eq!(error.found(), other);
        })*};
    }

    #[test]
    fn every_kind_keeps_its_table() {
        check! {
            Module = 0x00, TypeRef = 0x01, TypeDef = 0x02, FieldDef = 0x04, MethodDef = 0x06,
            ParamDef = 0x08, InterfaceImpl = 0x09, MemberRef = 0x0a, CustomAttribute = 0x0c,
            Permission = 0x0e, StandAloneSig = 0x11, Event = 0x14, Property = 0x17,
            ModuleRef = 0x1a, TypeSpec = 0x1b, Assembly = 0x20, AssemblyRef = 0x23, File = 0x26,
            ExportedType = 0x27, ManifestResource = 0x28, GenericParam = 0x2a, MethodSpec = 0x2b,
            GenericParamConstraint = 0x2c, UserString = 0x70, Document = 0x30,
            MethodDebugInformation = 0x31, LocalScope = 0x32, LocalVariable = 0x33,
            LocalConstant = 0x34, ImportScope = 0x35, CustomDebugInformation = 0x37,
        }
    }

    #[test]
    fn an_unknown_table_is_named_by_its_number() {
        let error = MethodDef::try_from(Token::new(0x3f00_0001)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a MethodDef token, found 0x3f000001 (table 0x3f)"
        );
    }
}
