//! Tokens for symbols, and symbols for tokens.

use std::convert::Infallible;

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::symbol::{
    CallShape, FieldSymbol, MethodSymbol, Reference, Resolver, TokenSource, TypeSymbol,
};
use clr_profiler_il::token::Token;

/// Assigns the next token to every new symbol.
#[derive(Default)]
pub(crate) struct Tokens {
    known: Vec<(String, CallShape)>,
}

impl Tokens {
    /// The symbol of a reference, in text.
    pub(crate) fn text(&self, name: Reference<'_>) -> String {
        match name {
            Reference::Symbol(symbol) => symbol.to_string(),
            Reference::Token(token) => self.known[token.row() as usize - 1].0.clone(),
        }
    }

    fn token(&mut self, table: u32, text: String, shape: CallShape) -> Token {
        let known = self.known.iter().position(|(other, _)| *other == text);
        let index = known.unwrap_or_else(|| {
            self.known.push((text, shape));
            self.known.len() - 1
        });
        Token::new(table << 24 | u32::try_from(index + 1).unwrap())
    }

    /// A body as decoded from a file.
    pub(crate) fn decoded(&mut self, code: &Fragment, locals: LocalsSig) -> MethodBody {
        let mut body = MethodBody::new();
        body.append(code).unwrap();
        for local in &locals.locals {
            body.add_local(local.clone()).unwrap();
        }
        let most = body.stack_depths(self).unwrap().max();
        body.set_max_stack(u16::try_from(most).unwrap());
        let mut decoded = self.encoded(&body);
        // A read of an unwritten local must be noticed.
        decoded.set_init_locals(false);
        decoded.set_locals(locals);
        decoded
    }

    /// A body after encoding and decoding.
    pub(crate) fn encoded(&mut self, body: &MethodBody) -> MethodBody {
        let mut bytes = Vec::new();
        body.encode(self, &mut bytes).unwrap();
        MethodBody::decode(&bytes).unwrap()
    }
}

impl TokenSource for Tokens {
    type Error = Infallible;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token, Infallible> {
        Ok(self.token(0x0a, method.to_string(), method.shape()))
    }

    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token, Infallible> {
        Ok(self.token(0x01, name.to_string(), CallShape::default()))
    }

    fn field(&mut self, field: &FieldSymbol) -> Result<Token, Infallible> {
        Ok(self.token(0x0a, field.to_string(), CallShape::default()))
    }

    fn user_string(&mut self, text: &str) -> Result<Token, Infallible> {
        Ok(self.token(0x70, text.to_owned(), CallShape::default()))
    }

    fn signature(&mut self, _: &MethodSig) -> Result<Token, Infallible> {
        Ok(self.token(0x11, "calli".to_owned(), CallShape::default()))
    }

    fn locals(&mut self, locals: &LocalsSig) -> Result<Token, Infallible> {
        Ok(self.token(0x11, format!("{locals:?}"), CallShape::default()))
    }
}

impl Resolver for Tokens {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        let shape = self.method_shape(method)?;
        let params = vec![TypeSig::I4; shape.params as usize];
        let of = if shape.returns {
            TypeSig::I4
        } else {
            TypeSig::Void
        };
        let mut signature = MethodSig::new(of, params);
        signature.has_this = shape.has_this;
        Some(signature)
    }

    fn signature(&self, _: Reference<'_>) -> Option<MethodSig> {
        None
    }

    fn method_shape(&self, method: Reference<'_>) -> Option<CallShape> {
        match method {
            Reference::Token(token) => Some(self.known.get(token.row() as usize - 1)?.1),
            Reference::Symbol(_) => None,
        }
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        self.text(method).contains("::.ctor(")
    }
}
