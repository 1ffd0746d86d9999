//! Where the runtime enters: class factory, callback object, vtable and the guard around user code.
//!
//! Everything here runs on threads of the profiled program. Nothing that user code does may get
//! past the guard: no panic, no failure code that the runtime would act upon.

mod class;
mod class_factory;
mod guard;
mod lifecycle;
mod object;
mod vtable;

pub use class::{Class, ProfilerClass};
pub use class_factory::{can_unload_now, get_class_object};
