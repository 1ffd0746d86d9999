//! Compiles a method on trial, in the callback of its own compilation.
//!
//! The program offers a function that has a method compiled (`RuntimeHelpers.PrepareMethod`) and catches its
//! exceptions. The runtime lets a thread compile a method again while it compiles it, because the cycles of static
//! constructors need that. So the exception of a wrong body arrives here, and not in the program.

use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;

/// The function of the program.
static TRIAL: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// The result of a trial.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Compiled,
    Failed,
    /// A method that cannot be prepared, such as one of an open generic type.
    Impossible,
}

/// Whether this thread compiles a method on trial.
pub(crate) fn is_trying() -> bool {
    TRYING.get()
}

/// Compiles this function, whose compilation has begun; `None` if the program offers no trials.
pub(crate) fn outcome(function: FunctionId) -> Option<Outcome> {
    let trial = TRIAL.load(Ordering::Acquire);
    if trial == 0 || TRYING.replace(true) {
        return None;
    }
    // SAFETY: the program has offered the address of a function of this type, which lives as long as the program.
    let trial: extern "C" fn(usize) -> i32 = unsafe { mem::transmute(trial) };
    let outcome = trial(function.raw());
    TRYING.set(false);
    Some(match outcome {
        0 => Outcome::Failed,
        1 => Outcome::Compiled,
        _ => Outcome::Impossible,
    })
}

/// Takes the function of the program.
pub(crate) struct Offer(NativeCall);

impl Offer {
    pub(crate) fn new() -> Self {
        Self(NativeCall::new(|trial: isize| {
            TRIAL.store(trial as usize, Ordering::Release);
        }))
    }
}

#[component]
impl Component for Offer {
    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.name()? == "Offer" && method.assembly_name()? == "AfterCheck" {
            method.rewrite(|body, cx| {
                let mut code = Fragment::new();
                code.ldarg(0).append(&cx.call_native(&self.0)?);
                body.prologue(&code)?;
                Ok(())
            })?;
        }
        Ok(())
    }
}
