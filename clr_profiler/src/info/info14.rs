//! `ICorProfilerInfo14`.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use uuid::Uuid;

use super::ProfilerInfo;
use super::enumerate::ObjectEnum;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::ids::EventPipeProviderId;
use crate::lifetimes::seen;
use crate::native::{arguments, as_it_is, results};
use crate::runtime::uuid_of;
use clr_profiler_sys as sys;

/// An address range of objects that are never collected.
#[doc(alias = "COR_PRF_NONGC_HEAP_RANGE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NonGcHeapRange {
    /// The start address.
    pub start: usize,
    /// The number of bytes in use.
    pub size: usize,
    /// The size of the range in bytes, including those in use.
    pub reserved: usize,
}

results! {
    sys::COR_PRF_NONGC_HEAP_RANGE => NonGcHeapRange = |raw, _| Ok(Self {
        start: raw.rangeStart,
        size: raw.rangeLength,
        reserved: raw.rangeLengthReserved,
    });
}

/// The combined settings of all sessions for a provider.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventPipeProviderState<'a> {
    /// The session's source id, if it has one.
    pub source: Option<Uuid>,
    /// Whether any session has enabled the provider.
    pub is_enabled: bool,
    /// The level of the enabled events: one of [`EventLevel`](crate::events::EventLevel).
    pub level: u8,
    /// Enables events that have at least one of these keywords.
    pub match_any_keywords: u64,
    /// Enables only events that have all of these keywords.
    pub match_all_keywords: u64,
    /// The session's filter data: zero-terminated texts.
    pub filter: &'a [u8],
}

table! { ($) __cor_profiler_info14:
    CorProfilerInfo14 = ICorProfilerInfo14 from info;

    /// The objects that are never collected: string literals, static objects, type objects.
    fn non_gc_objects() -> ObjectEnum<'_> = [in gc] EnumerateNonGCObjects(@enumerator)
        given _whole = whole_heap()
        fails "The error of the native call, at once or as an item.";

    /// The address ranges of objects that are never collected.
    fn non_gc_heap_bounds() -> Vec<NonGcHeapRange> = [in gc] GetNonGCHeapBounds(@[ranges]);
}

/// The calls of `ICorProfilerInfo14`: objects that are never collected, and providers that are notified of
/// the settings of sessions (.NET 8).
#[doc(alias = "ICorProfilerInfo14")]
pub trait CorProfilerInfo14: Sealed {
    __cor_profiler_info14! { calls }

    /// Creates a provider of events, which lives as long as the process. `changed` is called whenever the
    /// settings of sessions for it change, possibly before this returns.
    ///
    /// The closure must capture nothing, because the runtime stores no data for it. A panic of it is caught
    /// and does not reach the runtime.
    #[cfg(feature = "event_pipe")]
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

/// Refuses to walk a heap that may contain objects whose types are gone.
fn whole_heap(info: &(impl Sealed + ?Sized), call: &'static str) -> Result<()> {
    let info = info.handle();
    if !info.reads_lost_types()? || !seen::has_unloaded() {
        return Ok(());
    }
    Err(Error::rule(
        call,
        "this program has unloaded modules, and .NET 8 crashes here on objects of their types that are \
         still in the heap",
    ))
}

arguments! {
    sys::EventPipeProviderCallback => Self = |callback, _| Ok(callback);
}

/// Native calls whose public wrappers do more than the call.
#[cfg(feature = "event_pipe")]
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
            "the runtime stores no data for the closure: capture nothing, and use a static variable"
        );
    }
    // The closure's type determines its value.
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
        // SAFETY: `F` has no bytes, so any aligned pointer reads one. A value existed before and `F` is
        // `Copy`, so another one may exist.
        let changed: F = unsafe { NonNull::<F>::dangling().read() };
        let source = if source.is_null() {
            None
        } else {
            // SAFETY: the runtime passes the 16 bytes of a GUID, of any alignment.
            let guid = unsafe { source.cast::<sys::GUID>().read_unaligned() };
            Some(uuid_of(&guid)).filter(|source| !source.is_nil())
        };
        // SAFETY: the runtime passes null or the filter, valid during the call.
        let filter = match unsafe { filter.as_ref() } {
            Some(filter) if filter.Ptr != 0 => {
                let start = std::ptr::with_exposed_provenance(filter.Ptr as usize);
                // SAFETY: the runtime passes the number of bytes at that address.
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
            // Dropping a payload may panic again.
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
            // The assertion in the callback fails, and its panic is caught there, too.
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
