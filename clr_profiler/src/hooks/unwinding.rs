//! [`Unwinding`]: reports the calls that exceptions end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::events::CallbackSet;
use crate::exceptions::{ExceptionEvent, ExceptionEvents};
use crate::ids::{FunctionId, ObjectId};
use crate::info::CorProfilerInfo3;
use crate::profiler::{Component, Setup};
use crate::runtime::ProfilerInfo;

opaque! { Unwinding }

/// A step of an exception through the calls of the thread on which it is reported, to be passed to
/// `CallStack::unwind` of the crate `clr_profiler_tools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnwindStep {
    /// The exception is about to leave this function, or to be caught in it.
    Enter(FunctionId),
    /// The exception is caught in the function of the last `Enter`.
    Caught,
    /// The exception has left the function of the last `Enter`.
    Leave,
    /// A handler of this function runs: all calls nested in its innermost call have ended.
    Handle(FunctionId),
}

/// Reports the calls that exceptions end.
///
/// The leave hook is not called for a function that an exception leaves: `CallStack` of the crate
/// `clr_profiler_tools` combines the hooks with the steps reported here.
///
/// The steps come from the callbacks of exceptions, or from [`ExceptionEvents`] on runtimes that
/// [lose monitored exceptions](crate::info::RuntimeInformation::loses_exceptions). The closure is
/// called on the thread of the exception, so that it can use the `thread_local!` of the hooks.
///
/// ```
/// use std::cell::RefCell;
///
/// use clr_profiler::prelude::*;
/// use clr_profiler::hooks::{UnwindStep, Unwinding};
///
/// thread_local! {
///     static STEPS: RefCell<Vec<UnwindStep>> = const { RefCell::new(Vec::new()) };
/// }
///
/// # fn initialize(setup: &mut Setup) -> Result<()> {
/// setup.attach(Unwinding::new(|step| {
///     STEPS.with_borrow_mut(|steps| steps.push(step));
/// }))?;
/// # Ok(())
/// # }
/// ```
pub struct Unwinding {
    on_step: Arc<StepHandler>,
    /// Whether the steps come from [`ExceptionEvents`].
    is_by_events: AtomicBool,
}

type StepHandler = dyn Fn(UnwindStep) + Send + Sync;

impl Unwinding {
    /// Creates the component, to be [attached](Setup::attach): `on_step` is called on the thread of
    /// the exception.
    #[must_use]
    pub fn new(on_step: impl Fn(UnwindStep) + Send + Sync + 'static) -> Self {
        Self {
            on_step: Arc::new(on_step),
            is_by_events: AtomicBool::new(false),
        }
    }

    fn on_step(&self, step: UnwindStep) -> Result<()> {
        (self.on_step)(step);
        Ok(())
    }
}

impl Component for Unwinding {
    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        if info.runtime_information()?.loses_exceptions() {
            self.is_by_events.store(true, Ordering::Relaxed);
            let on_step = Arc::clone(&self.on_step);
            setup.attach(ExceptionEvents::new(move |_, event| {
                if let ExceptionEvent::CatchBegins(function)
                | ExceptionEvent::FinallyBegins(function) = event
                {
                    on_step(UnwindStep::Handle(function));
                }
                Ok(())
            }))?;
        }
        Ok(())
    }

    fn callbacks(&self) -> CallbackSet {
        match self.is_by_events.load(Ordering::Relaxed) {
            true => CallbackSet::EMPTY,
            false => CallbackSet::EMPTY
                .with("exception_unwind_function_enter")
                .with("exception_unwind_function_leave")
                .with("exception_catcher_enter"),
        }
    }

    fn exception_unwind_function_enter(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<()> {
        self.on_step(UnwindStep::Enter(function))
    }

    fn exception_unwind_function_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        self.on_step(UnwindStep::Leave)
    }

    fn exception_catcher_enter(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _thrown: ObjectId<'_>,
    ) -> Result<()> {
        self.on_step(UnwindStep::Caught)
    }
}
