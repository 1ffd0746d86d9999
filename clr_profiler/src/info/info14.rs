//! `ICorProfilerInfo14`.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use uuid::Uuid;

use super::ProfilerInfo;
use super::collectible::may_have_unloaded;
use super::enumerate::ObjectEnum;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::ids::EventPipeProviderId;
use crate::native::{answers, arguments, as_it_is};
use crate::runtime::uuid_of;
use clr_profiler_sys as sys;

/// A range of addresses that hold objects which are never collected.
#[doc(alias = "COR_PRF_NONGC_HEAP_RANGE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NonGcHeapRange {
    /// The address at which it begins.
    pub start: usize,
    /// How many bytes are in use.
    pub size: usize,
    /// How many bytes it has, those in use included.
    pub reserved: usize,
}

answers! {
    sys::COR_PRF_NONGC_HEAP_RANGE => NonGcHeapRange = |raw, _| Ok(Self {
        start: raw.rangeStart,
        size: raw.rangeLength,
        reserved: raw.rangeLengthReserved,
    });
}

/// What sessions want of a provider, all of them together.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventPipeProviderState<'a> {
    /// Who asks; as far as it is said.
    pub source: Option<Uuid>,
    /// Whether any session wants events of it.
    pub is_enabled: bool,
    /// The level of the events that are wanted: one of [`EventLevel`](crate::events::EventLevel).
    pub level: u8,
    /// Events are wanted that have one of these keywords,
    pub match_any_keywords: u64,
    /// and all of these.
    pub match_all_keywords: u64,
    /// What the session says besides: texts that end with zeros.
    pub filter: &'a [u8],
}

table! { ($) __cor_profiler_info14:
    CorProfilerInfo14 = ICorProfilerInfo14 from info;

    /// The objects that are never collected: string literals, static objects, type objects.
    fn non_gc_objects() -> ObjectEnum<'_> = [in gc] EnumerateNonGCObjects(@enumerator)
        given _whole = whole_heap()
        fails "What the runtime answers, at once or as an item.";

    /// The address ranges of objects that are never collected.
    fn non_gc_heap_bounds() -> Vec<NonGcHeapRange> = [in gc] GetNonGCHeapBounds(@[ranges]);
}

/// What `ICorProfilerInfo14` offers: objects that are never collected, and providers that are told
/// what is wanted of them (.NET 8).
#[doc(alias = "ICorProfilerInfo14")]
pub trait CorProfilerInfo14: Sealed {
    __cor_profiler_info14! { calls }

    /// Makes a provider of events, which lives as long as the process; `changed` is called whenever
    /// sessions want something else of it, perhaps before this returns.
    ///
    /// A closure is taken that captures nothing, since the runtime has no place for it. Its panics
    /// end there.
    #[wraps(ICorProfilerInfo14::EventPipeCreateProvider2 [waiting]
        fails "`E_FAIL` where the name is taken.")]
    fn event_pipe_create_provider2<F>(
        &self,
        name: &str,
        changed: F,
    ) -> Result<EventPipeProviderId<'static>>
    where
        F: Fn(EventPipeProviderState<'_>) + Copy + Send + Sync + 'static,
    {
        self.handle().create_provider(name, callback_for(changed))
    }
}

impl CorProfilerInfo14 for ProfilerInfo {}

/// Refuses to go through objects among which there can be some whose types are gone.
fn whole_heap(info: &(impl Sealed + ?Sized), call: &'static str) -> Result<()> {
    let info = info.handle();
    if !info.reads_lost_types()? || !may_have_unloaded(info) {
        return Ok(());
    }
    Err(Error::rule(
        call,
        "modules of this program were unloaded, and .NET 8 crashes here where objects of their types \
         are left",
    ))
}

arguments! {
    sys::EventPipeProviderCallback => Self = |callback, _| Ok(callback);
}

/// Calls that have something of their own around them.
impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo14 from info;
    fn create_provider(
        name: &str as as_it_is, callback: sys::EventPipeProviderCallback
    ) -> EventPipeProviderId<'static>
        = [waiting] EventPipeCreateProvider2(name.as_ptr(), Some(callback), @provider);
    }
}

/// The native function for a closure that captures nothing.
fn callback_for<F>(changed: F) -> sys::EventPipeProviderCallback
where
    F: Fn(EventPipeProviderState<'_>) + Copy + Send + Sync + 'static,
{
    const {
        assert!(
            size_of::<F>() == 0,
            "the runtime has no place for what the closure captures: use a static variable"
        );
    }
    // Its value is nothing but its type.
    let _ = changed;

    unsafe extern "system" fn native<F>(
        source: *const u8,
        is_enabled: u32,
        level: u8,
        match_any_keywords: u64,
        match_all_keywords: u64,
        filter: *mut sys::COR_PRF_FILTER_DATA,
        _data: *mut c_void,
    ) where
        F: Fn(EventPipeProviderState<'_>) + Copy + Send + Sync + 'static,
    {
        // SAFETY: `F` has no bytes, so any aligned pointer reads one; there was one before, which
        // was `Copy`, so there may be another.
        let changed: F = unsafe { NonNull::<F>::dangling().read() };
        let source = if source.is_null() {
            None
        } else {
            // SAFETY: the runtime passes the 16 bytes of a GUID, of any alignment.
            let guid = unsafe { source.cast::<sys::GUID>().read_unaligned() };
            Some(uuid_of(&guid)).filter(|source| !source.is_nil())
        };
        // SAFETY: the runtime passes null or the filter, for the time of the call.
        let filter = match unsafe { filter.as_ref() } {
            Some(filter) if filter.Ptr != 0 => {
                let start = std::ptr::with_exposed_provenance(filter.Ptr as usize);
                // SAFETY: the runtime says that there are so many bytes.
                unsafe { std::slice::from_raw_parts(start, filter.Size as usize) }
            }
            _ => &[],
        };
        let state = EventPipeProviderState {
            source,
            is_enabled: is_enabled != 0,
            level,
            match_any_keywords,
            match_all_keywords,
            filter,
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| changed(state))) {
            // A payload may panic again when it is dropped.
            std::mem::forget(payload);
        }
    }
    native::<F>
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static SEEN: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn what_is_wanted_arrives_and_panics_do_not_leave() {
        let native = callback_for(|state| {
            assert!(state.is_enabled && state.source.is_none());
            assert_eq!((state.level, state.filter), (4, &b"ab"[..]));
            SEEN.fetch_add(state.match_any_keywords, Ordering::SeqCst);
            panic!("once seen");
        });
        let mut filter = sys::COR_PRF_FILTER_DATA {
            Ptr: b"ab".as_ptr().expose_provenance() as u64,
            Size: 2,
            Type: 0,
        };
        let nobody = [0u8; 16];
        // SAFETY: the pointers are to locals, or null where that is allowed.
        unsafe {
            native(
                nobody.as_ptr(),
                1,
                4,
                7,
                0,
                &mut filter,
                std::ptr::null_mut(),
            );
            // Fails its assertion, which ends there too.
            native(
                std::ptr::null(),
                0,
                0,
                7,
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            );
        }
        assert_eq!(SEEN.load(Ordering::SeqCst), 7);
    }
}
