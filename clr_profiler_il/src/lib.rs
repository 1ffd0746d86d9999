//! Tokens, signatures and method bodies of .NET assemblies (ECMA-335), in safe Rust.
//!
//! The parts of a method that a profiler, an instrumenter or a metadata tool reads and writes are
//! tokens (`0x06000001`), signature blobs (`20 01 01 0e`) and method bodies. This crate turns them
//! into types and back, and edits the bodies. It needs no runtime, contains no `unsafe` code and
//! depends only on `bitflags`.
//!
//! ```
//! use clr_profiler_il::signature::{MethodSig, TokenNames, TypeSig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The blob in the metadata of `void Write(string text, int count)`.
//! let signature = MethodSig::parse(&[0x20, 0x02, 0x01, 0x0e, 0x08])?;
//! assert_eq!(signature.params, [TypeSig::String, TypeSig::I4]);
//! assert_eq!(signature.display(&TokenNames).to_string(), "instance void (string, int)");
//! # Ok(())
//! # }
//! ```
//!
//! Decode a body, edit it, encode it:
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::fragment::Fragment;
//! use clr_profiler_il::signature::{MethodSig, TypeSig};
//! use clr_profiler_il::symbol::NoTokens;
//! use clr_profiler_il::token::MethodDef;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `ldarg.0; brfalse.s IL_0004; ret; ret`
//! let mut body = MethodBody::decode(&[0x16, 0x02, 0x2c, 0x01, 0x2a, 0x2a])?;
//!
//! let hook = MethodDef::from_row(9).ok_or("a row has 24 bits")?;
//! let takes_int = MethodSig::new(TypeSig::Void, vec![TypeSig::I4]);
//! body.prologue(Fragment::new().ldc_i4(1).call((hook, &takes_int)))?;
//! body.before_ret(Fragment::new().ldc_i4(0).call((hook, &takes_int)))?;
//!
//! let mut out = Vec::new();
//! body.encode(&mut NoTokens, &mut out)?;
//! assert_eq!(
//!     MethodBody::decode(&out)?.to_string(),
//!     "\
//! .maxstack 9
//! IL_0000:  ldc.i4.1
//! IL_0001:  call       0x06000009
//! IL_0006:  ldarg.0
//! IL_0007:  brfalse.s  IL_0010
//! IL_0009:  ldc.i4.0
//! IL_000a:  call       0x06000009
//! IL_000f:  ret
//! IL_0010:  ldc.i4.0
//! IL_0011:  call       0x06000009
//! IL_0016:  ret
//! "
//! );
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! - [`token`]: [`Token`](token::Token), and one type for each kind of token, so that a method
//!   cannot be passed as a type.
//! - [`signature`]: the blobs of methods, fields, locals, properties and type specifications,
//!   complete with modifiers, function pointers, generics, arrays with bounds, varargs.
//! - [`attribute`]: the values of custom attributes.
//! - [`attributes`]: the flags of types, members, parameters and assemblies.
//! - [`access`]: the accessibility of types and members; [`usage`]: the types and members that
//!   inserted code uses.
//! - [`opcode`]: the table of all instructions.
//! - [`body`]: [`MethodBody`](body::MethodBody), from bytes and to bytes; [`instruction`]: its
//!   instructions; [`edit`]: its edits; [`stack`]: the depth of its stack; [`verify`]: whether a
//!   JIT would accept it.
//! - [`wrap`]: code around a whole method: before it, after it, for its exceptions, or instead of
//!   it.
//! - [`boxing`]: arguments and results as objects, and back.
//! - [`declaration`]: the metadata of new types and members.
//! - [`completion`]: when the work of a method completes: on return, or later.
//! - [`fragment`]: code to insert, built by one method for each instruction.
//! - [`symbol`]: methods, types, fields and strings by name instead of by token, and the traits
//!   that resolve them; [`metadata`]: an implementation of these traits over the rows of a module.
//! - [`pattern`]: patterns for methods, such as `Shop!Shop.Store.Sell(string, *)`, and sets of thousands of them.
//! - [`text`]: bodies and fragments printed and assembled, as by `ildasm` and `ilasm`, and the
//!   [`diff`](text::diff) of a body before and after an edit. [Signatures](signature#text) and
//!   [symbols](symbol#text) have their own text form.
//!
//! # Rules and their enforcement
//!
//! | Rule | Enforced by |
//! |---|---|
//! | The header is tiny if possible, otherwise fat; `init_locals` is kept | [`encode`](body::MethodBody::encode) |
//! | Branches and regions are references; the shortest branches are found at the end | [`Label`](instruction::Label), `encode` |
//! | The section of clauses is small if all fit | `encode` |
//! | Inner clauses come before outer ones, original ones are never sorted | [`insert`](body::MethodBody::insert), [`add_catch`](body::MethodBody::add_catch) |
//! | An insertion states its effect on branches and bounds | [`Labels`](edit::Labels), [`Side`](edit::Side) |
//! | A prefix is part of its instruction | [`Prefix`](instruction::Prefix) |
//! | Branches to a `ret` run the epilogue | [`before_ret`](body::MethodBody::before_ret) |
//! | Branches to the first instruction do not run the prologue again | [`prologue`](body::MethodBody::prologue) |
//! | A wrapped method has one exit, which every path to a `ret` passes | [`wrap`](body::MethodBody::wrap) |
//! | A method that never returns gets no code that returns | `wrap` |
//! | The clauses of a wrap enclose all others and are entered with an empty stack | `wrap` |
//! | `this` is an object where new code in a constructor runs | [`Constructors`](wrap::Constructors) |
//! | A refusal to rewrite has a reason | [`NotInstrumentable`](edit::NotInstrumentable) |
//! | No epilogue for a method that leaves by a tail call or `jmp` | [`NotInstrumentable`](edit::NotInstrumentable) |
//! | Locals keep their numbers | [`add_local`](body::MethodBody::add_local) |
//! | The declared stack depth is never too small, and insertions do not add up | [`max_stack`](body::MethodBody::max_stack), [`compute_max_stack`](body::MethodBody::compute_max_stack) |
//! | Debuggers find source lines | [`offset_map`](body::MethodBody::offset_map) |
//! | No region is entered or left illegally | [`verify_structure`](body::MethodBody::verify_structure) |
//! | The stack has the number and kinds of values that each instruction takes | [`verify`](body::MethodBody::verify) |
//!
//! None of these checks runs by itself: an edit that leaves a region by a branch, or leaves the
//! stack unbalanced, is encoded as it is.
//!
//! # Features
//!
//! Both are on by default: `bodies` has method bodies and everything that serves to edit them, `patterns` has [`pattern`].
//! Without them there are [`token`], [`signature`], [`attribute`] and [`attributes`].
//!
//! # Conventions
//!
//! - Bytes from outside are hostile: reading them returns a value or an error with an offset, never
//!   panics, and needs memory bounded by a fixed multiple of their length and a bounded stack.
//! - Written bytes can be read back: a value that the format cannot express is an error.
//! - A value that a newer runtime may add (a token table, for example) survives as a number.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
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

