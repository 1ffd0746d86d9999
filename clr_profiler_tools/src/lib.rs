#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "calls")]
pub mod calls;
#[cfg(feature = "heap")]
pub mod heap;
