//! [`MethodMalloc`]: memory for method bodies.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::error::{Error, Result};
use crate::native::{CallContext, FromNative};
use crate::runtime::{CallKind, ProfilerInfo};
use clr_profiler_sys as sys;

/// The maximum length of a method body. No compiler accepts bodies of about this size.
const LONGEST: usize = 64 << 20;

/// The allocator of a module's method bodies.
///
/// From [`il_function_body_allocator`](crate::info::CorProfilerInfo::il_function_body_allocator).
#[doc(alias = "IMethodMalloc")]
pub struct MethodMalloc<'info> {
    /// Not released after a detach or the runtime's shutdown, which may have freed it.
    native: ManuallyDrop<sys::IMethodMalloc>,
    info: ProfilerInfo,
    lifetime: PhantomData<&'info ProfilerInfo>,
}

impl FromNative<Option<sys::IMethodMalloc>> for MethodMalloc<'_> {
    fn from_native(raw: Option<sys::IMethodMalloc>, context: &CallContext<'_>) -> Result<Self> {
        let (Some(native), Some(info)) = (raw, context.info) else {
            return Err(Error::invalid(
                context.call,
                "the runtime returned no allocator",
            ));
        };
        Ok(Self {
            native: ManuallyDrop::new(native),
            info: info.clone(),
            lifetime: PhantomData,
        })
    }
}

impl<'info> MethodMalloc<'info> {
    /// Allocates `size` bytes, all zero: at least 1, at most 64 MiB. The memory cannot be freed.
    #[wraps(IMethodMalloc::Alloc
        at "not during a collection, not in hooks."
        fails "The size is not that of a method body, or there is no memory.")]
    pub fn alloc(&self, size: usize) -> Result<&'info mut [u8]> {
        const CALL: &str = "IMethodMalloc::Alloc";
        let length = match u32::try_from(size) {
            Ok(length) if (1..=LONGEST).contains(&size) => length,
            _ => {
                return Err(Error::invalid(
                    CALL,
                    format_args!("a method body cannot have {size} bytes"),
                ));
            }
        };
        // Refused and counted as in flight, like the calls of `ProfilerInfo`. It moves no object.
        let _in_flight = self
            .info
            .native::<sys::ICorProfilerInfo>(CALL, CallKind::GcNoTrigger)?;
        // SAFETY: the runtime's side exists, as was just checked. Any size is valid; a failure is a null
        // pointer.
        let memory = unsafe { self.native.Alloc(length) }.cast::<u8>();
        if memory.is_null() {
            return Err(Error::invalid(
                CALL,
                format_args!("no memory for a method body of {size} bytes"),
            ));
        }
        // SAFETY: the allocator returned `size` bytes at `memory`, which nobody else knows yet; zeroing
        // initialises them. Nobody frees them: all modules share one allocator, which takes memory from the
        // heap of the process and never returns it, so they outlive the module, even a collectible one, and
        // the runtime's side of a profiler.
        Ok(unsafe {
            memory.write_bytes(0, size);
            std::slice::from_raw_parts_mut(memory, size)
        })
    }
}

impl Drop for MethodMalloc<'_> {
    fn drop(&mut self) {
        let there = self
            .info
            .native::<sys::ICorProfilerInfo>("IMethodMalloc::Release", CallKind::LockFree);
        if there.is_ok() {
            // SAFETY: the runtime's side exists, and nobody uses the reference afterwards.
            unsafe { ManuallyDrop::drop(&mut self.native) };
        }
    }
}

opaque! { MethodMalloc<'_> }