#[cfg(feature = "bodies")]
pub mod access;
pub mod attribute;
pub mod attributes;
#[cfg(feature = "bodies")]
pub mod body;
#[cfg(feature = "bodies")]
pub mod boxing;
#[cfg(feature = "bodies")]
mod code;
#[cfg(feature = "bodies")]
pub mod completion;
pub mod core_library;
#[cfg(feature = "bodies")]
pub mod declaration;
#[cfg(feature = "bodies")]
pub mod edit;
#[cfg(feature = "bodies")]
mod flat;
#[cfg(feature = "bodies")]
mod flow;
#[cfg(feature = "bodies")]
pub mod fragment;
#[cfg(feature = "bodies")]
pub mod instruction;
mod lexer;
mod messages;
#[cfg(feature = "bodies")]
pub mod metadata;
#[cfg(feature = "bodies")]
pub mod opcode;
#[cfg(feature = "patterns")]
pub mod pattern;
pub mod signature;
#[cfg(feature = "bodies")]
pub mod stack;
#[cfg(feature = "bodies")]
pub mod symbol;
#[cfg(feature = "bodies")]
pub mod text;
pub mod token;
#[cfg(feature = "bodies")]
pub mod usage;
#[cfg(feature = "bodies")]
pub mod verify;
#[cfg(feature = "bodies")]
pub mod wrap;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
