//! Method bodies (ECMA-335 II.25.4).

mod length;

pub use length::{BodyError, BodyErrorKind, encoded_length};
