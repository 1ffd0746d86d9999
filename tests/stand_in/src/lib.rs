//! The COM objects of `clr_profiler_test::stand_in`, and counts of the calls that they receive.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod recording;

pub use clr_profiler_test::stand_in::{
    BUFFERS, Buffer, Call, Face, Handler, Interface, NativeMethod, Object, Offers, forward,
    interface, interface_of, interfaces, methods,
};
pub use recording::{Count, Recorded, Recording};
