//! Promises about all public items, checked against rustdoc's list of them.

mod pages;
mod panics;
mod snapshot;
mod threads;
mod unsafe_items;
