//! The callback object driven through its vtable by a fake runtime: what a real one does, and what
//! none should do.

#![cfg(unix)]

mod calls;
mod class_factory;
mod contexts;
mod fake;
mod library;
mod panics;
mod references;
mod starting;
