//! The rows of all tables: those of assemblies, and those of portable PDBs.

use clr_profiler_il::token::{self, TokenTable};

use crate::columns::{Column, Key};
use crate::error::Result;
use crate::raw::RawRow;

/// The largest number of tables: one bit for each in the header.
pub(crate) const TABLE_COUNT: usize = 64;

mod sealed {
    use super::{Column, RawRow, Result};

    pub trait Decode: Sized {
        const COLUMNS: &'static [Column];

        fn decode(row: RawRow<'_>) -> Result<Self>;
    }
}
pub(crate) use sealed::Decode;

/// A row of a table, decoded.
pub trait Row: Decode {
    /// The table.
    const TABLE: TokenTable;
}

/// A token whose row has a type.
pub trait RowToken: Copy + Into<token::Token> + TryFrom<token::Token> {
    /// The table.
    const TABLE: TokenTable;

    /// The row.
    type Row: Row;
}

/// A row that refers to its owner in one of its columns. The tables of such rows are sorted by that column
/// (ECMA-335 II.22).
pub trait OwnedRow: Row {
    /// The owner.
    type Owner: Key;

    #[doc(hidden)]
    const OWNER_COLUMN: usize;
}

/// Declares the tables. A line is a column: its name and its type, which decides on its width.
///
/// ```text
/// /// A field of a type (II.22.15).
/// FieldRow = FIELD_DEF(FieldDef) {
///     /// Access, `static` and so on.
///     attributes: FieldAttributes,
///     ...
/// }
/// ```
///
/// becomes `pub struct FieldRow`, with a public field for each column, its [`Row`], and [`RowToken`] for the token
/// type in parentheses. `by TypeDef in 2` makes it an [`OwnedRow`] whose column 2 is the owner.
macro_rules! rows {
    ($(
        $(#[$doc:meta])*
        $row:ident = $table:ident $(($token:ident))? $(by $owner:ident in $owner_column:literal)? {
            $($(#[$column_doc:meta])* $column:ident: $type:ty,)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $row {
                $($(#[$column_doc])* pub $column: $type,)*
            }

            impl Decode for $row {
                const COLUMNS: &'static [Column] = &[$(<$type as Cell>::COLUMN),*];

                #[inline]
                fn decode(mut row: RawRow<'_>) -> Result<Self> {
                    Ok(Self { $($column: row.next()?,)* })
                }
            }

            impl Row for $row {
                const TABLE: TokenTable = TokenTable::$table;
            }

            $(
                impl RowToken for token::$token {
                    const TABLE: TokenTable = TokenTable::$table;
                    type Row = $row;
                }
            )?

            $(
                impl OwnedRow for $row {
                    type Owner = $owner;
                    const OWNER_COLUMN: usize = $owner_column;
                }
            )?
        )*

        /// The tables of this file with their columns.
        pub(super) const TABLES: &[(TokenTable, &[Column])] =
            &[$((TokenTable::$table, $row::COLUMNS)),*];
    };
}

mod assembly;
mod symbols;

pub use assembly::*;
pub use symbols::*;

/// The columns of each table, by its number; none for unknown tables.
#[allow(
    clippy::indexing_slicing,
    reason = "the compiler checks the indexes of a constant"
)]
pub(crate) static COLUMNS: [&[Column]; TABLE_COUNT] = {
    let mut columns: [&[Column]; TABLE_COUNT] = [&[]; TABLE_COUNT];
    let mut files = [assembly::TABLES, symbols::TABLES].as_slice();
    while let [first, rest @ ..] = files {
        let mut tables = *first;
        while let [(table, of_table), others @ ..] = tables {
            columns[table.0 as usize] = of_table;
            tables = others;
        }
        files = rest;
    }
    columns
};
