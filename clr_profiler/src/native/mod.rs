//! Native calls. All of them are made by the macros here, most from rows of tables.
//!
//! [`native_call!`] makes a call; [`ask!`] makes a call of `ICorProfilerInfo` after checking that it is
//! legal here and now. `rows` generates wrappers from the rows of a table, and `convert` converts their
//! arguments and results.

/// Calls a method of a native interface; a failure becomes an `Error` with the method's name.
///
/// The user of the macro guarantees the preconditions of the IDL: pointers to locals that outlive the call,
/// arrays of the length that is passed with them, null only where it is allowed.
macro_rules! native_call {
    ($object:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        let object: &clr_profiler_sys::$interface = $object;
        // SAFETY: `object` holds a reference to a live interface of that type, and every use of this macro
        // passes arguments as the IDL requires: values, and pointers to locals or to buffers of the length
        // that is passed with them, which live until the call has returned.
        $crate::error::check(CALL, unsafe { object.$method($($argument),*) })
    }};
}

/// [`native_call!`] on the version of `ICorProfilerInfo` that has the method.
///
/// Refused without a native call if the runtime does not have the method, after the runtime's shutdown, and
/// while the runtime is suspended for a garbage collection, except for `ask!(in gc ...)`.
///
/// After the call, ids of objects are invalid, except for `ask!(in gc ...)` and `ask!(notrigger ...)`, which
/// are for GC_NOTRIGGER calls. `ask!(waiting ...)` is also refused in callbacks for which other threads may
/// wait.
macro_rules! ask {
    (in gc $info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@LockFree, $info, $interface::$method($($argument),*))
    };
    (notrigger $info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@GcNoTrigger, $info, $interface::$method($($argument),*))
    };
    (waiting $info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@Waits, $info, $interface::$method($($argument),*))
    };
    ($info:expr, $interface:ident::$method:ident($($argument:expr),* $(,)?)) => {
        ask!(@GcTriggers, $info, $interface::$method($($argument),*))
    };
    (@$kind:ident, $info:expr, $interface:ident::$method:ident($($argument:expr),*)) => {
        $info
            .native::<clr_profiler_sys::$interface>(
                concat!(stringify!($interface), "::", stringify!($method)),
                $crate::runtime::CallKind::$kind,
            )
            .and_then(|native| native_call!(&native, $interface::$method($($argument),*)))
    };
}

#[macro_use]
mod rows;
mod attributes;
mod com_object;
mod constants;
mod convert;
mod object;
mod read;
mod values;

pub use com_object::ComObject;
pub(crate) use constants::{native_enums, native_flags};
pub(crate) use convert::*;
pub(crate) use object::{Com, Object, cleared, unknown, value};
pub(crate) use read::{clear_to, read_array, read_text, zeroed};
pub(crate) use values::*;
