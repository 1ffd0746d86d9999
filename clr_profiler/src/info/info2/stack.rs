//! Stack walks.

use std::ffi::c_void;
use std::ops::ControlFlow;

use crate::error::{Error, ErrorKind, Hresult, Result};
use crate::ids::{FunctionId, ThreadId};
use crate::info::FrameInfo;
use crate::info::visit::Visit;
use crate::native::{Argument, Asked};
use crate::runtime::{ProfilerInfo, without_waiting};
use clr_profiler_sys as sys;
use sys::HRESULT;

/// How a stack is walked and what is reported.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// Each frame comes with its registers.
    pub with_registers: bool,
    /// Follows frame pointers instead of unwinding: faster, less exact, x86 only.
    pub x86_optimized: bool,
}

/// A frame of a stack walk; good during the call that got it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StackFrame<'walk> {
    /// The function; none stands for frames without managed code.
    pub function: Option<FunctionId>,
    /// The instruction pointer.
    pub ip: usize,
    /// What tells the function's exact generic arguments, as far as they are known.
    pub frame: Option<FrameInfo<'walk>>,
    /// The registers, a `CONTEXT` of the platform; empty unless they were asked for.
    pub registers: &'walk [u8],
}

/// The smallest a `CONTEXT` can be for the runtime to read no further: it is told the size, and
/// does not look at it.
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
    // SAFETY: the runtime passes through what `walk` gave it, during its call, on one thread.
    let visit = unsafe { Visit::<V>::of(data) };
    if visit.is_over() {
        return sys::S_FALSE;
    }
    let registers = if context.is_null() {
        &[][..]
    } else {
        // SAFETY: the runtime says that the registers of that size stand there, for this call.
        unsafe { std::slice::from_raw_parts(context, context_size as usize) }
    };
    let frame = StackFrame {
        function: FunctionId::optional(function),
        ip,
        frame: FrameInfo::optional(frame),
        registers,
    };
    // The runtime has suspended the thread that is walked, if it is another one.
    if visit.item(|visitor| without_waiting(|| visitor(&frame))) {
        sys::S_OK
    } else {
        sys::S_FALSE
    }
}

/// Walks a stack, from the registers `seed` on if there are any.
///
/// # Safety
///
/// The registers are as
/// [`do_stack_snapshot_with_seed`](super::CorProfilerInfo2::do_stack_snapshot_with_seed) demands.
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
    // The runtime asks for 16 bytes' alignment and may write to it: a copy.
    let mut copy: Vec<u128> = Vec::new();
    if let Some(registers) = seed {
        if registers.len() < CONTEXT {
            return Err(Error::invalid(
                CALL,
                format_args!(
                    "the registers to begin with have {} bytes, a CONTEXT has {CONTEXT}",
                    registers.len()
                ),
            ));
        }
        copy.resize(registers.len().div_ceil(size_of::<u128>()), 0);
        let start = copy.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room for all of them, in memory of its own.
        unsafe { start.copy_from_nonoverlapping(registers.as_ptr(), registers.len()) };
    }
    let (context, context_size) = match seed {
        Some(registers) => (copy.as_mut_ptr().cast(), registers.len() as u32),
        None => (std::ptr::null_mut(), 0),
    };
    let asked = Asked::of_info(CALL, info);
    let mut visit = Visit::new(visitor);
    let answer = ask!(
        in gc info,
        ICorProfilerInfo2::DoStackSnapshot(
            thread.to_native(&asked)?,
            Some(frame::<V>),
            flags,
            visit.data(),
            context,
            context_size,
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
