//! Where the runtime enters: class factory, callback object, vtable and the guard around user code.
//!
//! Everything here runs on threads of the profiled program. Nothing that user code does may get
//! past the guard: no panic, no failure code that the runtime would act upon.

mod class_factory;
mod convert;
mod diagnostics;
mod failures;
mod guard;
mod keep_loaded;
mod lifecycle;
mod object;
mod own_library;
mod panics;
mod vtable;

pub use class_factory::{Class, can_unload_now, get_class_object};
pub(crate) use convert::{guid_of, utf16_string, uuid_of};
pub(crate) use failures::native_call_panicked;
#[cfg(test)]
pub(crate) use failures::tests::with_hook;
pub(crate) use guard::{
    Suspended, in_callback_of, in_hook, in_walk, may_wait, objects_stay, outside_of_hook,
    set_suspended, suspended,
};
pub use lifecycle::ProfilerClass;
pub(crate) use own_library::own_library;
pub(crate) use panics::{catch, message_of_panic};
