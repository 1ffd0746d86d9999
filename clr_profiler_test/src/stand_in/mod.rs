//! A stand-in for the runtime: COM objects, to which a profiler is attached in the process of the test, and whose calls
//! fail as the test says.
//!
//! [`StandIn`] is such a runtime. It is made of objects: every slot of their vtables contains a thunk that passes the
//! call to one function, as words and with the name of the method.
//!
//! Each argument must be one word in a register or on the stack: true of all methods that `clr_profiler_sys` knows, on
//! 64-bit Linux, but for one structure.

mod buffers;
mod face;
mod methods;
mod object;
mod runtime;
mod thunks;

#[doc(hidden)]
pub use buffers::{BUFFERS, Buffer};
#[doc(hidden)]
pub use face::{Call, Face, Handler, forward};
#[doc(hidden)]
pub use methods::{Interface, NativeMethod, interface, interface_of, interfaces, methods};
#[doc(hidden)]
pub use object::{Object, Offers};
#[doc(hidden)]
pub use runtime::callback_object;
pub use runtime::{StandIn, StandInProfiler};
