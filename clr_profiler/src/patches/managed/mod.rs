//! Patches in C#: static methods of an assembly, which are bound to the values of a method by the names of their parameters.
//!
//! `file` reads the assembly: its classes, and by `attributes` their targets, or by `constant`, which interprets the code that names them by the calls of `lookup`. `target` has the values of a method, `bind` binds
//! parameters to them, without a runtime; `plan` decides on locals and code, `emit` generates it, and `code` inserts it, around
//! methods and around calls. `slots` has the part of the code that methods of the core library need.

mod attributes;
mod bind;
mod code;
mod constant;
mod emit;
mod file;
mod group;
mod lookup;
mod names;
mod plan;
mod slots;
mod target;
mod usage;

pub use group::ManagedPatches;

#[cfg(test)]
mod tests;
