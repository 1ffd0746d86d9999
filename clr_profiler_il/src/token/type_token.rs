use std::fmt;

use super::{Token, TokenTable, TypeDef, TypeRef, TypeSpec, WrongTable};

/// A token of a type: defined in the module, referenced, or specified by a signature.
///
/// Signatures and type operands of IL hold these tokens (`TypeDefOrRef` in ECMA-335 II.24.2.6).
///
/// ```
/// use clr_profiler_il::token::{Token, TypeToken};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let token = TypeToken::try_from(Token::new(0x0100_0005))?;
/// assert!(matches!(token, TypeToken::Ref(reference) if reference.row() == 5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeToken {
    /// A type that this module defines.
    Def(TypeDef),
    /// A type that another module or assembly defines.
    Ref(TypeRef),
    /// A type given by a signature.
    Spec(TypeSpec),
}

impl TypeToken {
    /// The token as a [`Token`].
    #[must_use]
    pub const fn token(self) -> Token {
        match self {
            Self::Def(token) => token.token(),
            Self::Ref(token) => token.token(),
            Self::Spec(token) => token.token(),
        }
    }

    /// The row, counted from 1; 0 in a nil token.
    #[must_use]
    pub const fn row(self) -> u32 {
        self.token().row()
    }

    /// The 32 bits of the token.
    #[must_use]
    pub const fn raw(self) -> u32 {
        self.token().raw()
    }

    /// Whether the row is 0.
    #[must_use]
    pub const fn is_nil(self) -> bool {
        self.token().is_nil()
    }
}

impl TryFrom<Token> for TypeToken {
    type Error = WrongTable;

    fn try_from(token: Token) -> Result<Self, WrongTable> {
        match token.table() {
            TokenTable::TYPE_DEF => TypeDef::try_from(token).map(Self::Def),
            TokenTable::TYPE_REF => TypeRef::try_from(token).map(Self::Ref),
            TokenTable::TYPE_SPEC => TypeSpec::try_from(token).map(Self::Spec),
            _ => Err(WrongTable::new("TypeDef, TypeRef or TypeSpec", token)),
        }
    }
}

impl From<TypeToken> for Token {
    fn from(token: TypeToken) -> Self {
        token.token()
    }
}

impl From<TypeDef> for TypeToken {
    fn from(token: TypeDef) -> Self {
        Self::Def(token)
    }
}

impl From<TypeRef> for TypeToken {
    fn from(token: TypeRef) -> Self {
        Self::Ref(token)
    }
}

impl From<TypeSpec> for TypeToken {
    fn from(token: TypeSpec) -> Self {
        Self::Spec(token)
    }
}

impl fmt::Display for TypeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.token(), f)
    }
}

impl fmt::Debug for TypeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Def(token) => fmt::Debug::fmt(token, f),
            Self::Ref(token) => fmt::Debug::fmt(token, f),
            Self::Spec(token) => fmt::Debug::fmt(token, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tables_name_types() {
        for raw in [0x0200_0001, 0x0100_0002, 0x1b00_0003] {
            let token = Token::new(raw);
            let typed = TypeToken::try_from(token).unwrap();
            assert_eq!(typed.raw(), raw);
            assert_eq!(typed.row(), token.row());
            assert_eq!(Token::from(typed), token);
            assert_eq!(typed.to_string(), token.to_string());
            assert!(!typed.is_nil());
        }
        assert_eq!(TypeToken::from(TypeDef::NIL), TypeToken::Def(TypeDef::NIL));
        assert_eq!(
            format!("{:?}", TypeToken::from(TypeRef::NIL)),
            "TypeRef(0x01000000)"
        );
        assert!(TypeToken::from(TypeSpec::NIL).is_nil());
        let error = TypeToken::try_from(Token::new(0x0600_0001)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a TypeDef, TypeRef or TypeSpec token, found 0x06000001 (MethodDef)"
        );
    }
}
