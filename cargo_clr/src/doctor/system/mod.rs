//! The parts of the examination that differ between systems: rights, the loader, and its sentences.

#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(super) use unix::*;
#[cfg(windows)]
pub(super) use windows::*;
