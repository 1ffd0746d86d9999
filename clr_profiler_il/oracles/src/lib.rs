//! Properties of `clr_profiler_il` that must hold for any input.
//!
//! Each oracle takes any bytes and panics if the crate breaks one of its promises. The fuzzers in
//! `clr_profiler_il/fuzz` call the oracles with inputs that evolve towards new coverage; the tests
//! of this crate call them with seeds and pseudo-random variations, so that every `cargo test`
//! fuzzes a little.
//!
//! # Map
//!
//! - [`decode`]: any bytes decode to a body or an error, and no inspection of the body panics. Decoded
//!   lazily, it is the same body, whatever is edited ([`Lazily`]).
//! - [`round_trip`]: decoding, encoding and decoding again gives the same body, with every header.
//! - [`edit`]: a script of edits has the same effect on a body as on a list of lines.
//! - [`signature`]: signatures survive a round trip through bytes and through text.
//! - [`text`]: a parsed text, when printed, is parsed to the same value again.
//! - [`pattern`]: a list of patterns matches as its patterns do one by one.
//! - [`attribute`]: the values of custom attributes lose nothing of their bytes.
//! - [`seeds`]: initial inputs; [`random`]: their variations.

#![forbid(unsafe_code)]

mod attributes;
mod bodies;
mod edits;
mod lazily;
mod listing;
mod patterns;
pub mod random;
pub mod seeds;
mod signatures;
mod texts;
mod tokens;

pub use attributes::attribute;
pub use bodies::{decode, round_trip};
pub use edits::edit;
pub use lazily::Lazily;
pub use patterns::pattern;
pub use signatures::signature;
pub use texts::text;

/// Panics if a promise is broken.
pub type Oracle = fn(&[u8]);

/// All oracles, by the name of their fuzzer.
pub const ORACLES: [(&str, Oracle); 7] = [
    ("decode", decode),
    ("round_trip", round_trip),
    ("edit", edit),
    ("signature", signature),
    ("text", text),
    ("attribute", attribute),
    ("pattern", pattern),
];
