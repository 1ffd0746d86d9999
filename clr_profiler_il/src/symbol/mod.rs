//! What an instruction names without knowing a module's tokens.
//!
//! The same inserted code serves many modules, in each of which a method, type or string has
//! another token. A [`Symbol`] names it by text; a [`TokenSource`] gives the token of one module
//! when a body is encoded; a [`Resolver`] tells the meaning of a token or symbol.
//!
//! ```
//! use clr_profiler_il::symbol::{CallShape, MethodSymbol};
//!
//! let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
//! assert_eq!(
//!     write.shape(),
//!     CallShape { has_this: false, params: 1, returns: false }
//! );
//! assert_eq!(
//!     write.to_string(),
//!     "void [System.Console]System.Console::WriteLine(string)"
//! );
//! ```
//!
//! # Text
//!
//! Symbols are read from what `ildasm` prints, and print as that:
//!
//! ```
//! use clr_profiler_il::symbol::MethodSymbol;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let write: MethodSymbol = "void [System.Console]System.Console::WriteLine(string)".parse()?;
//! assert_eq!(
//!     write,
//!     MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)")
//! );
//! let wrong = "void System.Console.WriteLine(string)".parse::<MethodSymbol>().unwrap_err();
//! assert_eq!((wrong.line(), wrong.column()), (1, 30));
//! # Ok(())
//! # }
//! ```
//!
//! [`MethodSymbol::new`] takes any text; [`MethodSymbol::check`] tells whether it can be read.

mod path;
mod shape;
mod text;
mod tokens;

use std::fmt;

use crate::signature::{MethodSig, TokenNames};
use crate::token::Token;

pub use path::{MethodPath, MethodPathError};
pub use shape::CallShape;
pub(crate) use text::{field_symbol, method_symbol, type_symbol};
pub use tokens::{NoTokens, Resolver, TokenSource, TypeKind, UnresolvedSymbol};

/// A type by its name, `[System.Runtime]System.Exception/Nested` without quotes, or by the text of a
/// signature: ``class [System.Collections]System.Collections.Generic.List`1<int>``, `!0[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeSymbol {
    /// The text.
    pub name: Box<str>,
}

impl TypeSymbol {
    /// Names a type.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into() }
    }
}

/// A method by its type, name and signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MethodSymbol {
    /// The type that declares it.
    pub owner: TypeSymbol,
    /// Its name; `.ctor` for a constructor.
    pub name: Box<str>,
    /// Its signature in text: `instance void (string, class [System.Runtime]System.Exception&)`.
    /// [`sig`](Self::sig) reads it, and [`check`](Self::check) looks whether it can be read.
    pub signature: Box<str>,
    /// The arguments of a generic method in text; empty for any other.
    pub type_arguments: Vec<Box<str>>,
}

impl MethodSymbol {
    /// Names a method that is not generic.
    #[must_use]
    pub fn new(owner: &str, name: &str, signature: &str) -> Self {
        Self {
            owner: TypeSymbol::new(owner),
            name: name.into(),
            signature: signature.into(),
            type_arguments: Vec::new(),
        }
    }

    /// How many values a call takes and gives, read off the text of the signature. Of a text that is
    /// no signature, the parameters stand in its last pair of parentheses.
    #[must_use]
    pub fn shape(&self) -> CallShape {
        CallShape::of_text(&self.signature)
    }
}

/// A field by its type, name and signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldSymbol {
    /// The type that declares it.
    pub owner: TypeSymbol,
    /// Its name.
    pub name: Box<str>,
    /// The type of its value in text.
    pub field_type: Box<str>,
}

impl FieldSymbol {
    /// Names a field.
    #[must_use]
    pub fn new(owner: &str, name: &str, field_type: &str) -> Self {
        Self {
            owner: TypeSymbol::new(owner),
            name: name.into(),
            field_type: field_type.into(),
        }
    }
}

/// What stands in the place of a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symbol {
    /// A method.
    Method(MethodSymbol),
    /// A type.
    Type(TypeSymbol),
    /// A field.
    Field(FieldSymbol),
    /// The text of a string.
    String(Box<str>),
    /// What a `calli` calls. Its types are in terms of the module that the body belongs to.
    Signature(MethodSig),
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => method.fmt(f),
            Self::Type(name) => name.fmt(f),
            Self::Field(field) => field.fmt(f),
            Self::String(text) => write!(f, "{text:?}"),
            Self::Signature(signature) => signature.text(&TokenNames).fmt(f),
        }
    }
}

/// A token or the symbol in its place, as an instruction holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// A token of the module that the body belongs to.
    Token(Token),
    /// A symbol.
    Symbol(&'a Symbol),
}

impl fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => token.fmt(f),
            Self::Symbol(symbol) => symbol.fmt(f),
        }
    }
}
