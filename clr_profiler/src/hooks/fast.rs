//! The fast hooks: they receive only an id, and cost only the saving of registers.

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
        /// Called when a function ends by a tail call.
        const TAILCALL = 4;
    }
}

impl HookKinds {
    /// Keeps the hooks of these kinds.
    pub(super) fn of<T>(self, [enter, leave, tailcall]: [T; 3]) -> [Option<T>; 3] {
        let wanted = |kind, hook| self.contains(kind).then_some(hook);
        [
            wanted(Self::ENTER, enter),
            wanted(Self::LEAVE, leave),
            wanted(Self::TAILCALL, tailcall),
        ]
    }
}

/// Enter, leave and tailcall hooks: see [`Setup::hooks`](crate::Setup::hooks).
///
/// Each method is called on the thread that runs the function, as part of the function. The library
/// allocates nothing, takes no lock and records nothing on the way to it: a call costs the saving
/// of registers and the work of the method. Only the hooks in [`KINDS`](Self::KINDS) are set.
///
/// A panic does not unwind into the program: it disables all hooks, and is passed to
/// [`on_failure`](Self::on_failure).
///
/// # Safety
///
/// While a hook runs, its thread is between two instructions of managed code, and the runtime does
/// not know: no garbage collection can run before the hook returns, and none may. So `enter`,
/// `leave` and `tailcall`
///
/// - do not call [`ProfilerInfo`] or anything obtained from it, and do not read objects;
/// - do not run managed code, and do not wait for a thread that does or that calls the runtime:
///   such a thread may wait for a collection, which waits for the hook.
///
/// Atomics, thread-locals and Rust's allocator are allowed. Hooks that have to call the runtime are
/// slower: set them with [`Setup::hooks_with_info`](crate::Setup::hooks_with_info).
pub unsafe trait CallHooks: Send + Sync + 'static {
    /// The data kept for each function that has hooks, such as a name or a counter.
    type Function: Send + Sync + 'static;

    /// The hooks to set. The others are not called, and cost next to nothing.
    const KINDS: HookKinds = HookKinds::all();

    /// Called when a function begins.
    #[inline]
    fn enter(&self, function: &'static HookedFunction<Self::Function>) {
        let _ = function;
    }

    /// Called when a function returns, but not when an exception leaves it: see
    /// [`Unwinding`](crate::hooks::Unwinding).
    #[inline]
    fn leave(&self, function: &'static HookedFunction<Self::Function>) {
        let _ = function;
    }

    /// Called when a function ends by a tail call; `leave` is not called for it.
    #[inline]
    fn tailcall(&self, function: &'static HookedFunction<Self::Function>) {
        let _ = function;
    }

    /// Called when a hook panicked, or the filter failed or panicked.
    ///
    /// After a panic of a hook it runs in the same context as the hook, with the same restrictions.
    /// A panic in it is ignored.
    fn on_failure(&self, failure: &HookFailure) {
        let _ = failure;
    }
}

/// Runs a hook, and catches its panic.
#[inline]
fn run<H: CallHooks>(
    number: usize,
    hook: impl FnOnce(&'static H, &'static HookedFunction<H::Function>),
) {
    // SAFETY: the stubs for `H` were set after an `H` was activated.
    let Some(hooks) = (unsafe { state::active::<H>() }) else {
        return;
    };
    // SAFETY: the mapper returns only client ids of this type's functions.
    let function = unsafe { function_of::<H::Function>(number) };
    // State that a panicking hook leaves inconsistent is the hook's own.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(hooks, function))) {
        panicked(hooks, payload);
    }
}

#[cold]
fn panicked<H: CallHooks>(hooks: &H, payload: Box<dyn std::any::Any + Send>) {
    let failure = state::disable_after(payload);
    report(hooks, &failure);
}

#[cold]
fn report<H: CallHooks>(hooks: &H, failure: &HookFailure) {
    let _ = catch(|| hooks.on_failure(failure));
}

/// Called by the enter stub, with registers saved.
pub(super) extern "C" fn entered<H: CallHooks>(number: usize) {
    run::<H>(number, H::enter);
}

pub(super) extern "C" fn left<H: CallHooks>(number: usize) {
    run::<H>(number, H::leave);
}

pub(super) extern "C" fn tail_called<H: CallHooks>(number: usize) {
    run::<H>(number, H::tailcall);
}

/// Sets the hooks and the mapper. Called in `initialize`, after the event mask is set.
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
    // SAFETY: the stubs preserve all registers that must be preserved, and do not unwind; the hooks
    // that they call are sound in any function, as `CallHooks` demands, and receive only client
    // ids: the mapper was set before, and the owner of the hooks owns the mapper.
    unsafe {
        let [enter, leave, tailcall] = H::KINDS.of([enter, leave, tailcall]);
        set_hooks3(info, enter, leave, tailcall)
    }
}

/// Sets a mapper that calls the filter.
pub(super) fn set_mapper<T: Send + Sync + 'static>(
    info: &ProfilerInfo,
    filter: impl Fn(&ProfilerInfo, FunctionId) -> Result<Option<(T, Option<Box<Shape>>)>>
    + Send
    + Sync
    + 'static,
    functions: HookedFunctions<T>,
    report: impl Fn(&HookFailure) + Send + Sync + 'static,
) -> Result<()> {
    let handle = info.clone();
    set_mapper2(info, move |function| {
        if state::are_disabled() {
            return Hooked::No;
        }
        let failure = match catch(|| filter(&handle, function)) {
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
