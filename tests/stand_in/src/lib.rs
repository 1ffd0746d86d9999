//! COM objects that stand in for any interface of the profiling API.
//!
//! Every slot of a vtable contains a thunk that passes the call to one [`Handler`], as words and with
//! the name of the method. So a fake runtime, or a proxy of a real one, is one function and not
//! a copy of all interfaces.
//!
//! Each argument must be one word in a register or on the stack: true of all methods that
//! `clr_profiler_sys` knows, on 64-bit Linux, but for one structure (see [`methods`]).

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod face;
mod methods;
mod object;
mod recording;
mod thunks;

pub use face::{Call, Face, Handler, forward};
pub use methods::{Interface, NativeMethod, interface, interface_of, interfaces, methods};
pub use object::{Object, Offers};
pub use recording::{Count, Recorded, Recording};
