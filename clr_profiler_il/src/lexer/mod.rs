//! The lexer of all texts (signatures, symbols, bodies): words, names with quoted parts and
//! numbers, and the error with its line and column.

#[cfg(feature = "bodies")]
mod cursor;
#[cfg(feature = "bodies")]
mod error;
mod names;

#[cfg(feature = "bodies")]
pub use error::{TextError, TextErrorKind};

#[cfg(feature = "bodies")]
pub(crate) use cursor::Cursor;
pub(crate) use names::write_type_name;
#[cfg(feature = "bodies")]
pub(crate) use names::{write_name, write_quoted};
