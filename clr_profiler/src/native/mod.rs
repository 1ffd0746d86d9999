//! Asking the runtime: every native call is made by the macros here, nearly all of them from rows.
//!
//! [`native_call!`] makes a call, [`ask!`] one of `ICorProfilerInfo` where and when it may be made.
//! `rows` turns rows of a table into wrappers, whose arguments and answers go through `convert`.

/// Calls a method of an interface of the runtime; a failure becomes an `Error` that names it.
///
/// The caller of the macro promises what the IDL says of the arguments: pointers to locals that
/// outlive the call, arrays as long as the length beside them, null only where it is allowed.
macro_rules! native_call {
    ($object:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        let object: &clr_profiler_sys::$interface = $object;
        // SAFETY: `object` holds a reference to a live interface of that type, and every use of
        // this macro passes arguments as the IDL has them: values, and pointers to locals (or
        // buffers of the length beside them) that live until the call has returned.
        $crate::error::check(CALL, unsafe { object.$method($($argument),*) })
    }};
}

/// [`native_call!`] on the runtime's `ICorProfilerInfo` of the version that has the method.
///
/// Refused without asking the runtime when it is too old, after its shutdown and, unless it reads
/// `ask!(in gc ...)`, while the runtime is suspended for a garbage collection.
///
/// Unless it reads `ask!(in gc ...)` or `ask!(steady ...)`, objects may be elsewhere afterwards: those
/// two are for calls that the runtime declares as unable to bring about a collection. With
/// `ask!(waiting ...)` it is also refused in callbacks that threads can wait for.
macro_rules! ask {
    (in gc $info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@Suspension, $info, $interface::$method($($argument),*))
    };
    (steady $info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@Lock, $info, $interface::$method($($argument),*))
    };
    (waiting $info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@Wait, $info, $interface::$method($($argument),*))
    };
    ($info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@Collection, $info, $interface::$method($($argument),*))
    };
    (@$reach:ident, $info:expr, $interface:ident::$method:ident($($argument:expr),*)) => {
        $info
            .native::<clr_profiler_sys::$interface>(
                concat!(stringify!($interface), "::", stringify!($method)),
                $crate::runtime::Reach::$reach,
            )
            .and_then(|native| native_call!(&native, $interface::$method($($argument),*)))
    };
}

#[macro_use]
mod rows;
mod attributes;
mod constants;
mod convert;
mod object;
mod read;
mod values;

pub(crate) use constants::{native_enums, native_flags};
pub(crate) use convert::*;
pub(crate) use object::{Com, Object, cleared, unknown, value};
pub(crate) use read::{clear_to, read_array, read_text, zeroed};
pub(crate) use values::*;
