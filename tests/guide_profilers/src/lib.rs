//! The profilers of the guide, as a reader would build them: `build.rs` takes them from
//! `docs/src`. A module for each, and one `register!` for all.
#![allow(
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    reason = "a crate that a reader builds may have public profilers"
)]

include!(concat!(env!("OUT_DIR"), "/profilers.rs"));
