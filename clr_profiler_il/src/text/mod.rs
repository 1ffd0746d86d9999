//! Bodies and fragments as text, in the style of `ildasm` and `ilasm`.
//!
//! A [`MethodBody`] and a [`Fragment`] can be printed and parsed; parsing the printed text and
//! encoding gives the same bytes.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::symbol::NoTokens;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body: MethodBody = "
//!     .maxstack 2
//!             ldarg.0
//!             brtrue      add        // labels may have any name
//!             ldc.i4      0x10
//!             ret
//!     add:    ldarg.0
//!             ldc.i4.1
//!             add
//!             ret
//! "
//! .parse()?;
//! let mut bytes = Vec::new();
//! body.encode(&mut NoTokens, &mut bytes)?;
//! let again: MethodBody = MethodBody::decode(&bytes)?.to_string().parse()?;
//! let mut same = Vec::new();
//! again.encode(&mut NoTokens, &mut same)?;
//! assert_eq!(same, bytes);
//! # Ok(())
//! # }
//! ```
//!
//! # The text
//!
//! Each instruction, directive and exception clause is a line; a line continues while a parenthesis
//! is open. White space and comments (`//`) are ignored. Labels, `again:`, precede an instruction
//! or are on a line of their own.
//!
//! | Item | Text |
//! |---|---|
//! | maximum stack depth; like all directives, only in a body | `.maxstack 8` |
//! | locals start as zeros | `.locals init` |
//! | locals by token, by types, by both | `.locals 0x11000001`, `.locals (int, string)`, `.local [0] int` |
//! | number | `ldc.i4 -5`, `ldc.i8 0x10`, `ldc.r8 1.5`, `ldc.r4 inf`, `ldc.r4 NaN(0x7fc00001)` |
//! | argument or local | `ldloc.2`, `ldloc 2`, `ldloc.s 2`: the shortest form is used |
//! | branch | `br again`, `br.s again`: the shortest form is used |
//! | switch | `switch (first, second)` |
//! | any token | `call 0x0a000001` |
//! | string | `ldstr "two\nlines"`, escaped as in Rust |
//! | method, field, type | as [`MethodSymbol`](crate::symbol::MethodSymbol), [`FieldSymbol`](crate::symbol::FieldSymbol), [`TypeSymbol`](crate::symbol::TypeSymbol) read them |
//! | `calli` | `calli unmanaged[Cdecl] void (int)` |
//! | prefixes | `constrained. !0 callvirt ...`, `unaligned. 1 volatile. ldind.i4` |
//! | exception clause | `.try a to b catch [A]T handler b to c`, `finally`, `fault`, `filter f` |
//! | exit of a fragment | `br label 0`, or a name that was given to [`Fragment::parse_with_exits`] |
//!
//! The clauses are in the order of the body, inner ones first.
//!
//! # Names
//!
//! [`Names`](crate::symbol::Names) print instead of tokens: [`MethodBody::named`](crate::body::MethodBody::named), [`BodyDiff::named`], and
//! [`Violation::named`](crate::verify::Violation::named) of the verifier.
//!
//! # The effect of a rewrite
//!
//! [`diff`] shows the inserted, removed and kept instructions, regardless of their offsets.
//!
//! [`MethodBody`]: crate::body::MethodBody
//! [`Fragment`]: crate::fragment::Fragment
//! [`Fragment::parse_with_exits`]: crate::fragment::Fragment::parse_with_exits

mod assemble;
mod diff;
mod named;
mod operand;
mod print;

pub use crate::lexer::{TextError, TextErrorKind};
pub use diff::{BodyDiff, diff};
pub use named::NamedBody;
