//! Operands of instructions that do not depend on the tokens of a module.
//!
//! Inserted code that serves many modules refers to a method, type or string that has another token
//! in each of them. A [`Symbol`] identifies it by text; a [`TokenSource`] supplies the token in one
//! module when a body is encoded; a [`Resolver`] returns the meaning of a token or symbol.
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
//! The text of a symbol is the output of `ildasm`, for parsing and for printing:
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
//! [`MethodSymbol::new`] takes any text; [`MethodSymbol::check`] tests whether it can be parsed.

mod names;
mod shape;
mod text;
mod tokens;

use std::fmt;

use crate::signature::{MethodSig, TokenNames};
use crate::token::Token;

pub use names::Names;
pub use shape::CallShape;
pub(crate) use text::{field_symbol, method_symbol, type_symbol};
pub use tokens::{
    NoTokens, ResolvedField, ResolvedMethod, Resolver, TokenSource, TypeKind, UnresolvedSymbol,
};

/// A type by its name, `[System.Runtime]System.Exception/Nested` without quotes, or by the text of a
/// signature: ``class [System.Collections]System.Collections.Generic.List`1<int>``, `!0[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeSymbol {
    /// The text.
    pub name: Box<str>,
}

impl TypeSymbol {
    /// A symbol for a type.
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
    /// [`sig`](Self::sig) parses it, and [`check`](Self::check) tests whether it can be parsed.
    pub signature: Box<str>,
    /// The type arguments of a generic method in text; empty for any other method.
    pub type_arguments: Vec<Box<str>>,
}

impl MethodSymbol {
    /// A symbol for a method that is not generic.
    #[must_use]
    pub fn new(owner: &str, name: &str, signature: &str) -> Self {
        Self {
            owner: TypeSymbol::new(owner),
            name: name.into(),
            signature: signature.into(),
            type_arguments: Vec::new(),
        }
    }

    /// The number of values that a call takes and returns, from the text of the signature. In a
    /// text that is not a signature, the parameters are in the last pair of parentheses.
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
    /// The type of the field in text.
    pub field_type: Box<str>,
}

impl FieldSymbol {
    /// A symbol for a field.
    #[must_use]
    pub fn new(owner: &str, name: &str, field_type: &str) -> Self {
        Self {
            owner: TypeSymbol::new(owner),
            name: name.into(),
            field_type: field_type.into(),
        }
    }
}

/// A replacement of a token.
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
    /// The signature of a `calli`. Its types are in terms of the module of the body.
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

/// The operand of an instruction: a token or a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// A token of the module of the body.
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
