//! A fake runtime: an `ICorProfilerInfo` of any version that counts calls and answers as configured.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clr_profiler_sys as sys;
use stand_in::{Call, Object, Offers};
use sys::HRESULT;
use sys::facts::{INTERFACES, InterfaceRow};

/// The action of `ForceGC` and `GetObjectSize2`: the fake runtime's ways to call back.
type Hook = Box<dyn Fn() + Send + Sync>;

/// A runtime that offers `ICorProfilerInfo` up to one version.
pub(crate) struct FakeInfo {
    object: Object,
    state: Arc<State>,
}

struct State {
    /// The result of `GetRuntimeInformation`.
    major: u16,
    /// The result of setting the event mask.
    answer_to_mask: AtomicI32,
    /// Each call of `SetEventMask` (no high half) and `SetEventMask2`.
    masks: Mutex<Vec<(u32, Option<u32>)>>,
    on_force_gc: Mutex<Option<Hook>>,
}

/// The versions of the interface, oldest first, by following the parents of the newest.
fn versions() -> Vec<&'static InterfaceRow> {
    let row_of = |name| {
        INTERFACES
            .iter()
            .copied()
            .flatten()
            .find(|row| row.name == name)
    };
    let mut rows: Vec<_> =
        std::iter::successors(row_of("ICorProfilerInfo15"), |row| row_of(row.parent)).collect();
    rows.reverse();
    rows
}

impl FakeInfo {
    /// The interfaces of .NET Core 3.1 and .NET 8, 9 and 10, with the version that each reports.
    pub(crate) const RUNTIMES: [(usize, u16); 4] = [(11, 4), (14, 8), (15, 9), (15, 10)];

    /// A runtime like .NET 8.
    pub(crate) fn new() -> Box<Self> {
        Self::offering(14, 8)
    }

    /// A runtime that offers `ICorProfilerInfo` up to this version, or none at all if it is 0.
    pub(crate) fn offering(version: usize, major: u16) -> Box<Self> {
        let newest = match version.checked_sub(1) {
            Some(last) => versions()[last].name,
            None => "IUnknown",
        };
        let state = Arc::new(State {
            major,
            answer_to_mask: AtomicI32::new(sys::S_OK.0),
            masks: Mutex::default(),
            on_force_gc: Mutex::default(),
        });
        let answers = Arc::clone(&state);
        let answer = move |call: &Call<'_>| Call::hresult(answers.answer(call));
        Box::new(Self {
            object: Object::new(Offers::new([newest]), answer),
            state,
        })
    }

    /// The argument of `Initialize`.
    pub(crate) fn as_raw(&self) -> *mut c_void {
        self.object.as_raw()
    }

    /// One reference is the test's own.
    pub(crate) fn references(&self) -> u32 {
        self.object.references()
    }

    /// From now on, setting the event mask returns this.
    pub(crate) fn answer_to_mask(&self, answer: HRESULT) {
        self.state.answer_to_mask.store(answer.0, Ordering::SeqCst);
    }

    /// The masks that were set, each as its low and high half.
    pub(crate) fn masks(&self) -> Vec<(u32, Option<u32>)> {
        self.state.masks()
    }

    /// From now on `ForceGC` runs this, and so does `GetObjectSize2`, which is legal during a
    /// collection.
    pub(crate) fn on_force_gc(&self, hook: impl Fn() + Send + Sync + 'static) {
        *self
            .state
            .on_force_gc
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Box::new(hook));
    }
}

impl State {
    fn answer(&self, call: &Call<'_>) -> HRESULT {
        let number = |parameter| call.argument(parameter) as u32;
        match call.method.facts.name {
            "SetEventMask" => return self.set_mask(number(0), None),
            "SetEventMask2" => return self.set_mask(number(0), Some(number(1))),
            "GetEventMask" => call.set(0, self.mask().0),
            "GetEventMask2" => {
                call.set(0, self.mask().0);
                call.set(1, self.mask().1);
            }
            "GetModuleInfo" => {
                call.set(1, 0_usize);
                set_text(call, 2, &format!("Module{}.dll", call.argument(0)));
                call.set(5, 1_usize);
            }
            "GetClassFromObject" => call.set(1, call.argument(0) + 1),
            "GetObjectSize2" => {
                call.set(1, call.argument(0) * 2);
                self.force_gc();
            }
            "ForceGC" => self.force_gc(),
            "GetRuntimeInformation" => {
                call.set(0, 1_u16);
                call.set(1, sys::COR_PRF_CORE_CLR);
                for (parameter, part) in [self.major, 0, 0, 0].into_iter().enumerate() {
                    call.set(parameter + 2, part);
                }
                set_text(call, 6, "fake");
            }
            _ => return sys::E_NOTIMPL,
        }
        sys::S_OK
    }

    fn set_mask(&self, low: u32, high: Option<u32>) -> HRESULT {
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        masks.push((low, high));
        HRESULT(self.answer_to_mask.load(Ordering::SeqCst))
    }

    fn masks(&self) -> Vec<(u32, Option<u32>)> {
        self.masks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn mask(&self) -> (u32, u32) {
        let masks = self.masks();
        masks
            .last()
            .map_or((0, 0), |(low, high)| (*low, high.unwrap_or(0)))
    }

    fn force_gc(&self) {
        let hook = self
            .on_force_gc
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(hook) = &*hook {
            hook();
        }
    }
}

/// Copies as much of a text as there is room for, as the runtime does: capacity, length and buffer are parameters in this
/// order.
fn set_text(call: &Call<'_>, first: usize, text: &str) {
    let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
    let fits = units.len().min(call.argument(first));
    call.set(first + 1, units.len() as u32);
    let buffer = call.pointer::<u16>(first + 2);
    if !buffer.is_null() {
        // SAFETY: the caller's buffer has its capacity, and `units` at least as many as fit.
        unsafe { buffer.copy_from_nonoverlapping(units.as_ptr(), fits) };
    }
}
