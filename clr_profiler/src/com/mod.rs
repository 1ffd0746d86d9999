//! The entry points of the runtime: class factory, callback object, vtable, and the guard around user code.
//!
//! All of it runs on threads of the profiled program. Nothing may pass the guard: no panic of user code, and
//! no failure code that the runtime would act upon.

mod class;
mod class_factory;
mod composed;
mod guard;
mod lifecycle;
mod object;
#[cfg(windows)]
mod registration;
mod vtable;

pub use class::{Class, ProfilerClass, class_id};
pub use class_factory::{can_unload_now, get_class_object};
#[cfg(windows)]
pub use registration::{install, register, unregister};
