//! [`MethodMalloc`]: memory for method bodies.

use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::native::{Answer, Asked};
use crate::runtime::ProfilerInfo;
use clr_profiler_sys as sys;

/// Gives memory for the method bodies of a module.
///
/// From [`il_function_body_allocator`](crate::CorProfilerInfo::il_function_body_allocator).
#[doc(alias = "IMethodMalloc")]
pub struct MethodMalloc<'info> {
    native: sys::IMethodMalloc,
    info: PhantomData<&'info ProfilerInfo>,
}

impl Answer<Option<sys::IMethodMalloc>> for MethodMalloc<'_> {
    fn answer(raw: Option<sys::IMethodMalloc>, asked: &Asked<'_>) -> Result<Self> {
        let native =
            raw.ok_or_else(|| Error::invalid(asked.call, "the runtime gave no allocator"))?;
        Ok(Self {
            native,
            info: PhantomData,
        })
    }
}

impl<'info> MethodMalloc<'info> {
    /// Memory of that many bytes, all zero. The runtime keeps it for good: it cannot be given back.
    #[wraps(IMethodMalloc::Alloc fails "An error of its own where there is no memory.")]
    pub fn alloc(&self, size: usize) -> Result<&'info mut [u8]> {
        const CALL: &str = "IMethodMalloc::Alloc";
        let no_memory = || {
            Error::invalid(
                CALL,
                format_args!("no memory for a method body of {size} bytes"),
            )
        };
        let Ok(length) = u32::try_from(size) else {
            return Err(no_memory());
        };
        // SAFETY: any size may be asked for; a failure is a null pointer.
        let memory = unsafe { self.native.Alloc(length) }.cast::<u8>();
        if memory.is_null() {
            return Err(no_memory());
        }
        // SAFETY: the allocator gave `size` bytes at `memory`, which nobody else knows yet, and
        // which live at least as long as the module; zeroed they are initialised.
        Ok(unsafe {
            memory.write_bytes(0, size);
            std::slice::from_raw_parts_mut(memory, size)
        })
    }
}

opaque! { MethodMalloc<'_> }
