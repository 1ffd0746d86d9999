//! [`ProfilerInfo`]: the handle to the runtime.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::costs::Costs;
use super::detaches;
use super::extensions::{Extension, Extensions};
use super::members::{MemberIndex, Members, RunningMember};
use super::start_gate::StartGate;
use super::suspensions::Suspensions;
use super::thread_state::{Owner, Suspended, may_wait, owner, suspended};
use crate::error::{Error, Hresult, Result, check};
use crate::event_mask::{EventMask, Loaded};
use crate::ids::{GcTriggerCount, ObjectId};
use crate::lifetimes::{self, InFlight, wait_for_calls};
use clr_profiler_sys as sys;
use sys::{IUnknown, Interface};

/// The handle to the runtime: a profiler calls the runtime through it.
///
/// It wraps the newest version of `ICorProfilerInfo` that the runtime has. Its methods are those of the
/// traits [`CorProfilerInfo`](crate::info::CorProfilerInfo) and so on, which the [prelude](crate::prelude)
/// imports; a call that is newer than the runtime returns an error that says so.
///
/// It is cheap to clone, and usable on every thread; the documentation of each method says in which contexts
/// it may be called. Calls in a wrong context are refused before they reach the runtime: all calls after its
/// shutdown and after the profiler was detached, and most calls during a garbage collection.
#[derive(Clone)]
pub struct ProfilerInfo(Arc<Runtime>, MemberIndex);

struct Runtime {
    /// The newest interface that the runtime has; its vtable begins with those of the older ones.
    ///
    /// The runtime deletes it after the profiler was detached or could not start, whatever references there
    /// are: from then on it must not be used, see `invalidate`.
    newest: ManuallyDrop<IUnknown>,
    /// The version of that interface: 15 for `ICorProfilerInfo15`.
    version: u8,
    /// How the profiler was loaded.
    loaded: Loaded,
    /// The events that were requested; the runtime may report more.
    requested: AtomicU64,
    /// Whether the profiler's `initialize` has returned.
    started: AtomicBool,
    /// Threads of the library wait here for the start.
    gate: StartGate,
    /// The suspensions of the runtime, and a detach that waits for their end.
    suspensions: Suspensions,
    /// Whether calls are allowed: [`OPEN`], [`SHUT_DOWN`] or [`INVALID`].
    state: AtomicU8,
    /// The counters of its cost.
    costs: Costs,
    /// The values that components store for this runtime.
    extensions: Extensions,
    /// The profilers that run as one.
    members: Members,
    /// Whether the runtime is that of .NET Framework, once it was asked.
    is_net_framework: OnceLock<bool>,
}

const OPEN: u8 = 0;
/// The runtime has shut down.
const SHUT_DOWN: u8 = 1;
/// The runtime has deleted its side, or is about to.
const INVALID: u8 = 2;

// SAFETY: the runtime's info object may be called on any thread, and its reference count is atomic;
// corprof.idl and the runtime's documentation say which calls need which thread, and the runtime checks that
// itself.
unsafe impl Send for Runtime {}
// SAFETY: as above; the object is designed for concurrent calls.
unsafe impl Sync for Runtime {}

impl Runtime {
    #[inline]
    fn check_state(&self, call: &'static str) -> Result<()> {
        match self.state.load(Ordering::SeqCst) {
            OPEN => Ok(()),
            SHUT_DOWN => Err(Error::rule(call, "the runtime has shut down")),
            _ => Err(Error::rule(call, "the runtime has released the profiler")),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if *self.state.get_mut() != INVALID {
            // SAFETY: this is the only reference, nothing uses it afterwards, and the runtime's side still
            // exists.
            unsafe { ManuallyDrop::drop(&mut self.newest) };
        }
    }
}

/// A native interface during one call.
pub(crate) struct Native<'info, I> {
    interface: &'info I,
    /// Unloads and a detach wait for the end of this call.
    _in_flight: InFlight,
}

impl<I> Deref for Native<'_, I> {
    type Target = I;

    #[inline]
    fn deref(&self) -> &I {
        self.interface
    }
}

