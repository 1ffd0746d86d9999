//! The mapper, which selects the functions that have hooks: Rust closures for the runtime.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::ids::FunctionId;
use clr_profiler_sys as sys;
use sys::BOOL;

/// Whether a function has hooks, and the value that they receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hooked {
    /// It has none.
    No,
    /// It has hooks, which receive its id.
    ById,
    /// It has hooks, which receive this number instead of its id. Zero means the id.
    ByClientId(usize),
}

/// Calls the mapper, and catches its panics.
///
/// # Safety
///
/// `hook` is null or points to a writable `BOOL`.
unsafe fn ask(
    mapper: impl Fn(FunctionId) -> Hooked,
    function: sys::FunctionID,
    hook: *mut BOOL,
) -> usize {
    let answer = catch_unwind(AssertUnwindSafe(|| {
        mapper(FunctionId::from_runtime(function))
    }));
    let (is_hooked, id) = match answer {
        Ok(Hooked::No) => (false, function),
        Ok(Hooked::ById | Hooked::ByClientId(0)) => (true, function),
        Ok(Hooked::ByClientId(id)) => (true, id),
        Err(payload) => {
            // Dropping a payload may panic again.
            std::mem::forget(payload);
            (false, function)
        }
    };
    if !hook.is_null() {
        // SAFETY: guaranteed by the caller.
        unsafe { hook.write(is_hooked.into()) };
    }
    id
}

/// The native function for a closure that captures nothing.
pub(super) fn without_data<F>(mapper: F) -> sys::FunctionIDMapper
where
    F: Fn(FunctionId) -> Hooked + Copy + Send + Sync + 'static,
{
    const {
        assert!(
            size_of::<F>() == 0,
            "this mapper stores no data for the closure: capture nothing, or use set_function_id_mapper2"
        );
    }
    // The closure's type determines its value.
    let _ = mapper;

    unsafe extern "system" fn native<F>(function: sys::FunctionID, hook: *mut BOOL) -> usize
    where
        F: Fn(FunctionId) -> Hooked + Copy + Send + Sync + 'static,
    {
        // SAFETY: `F` has no bytes, so any aligned pointer reads one. A value existed before and `F` is
        // `Copy`, so another one may exist.
        let mapper: F = unsafe { NonNull::<F>::dangling().read() };
        // SAFETY: the runtime passes a pointer to its own variable.
        unsafe { ask(mapper, function, hook) }
    }
    native::<F>
}

/// A closure that the runtime keeps forever.
pub(super) struct Leaked<F>(NonNull<F>, PhantomData<F>);

impl<F> Leaked<F> {
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// # Safety
    ///
    /// Nobody else has the pointer.
    pub(super) unsafe fn take_back(self) {
        // SAFETY: the pointer was leaked from a box, and the caller guarantees that it is the only one.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// The native function for any closure, and the data that it must be called with.
pub(super) fn with_data<F>(mapper: F) -> (sys::FunctionIDMapper2, Leaked<F>)
where
    F: Fn(FunctionId) -> Hooked + Send + Sync + 'static,
{
    unsafe extern "system" fn native<F>(
        function: sys::FunctionID,
        data: *mut c_void,
        hook: *mut BOOL,
    ) -> usize
    where
        F: Fn(FunctionId) -> Hooked + Send + Sync + 'static,
    {
        // SAFETY: the runtime passes the pointer that was set with this function: a closure that
        // is never dropped, and may be called from any thread.
        let mapper = unsafe { &*data.cast::<F>() };
        // SAFETY: the runtime passes a pointer to its own variable.
        unsafe { ask(mapper, function, hook) }
    }
    let data = NonNull::from(Box::leak(Box::new(mapper)));
    (native::<F>, Leaked(data, PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(function: FunctionId) -> Hooked {
        match function.raw() {
            1 => Hooked::No,
            2 => Hooked::ById,
            3 => Hooked::ByClientId(77),
            _ => panic!("no such function"),
        }
    }

    #[test]
    fn answers_reach_the_runtime_and_panics_do_not() {
        let plain = without_data(decide);
        let offset = 70;
        let (native, data) = with_data(move |function| match decide(function) {
            Hooked::ByClientId(_) => Hooked::ByClientId(offset + 7),
            other => other,
        });
        for (function, is_hooked, id) in [(1, false, 1), (2, true, 2), (3, true, 77), (4, false, 4)]
        {
            let mut hook = BOOL::from(!is_hooked);
            // SAFETY: the pointer is to a local.
            assert_eq!(unsafe { plain(function, &mut hook) }, id);
            assert_eq!(hook.as_bool(), is_hooked);
            let mut hook = BOOL::from(!is_hooked);
            // SAFETY: the pointers are to a local, and to the closure of this function.
            assert_eq!(unsafe { native(function, data.as_ptr(), &mut hook) }, id);
            assert_eq!(hook.as_bool(), is_hooked);
        }
        // SAFETY: it is no longer called.
        unsafe { data.take_back() };
    }
}
