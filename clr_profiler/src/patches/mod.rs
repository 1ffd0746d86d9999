//! Patches: closures that run before, after or instead of methods of the program.
//!
//! A [`Patch`] names methods and has closures; [`Instrumentation::patch`](crate::instrumentation::Instrumentation::patch) applies
//! it, as its other rules: when the methods are compiled, in a running program, on and off. A closure gets a [`Call`].
//!
//! The inserted IL copies the values into a local of the method, calls a function of the library with its address, with a GC
//! transition, and copies changed values back. Strings are pinned during the call. So nothing is allocated for a call without
//! new strings, and nothing is loaded into the program: methods of the core library are patched like all others.
//! Only a patch with [objects](Patch::objects) adds code to the assembly, which reads them.

// From the bottom up: the modules of a group use only those of groups above it, and of their own.
mod counter;
mod slot;
mod value;

#[allow(unsafe_code, reason = "reads the locals that IL passes")]
mod frame;

mod objects;

mod call;

mod hook;

#[allow(unsafe_code, reason = "is called by IL")]
mod entry;

mod site;

mod fields;

mod plan;

mod code;

mod callers;
mod operations;

mod zeros;

mod around;

mod patch;

mod faults;
mod managed;

pub use call::{Call, ValueName};
pub use counter::{Counter, Recorder};
pub use faults::{FaultCount, Faults};
pub use managed::ManagedPatches;
pub use objects::{Object, ObjectPart};
pub use patch::Patch;
pub use value::{CallValue, IntoCallValue};
