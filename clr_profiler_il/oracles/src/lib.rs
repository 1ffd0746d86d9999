//! What must hold of `clr_profiler_il` whatever it is given.
//!
//! Each oracle takes any bytes and panics where the crate breaks one of its promises. The fuzzers in
//! `clr_profiler_il/fuzz` call them with inputs that grow towards new code; the tests of this crate
//! with seeds and with pseudo-random variations of them, so that every `cargo test` fuzzes a little.
//!
//! # Map
//!
//! - [`decode`]: any bytes give a body or an error, and whatever looks at the body lives.
//! - [`round_trip`]: decoded, encoded and decoded again is the same, with every header.
//! - [`edit`]: a script of edits does what a list of lines does that is edited likewise.
//! - [`signature`]: signatures through bytes and through text are the same.
//! - [`text`]: what is read from a text and printed is read the same again.
//! - [`attribute`]: the values of custom attributes say all that their bytes say.
//! - [`seeds`]: inputs to begin with; [`random`]: variations of them.

#![forbid(unsafe_code)]

mod attributes;
mod bodies;
mod edits;
mod listing;
pub mod random;
pub mod seeds;
mod signatures;
mod texts;
mod tokens;

pub use attributes::attribute;
pub use bodies::{decode, round_trip};
pub use edits::edit;
pub use signatures::signature;
pub use texts::text;

/// Panics where a promise is broken.
pub type Oracle = fn(&[u8]);

/// All oracles by the names of their fuzzers.
pub const ORACLES: [(&str, Oracle); 6] = [
    ("decode", decode),
    ("round_trip", round_trip),
    ("edit", edit),
    ("signature", signature),
    ("text", text),
    ("attribute", attribute),
];
