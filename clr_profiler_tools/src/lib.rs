#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "calls")]
pub mod calls;
#[cfg(feature = "heap")]
pub mod heap;
#[cfg(feature = "profilers")]
pub mod profilers;
// Signals, masks and users are calls of the system.
#[cfg(feature = "report")]
#[allow(unsafe_code)]
pub mod report;
#[cfg(feature = "stacks")]
pub mod stacks;
