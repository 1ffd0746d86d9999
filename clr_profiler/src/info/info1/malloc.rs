//! [`MethodMalloc`]: memory for method bodies.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::error::{Error, Result};
use crate::native::{Answer, Asked};
use crate::runtime::{ProfilerInfo, Reach};
use clr_profiler_sys as sys;

/// The longest method body that there is memory for. No compiler takes one that comes near it.
const LONGEST: usize = 64 << 20;

/// Gives memory for the method bodies of a module.
///
/// From [`il_function_body_allocator`](crate::info::CorProfilerInfo::il_function_body_allocator).
#[doc(alias = "IMethodMalloc")]
pub struct MethodMalloc<'info> {
    /// Released only while the runtime has its side.
    native: ManuallyDrop<sys::IMethodMalloc>,
    info: ProfilerInfo,
    lifetime: PhantomData<&'info ProfilerInfo>,
}

impl Answer<Option<sys::IMethodMalloc>> for MethodMalloc<'_> {
    fn answer(raw: Option<sys::IMethodMalloc>, asked: &Asked<'_>) -> Result<Self> {
        let (Some(native), Some(info)) = (raw, asked.info) else {
            return Err(Error::invalid(asked.call, "the runtime gave no allocator"));
        };
        Ok(Self {
            native: ManuallyDrop::new(native),
            info: info.clone(),
            lifetime: PhantomData,
        })
    }
}

impl<'info> MethodMalloc<'info> {
    /// Memory of that many bytes, all zero: at least one, and at most 64 MiB. The runtime keeps it for good:
    /// it cannot be given back.
    #[wraps(IMethodMalloc::Alloc
        at "where the allocator can be had: not during a collection, not in hooks."
        fails "An error of its own for sizes that no method body has, and where there is no memory.")]
    pub fn alloc(&self, size: usize) -> Result<&'info mut [u8]> {
        const CALL: &str = "IMethodMalloc::Alloc";
        let length = match u32::try_from(size) {
            Ok(length) if (1..=LONGEST).contains(&size) => length,
            _ => {
                return Err(Error::invalid(
                    CALL,
                    format_args!("no method body has {size} bytes"),
                ));
            }
        };
        // Refused and waited for as the calls of `ProfilerInfo` are. It moves no object.
        let _in_flight = self
            .info
            .native::<sys::ICorProfilerInfo>(CALL, Reach::Lock)?;
        // SAFETY: the runtime's side is there, as was just asked. Any size may be asked for; a failure
        // is a null pointer.
        let memory = unsafe { self.native.Alloc(length) }.cast::<u8>();
        if memory.is_null() {
            return Err(Error::invalid(
                CALL,
                format_args!("no memory for a method body of {size} bytes"),
            ));
        }
        // SAFETY: the allocator gave `size` bytes at `memory`, which nobody else knows yet; zeroed they
        // are initialised. Nobody frees them: the allocator is one for all modules, which takes from the
        // heap of the process and knows of no way back, so they outlive the module, even one that is
        // unloaded, and the runtime's side of a profiler.
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
            .native::<sys::ICorProfilerInfo>("IMethodMalloc::Release", Reach::Suspension);
        if there.is_ok() {
            // SAFETY: the runtime's side is there, and nobody uses the reference afterwards.
            unsafe { ManuallyDrop::drop(&mut self.native) };
        }
    }
}

opaque! { MethodMalloc<'_> }
