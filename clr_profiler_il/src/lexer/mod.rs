//! The lexer of all texts (signatures, symbols, bodies): words, names with quoted parts and
//! numbers, and the error with its line and column.

mod cursor;
mod error;
mod names;

pub use error::{TextError, TextErrorKind};

pub(crate) use cursor::Cursor;
pub(crate) use names::{write_name, write_quoted, write_type_name};
