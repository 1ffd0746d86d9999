//! [`ProfilerInfo`]: the one handle to the runtime.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{CorProfilerInfo, CorProfilerInfo3, CorProfilerInfo5, Method};
use crate::boundary::in_gc_callback;
use crate::error::{Error, Hresult, Result};
use crate::events::{EventMask, Loaded, problem_at_start, problem_with_change};
use crate::ids::FunctionId;
use clr_profiler_sys as sys;
use sys::{IUnknown, Interface};

/// The handle to the runtime: what a profiler asks and what it changes goes through it.
///
/// It stands for whichever version of `ICorProfilerInfo` the runtime offers. Its methods come from
/// the traits [`CorProfilerInfo`](crate::CorProfilerInfo) and so on, which the
/// [prelude](crate::prelude) brings into scope; a call that is newer than the runtime returns an
/// error that says so.
///
/// Cheap to clone, and usable from every thread; each method says from where it may be called.
/// Calls that are wrong where they are made are refused without asking the runtime: all of them
/// after its shutdown, most of them during a garbage collection.
#[derive(Clone)]
pub struct ProfilerInfo(Arc<Runtime>);

struct Runtime {
    /// The newest interface that the runtime has; the older ones are the beginning of its vtable.
    newest: IUnknown,
    /// Which one that is: `ICorProfilerInfo15` is 15.
    version: u8,
    /// How the profiler was loaded.
    loaded: Loaded,
    /// Whether the profiler's `initialize` is over.
    started: AtomicBool,
    /// Whether the runtime has shut down.
    closed: AtomicBool,
}

// SAFETY: the runtime's info object may be called from any thread, and its reference count is
// atomic; corprof.idl and the runtime's documentation say which calls need which thread, and the
// runtime checks those itself.
unsafe impl Send for Runtime {}
// SAFETY: as above; calls on several threads at once are what the object is made for.
unsafe impl Sync for Runtime {}

/// A version of the native interface.
pub(crate) trait InfoInterface: Interface {
    const VERSION: u8;
}

macro_rules! info_interfaces {
    ($($interface:ident = $version:literal)*) => {
        $(impl InfoInterface for sys::$interface {
            const VERSION: u8 = $version;
        })*

        /// The newest interface that `runtime` has.
        fn newest_interface(runtime: &IUnknown) -> Option<(u8, IUnknown)> {
            $(if let Ok(interface) = runtime.cast::<sys::$interface>() {
                // SAFETY: the reference moves from one type to the other, and each interface
                // begins like `IUnknown`.
                return Some(($version, unsafe { IUnknown::from_raw(interface.into_raw()) }));
            })*
            None
        }
    };
}

// From the newest down: the first that the runtime has is taken.
info_interfaces! {
    ICorProfilerInfo15 = 15
    ICorProfilerInfo14 = 14
    ICorProfilerInfo13 = 13
    ICorProfilerInfo12 = 12
    ICorProfilerInfo11 = 11
    ICorProfilerInfo10 = 10
    ICorProfilerInfo9 = 9
    ICorProfilerInfo8 = 8
    ICorProfilerInfo7 = 7
    ICorProfilerInfo6 = 6
    ICorProfilerInfo5 = 5
    ICorProfilerInfo4 = 4
    ICorProfilerInfo3 = 3
    ICorProfilerInfo2 = 2
    ICorProfilerInfo = 1
}

impl ProfilerInfo {
    /// Makes the handle of what the runtime passes to `Initialize`.
    ///
    /// # Safety
    ///
    /// `unknown` is null or an `IUnknown` that lives during the call.
    pub(crate) unsafe fn from_callback(unknown: *mut c_void, loaded: Loaded) -> Result<Self> {
        const CALL: &str = "ICorProfilerCallback::Initialize";
        // SAFETY: as the caller promises.
        let Some(runtime) = (unsafe { IUnknown::from_raw_borrowed(&unknown) }) else {
            return Err(Error::invalid(
                CALL,
                "the runtime passed no ICorProfilerInfo",
            ));
        };
        let Some((version, newest)) = newest_interface(runtime) else {
            return Err(Error::call(CALL, Hresult(sys::E_NOINTERFACE.0)));
        };
        Ok(Self(Arc::new(Runtime {
            newest,
            version,
            loaded,
            started: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        })))
    }

