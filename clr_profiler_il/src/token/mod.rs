//! Metadata tokens: references to the rows of a module's metadata tables.
//!
//! A token has a table number in the upper 8 bits and a row, counted from 1, in the lower 24
//! (ECMA-335 III.1.9). It is meaningful only together with its module.
//!
//! [`Token`] holds any token. [`MethodDef`], [`TypeRef`] and the others hold a token of one table.
//! They convert from [`Token`] by `TryFrom`, which checks the table, and back by `From`.
//!
//! ```
//! use clr_profiler_il::token::{MethodDef, Token, TokenTable, TypeDef};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let token = Token::new(0x0600_0001);
//! assert_eq!(token.table(), TokenTable::METHOD_DEF);
//! assert_eq!(token.row(), 1);
//!
//! let method = MethodDef::try_from(token)?;
//! assert_eq!(method.to_string(), "0x06000001");
//!
//! let error = TypeDef::try_from(token).unwrap_err();
//! assert_eq!(error.to_string(), "expected a TypeDef token, found 0x06000001 (MethodDef)");
//! # Ok(())
//! # }
//! ```

mod hash;
mod table;
mod type_token;
mod typed;

use std::error::Error;
use std::fmt;

pub use hash::{HashTokens, TokenHasher};
pub use table::TokenTable;
pub use type_token::TypeToken;
pub use typed::{
    Assembly, AssemblyRef, CustomAttribute, CustomDebugInformation, Document, Event, ExportedType,
    FieldDef, File, GenericParam, GenericParamConstraint, ImportScope, InterfaceImpl,
    LocalConstant, LocalScope, LocalVariable, ManifestResource, MemberRef, MethodDebugInformation,
    MethodDef, MethodSpec, Module, ModuleRef, ParamDef, Permission, Property, StandAloneSig,
    TypeDef, TypeRef, TypeSpec, UserString,
};

/// The largest row of a token: a row has 24 bits.
pub const MAX_ROW: u32 = 0x00ff_ffff;

/// Any metadata token (ECMA-335 III.1.9).
///
/// Every 32-bit value is a `Token`; only the module knows whether it has such a table and row.
#[doc(alias = "mdToken")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Token(u32);

impl Token {
    /// The nil token: all bits zero.
    #[doc(alias = "mdTokenNil")]
    pub const NIL: Self = Self(0);

    /// A token from its 32 bits, as in IL and in the metadata interfaces.
    #[must_use]
    pub const fn new(raw: u32) -> Self {
        Self(raw)
    }

    /// The token of a row of a table; `None` if the row has more than 24 bits.
    #[must_use]
    #[doc(alias = "TokenFromRid")]
    pub const fn from_row(table: TokenTable, row: u32) -> Option<Self> {
        if row > MAX_ROW {
            return None;
        }
        Some(Self(((table.0 as u32) << 24) | row))
    }

    /// The table of the token: its upper 8 bits.
    #[must_use]
    #[doc(alias = "TypeFromToken")]
    pub const fn table(self) -> TokenTable {
        TokenTable((self.0 >> 24) as u8)
    }

    /// The row, counted from 1; 0 in a nil token. For a user string, the offset in its heap.
    #[must_use]
    #[doc(alias = "RidFromToken")]
    pub const fn row(self) -> u32 {
        self.0 & MAX_ROW
    }

    /// Whether the row is 0, so that the token refers to nothing, whatever its table.
    #[must_use]
    #[doc(alias = "IsNilToken")]
    pub const fn is_nil(self) -> bool {
        self.row() == 0
    }

    /// The 32 bits.
    #[must_use]
    pub const fn raw(self) -> u32 {
        self.0
    }
}

impl From<u32> for Token {
    fn from(raw: u32) -> Self {
        Self(raw)
    }
}

impl From<Token> for u32 {
    fn from(token: Token) -> Self {
        token.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08x}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}

/// A token of a table other than the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongTable {
    expected: &'static str,
    found: Token,
}

impl WrongTable {
    const fn new(expected: &'static str, found: Token) -> Self {
        Self { expected, found }
    }

    /// The expected table, or tables, by name.
    #[must_use]
    pub const fn expected(&self) -> &'static str {
        self.expected
    }

    /// The given token.
    #[must_use]
    pub const fn found(&self) -> Token {
        self.found
    }
}

impl fmt::Display for WrongTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, found } = self;
        write!(
            f,
            "expected a {expected} token, found {found} ({})",
            found.table()
        )
    }
}

impl Error for WrongTable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_table_and_a_row() {
        let token = Token::new(0x0a12_3456);
        assert_eq!(token.table(), TokenTable::MEMBER_REF);
        assert_eq!(token.row(), 0x12_3456);
        assert_eq!(token.raw(), 0x0a12_3456);
        assert!(!token.is_nil());
        assert!(Token::NIL.is_nil());
        assert!(Token::new(0x0a00_0000).is_nil());
        assert_eq!(u32::from(Token::from(7)), 7);
    }

    #[test]
    fn a_row_has_24_bits() {
        let table = TokenTable::TYPE_DEF;
        assert_eq!(
            Token::from_row(table, MAX_ROW),
            Some(Token::new(0x02ff_ffff))
        );
        assert_eq!(Token::from_row(table, MAX_ROW + 1), None);
        assert_eq!(
            Token::from_row(TokenTable(0xff), 1),
            Some(Token::new(0xff00_0001))
        );
    }

    #[test]
    fn tokens_print_as_eight_digits() {
        assert_eq!(Token::new(0x0600_0001).to_string(), "0x06000001");
        assert_eq!(format!("{:?}", Token::NIL), "Token(0x00000000)");
    }
}
