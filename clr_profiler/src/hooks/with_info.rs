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
/// The first version whose runtime preserves all argument registers across an enter hook.
const KEEPS_REGISTERS: u16 = 5;

/// Enter, leave and tailcall hooks that read arguments and returned values: see
/// [`Setup::hooks_with_info`](crate::Setup::hooks_with_info).
///
/// Each method is called on the thread that runs the function, as part of the function. No garbage
/// collection can run meanwhile, so objects do not move: the method should be short, and must not
/// wait for a thread that runs managed code. Calls of [`ProfilerInfo`] that are not legal during a
/// garbage collection are refused here, too; ask for names and the like in the filter.
///
/// An error is passed to [`on_failure`](Self::on_failure). A panic does not unwind into the
/// program: it disables all hooks, and is passed to `on_failure`.
pub trait CallHooksWithInfo: Send + Sync + 'static {
    /// The data kept for each function that has hooks, such as a name or a counter.
    type Function: Send + Sync + 'static;

    /// The hooks to set. The others are not called, and cost next to nothing.
    const KINDS: HookKinds = HookKinds::all();

    /// Called when a function begins.
    ///
    /// # Errors
    ///
    /// Any error of the profiler's own.
    fn enter(&self, call: &EnterCall<'_, Self::Function>) -> Result<()> {
        let _ = call;
        Ok(())
    }

    /// Called when a function returns, but not when an exception leaves it: see
    /// [`Unwinding`](crate::hooks::Unwinding).
    ///
    /// # Errors
    ///
    /// Any error of the profiler's own.
    fn leave(&self, call: &LeaveCall<'_, Self::Function>) -> Result<()> {
        let _ = call;
        Ok(())
    }

    /// Called when a function ends by a tail call; `leave` is not called for it.
    ///
    /// # Errors
    ///
    /// Any error of the profiler's own.
    fn tailcall(&self, function: &'static HookedFunction<Self::Function>) -> Result<()> {
        let _ = function;
        Ok(())
    }

    /// Called when a hook or the filter failed or panicked.
    ///
    /// After a failure of a hook it runs in the same context as the hook, with the same
    /// restrictions. A panic in it is ignored.
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
    /// Makes the type neither `Send` nor `Sync`.
    stays_here: PhantomData<*const ()>,
}

impl<T> EnterCall<'_, T> {
    /// The function.
    #[must_use]
    pub fn function(&self) -> &'static HookedFunction<T> {
        self.function
    }

    /// The number of arguments, including `this`.
    #[must_use]
    pub fn argument_count(&self) -> usize {
        self.shape.argument_count()
    }

    /// An argument, counted from 0, `this` first.
    ///
    /// Managed pointers (`ref`, `in`, `out`, and `this` of structures) are addresses:
    /// [`ObjectValue::Pointer`]. A structure is returned as its bytes, without its type. So is a
    /// value of a generic parameter in code that several types share, where `this` is an address,
    /// too.
    ///
    /// # Errors
    ///
    /// If there is no such argument, or the runtime does not provide it.
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

    /// The [`ProfilerInfo`], to read objects with.
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
    /// Makes the type neither `Send` nor `Sync`.
    stays_here: PhantomData<*const ()>,
}

impl<T> LeaveCall<'_, T> {
    /// The function.
    #[must_use]
    pub fn function(&self) -> &'static HookedFunction<T> {
        self.function
    }

    /// The returned value; `None` if the function returns `void`.
    ///
    /// # Errors
    ///
    /// If the runtime does not provide it. Except on Windows x64, runtimes before .NET 5 report wrong bytes
    /// for structures of at most 16 bytes, unless they are returned in one integer register. There every
    /// structure is an error, and so is a value whose type is a parameter of a generic type, in code that
    /// instantiations share: it may be a structure.
    pub fn returned(&self) -> Result<Option<ObjectValue<'_>>> {
        self.shape.may_ask_for_returned()?;
        // SAFETY: this runs in the leave hook of the call, on its thread, with the hook's own
        // values.
        let value = outside_of_hook(|| unsafe {
            self.info.function_leave3_info(self.function.id(), self.elt)
        })?;
        // SAFETY: the runtime gave the range for this call; the value's lifetime is that of a
        // borrow of `self`, which lives in the leave hook.
        unsafe { self.shape.returned(self.info, value.value) }
    }

    /// The [`ProfilerInfo`], to read objects with.
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

/// The state of the native hooks.
struct State<H> {
    hooks: H,
    info: ProfilerInfo,
}

/// Runs a hook, and catches its panic.
///
/// # Safety
///
/// The caller is a hook that [`install`] set for `H`, and passes the id that the hook received.
unsafe fn run<H: CallHooksWithInfo>(
    id: FunctionIDOrClientID,
    hook: impl FnOnce(
        &'static State<H>,
        &'static HookedFunction<H::Function>,
        &'static Shape,
    ) -> Result<()>,
) {
    // SAFETY: the hooks for `H` were set after a `State<H>` was activated.
    let Some(state) = (unsafe { state::active::<State<H>>() }) else {
        return;
    };
    // SAFETY: both fields of the union are the same integer; the mapper returns only client ids of
    // this type's functions.
    let function = unsafe { function_of::<H::Function>(id.clientID) };
    let Some(shape) = function.shape() else {
        return;
    };
    // State that a panicking hook leaves inconsistent is the hook's own.
    let failure = match catch_unwind(AssertUnwindSafe(|| {
        in_hook(|| hook(state, function, shape))
    })) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => HookFailure::Hook(function.id(), error),
        Err(payload) => state::disable_after(payload),
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
            // SAFETY: this is the enter hook, with its own function and the value that it received.
            let value = outside_of_hook(|| unsafe {
                let function: &HookedFunction<H::Function> = function;
                (state.info).function_enter3_info(function.id(), EltInfo::from_raw(elt), buffer)
            })?;
            state.hooks.enter(&EnterCall {
                function,
                shape,
                info: &state.info,
                ranges: value.arguments,
                stays_here: PhantomData,
            })
        };
        // While the thread ends, its thread-locals may be destroyed already.
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

/// Sets the hooks and the mapper. Called in `initialize`, after the event mask is set.
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
    // SAFETY: the hooks do not unwind. They read their own call only, and are sound in any function
    // on any thread: the thread is marked while they run, so that calls that the runtime does not
    // allow there are refused. They receive only client ids, as the mapper was set before.
    unsafe {
        let [enter, leave, tailcall] = H::KINDS.of([enter, left::<H>, tail_called::<H>]);
        set_hooks3_with_info(info, enter, leave, tailcall)
    }
}
