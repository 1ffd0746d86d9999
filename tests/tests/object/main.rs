//! The callback object driven through its vtable by a fake runtime: as a real one does, and as
//! none should.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod calls;
mod class_factory;
mod contexts;
mod fake;
mod library;
mod panics;
mod references;
mod starting;
