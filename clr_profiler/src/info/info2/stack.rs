//! Stack walks.

use std::ffi::c_void;
use std::ops::ControlFlow;

use crate::error::{Error, ErrorKind, Hresult, Result};
use crate::ids::{FunctionId, ThreadId};
use crate::info::FrameInfo;
use crate::info::visit::Visit;
use crate::native::{Argument, CallContext};
use crate::runtime::{ProfilerInfo, without_waiting};
use clr_profiler_sys as sys;
use sys::HRESULT;

/// Options of a stack walk.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// Reports the registers of each frame.
    pub with_registers: bool,
    /// Follows frame pointers instead of unwinding: faster, less exact, x86 only.
    pub x86_optimized: bool,
}

/// A frame of a stack walk, valid during the call of `visit` that receives it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StackFrame<'walk> {
    /// The function; `None` represents consecutive frames without managed code.
    pub function: Option<FunctionId>,
    /// The instruction pointer.
    pub ip: usize,
    /// Identifies the function's exact generic arguments, as far as they are known.
    pub frame: Option<FrameInfo<'walk>>,
    /// The registers, a `CONTEXT` of the platform; empty unless requested.
    pub registers: &'walk [u8],
}

/// The minimum size of a seed. The runtime reads a whole `CONTEXT`, without checking the size that it is
/// given.
const CONTEXT: usize = if cfg!(target_arch = "x86") {
    716
} else if cfg!(target_arch = "x86_64") {
    1232
} else {
    912
};

unsafe extern "system" fn frame<V: FnMut(&StackFrame<'_>) -> ControlFlow<()>>(
    function: sys::FunctionID,
    ip: usize,
    frame: sys::COR_PRF_FRAME_INFO,
    context_size: u32,
    context: *mut u8,
    data: *mut c_void,
) -> HRESULT {
    // SAFETY: the runtime passes the data of `walk` unchanged, during its call, on one thread.
    let visit = unsafe { Visit::<V>::of(data) };
    if visit.is_over() {
        return sys::S_FALSE;
    }
    let registers = if context.is_null() {
        &[][..]
    } else {
        // SAFETY: the runtime passes the size of the registers at that address, which are valid for this
        // call.
        unsafe { std::slice::from_raw_parts(context, context_size as usize) }
    };
    let frame = StackFrame {
        function: FunctionId::optional(function),
        ip,
        frame: FrameInfo::optional(frame),
        registers,
    };
    // If another thread is walked, the runtime has suspended it.
    if visit.item(|visitor| without_waiting(|| visitor(&frame))) {
        sys::S_OK
    } else {
        sys::S_FALSE
    }
}

/// Walks a stack, starting from the registers `seed` if they are given.
///
/// # Safety
///
/// The registers meet the precondition of
/// [`do_stack_snapshot_with_seed`](super::CorProfilerInfo2::do_stack_snapshot_with_seed).
pub(super) unsafe fn walk<V: FnMut(&StackFrame<'_>) -> ControlFlow<()>>(
    info: &ProfilerInfo,
    thread: Option<ThreadId>,
    options: SnapshotOptions,
    seed: Option<&[u8]>,
    visitor: V,
) -> Result<()> {
    const CALL: &str = "ICorProfilerInfo2::DoStackSnapshot";
    let mut flags = sys::COR_PRF_SNAPSHOT_DEFAULT;
    if options.with_registers {
        flags |= sys::COR_PRF_SNAPSHOT_REGISTER_CONTEXT;
    }
    if options.x86_optimized {
        flags |= sys::COR_PRF_SNAPSHOT_X86_OPTIMIZED;
    }
    // A copy, because the runtime requires an alignment of 16 bytes and may write to it.
    let mut copy: Vec<u128> = Vec::new();
    if let Some(registers) = seed {
        if registers.len() < CONTEXT {
            return Err(Error::invalid(
                CALL,
                format_args!(
                    "the seed has {} bytes, a CONTEXT has {CONTEXT}",
                    registers.len()
                ),
            ));
        }
        copy.resize(registers.len().div_ceil(size_of::<u128>()), 0);
        let start = copy.as_mut_ptr().cast::<u8>();
        // SAFETY: the copy has room for all of them, and does not overlap with them.
        unsafe { start.copy_from_nonoverlapping(registers.as_ptr(), registers.len()) };
    }
    let (seed, seed_size) = match seed {
        Some(registers) => (copy.as_mut_ptr().cast(), registers.len() as u32),
        None => (std::ptr::null_mut(), 0),
    };
    let context = CallContext::of_info(CALL, info);
    let mut visit = Visit::new(visitor);
    let answer = ask!(
        in gc info,
        ICorProfilerInfo2::DoStackSnapshot(
            thread.to_native(&context)?,
            Some(frame::<V>),
            flags,
            visit.data(),
            seed,
            seed_size,
        )
    );
    match visit.end(answer) {
        (Err(error), true) if is_aborted(&error) => Ok(()),
        (answer, _) => answer,
    }
}

fn is_aborted(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Call { hresult, .. } if *hresult == Hresult::CORPROF_E_STACKSNAPSHOT_ABORTED
    )
}
