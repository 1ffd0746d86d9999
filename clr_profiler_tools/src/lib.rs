#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// For [`start_as_tool!`].
#[cfg(feature = "report")]
#[doc(hidden)]
pub use clr_profiler as __clr_profiler;

#[cfg(feature = "calls")]
pub mod calls;
#[cfg(feature = "conventions")]
pub mod conventions;
#[cfg(feature = "coverage")]
pub mod coverage;
#[cfg(feature = "heap")]
pub mod heap;
#[cfg(feature = "otlp")]
pub mod otlp;
#[cfg(feature = "profilers")]
pub mod profilers;
// Signals, masks and users are calls of the system.
#[cfg(feature = "report")]
#[allow(unsafe_code)]
pub mod report;
#[cfg(feature = "spans")]
pub mod spans;
#[cfg(feature = "stacks")]
pub mod stacks;
#[cfg(feature = "spans")]
mod thread_pointer;
