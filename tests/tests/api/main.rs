//! Every wrapped native method against a fake runtime with correct, failing and odd answers.
//!
//! A row names a native method and a wrapper that calls it (`rows/`). The checks are the same
//! for all rows, and follow from the types of the parameters: the outputs arrive, a failure is an
//! error that names the call and the code, buffers are long enough, references and enumerations are
//! released.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod allocations;
mod answers;
mod callbacks;
mod checks;
mod complete;
mod implemented;
mod memory;
mod rows;
mod stage;
mod values;
