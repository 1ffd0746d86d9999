//! Local scopes: the names of local variables and constants, and where in the method they are valid.

use clr_profiler_il::token::{self, MethodDef};

use super::constant::LocalConstant;
use crate::error::Result;
use crate::heaps::Heaps;
use crate::metadata::Metadata;
use crate::rows::{LocalScopeRow, RowToken};

/// A range of the IL of a method, with the local variables and constants that are declared in it.
///
/// Scopes are nested: a scope follows the one that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalScope {
    /// The row of the scope.
    pub token: token::LocalScope,
    /// The method.
    pub method: MethodDef,
    /// The namespaces and types that are imported here; nil for none.
    pub import_scope: token::ImportScope,
    /// The IL offset of its begin.
    pub start: u32,
    /// The IL offset of its end, which is not part of it.
    pub end: u32,
    /// The rows of its variables.
    variables: (u32, u32),
    /// The rows of its constants.
    constants: (u32, u32),
}

impl LocalScope {
    /// Whether an IL offset is in it.
    #[must_use]
    pub const fn contains(&self, il_offset: u32) -> bool {
        self.start <= il_offset && il_offset < self.end
    }

    /// The scope of a row, whose lists end where those of the next row begin.
    pub(super) fn read(metadata: &Metadata<'_>, token: token::LocalScope) -> Result<Self> {
        let row = metadata.row(token)?;
        let next = token::LocalScope::from_row(token.row().saturating_add(1));
        let next = match next {
            Some(next) if metadata.is_valid(next.token()) => Some(metadata.row(next)?),
            _ => None,
        };
        let list = |first: u32, next: Option<u32>, rows: u32| {
            // Rows after the table would be errors, and a list without an end would be long.
            let end = next.unwrap_or(u32::MAX).min(rows.saturating_add(1));
            (first.max(1), end)
        };
        Ok(Self {
            token,
            method: row.method,
            import_scope: row.import_scope,
            start: row.start_offset,
            end: row.start_offset.saturating_add(row.length),
            variables: list(
                row.variables.row(),
                next.map(|next: LocalScopeRow| next.variables.row()),
                metadata.row_count(<token::LocalVariable as RowToken>::TABLE),
            ),
            constants: list(
                row.constants.row(),
                next.map(|next: LocalScopeRow| next.constants.row()),
                metadata.row_count(<token::LocalConstant as RowToken>::TABLE),
            ),
        })
    }

    /// The variables that are declared in it.
    pub(super) fn variables<'a>(
        &self,
        metadata: &Metadata<'a>,
    ) -> impl Iterator<Item = Result<LocalVariable<'a>>> {
        let (first, end) = self.variables;
        (first..end).map(move |row| {
            let token = token::LocalVariable::from_row(row).unwrap_or(token::LocalVariable::NIL);
            let row = metadata.row(token)?;
            Ok(LocalVariable {
                token,
                index: row.index,
                is_hidden: row.attributes & 1 != 0,
                name: metadata.string(row.name)?,
            })
        })
    }

    /// The constants that are declared in it.
    pub(super) fn constants<'a>(
        &self,
        metadata: &Metadata<'a>,
    ) -> impl Iterator<Item = Result<LocalConstant<'a>>> {
        let (first, end) = self.constants;
        let heaps: Heaps<'a> = metadata.heaps;
        (first..end).map(move |row| {
            let token = token::LocalConstant::from_row(row).unwrap_or(token::LocalConstant::NIL);
            let row = metadata.row(token)?;
            Ok(LocalConstant {
                token,
                name: heaps.string(row.name)?,
                signature: heaps.blob(row.signature)?,
            })
        })
    }
}

/// A local variable with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalVariable<'a> {
    /// The row of the variable.
    pub token: token::LocalVariable,
    /// The number of the local, as in `ldloc`: several variables of different scopes may share one.
    pub index: u16,
    /// Whether debuggers do not show it, because a compiler has added it.
    pub is_hidden: bool,
    /// The name.
    pub name: &'a str,
}
