//! Hooks that see arguments and returned values.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::fast::{HookKinds, set_mapper};
use super::functions::{HookedFunction, HookedFunctions, function_of};
use super::state::{self, HookFailure};
use super::stubs;
use crate::error::{Error, Result};
use crate::ids::FunctionId;
use crate::info::hooks::{
    ArgumentBuffer, CorProfilerInfoHooks, EltInfo, FunctionIDOrClientID, MemoryRange,
};
use crate::info::{CorProfilerInfo3, ObjectValue, Shape, set_hooks3_with_info};
use crate::runtime::{ProfilerInfo, catch, in_hook, outside_of_hook};

const CALL: &str = "Setup::hooks_with_info";
/// The first version whose runtime keeps all registers of arguments around an enter hook.
const KEEPS_REGISTERS: u16 = 5;

/// What happens when a function begins and ends, with arguments and returned values: see
/// [`Setup::hooks_with_info`](crate::Setup::hooks_with_info).
///
/// Each method is called on the thread that runs the function, as part of the function. For as long
/// as it runs no garbage can be collected, so that objects stay where they are: it should be short,
/// and must not wait for a thread that runs managed code. Calls of [`ProfilerInfo`] that are not
/// legal during a garbage collection are refused here, too; names and the like are to be asked for
/// in the filter.
///
/// An error is told to [`on_failure`](Self::on_failure). A panic ends here: the program goes on, no
/// hook is called any more, and `on_failure` is told.
pub trait CallHooksWithInfo: Send + Sync + 'static {
    /// What is kept for each function that has hooks: a name, a counter.
    type Function: Send + Sync + 'static;

    /// The hooks to be set. The others are not called, and cost next to nothing.
    const KINDS: HookKinds = HookKinds::all();

    /// A function begins.
    ///
    /// # Errors
    ///
    /// What the profiler's author finds wrong.
    fn enter(&self, call: &EnterCall<'_, Self::Function>) -> Result<()> {
        let _ = call;
        Ok(())
    }

    /// A function returns. One that an exception leaves does not: see
    /// [`Unwinding`](crate::hooks::Unwinding).
    ///
    /// # Errors
    ///
    /// What the profiler's author finds wrong.
    fn leave(&self, call: &LeaveCall<'_, Self::Function>) -> Result<()> {
        let _ = call;
        Ok(())
    }

    /// A function ends by jumping to another one; it does not leave.
    ///
    /// # Errors
    ///
    /// What the profiler's author finds wrong.
    fn tailcall(&self, function: &'static HookedFunction<Self::Function>) -> Result<()> {
        let _ = function;
        Ok(())
    }

    /// A hook failed or panicked, or the filter did.
    ///
    /// After a failure of a hook this runs where the hook did, and may do what that may do. A panic
    /// in it is swallowed.
    fn on_failure(&self, failure: &HookFailure) {
        let _ = failure;
    }
}

/// A call that begins.
pub struct EnterCall<'hook, T: 'static> {
    function: &'static HookedFunction<T>,
    shape: &'static Shape,
    info: &'static ProfilerInfo,
    ranges: &'hook [MemoryRange<'hook>],
    /// It is this thread's.
    stays_here: PhantomData<*const ()>,
}

impl<T> EnterCall<'_, T> {
    /// The function.
    #[must_use]
    pub fn function(&self) -> &'static HookedFunction<T> {
        self.function
    }

    /// How many arguments it has, with `this`.
    #[must_use]
    pub fn argument_count(&self) -> usize {
        self.shape.argument_count()
    }

    /// An argument, counted from 0, `this` first.
    ///
    /// Managed pointers (`ref`, `in`, `out`, and `this` of structures) are addresses:
    /// [`ObjectValue::Pointer`]. The types of structures are not told, their bytes are; neither are those
    /// of a generic parameter in code that several types share, where `this` is an address, too.
    ///
    /// # Errors
    ///
    /// Where there is no such argument, or the runtime does not show it.
    pub fn argument(&self, index: usize) -> Result<ObjectValue<'_>> {
        // SAFETY: the runtime gave the ranges for this call; the value's lifetime is that of a
        // borrow of `self`, which lives in the enter hook.
        unsafe { self.shape.argument(self.info, self.ranges, index) }
    }

    /// The arguments from left to right, `this` first; see [`argument`](Self::argument).
    #[must_use]
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = Result<ObjectValue<'_>>> {
        (0..self.argument_count()).map(|index| self.argument(index))
    }

    /// The runtime, to read objects with.
    #[must_use]
    pub fn info(&self) -> &ProfilerInfo {
        self.info
    }
}

/// A call that returns.
pub struct LeaveCall<'hook, T: 'static> {
    function: &'static HookedFunction<T>,
    shape: &'static Shape,
    info: &'static ProfilerInfo,
    elt: EltInfo,
    hook: PhantomData<&'hook ()>,
    /// It is this thread's.
    stays_here: PhantomData<*const ()>,
}

impl<T> LeaveCall<'_, T> {
    /// The function.
    #[must_use]
    pub fn function(&self) -> &'static HookedFunction<T> {
        self.function
    }

    /// What it returns; `None` where that is nothing.
    ///
    /// # Errors
    ///
    /// Where the runtime does not show it. Runtimes before .NET 5 show other bytes than those of a
    /// structure: there it is refused, also where the type is one that several types of shared code
    /// have.
    pub fn returned(&self) -> Result<Option<ObjectValue<'_>>> {
        self.shape.may_ask_for_returned()?;
        // SAFETY: this is in the leave hook of the call, on its thread, with what it got.
        let asked = outside_of_hook(|| unsafe {
            self.info.function_leave3_info(self.function.id(), self.elt)
        })?;
        // SAFETY: the runtime gave the range for this call; the value's lifetime is that of a
        // borrow of `self`, which lives in the leave hook.
        unsafe { self.shape.returned(self.info, asked.value) }
    }

    /// The runtime, to read objects with.
    #[must_use]
    pub fn info(&self) -> &ProfilerInfo {
        self.info
    }
}

