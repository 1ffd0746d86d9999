//! The names and kinds of methods, and the types they belong to.

use std::borrow::Cow;

use clr_profiler_il::attributes::{MethodAttributes, MethodImplAttributes};
use clr_profiler_il::token::{Token, TokenTable};

use crate::assembly::Assembly;
use crate::error::{Error, ErrorKind, Result};

/// The columns that are read.
mod column {
    pub(super) const TYPE_DEF_METHODS: usize = 5;
    pub(super) const METHOD_RVA: usize = 0;
    pub(super) const METHOD_IMPL_FLAGS: usize = 1;
    pub(super) const METHOD_ATTRIBUTES: usize = 2;
    pub(super) const METHOD_NAME: usize = 3;
    pub(super) const MEMBER_REF_NAME: usize = 1;
    pub(super) const METHOD_SPEC_METHOD: usize = 0;
}

/// The kind of a method, and the location of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodFlags {
    /// Access, `static`, `abstract`, and so on.
    pub attributes: MethodAttributes,
    /// The kind of its code, and how it is to be compiled.
    pub implementation: MethodImplAttributes,
    /// Where its body is in memory; 0 where it has none.
    pub rva: u32,
}

impl<'a> Assembly<'a> {
    /// The flags of a `MethodDef`.
    ///
    /// # Errors
    ///
    /// If the token is not a `MethodDef`, or if there is no such row.
    pub fn method_flags(&self, token: Token) -> Result<MethodFlags> {
        if token.table() != TokenTable::METHOD_DEF {
            return Err(Error::new(ErrorKind::WrongToken(token), 0));
        }
        let cell = |column| self.metadata.tables.cell(token, column);
        Ok(MethodFlags {
            attributes: MethodAttributes::from_bits_retain(cell(column::METHOD_ATTRIBUTES)?),
            implementation: MethodImplAttributes::from_bits_retain(cell(
                column::METHOD_IMPL_FLAGS,
            )?),
            rva: cell(column::METHOD_RVA)?,
        })
    }

    /// The name of a method, or of a field that is a `MemberRef`, by the operand of a `call`.
    ///
    /// # Errors
    ///
    /// If the token is of another kind, or if the row or the name is broken.
    pub fn member_name(&self, token: Token) -> Result<Cow<'a, str>> {
        let tables = &self.metadata.tables;
        let column = match token.table() {
            TokenTable::METHOD_DEF => column::METHOD_NAME,
            TokenTable::MEMBER_REF => column::MEMBER_REF_NAME,
            TokenTable::METHOD_SPEC => {
                // A coded index that refers to methods only: this goes one step deep.
                return self.member_name(tables.coded(token, column::METHOD_SPEC_METHOD)?);
            }
            _ => return Err(Error::new(ErrorKind::WrongToken(token), 0)),
        };
        self.metadata.name(tables.cell(token, column)?)
    }

    /// The types defined here, and the row of the first method of each. Methods up to the
    /// next type's belong to it.
    ///
    /// An item is an error if its row is broken.
    pub fn first_methods(&self) -> impl Iterator<Item = Result<(Token, u32)>> {
        let tables = &self.metadata.tables;
        tables.tokens(TokenTable::TYPE_DEF).map(|token| {
            let first = tables.cell(token, column::TYPE_DEF_METHODS)?;
            Ok((token, first))
        })
    }
}
