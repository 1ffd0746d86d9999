//! The fast hooks: no more than an id, no more cost than it takes to save registers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::functions::{HookedFunction, HookedFunctions, function_of};
use super::state::{self, HookFailure};
use super::stubs;
use crate::error::{Error, Result};
use crate::event_mask::EventMask;
use crate::ids::FunctionId;
use crate::info::hooks::Hooked;
use crate::info::{Shape, set_hooks3, set_mapper2};
use crate::runtime::{ProfilerInfo, catch};

const CALL: &str = "Setup::hooks";

bitflags::bitflags! {
    /// The three hooks that a function can have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HookKinds: u8 {
        /// Called when a function begins.
        const ENTER = 1;
        /// Called when a function returns.
        const LEAVE = 2;
        /// Called when a function ends by jumping to another one.
        const TAILCALL = 4;
    }
}

impl HookKinds {
    /// The hooks that are wanted of the enter, leave and tailcall hook.
    pub(super) fn of<T>(self, [enter, leave, tailcall]: [T; 3]) -> [Option<T>; 3] {
        let wanted = |kind, hook| self.contains(kind).then_some(hook);
        [
            wanted(Self::ENTER, enter),
            wanted(Self::LEAVE, leave),
            wanted(Self::TAILCALL, tailcall),
        ]
    }
}

/// What happens when a function begins and ends: see [`Setup::hooks`](crate::Setup::hooks).
///
/// Each method is called on the thread that runs the function, as part of the function. Nothing is
/// allocated, no lock is taken and nothing is written down on the way to it: what a call costs is
/// what the registers cost that have to be kept, and what is done here. Of the three hooks those
/// are set that [`KINDS`](Self::KINDS) names.
///
/// A panic ends here: the program goes on, no hook is called any more, and
/// [`on_failure`](Self::on_failure) is told.
///
/// # Safety
///
/// While a hook runs, its thread stands between two instructions of managed code, and the runtime
/// knows nothing of it: no garbage can be collected before the hook returns, and none may be. So
/// `enter`, `leave` and `tailcall`
///
/// - call nothing of [`ProfilerInfo`] and of what comes from it, and do not look at objects;
/// - do not run managed code, and do not wait for a thread that does or that asks the runtime for
///   something: such a thread may wait for a collection, which waits for the hook.
///
/// Atomics, thread-locals and memory of Rust's allocator are good. Hooks that have to ask are
/// slower, and set by [`Setup::hooks_with_info`](crate::Setup::hooks_with_info).
pub unsafe trait CallHooks: Send + Sync + 'static {
    /// What is kept for each function that has hooks: a name, a counter.
    type Function: Send + Sync + 'static;

    /// The hooks to be set. The others are not called, and cost next to nothing.
    const KINDS: HookKinds = HookKinds::all();

    /// A function begins.
    #[inline]
    fn enter(&self, function: &'static HookedFunction<Self::Function>) {
        let _ = function;
    }

    /// A function returns. One that an exception leaves does not: see
    /// [`Unwinding`](crate::hooks::Unwinding).
    #[inline]
    fn leave(&self, function: &'static HookedFunction<Self::Function>) {
        let _ = function;
    }

    /// A function ends by jumping to another one; it does not leave.
    #[inline]
    fn tailcall(&self, function: &'static HookedFunction<Self::Function>) {
        let _ = function;
    }

    /// A hook panicked, or the filter failed or panicked.
    ///
    /// After a panic of a hook this runs where the hook did, and may do what that may do. A panic
    /// in it is swallowed.
    fn on_failure(&self, failure: &HookFailure) {
        let _ = failure;
    }
}

/// Runs a hook; a panic of it ends here.
#[inline]
fn run<H: CallHooks>(
    number: usize,
    hook: impl FnOnce(&'static H, &'static HookedFunction<H::Function>),
) {
    // SAFETY: the runtime got the stubs for `H` after an `H` was activated.
    let Some(hooks) = (unsafe { state::active::<H>() }) else {
        return;
    };
    // SAFETY: the mapper hands out numbers of this type's functions, and nothing else.
    let function = unsafe { function_of::<H::Function>(number) };
    // What a hook leaves behind broken is its own.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(hooks, function))) {
        panicked(hooks, payload);
    }
}

