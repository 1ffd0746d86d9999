//! The object that the runtime calls: an `ICorProfilerCallback11` around a profiler.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

use super::class::Class;
use super::vtable::{self, CALLBACK, Newest};
use crate::native::cleared;
use crate::profiler::{self, Components, FailureHook, Profiler};
use crate::runtime::{ProfilerInfo, catch, keep_loaded, silence};
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT};

/// How many callback objects exist, for `DllCanUnloadNow`.
pub(super) static OBJECTS: AtomicU32 = AtomicU32::new(0);

/// Where an object is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Phase {
    /// Made, but `initialize` has not succeeded (yet).
    Created,
    /// Callbacks reach the profiler.
    Active,
    /// Too many panics: callbacks reach the components alone.
    Retired,
    /// `initialize` has failed: callbacks return at once.
    Failed,
    /// The runtime is gone: callbacks that still come return at once.
    ShutDown,
}

/// What exists once `initialize` has succeeded.
pub(super) struct Live {
    pub(super) profiler: Box<dyn Profiler>,
    pub(super) components: Components,
    pub(super) info: ProfilerInfo,
    pub(super) on_failure: Option<FailureHook>,
    pub(super) panic_limit: u32,
}

/// A COM object: the vtable pointer comes first.
#[repr(C)]
pub(super) struct Object {
    vtable: &'static Newest,
    references: AtomicU32,
    phase: AtomicU8,
    pub(super) class: Class,
    /// Whether the profiler told the runtime to be loaded as a notification profiler.
    pub(super) as_notification: AtomicBool,
    pub(super) panics: AtomicU32,
    pub(super) live: OnceLock<Live>,
}

impl Object {
    /// Makes an object that the caller owns one reference to.
    pub(super) fn create(class: Class) -> *mut c_void {
        silence();
        keep_loaded();
        OBJECTS.fetch_add(1, Ordering::Relaxed);
        Box::into_raw(Box::new(Self {
            vtable: &CALLBACK,
            references: AtomicU32::new(1),
            phase: AtomicU8::new(Phase::Created as u8),
            class,
            as_notification: AtomicBool::new(false),
            panics: AtomicU32::new(0),
            live: OnceLock::new(),
        }))
        .cast()
    }

    /// The object behind the `this` of a native call.
    ///
    /// # Safety
    ///
    /// `this` came from [`create`](Self::create), and a reference to it is held
    /// for `'a`.
    pub(super) unsafe fn from_raw<'a>(this: *mut c_void) -> &'a Self {
        // SAFETY: `create` made it of a `Box<Self>`; it lives while references to it are held, and
        // only `&Self` are ever made of it.
        unsafe { &*this.cast::<Self>() }
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            phase if phase == Phase::Active as u8 => Phase::Active,
            phase if phase == Phase::Created as u8 => Phase::Created,
            phase if phase == Phase::Retired as u8 => Phase::Retired,
            phase if phase == Phase::Failed as u8 => Phase::Failed,
            _ => Phase::ShutDown,
        }
    }

    /// Moves on to a later phase; false where the object was there already, or further.
    pub(super) fn advance(&self, phase: Phase) -> bool {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel) < phase as u8
    }

    /// Takes another reference.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw).
    pub(super) unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
        // SAFETY: as the caller promises.
        let object = unsafe { Self::from_raw(this) };
        object.references.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Gives one reference back; the last one ends the object.
    ///
    /// After the runtime's shutdown it is kept for ever: hooks and callbacks may still come. Before
    /// that the runtime gives it up when the profiler has detached or could not start, and deletes
    /// right afterwards what the profiler's handles stand for.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw), and the caller gives up the reference.
    pub(super) unsafe extern "system" fn release(this: *mut c_void) -> u32 {
        // SAFETY: the caller still holds the reference.
        let object = unsafe { Self::from_raw(this) };
        let left = object.references.fetch_sub(1, Ordering::Release) - 1;
        if left != 0 {
            return left;
        }
        // What other threads did before they gave up their references has happened; also the
        // shutdown, if it came meanwhile. That was the last reference: nobody else frees the object.
        fence(Ordering::Acquire);
        if object.phase() != Phase::ShutDown {
            OBJECTS.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: nobody else has this pointer; `create` made it of a `Box`.
            let object = unsafe { Box::from_raw(this.cast::<Self>()) };
            if let Some(live) = object.live.get() {
                profiler::stopped(live.on_failure.as_ref());
                live.info.cut_off();
            }
            // The profiler's own `drop` is user code.
            let _ = catch(move || drop(object));
        }
        0
    }

    /// Hands out another reference as one of the interfaces that the object has.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw); `iid` and `out` are null or point to a GUID and to
    /// space for a pointer.
    pub(super) unsafe extern "system" fn query(
        this: *mut c_void,
        iid: *const GUID,
        out: *mut *mut c_void,
    ) -> HRESULT {
        // SAFETY: as the caller promises.
        let (iid, out) = unsafe { (iid.as_ref(), cleared(out)) };
        let (Some(iid), Some(out)) = (iid, out) else {
            return sys::E_POINTER;
        };
        if !vtable::has_interface(iid) {
            return sys::E_NOINTERFACE;
        }
        // SAFETY: as the caller promises.
        unsafe { Self::add_ref(this) };
        *out = this;
        sys::S_OK
    }
}
