//! [`ProfilerInfo`]: the one handle to the runtime.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use super::extensions::{Extension, Extensions};
use super::start_gate::StartGate;
use super::suspensions::Suspensions;
use super::thread_state::{Suspended, may_wait, suspended};
use crate::error::{Error, Hresult, Result, check};
use crate::event_mask::{EventMask, Loaded};
use crate::ids::{Moves, ObjectId};
use crate::lifetimes::{self, InFlight, wait_for_calls};
use clr_profiler_sys as sys;
use sys::{IUnknown, Interface};

/// The handle to the runtime: what a profiler asks and what it changes goes through it.
///
/// It stands for whichever version of `ICorProfilerInfo` the runtime offers. Its methods come from
/// the traits [`CorProfilerInfo`](crate::info::CorProfilerInfo) and so on, which the
/// [prelude](crate::prelude) brings into scope; a call that is newer than the runtime returns an
/// error that says so.
///
/// Cheap to clone, and usable from every thread; each method says from where it may be called.
/// Calls that are wrong where they are made are refused without asking the runtime: all of them
/// after its shutdown and after the profiler has detached, most of them during a garbage
/// collection.
#[derive(Clone)]
pub struct ProfilerInfo(Arc<Runtime>);

struct Runtime {
    /// The newest interface that the runtime has; the older ones are the beginning of its vtable.
    ///
    /// The runtime deletes it when the profiler has detached or could not start, whatever
    /// references there are: then it must not be touched any more, see `cut_off`.
    newest: ManuallyDrop<IUnknown>,
    /// Which one that is: `ICorProfilerInfo15` is 15.
    version: u8,
    /// How the profiler was loaded.
    loaded: Loaded,
    /// The events that were asked for, which are some of those that the runtime reports.
    asked: AtomicU64,
    /// Whether the profiler's `initialize` is over.
    started: AtomicBool,
    /// Where threads of the library wait for the start.
    gate: StartGate,
    /// The suspensions of the runtime, and the detach that waits for them.
    suspensions: Suspensions,
    /// Whether calls still go through: [`OPEN`], [`SHUT_DOWN`] or [`CUT_OFF`].
    state: AtomicU8,
    /// What components keep here.
    extensions: Extensions,
}

const OPEN: u8 = 0;
/// The runtime has shut down.
const SHUT_DOWN: u8 = 1;
/// The runtime has deleted its side, or is about to.
const CUT_OFF: u8 = 2;

// SAFETY: the runtime's info object may be called from any thread, and its reference count is
// atomic; corprof.idl and the runtime's documentation say which calls need which thread, and the
// runtime checks those itself.
unsafe impl Send for Runtime {}
// SAFETY: as above; calls on several threads at once are what the object is made for.
unsafe impl Sync for Runtime {}

impl Runtime {
    #[inline]
    fn check_state(&self, call: &'static str) -> Result<()> {
        match self.state.load(Ordering::SeqCst) {
            OPEN => Ok(()),
            SHUT_DOWN => Err(Error::rule(call, "the runtime has shut down")),
            _ => Err(Error::rule(call, "the runtime has let the profiler go")),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if *self.state.get_mut() != CUT_OFF {
            // SAFETY: this is the only reference, nobody uses it after that, and the runtime's side
            // is still there.
            unsafe { ManuallyDrop::drop(&mut self.newest) };
        }
    }
}

/// A native interface during one call.
pub(crate) struct Native<'info, I> {
    interface: &'info I,
    /// Whoever takes something away from under the calls waits for them.
    _in_flight: InFlight,
}

impl<I> Deref for Native<'_, I> {
    type Target = I;

    #[inline]
    fn deref(&self) -> &I {
        self.interface
    }
}

/// Why objects cannot be looked at on this thread now.
pub(crate) const OBJECTS_MOVE: &str = "the collector can move objects on this thread at any time: objects can be looked at only in \
     `exception_thrown`, `exception_catcher_enter`, `object_allocated` and hooks with info";

