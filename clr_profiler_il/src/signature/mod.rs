//! Signature blobs: the types of methods, fields, locals, properties and specifications (ECMA-335
//! II.23.2).
//!
//! Each kind of blob is a type with `parse`, `write` and `to_bytes`; all of them are built from
//! Each kind of blob is a type with `parse`, `write` and `to_bytes`; all of them are built from
//! [`TypeSig`]. `parse` reads the whole blob. For a blob in canonical form (numbers in the fewest
//! bytes, as all compilers write them), `to_bytes` returns the same bytes. `write` accepts only
//! values that `parse` reads back.
//!
//! | Source of the blob | Type |
//! |---|---|
//! | `MethodDef`, a function pointer | [`MethodSig`] |
//! | `FieldDef` | [`FieldSig`] |
//! | `MemberRef` | [`MemberRefSig`] |
//! | `StandAloneSig`: locals, `calli` | [`StandAloneSig`], [`LocalsSig`], [`MethodSig`] |
//! | `Property` | [`PropertySig`] |
//! | `TypeSpec` | [`TypeSpecSig`] |
//! | `MethodSpec` | [`MethodSpecSig`] |
//!
//! # Text
//!
//! To print a signature, name its tokens with a [`TypeNames`] and call `display`. To read the
//! output of `text`, call `parse_text` with a [`TypeTokens`] that resolves names to tokens:
//!
//! ```
//! use clr_profiler_il::signature::{MethodSig, TypeKeyword, TypeSig};
//! use clr_profiler_il::token::{TypeRef, TypeToken};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let exception = TypeToken::from(TypeRef::from_row(7).ok_or("a row has 24 bits")?);
//! let mut tokens = |name: &str, _: TypeKeyword| {
//!     (name == "[System.Runtime]System.Exception").then_some(exception)
//! };
//! let text = "instance void (string, class [System.Runtime]System.Exception&)";
//! let signature = MethodSig::parse_text(text, &mut tokens)?;
//! let by_ref = TypeSig::ByRef(Box::new(TypeSig::Class(exception)));
//! assert_eq!(signature, MethodSig::instance(TypeSig::Void, vec![TypeSig::String, by_ref]));
//! # Ok(())
//! # }
//! ```
//!
//! # Accepted input
//!
//! Reading checks the form only. A type in an invalid position is read, because compilers and
//! runtimes differ there: `void` as a parameter, by-refs of by-refs, `pinned` outside of locals,
//! modifiers between any two parts of a type, nil type tokens, generic parameters that do not
//! exist, `explicit_this` without `has_this`. So are numbers in more bytes than necessary.
//!
//! Reading refuses anything without a meaning as a type: unknown element types,
//! `ELEMENT_TYPE_INTERNAL`, empty generic lists, arrays of rank 0 or with more bounds than
//! dimensions, a sentinel where variable arguments are impossible, more than 65,534 locals, bytes
//! after the end, and types nested deeper than [`MAX_DEPTH`].

mod blob;
pub mod compressed;
mod display;
mod element;
mod error;
mod member;
mod method;
mod reader;
mod spec;
mod stand_alone;
#[cfg(feature = "bodies")]
mod text;
mod type_sig;
mod writer;

pub use display::{NameStyle, SignatureDisplay, TokenNames, TypeNames};
pub use error::{SignatureError, SignatureErrorKind};
pub use member::{FieldSig, MemberRefSig, PropertySig};
pub use method::{CallingConvention, MethodSig};
pub use spec::{MethodSpecSig, TypeSpecSig};
pub use stand_alone::{LocalsSig, MAX_LOCALS, StandAloneSig};
#[cfg(feature = "bodies")]
pub use text::{TypeKeyword, TypeTokens};
pub use type_sig::{ArrayShape, TypeSig};

#[cfg(feature = "bodies")]
pub(crate) use text::TypeParser;

/// The maximum nesting of types: `int[][]` is 3 deep.
///
/// Compilers stay far below it: nothing in the libraries of .NET 8.0 is more than 6 deep. The limit
/// keeps the recursion of reading, writing, printing, cloning, comparing and dropping within 128
/// KiB of stack in optimized code.
pub const MAX_DEPTH: usize = 128;