    /// The newest version of `ICorProfilerInfo` that this runtime has, such as 11 on .NET Core 3.1.
    pub fn version(&self) -> u8 {
        self.0.version
    }

    /// The native interface, for calls that this crate does not wrap (yet).
    ///
    /// It is an `ICorProfilerInfo` of [`version`](Self::version), which `clr_profiler_sys` declares;
    /// its methods are unsafe there. The pointer is borrowed: it is good while this handle lives.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn collect(info: &ProfilerInfo) {
    /// use clr_profiler_sys::{ICorProfilerInfo, Interface};
    ///
    /// let raw = info.as_raw();
    /// // SAFETY: every version begins with the methods of the first, and `info` lives.
    /// if let Some(native) = unsafe { ICorProfilerInfo::from_raw_borrowed(&raw) } {
    ///     // SAFETY: called from a thread of the profiler's own, outside of callbacks.
    ///     let _ = unsafe { native.ForceGC() };
    /// }
    /// # }
    /// ```
    pub fn as_raw(&self) -> *mut c_void {
        self.0.newest.as_raw()
    }

    /// The method that a function is an instance of, with its names and its IL.
    ///
    /// Fails for dynamic methods, which have no metadata: see
    /// [`dynamic_function_info`](crate::CorProfilerInfo8::dynamic_function_info).
    ///
    /// # Errors
    ///
    /// What [`function_info2`](crate::CorProfilerInfo2::function_info2) returns.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn log(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let name = info.method(function)?.full_name()?; // Shop.Cart.Add(string, int)
    /// # Ok(())
    /// # }
    /// ```
    pub fn method(&self, function: FunctionId) -> Result<Method<'_>> {
        Method::of(self, function)
    }

    /// Refuses events that the profiler cannot have, or cannot change any more.
    pub(crate) fn check_events(&self, call: &'static str, events: EventMask) -> Result<()> {
        let major = self.runtime_information()?.major;
        let problem = if self.0.started.load(Ordering::Acquire) {
            let before = if self.0.version >= 5 {
                self.event_mask2()?
            } else {
                self.event_mask()?
            };
            problem_with_change(before, events, self.0.loaded, major)
        } else {
            problem_at_start(events, self.0.loaded, major)
        };
        problem.map_or(Ok(()), |problem| Err(Error::rule(call, problem)))
    }

    /// Asks for the events of a profiler whose `initialize` is over.
    pub(crate) fn start(&self, events: EventMask) -> Result<()> {
        if self.version() < 5 && events.high() == 0 {
            self.set_event_mask(events)?;
        } else {
            self.set_event_mask2(events)?;
        }
        self.0.started.store(true, Ordering::Release);
        Ok(())
    }

    /// From now on every call is refused: the runtime has shut down.
    pub(crate) fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// The native interface `I`, if this call may be made here and now.
    #[inline]
    pub(crate) fn native<I: InfoInterface>(
        &self,
        call: &'static str,
        legal_in_gc: bool,
    ) -> Result<&I> {
        if self.0.version < I::VERSION {
            return Err(Error::unsupported(call, I::VERSION, self.0.version));
        }
        if self.0.closed.load(Ordering::Acquire) {
            return Err(Error::rule(call, "the runtime has shut down"));
        }
        if !legal_in_gc && in_gc_callback() {
            return Err(Error::rule(
                call,
                "the runtime is suspended for a garbage collection; remember what is needed and \
                 ask in a later callback",
            ));
        }
        // SAFETY: `newest` is an interface of a version that is at least `I::VERSION`; each
        // version's vtable begins with that of the version before, and both types are transparent
        // wrappers of the interface pointer.
        Ok(unsafe { &*(&raw const self.0.newest).cast::<I>() })
    }
}

impl fmt::Debug for ProfilerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProfilerInfo")
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

/// Keeps the traits over [`ProfilerInfo`] to this crate, and gives them the handle.
pub trait Sealed {
    #[doc(hidden)]
    fn handle(&self) -> &ProfilerInfo;
}

impl Sealed for ProfilerInfo {
    #[inline]
    fn handle(&self) -> &ProfilerInfo {
        self
    }
}