/// The error for reading objects on a thread on which they can move.
pub(crate) const OBJECTS_MOVE: &str = "the collector can move objects on this thread at any time: objects can be read only in \
     `exception_thrown`, `exception_catcher_enter`, `object_allocated` and hooks with info";

/// The locks that a call may take, and whether it may trigger a GC or wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// It takes no lock: it is allowed while the runtime is suspended.
    LockFree,
    /// It may wait for a lock, but does not trigger a GC.
    GcNoTrigger,
    /// It may trigger a GC, which moves objects.
    GcTriggers,
    /// It may run managed code, or wait for threads that do.
    Waits,
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

        /// The newest interface that `runtime` has, and its version.
        fn newest_interface(runtime: &IUnknown) -> Option<(u8, IUnknown)> {
            $(if let Ok(interface) = runtime.cast::<sys::$interface>() {
                // SAFETY: the reference moves from one type to the other, and each interface begins like
                // `IUnknown`.
                return Some(($version, unsafe { IUnknown::from_raw(interface.into_raw()) }));
            })*
            None
        }
    };
}

// From the newest version down: the first one that the runtime has is used.
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
    /// Creates the handle for the object that the runtime passes to `Initialize`.
    ///
    /// # Safety
    ///
    /// `unknown` is null or an `IUnknown` that is alive during the call.
    pub(crate) unsafe fn from_callback(unknown: *mut c_void, loaded: Loaded) -> Result<Self> {
        const CALL: &str = "ICorProfilerCallback::Initialize";
        // SAFETY: the caller guarantees null or an `IUnknown`.
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
        let runtime = Runtime {
            newest: ManuallyDrop::new(newest),
            version,
            loaded,
            requested: AtomicU64::new(0),
            started: AtomicBool::new(false),
            gate: StartGate::default(),
            suspensions: Suspensions::default(),
            state: AtomicU8::new(OPEN),
            costs: Costs::default(),
            extensions: Extensions::default(),
            members: Members::default(),
            is_net_framework: OnceLock::new(),
        };
        Ok(Self(Arc::new(runtime), MemberIndex::NONE))
    }

    /// The handle for one profiler of a composed one.
    pub(crate) fn of_member(&self, index: MemberIndex) -> Self {
        Self(Arc::clone(&self.0), index)
    }

    /// Records the profilers of a composed one.
    pub(crate) fn set_members(&self, members: Vec<RunningMember>) {
        self.0.members.set(members);
    }

    /// The names of the profilers that run as one, if there are several.
    pub(crate) fn composed(&self) -> Option<String> {
        self.0.members.names()
    }

    /// The owner of the code that makes a call with this handle.
    pub(crate) fn owner(&self) -> Owner {
        match owner() {
            Owner::PROFILER => self.0.members.owner_of(self.1),
            owner => owner,
        }
    }

    /// These events of the calling profiler, with those of the others that run as one with it.
    pub(crate) fn with_events_of_others(&self, events: EventMask) -> EventMask {
        events | self.0.members.events_of_others(self.owner())
    }

    /// The newest version of `ICorProfilerInfo` that this runtime has, such as 11 on .NET Core 3.1.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.0.version
    }

    /// The native interface, for calls that this crate does not wrap.
    ///
    /// It is an `ICorProfilerInfo` of [`version`](Self::version), which `clr_profiler_sys` declares; its
    /// methods are unsafe there. The pointer is borrowed: it is valid as long as this handle exists and the
    /// profiler is not detached.
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

    /// Whether the profiler's `initialize` has returned.
    pub(crate) fn has_started(&self) -> bool {
        self.0.started.load(Ordering::Acquire)
    }

    /// Records that the profiler's `initialize` has returned, and that the runtime has its events.
    pub(crate) fn set_started(&self) {
        self.0.started.store(true, Ordering::Release);
    }

    /// The events that only the library wants.
    pub(crate) fn events_of_library(&self) -> EventMask {
        let requested = self.0.requested.load(Ordering::Relaxed);
        EventMask::OF_LIBRARY - EventMask::from_bits_retain(requested)
    }

    /// Records the requested events, and returns those that the runtime must report in addition.
    pub(crate) fn set_requested(&self, events: EventMask) -> EventMask {
        self.0.members.request(self.owner(), events);
        let events = self.with_events_of_others(events);
        self.0.requested.store(events.bits(), Ordering::Relaxed);
        let unknown = match self.version() {
            9.. if !self.is_net_framework().unwrap_or(false) => EventMask::empty(),
            _ => EventMask::HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS,
        };
        events | (EventMask::OF_LIBRARY - unknown)
    }

    /// Whether the runtime is that of .NET Framework.
    pub(crate) fn is_net_framework(&self) -> Result<bool> {
        if let Some(known) = self.0.is_net_framework.get() {
            return Ok(*known);
        }
        let is_net_framework = self.ask_for_kind()?;
        Ok(*self.0.is_net_framework.get_or_init(|| is_net_framework))
    }

    fn ask_for_kind(&self) -> Result<bool> {
        const CALL: &str = "ICorProfilerInfo3::GetRuntimeInformation";
        // A runtime with an older interface cannot be .NET (Core).
        if self.0.version < 3 {
            return Ok(true);
        }
        let native = self.native::<sys::ICorProfilerInfo3>(CALL, CallKind::LockFree)?;
        let (mut kind, null) = (0, std::ptr::null_mut);
        // SAFETY: only the kind is requested, and written to a local; the call allows null for the others.
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

    /// The gate at which threads of the library wait until the profiler has started.
    pub(crate) fn gate(&self) -> &StartGate {
        &self.0.gate
    }

    /// Opens the gate for threads of the library: the profiler has started, with its events and hooks.
    pub(crate) fn open(&self) {
        self.0.gate.open();
    }

    /// Opens the gate, unless the profiler was attached: then the runtime reports the end of the start
    /// itself.
    pub(crate) fn open_unless_attached(&self) {
        if !self.0.loaded.by_attach {
            self.open();
        }
    }

    /// Refuses all calls from now on: the runtime has shut down.
    pub(crate) fn close(&self) {
        if self.0.state.fetch_max(SHUT_DOWN, Ordering::SeqCst) == OPEN {
            lifetimes::end();
        }
        self.0.gate.shut();
    }

    /// Refuses all calls from now on, and waits until none is in flight: the runtime is about to delete its
    /// side. The caller is in a call from the runtime.
    pub(crate) fn invalidate(&self) {
        match self.0.state.swap(INVALID, Ordering::SeqCst) {
            INVALID => return,
            OPEN => lifetimes::end(),
            _ => {}
        }
        self.0.gate.shut();
        self.0.suspensions.wait_until_none();
        let is_detached = self.0.suspensions.wait_for_request();
        // A thread that makes a call either sees the new state, or is in flight and waited for. Such calls
        // return: the runtime holds no lock here for which they wait, except for that of requests to detach.
        // Those of other profilers of this library wait for it, too; none of them is in flight.
        wait_for_calls(None);
        // SAFETY: the runtime's side still exists. This releases the reference in `newest`, which is not used
        // again, because the state prevents it.
        drop(unsafe { IUnknown::from_raw(self.0.newest.as_raw()) });
        if is_detached {
            detaches::ended();
        }
    }

    /// The counters of the profiler's cost.
    #[inline]
    pub(crate) fn costs(&self) -> &Costs {
        &self.0.costs
    }

    /// The value of this type that a component stores for this runtime; created on the first call.
    pub(crate) fn extension<T: Extension + Default>(&self) -> &T {
        self.0.extensions.get()
    }

    /// A suspension of the runtime, until the result is dropped. Refused during another one, and after a detach was
    /// requested.
    pub(crate) fn begin_suspension(&self, call: &'static str) -> Result<Suspension<'_>> {
        self.0.suspensions.begin(call)?;
        let suspension = Suspension(self);
        self.0.check_state(call)?;
        Ok(suspension)
    }

    /// Whether calls are refused: the runtime has shut down or released the profiler.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.state.load(Ordering::SeqCst) != OPEN
    }

    /// Whether the profiler has ended: calls are refused, or are about to be because a detach was granted.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_closed() || self.0.suspensions.is_detached()
    }

    /// A pointer that differs between the handles of different runtimes.
    pub(crate) fn identity(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    /// Requests a detach once the runtime is not suspended.
    pub(crate) fn detach(
        &self,
        call: &'static str,
        request: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        // An error of the request is returned before waiting.
        drop(self.native::<sys::ICorProfilerInfo3>(call, CallKind::GcNoTrigger)?);
        self.0.suspensions.detach(call, request)
    }

    /// The address of an object, if its id is still valid.
    pub(crate) fn address_of(&self, call: &'static str, object: ObjectId<'_>) -> Result<usize> {
        if !object.is_in_place() {
            return Err(Error::rule(
                call,
                "a call that may trigger a GC was made since the object was delivered, and may have \
                 moved it: read objects before calls that may load types, compile or collect",
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

    /// The native interface `I`, if this call is allowed here.
    #[inline]
    pub(crate) fn native<I: InfoInterface>(
        &self,
        call: &'static str,
        kind: CallKind,
    ) -> Result<Native<'_, I>> {
        self.check_version(call, I::VERSION)?;
        if kind != CallKind::LockFree {
            match suspended() {
                Suspended::No => {}
                Suspended::ForGc => {
                    return Err(Error::rule(
                        call,
                        "the runtime is suspended for a garbage collection; make the call in a later \
                         callback",
                    ));
                }
                Suspended::InHook => {
                    return Err(Error::rule(
                        call,
                        "this thread is in an enter, leave or tailcall hook, where the runtime \
                         refuses this call; make it in the filter of the hooks or in a later \
                         callback",
                    ));
                }
                // Calls that load types or compile could move the object.
                Suspended::InWalk if kind == CallKind::GcNoTrigger => {}
                Suspended::InWalk => {
                    return Err(Error::rule(
                        call,
                        "this thread walks the references of an object, which must not move; make \
                         the call after the walk",
                    ));
                }
                Suspended::ByProfiler => {
                    return Err(Error::rule(
                        call,
                        "this thread has suspended the runtime; make the call after it has been \
                         resumed",
                    ));
                }
            }
        }
        if matches!(kind, CallKind::GcTriggers | CallKind::Waits) {
            GcTriggerCount::count_one();
        }
        if kind == CallKind::Waits && !may_wait() {
            return Err(Error::rule(
                call,
                "the call may run managed code or wait for threads, and these may wait for the \
                 callback on this thread; make it in another callback or on a thread of the \
                 profiler's own",
            ));
        }
        // From here on a detach waits for this call, and so does an unload of the items that its arguments
        // name.
        let in_flight = InFlight::begin();
        let native = Native {
            // SAFETY: `newest` is an interface of a version that is at least `I::VERSION`; each version's
            // vtable begins with that of the previous version, and both types are transparent wrappers of the
            // interface pointer, as is `ManuallyDrop`.
            interface: unsafe { &*(&raw const self.0.newest).cast::<I>() },
            _in_flight: in_flight,
        };
        self.0.check_state(call).map(|()| native)
    }
}

/// A suspension of the runtime, from before it begins until after it has ended. The runtime does not delete
/// its side in the meantime.
pub(crate) struct Suspension<'info>(&'info ProfilerInfo);

impl Suspension<'_> {
    /// The native interface `I` for the call that resumes, which is allowed after the shutdown, too.
    pub(crate) fn native<I: InfoInterface>(&self, call: &'static str) -> Result<&I> {
        self.0.check_version(call, I::VERSION)?;
        // SAFETY: as in `ProfilerInfo::native`; `newest` is not released while this suspension counts.
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

/// Seals the traits over [`ProfilerInfo`], and gives them the handle.
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
