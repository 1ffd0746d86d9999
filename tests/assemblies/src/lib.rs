//! Reads .NET assemblies from their files (ECMA-335 II.22 to II.25), as far as tests of the IL crate
//! need it: method bodies, signature blobs, and the meaning of the tokens in them.
//!
//! ```no_run
//! use assembly_reader::Assembly;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("Basics.dll")?;
//! let assembly = Assembly::open(&bytes)?;
//! for method in assembly.methods() {
//!     let method = method?;
//!     if let Some(body) = method.body {
//!         println!("{} {}: {} bytes", method.token, method.name, body.len());
//!     }
//! }
//! for signature in assembly.signatures() {
//!     let signature = signature?;
//!     println!("{} {:?}: {:02x?}", signature.token, signature.kind, signature.blob);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! - [`Assembly`]: a file with metadata; everything else is read through it.
//! - [`Framework`]: assemblies that refer to each other, and the meaning of the tokens in one of them.
//! - [`Bundle`]: a single-file application, in which assemblies are files.
//!
//! # Conventions
//!
//! Files are hostile: reading them gives values or an [`Error`] with an offset, never a panic, and
//! no number in a file makes the reader allocate. Everything is read on request, so that
//! a broken row fails when it is read.

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

mod assembly;
mod bundle;
mod bytes;
mod error;
mod framework;
mod image;
mod members;
mod metadata;
mod schema;
mod tables;

pub use assembly::{Assembly, Method, Signature, SignatureKind, TypeKind};
pub use bundle::{Bundle, BundledFile};
pub use error::{Error, ErrorKind, Result};
pub use framework::{Framework, Tokens};
pub use members::MethodFlags;
