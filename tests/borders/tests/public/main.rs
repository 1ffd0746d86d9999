//! Promises about all public items, held against the list of them that rustdoc makes.

mod pages;
mod panics;
mod threads;
mod unsafe_items;