impl<T> fmt::Debug for EnterCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnterCall({:?})", self.function.id())
    }
}

impl<T> fmt::Debug for LeaveCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LeaveCall({:?})", self.function.id())
    }
}

/// What the native hooks get.
struct State<H> {
    hooks: H,
    info: ProfilerInfo,
}

/// Runs a hook; a panic of it ends here.
///
/// # Safety
///
/// This is in a hook that was set by [`install`] for `H`, with what that got.
unsafe fn run<H: CallHooksWithInfo>(
    id: FunctionIDOrClientID,
    hook: impl FnOnce(
        &'static State<H>,
        &'static HookedFunction<H::Function>,
        &'static Shape,
    ) -> Result<()>,
) {
    // SAFETY: the runtime got the hooks for `H` after a `State<H>` was activated.
    let Some(state) = (unsafe { state::active::<State<H>>() }) else {
        return;
    };
    // SAFETY: both halves of the union are the same plain number; the mapper hands out numbers of
    // this type's functions, and nothing else.
    let function = unsafe { function_of::<H::Function>(id.clientID) };
    let Some(shape) = function.shape() else {
        return;
    };
    // What a hook leaves behind broken is its own.
    let failure = match catch_unwind(AssertUnwindSafe(|| {
        in_hook(|| hook(state, function, shape))
    })) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => HookFailure::Hook(function.id(), error),
        Err(payload) => state::retire_after(payload),
    };
    report(&state.hooks, failure);
}

#[cold]
fn report<H: CallHooksWithInfo>(hooks: &H, failure: HookFailure) {
    let _ = catch(|| in_hook(|| hooks.on_failure(&failure)));
    // The error may have a `drop` of the profiler's author.
    let _ = catch(move || drop(failure));
}

thread_local! {
    static BUFFER: RefCell<ArgumentBuffer> = RefCell::new(ArgumentBuffer::new());
}

pub(super) unsafe extern "system" fn entered<H: CallHooksWithInfo>(
    id: FunctionIDOrClientID,
    elt: usize,
) {
    let hook = |state: &'static State<H>, function, shape| {
        let with = |buffer: &mut ArgumentBuffer| {
            // SAFETY: this is the enter hook, with its own function and what it got.
            let asked = outside_of_hook(|| unsafe {
                let function: &HookedFunction<H::Function> = function;
                (state.info).function_enter3_info(function.id(), EltInfo::from_raw(elt), buffer)
            })?;
            state.hooks.enter(&EnterCall {
                function,
                shape,
                info: &state.info,
                ranges: asked.arguments,
                stays_here: PhantomData,
            })
        };
        // While the thread ends its locals may be gone.
        let done =
            BUFFER.try_with(|buffer| buffer.try_borrow_mut().map(|mut buffer| with(&mut buffer)));
        match done {
            Ok(Ok(done)) => done,
            _ => with(&mut ArgumentBuffer::new()),
        }
    };
    // SAFETY: the runtime calls this as the enter hook.
    unsafe { run::<H>(id, hook) };
}

unsafe extern "system" fn left<H: CallHooksWithInfo>(id: FunctionIDOrClientID, elt: usize) {
    // SAFETY: the runtime calls this as the leave hook.
    unsafe {
        run::<H>(id, |state, function, shape| {
            state.hooks.leave(&LeaveCall {
                function,
                shape,
                info: &state.info,
                elt: EltInfo::from_raw(elt),
                hook: PhantomData,
                stays_here: PhantomData,
            })
        });
    }
}

unsafe extern "system" fn tail_called<H: CallHooksWithInfo>(id: FunctionIDOrClientID, _elt: usize) {
    // SAFETY: the runtime calls this as the tailcall hook.
    unsafe { run::<H>(id, |state, function, _shape| state.hooks.tailcall(function)) };
}

/// Hands hooks and filter to the runtime. Comes in `initialize`, after the events.
pub(super) fn install<H: CallHooksWithInfo>(
    info: &ProfilerInfo,
    hooks: H,
    filter: impl Fn(&ProfilerInfo, FunctionId) -> Result<Option<H::Function>> + Send + Sync + 'static,
    functions: HookedFunctions<H::Function>,
) -> Result<()> {
    let state = State {
        hooks,
        info: info.clone(),
    };
    let state = state::activate(CALL, info, state)?;
    let described = move |info: &ProfilerInfo, function| match filter(info, function)? {
        Some(data) => {
            let shape = Shape::of(info, function)
                .map_err(|error| Error::other(format!("its signature cannot be read: {error}")))?;
            Ok(Some((data, Some(Box::new(shape)))))
        }
        None => Ok(None),
    };
    set_mapper(info, described, functions, |failure| {
        let _ = catch(|| state.hooks.on_failure(failure));
    })?;
    let enter = if info.runtime_information()?.major < KEEPS_REGISTERS {
        stubs::old_enter_with_info::<H>()
    } else {
        entered::<H>
    };
    // SAFETY: the hooks do not unwind. They look at their own call only, and are sound in any
    // function on any thread: what they run is marked, so that calls are refused that the runtime
    // cannot answer there. They get numbers of functions only, as the mapper was set before.
    unsafe {
        let [enter, leave, tailcall] = H::KINDS.of([enter, left::<H>, tail_called::<H>]);
        set_hooks3_with_info(info, enter, leave, tailcall)
    }
}
