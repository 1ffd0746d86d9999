//! The profilers of the guide, as a reader would build them: `build.rs` takes them from
//! `docs/src`. A module for each, and one `register!` for all.

include!(concat!(env!("OUT_DIR"), "/profilers.rs"));
