//! Tokens and signatures of .NET assemblies (ECMA-335), in safe Rust.
//!
//! What a profiler, an instrumenter or a metadata tool reads and writes when it looks at a method
//! is made of tokens (`0x06000001`) and signature blobs (`20 01 01 0e`). This crate turns both into
//! types and back. It needs no runtime, holds no `unsafe` code and has no dependencies.
//!
//! ```
//! use clr_profiler_il::signature::{MethodSig, TokenNames, TypeSig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What the metadata holds for `void Write(string text, int count)`.
//! let signature = MethodSig::parse(&[0x20, 0x02, 0x01, 0x0e, 0x08])?;
//! assert_eq!(signature.params, [TypeSig::String, TypeSig::I4]);
//! assert_eq!(signature.display(&TokenNames).to_string(), "instance void (string, int)");
//!
//! // The same method with one more parameter, back to a blob.
//! let mut longer = signature.clone();
//! longer.params.push(TypeSig::SzArray(Box::new(TypeSig::Object)));
//! assert_eq!(longer.to_bytes()?, [0x20, 0x03, 0x01, 0x0e, 0x08, 0x1d, 0x1c]);
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! - [`token`]: [`Token`](token::Token), and one type for each kind of token, so that a method
//!   cannot be passed where a type is wanted.
//! - [`signature`]: the blobs of methods, fields, locals, properties and type specifications, with
//!   everything in them: modifiers, function pointers, generics, arrays with bounds, varargs.
//!
//! # Conventions
//!
//! - Bytes from outside are hostile: reading them gives a value or an error with an offset, never a
//!   panic, with memory bounded by a fixed multiple of their length and a bounded stack.
//! - What is written can be read back: a value that the format cannot express is an error.
//! - A value that a newer runtime may add (a token table, for one) survives as a number.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

pub mod body;
pub mod signature;
pub mod token;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
