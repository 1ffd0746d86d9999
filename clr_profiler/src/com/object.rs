//! The object that the runtime calls: an `ICorProfilerCallback11` that contains a profiler.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
use std::sync::{Arc, OnceLock};

use super::class::Class;
use super::vtable::{self, CALLBACK, Newest};
use crate::native::cleared;
use crate::profiler::{self, Components, FailureHook, Member, Profiler};
use crate::runtime::{ProfilerInfo, catch, keep_loaded, silence};
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT};

/// The number of callback objects, for `DllCanUnloadNow`.
pub(super) static OBJECTS: AtomicU32 = AtomicU32::new(0);

/// The phase of an object's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Phase {
    /// Created, but `initialize` has not succeeded (yet).
    Created,
    /// Callbacks reach the profiler.
    Active,
    /// Disabled after too many panics: callbacks reach only the components.
    Disabled,
    /// `initialize` has failed: callbacks return at once.
    Failed,
    /// The runtime has shut down: callbacks that still arrive return at once.
    ShutDown,
}

/// The parts that exist once `initialize` has succeeded.
pub(super) struct Live {
    pub(super) profiler: Box<dyn Profiler>,
    pub(super) components: Components,
    pub(super) info: ProfilerInfo,
    pub(super) on_failure: Option<FailureHook>,
    pub(super) panic_limit: u32,
    /// The profilers that run as one; none if it is a single one.
    pub(super) members: Vec<Arc<Member>>,
}

impl Live {
    /// The hook of the profiler, or those of the profilers that run as one.
    pub(super) fn hooks(&self) -> impl Iterator<Item = &FailureHook> {
        let of_members = self.members.iter().filter_map(|member| member.hook());
        self.on_failure.iter().chain(of_members)
    }
}

/// A COM object: the vtable pointer comes first.
#[repr(C)]
pub(super) struct Object {
    vtable: &'static Newest,
    references: AtomicU32,
    phase: AtomicU8,
    pub(super) class: Class,
    /// Whether the profiler has declared itself a notification profiler.
    pub(super) as_notification: AtomicBool,
    pub(super) panics: AtomicU32,
    pub(super) live: OnceLock<Live>,
}

impl Object {
    /// Creates an object, and returns the only reference to it.
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

    /// The object that `this` of a native call points to.
    ///
    /// # Safety
    ///
    /// `this` is the result of [`create`](Self::create), and a reference to it is held for `'a`.
    pub(super) unsafe fn from_raw<'a>(this: *mut c_void) -> &'a Self {
        // SAFETY: `create` made it from a `Box<Self>`; it lives as long as references to it are held, and is
        // only ever borrowed as `&Self`.
        unsafe { &*this.cast::<Self>() }
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            phase if phase == Phase::Active as u8 => Phase::Active,
            phase if phase == Phase::Created as u8 => Phase::Created,
            phase if phase == Phase::Disabled as u8 => Phase::Disabled,
            phase if phase == Phase::Failed as u8 => Phase::Failed,
            _ => Phase::ShutDown,
        }
    }

    /// Advances to a later phase; false if the object was in that phase or a later one.
    pub(super) fn advance(&self, phase: Phase) -> bool {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel) < phase as u8
    }

    /// Adds a reference.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw).
    pub(super) unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
        // SAFETY: the caller guarantees a pointer as `from_raw` needs it.
        let object = unsafe { Self::from_raw(this) };
        object.references.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Releases a reference; the last release frees the object.
    ///
    /// After the runtime's shutdown the object is never freed, because hooks and callbacks may still be
    /// called. Before that, the runtime releases it when the profiler was detached or could not start, and
    /// right afterwards deletes the native side of the profiler's handles.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw), and the caller passes the ownership of its reference.
    pub(super) unsafe extern "system" fn release(this: *mut c_void) -> u32 {
        // SAFETY: the reference of the caller still counts.
        let object = unsafe { Self::from_raw(this) };
        let left = object.references.fetch_sub(1, Ordering::Release) - 1;
        if left != 0 {
            return left;
        }
        // Everything that other threads did before they released their references has happened, including a
        // shutdown. That was the last reference: nothing else frees the object.
        fence(Ordering::Acquire);
        if object.phase() != Phase::ShutDown {
            OBJECTS.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: nothing else has this pointer; `create` made it from a `Box`.
            let object = unsafe { Box::from_raw(this.cast::<Self>()) };
            let mut hooks: Vec<FailureHook> = Vec::new();
            if let Some(live) = object.live.get() {
                live.hooks().for_each(profiler::stopped);
                hooks.extend(live.hooks().cloned());
                live.info.invalidate();
            }
            // The profiler's own `drop` is user code, and so is that of each hook. Two panics in one drop would end
            // the process.
            let _ = catch(move || drop(object));
            for hook in hooks {
                let _ = catch(move || drop(hook));
            }
        }
        0
    }

    /// Adds a reference, and returns it as one of the interfaces that the object has.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw); `iid` and `out` are null or point to a GUID and to space for a
    /// pointer.
    pub(super) unsafe extern "system" fn query(
        this: *mut c_void,
        iid: *const GUID,
        out: *mut *mut c_void,
    ) -> HRESULT {
        // SAFETY: the caller guarantees these pointers.
        let (iid, out) = unsafe { (iid.as_ref(), cleared(out)) };
        let (Some(iid), Some(out)) = (iid, out) else {
            return sys::E_POINTER;
        };
        if !vtable::has_interface(iid) {
            return sys::E_NOINTERFACE;
        }
        // SAFETY: the caller guarantees a pointer as `from_raw` needs it.
        unsafe { Self::add_ref(this) };
        *out = this;
        sys::S_OK
    }
}