/// How far a call goes into the runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It takes no lock: it may be made while the runtime is suspended.
    Suspension,
    /// It may wait for a lock, but no collection can begin because of it.
    Lock,
    /// A collection can take place before it returns, and move objects.
    Collection,
    /// It may run managed code, or wait for threads that do.
    Wait,
}

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
            return Err(Error::call(CALL, Hresult::E_NOINTERFACE));
        };
        lifetimes::begin(loaded.by_attach);
        Ok(Self(Arc::new(Runtime {
            newest: ManuallyDrop::new(newest),
            version,
            loaded,
            asked: AtomicU64::new(0),
            started: AtomicBool::new(false),
            gate: StartGate::default(),
            suspensions: Suspensions::default(),
            state: AtomicU8::new(OPEN),
            extensions: Extensions::default(),
        })))
    }

    /// The newest version of `ICorProfilerInfo` that this runtime has, such as 11 on .NET Core 3.1.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.0.version
    }

    /// The native interface, for calls that this crate does not wrap (yet).
    ///
    /// It is an `ICorProfilerInfo` of [`version`](Self::version), which `clr_profiler_sys` declares;
    /// its methods are unsafe there. The pointer is borrowed: it is good while this handle lives,
    /// and not after the profiler has detached.
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
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.0.newest.as_raw()
    }

    /// How the profiler was loaded.
    pub(crate) fn loaded(&self) -> Loaded {
        self.0.loaded
    }

    /// Whether the profiler's `initialize` is over.
    pub(crate) fn has_started(&self) -> bool {
        self.0.started.load(Ordering::Acquire)
    }

    /// The profiler's `initialize` is over, and the runtime has its events.
    pub(crate) fn set_started(&self) {
        self.0.started.store(true, Ordering::Release);
    }

    /// The events that the library alone wants.
    pub(crate) fn events_of_library(&self) -> EventMask {
        let asked = self.0.asked.load(Ordering::Relaxed);
        EventMask::OF_LIBRARY - EventMask::from_bits_retain(asked)
    }

    /// These events are asked for from now on: what the runtime has to report beside them.
    pub(crate) fn asks_for(&self, events: EventMask) -> EventMask {
        self.0.asked.store(events.bits(), Ordering::Relaxed);
        let unknown = match self.version() {
            0..9 => EventMask::HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS,
            _ => EventMask::empty(),
        };
        EventMask::OF_LIBRARY - unknown
    }

    /// Whether the runtime is that of .NET Framework.
    pub(crate) fn is_framework(&self) -> Result<bool> {
        const CALL: &str = "ICorProfilerInfo3::GetRuntimeInformation";
        // A runtime that cannot say what it is has no .NET (Core) in it.
        if self.0.version < 3 {
            return Ok(true);
        }
        let native = self.native::<sys::ICorProfilerInfo3>(CALL, Reach::Suspension)?;
        let (mut kind, null) = (0, std::ptr::null_mut);
        // SAFETY: only the kind is asked for; it is a local, and the call allows null elsewhere.
        check(CALL, unsafe {
            native.GetRuntimeInformation(
                null(),
                &mut kind,
                null(),
                null(),
                null(),
                null(),
                0,
                null().cast(),
                null().cast(),
            )
        })?;
        Ok(kind == sys::COR_PRF_DESKTOP_CLR)
    }

    /// Where threads of the library wait until the profiler has started.
    pub(crate) fn gate(&self) -> &StartGate {
        &self.0.gate
    }

    /// Lets the threads of the library act: the profiler has started, with its events and hooks.
    pub(crate) fn open(&self) {
        self.0.gate.open();
    }

    /// The same where the runtime does not say itself that the start is over, as it does to a profiler
    /// that was attached.
    pub(crate) fn open_unless_attached(&self) {
        if !self.0.loaded.by_attach {
            self.open();
        }
    }

    /// From now on every call is refused: the runtime has shut down.
    pub(crate) fn close(&self) {
        if self.0.state.fetch_max(SHUT_DOWN, Ordering::SeqCst) == OPEN {
            lifetimes::end();
        }
        self.0.gate.shut();
    }

    /// From now on every call is refused, and none is under way any more: the runtime is about to
    /// delete its side. The caller is in a call from the runtime.
    pub(crate) fn cut_off(&self) {
        match self.0.state.swap(CUT_OFF, Ordering::SeqCst) {
            CUT_OFF => return,
            OPEN => lifetimes::end(),
            _ => {}
        }
        self.0.gate.shut();
        self.0.suspensions.wait_until_none();
        // Either the thread that makes a call sees the new state, or it is seen here. Such calls
        // return: the runtime holds no lock here that they wait for, except for the one of another
        // request to detach, and there is only one of these at a time.
        wait_for_calls(None);
        // SAFETY: the runtime's side is still there. What is released is the reference that
        // `newest` stands for; it is not used again, as the state says.
        drop(unsafe { IUnknown::from_raw(self.0.newest.as_raw()) });
    }

    /// What a component keeps for this runtime: one value of each type, made when it is first
    /// asked for.
    pub(crate) fn extension<T: Extension + Default>(&self) -> &T {
        self.0.extensions.get()
    }

    /// Counts a suspension of the runtime until what this returns is dropped. Refused once a detach
    /// was requested.
    pub(crate) fn begin_suspension(&self, call: &'static str) -> Result<Suspension<'_>> {
        self.0.suspensions.begin(call)?;
        let suspension = Suspension(self);
        self.0.check_state(call)?;
        Ok(suspension)
    }

    /// Whether calls are refused from now on: the runtime has shut down or let the profiler go.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.state.load(Ordering::SeqCst) != OPEN
    }

    /// Whether the profiler's end has come: calls are refused, or are about to be, because a detach
    /// was granted.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_closed() || self.0.suspensions.is_detached()
    }

    /// What tells this runtime's handles from others.
    pub(crate) fn identity(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    /// Makes the request for a detach when the runtime is not suspended.
    pub(crate) fn detach(
        &self,
        call: &'static str,
        request: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        // Refused here as the request would be, but before anything is waited for.
        drop(self.native::<sys::ICorProfilerInfo3>(call, Reach::Lock)?);
        self.0.suspensions.detach(call, request)
    }

    /// Where an object is, if it is still there.
    pub(crate) fn place_of(&self, call: &'static str, object: ObjectId<'_>) -> Result<usize> {
        if !object.is_in_place() {
            return Err(Error::rule(
                call,
                "since the object was delivered a call was made during which the collector may \
                 have moved it: ask about objects first, and for what may load types, compile or \
                 collect afterwards",
            ));
        }
        Ok(object.address())
    }

    /// Refuses a call that is newer than the runtime.
    #[inline]
    pub(crate) fn check_version(&self, call: &'static str, needed: u8) -> Result<()> {
        if self.0.version < needed {
            return Err(Error::unsupported(call, needed, self.0.version));
        }
        Ok(())
    }

    /// The native interface `I`, if this call may be made here and now.
    #[inline]
    pub(crate) fn native<I: InfoInterface>(
        &self,
        call: &'static str,
        reach: Reach,
    ) -> Result<Native<'_, I>> {
        self.check_version(call, I::VERSION)?;
        if reach != Reach::Suspension {
            match suspended() {
                Suspended::No => {}
                Suspended::ForGc => {
                    return Err(Error::rule(
                        call,
                        "the runtime is suspended for a garbage collection; remember what is \
                         needed and ask in a later callback",
                    ));
                }
                Suspended::InHook => {
                    return Err(Error::rule(
                        call,
                        "this thread is in an enter, leave or tailcall hook, where the runtime \
                         does not answer that; ask in the filter of the hooks, or remember what is \
                         needed and ask in a later callback",
                    ));
                }
                // What loads types or compiles would let the object move.
                Suspended::InWalk if reach == Reach::Lock => {}
                Suspended::InWalk => {
                    return Err(Error::rule(
                        call,
                        "this thread walks the references of an object, which has to stay where it \
                         is; remember what is needed and ask when the walk has ended",
                    ));
                }
                Suspended::ByProfiler => {
                    return Err(Error::rule(
                        call,
                        "this thread has suspended the runtime; remember what is needed and ask \
                         when it has been resumed",
                    ));
                }
            }
        }
        if matches!(reach, Reach::Collection | Reach::Wait) {
            Moves::count_one();
        }
        if reach == Reach::Wait && !may_wait() {
            return Err(Error::rule(
                call,
                "the call may run managed code or wait for threads, and the callback that this thread \
                 is in can be waited for by them; make it in another callback or on a thread of the \
                 profiler's own",
            ));
        }
        // From here on whoever cuts the profiler off waits for this call, and who sees things go that
        // its arguments name.
        let in_flight = InFlight::begin();
        let native = Native {
            // SAFETY: `newest` is an interface of a version that is at least `I::VERSION`; each
            // version's vtable begins with that of the version before, and both types are
            // transparent wrappers of the interface pointer, as is `ManuallyDrop`.
            interface: unsafe { &*(&raw const self.0.newest).cast::<I>() },
            _in_flight: in_flight,
        };
        self.0.check_state(call).map(|()| native)
    }
}

/// A suspension of the runtime, from before it begins until after it has ended. The runtime keeps its
/// side meanwhile.
pub(crate) struct Suspension<'info>(&'info ProfilerInfo);

impl Suspension<'_> {
    /// The native interface `I` for the call that resumes. It goes through after the shutdown, too.
    pub(crate) fn native<I: InfoInterface>(&self, call: &'static str) -> Result<&I> {
        self.0.check_version(call, I::VERSION)?;
        // SAFETY: as in `ProfilerInfo::native`; `newest` is not released while this counts.
        Ok(unsafe { &*(&raw const self.0.0.newest).cast::<I>() })
    }
}

impl Drop for Suspension<'_> {
    fn drop(&mut self) {
        self.0.0.suspensions.end();
    }
}

impl fmt::Debug for ProfilerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProfilerInfo")
            .field("version", &self.version())
            .field("extensions", &self.0.extensions)
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
