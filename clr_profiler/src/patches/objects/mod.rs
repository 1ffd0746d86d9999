//! Objects and arrays of a call: code in the program reads and writes them for closures.
//!
//! A closure runs in preemptive mode, so it cannot follow references: a GC may move the objects meanwhile. It sends a
//! [`request`] to managed code, which [`server`] adds to the module of a patched method, and which uses reflection.

#[allow(unsafe_code, reason = "calls managed code")]
mod request;

mod server;

mod object;

pub(super) use object::Access;
pub use object::{Object, ObjectPart};
pub(super) use server::{code_before, prepare};
