use std::fmt;

use super::print::{Naming, write_body};
use crate::body::MethodBody;
use crate::signature::{TokenNames, TypeNames};
use crate::symbol::{Names, Reference};
use crate::token::{Token, TypeToken};

impl MethodBody {
    /// The listing, with names instead of tokens, and the source before the instructions where it begins.
    #[must_use]
    pub fn named<'a>(&'a self, names: &'a dyn Names) -> NamedBody<'a> {
        NamedBody { body: self, names }
    }
}

/// The result of [`MethodBody::named`].
#[derive(Clone, Copy)]
pub struct NamedBody<'a> {
    body: &'a MethodBody,
    names: &'a dyn Names,
}

impl fmt::Debug for NamedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedBody").finish_non_exhaustive()
    }
}

impl fmt::Display for NamedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_body(f, self.body, Naming(Some(self.names)))
    }
}

impl<'a> Naming<'a> {
    /// Writes an operand: a symbol as it is.
    pub(super) fn reference(self, f: &mut dyn fmt::Write, reference: Reference<'_>) -> fmt::Result {
        match reference {
            Reference::Token(token) => f.write_str(&self.token(token)),
            Reference::Symbol(symbol) => write!(f, "{symbol}"),
        }
    }

    /// The name of a token, or the token.
    pub(super) fn token(self, token: Token) -> String {
        let name = self.0.and_then(|names| names.name(token));
        name.unwrap_or_else(|| token.to_string())
    }

    pub(super) fn source(self, il_offset: Option<u32>) -> Option<String> {
        self.0?.source(il_offset?)
    }
}

/// Types in signatures.
impl TypeNames for Naming<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.0.and_then(|names| names.name(token.into())) {
            Some(name) => out.write_str(&name),
            None => TokenNames.type_name(token, out),
        }
    }
}
