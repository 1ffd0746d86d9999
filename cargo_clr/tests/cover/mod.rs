//! Coverage of programs whose truth was written into their sources by hand.

mod constructs;
mod contexts;
mod endings;
mod formats;
mod lines;
mod optimised;
mod precompiled;
mod real;
mod running;
#[cfg(target_os = "linux")]
mod shells;
mod truth;