#[cold]
fn panicked<H: CallHooks>(hooks: &H, payload: Box<dyn std::any::Any + Send>) {
    let failure = state::retire_after(payload);
    report(hooks, &failure);
}

#[cold]
fn report<H: CallHooks>(hooks: &H, failure: &HookFailure) {
    let _ = catch(|| hooks.on_failure(failure));
}

/// What the stubs call, with registers saved.
pub(super) extern "C" fn entered<H: CallHooks>(number: usize) {
    run::<H>(number, H::enter);
}

pub(super) extern "C" fn left<H: CallHooks>(number: usize) {
    run::<H>(number, H::leave);
}

pub(super) extern "C" fn tail_called<H: CallHooks>(number: usize) {
    run::<H>(number, H::tailcall);
}

/// Hands hooks and filter to the runtime. Comes in `initialize`, after the events.
pub(super) fn install<H: CallHooks>(
    info: &ProfilerInfo,
    events: EventMask,
    hooks: H,
    filter: impl Fn(&ProfilerInfo, FunctionId) -> Result<Option<H::Function>> + Send + Sync + 'static,
    functions: HookedFunctions<H::Function>,
) -> Result<()> {
    let wrong = events
        & (EventMask::ENABLE_FUNCTION_ARGS
            | EventMask::ENABLE_FUNCTION_RETVAL
            | EventMask::ENABLE_FRAME_INFO);
    if !wrong.is_empty() {
        return Err(Error::rule(
            CALL,
            "with ENABLE_FUNCTION_ARGS, ENABLE_FUNCTION_RETVAL or ENABLE_FRAME_INFO the runtime \
             does not call fast hooks: take them away, or set hooks with info",
        ));
    }
    let (enter, leave, tailcall) = stubs::stubs::<H>()
        .ok_or_else(|| Error::rule(CALL, "there are no fast hooks for this processor"))?;
    let hooks = state::activate(CALL, info, hooks)?;
    let filter =
        move |info: &ProfilerInfo, function| Ok(filter(info, function)?.map(|data| (data, None)));
    set_mapper(info, filter, functions, |failure| report(hooks, failure))?;
    // SAFETY: the stubs keep all registers that have to be kept and do not unwind; what they call
    // is sound in any function, as `CallHooks` demands, and gets numbers of functions only: the
    // mapper was set before, and whoever owns the hooks owns the mapper.
    unsafe {
        let [enter, leave, tailcall] = H::KINDS.of([enter, leave, tailcall]);
        set_hooks3(info, enter, leave, tailcall)
    }
}

/// Sets the mapper that asks the filter.
pub(super) fn set_mapper<T: Send + Sync + 'static>(
    info: &ProfilerInfo,
    filter: impl Fn(&ProfilerInfo, FunctionId) -> Result<Option<(T, Option<Box<Shape>>)>>
    + Send
    + Sync
    + 'static,
    functions: HookedFunctions<T>,
    report: impl Fn(&HookFailure) + Send + Sync + 'static,
) -> Result<()> {
    let asked = info.clone();
    set_mapper2(info, move |function| {
        if state::is_retired() {
            return Hooked::No;
        }
        let failure = match catch(|| filter(&asked, function)) {
            Ok(Ok(Some((data, shape)))) => {
                return Hooked::ByClientId(functions.push(function, data, shape));
            }
            Ok(Ok(None)) => return Hooked::No,
            Ok(Err(error)) => HookFailure::Filter(function, error),
            Err(message) => HookFailure::FilterPanicked(function, message),
        };
        report(&failure);
        // The error may have a `drop` of the profiler's author.
        let _ = catch(move || drop(failure));
        Hooked::No
    })
}
