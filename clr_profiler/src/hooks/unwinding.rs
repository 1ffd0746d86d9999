//! [`Unwinding`]: tells which calls exceptions end.

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

/// What an exception does to the calls of the thread on which this is told: to be given to
/// `CallStack::unwind` of the crate `clr_profiler_tools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnwindStep {
    /// It is about to leave this function, or to be caught in it.
    Enter(FunctionId),
    /// It is caught in the function of the last `Enter`.
    Caught,
    /// It has left the function of the last `Enter`.
    Leave,
    /// A handler of this function runs: the calls within its innermost call have ended.
    Handle(FunctionId),
}

/// Tells which calls exceptions end. A function that an exception leaves has no leave hook: `CallStack` of
/// the crate `clr_profiler_tools` pairs hooks with what is told here.
///
/// By the callbacks of exceptions, or by [`ExceptionEvents`] on runtimes that [lose
/// exceptions](crate::info::RuntimeInformation::loses_exceptions) which are monitored. Its closure is called on
/// the thread of the exception, where the profiler's `thread_local!` is.
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
    tell: Arc<Tell>,
    /// Whether [`ExceptionEvents`] tell it.
    is_by_events: AtomicBool,
}

type Tell = dyn Fn(UnwindStep) + Send + Sync;

impl Unwinding {
    /// To be [attached](Setup::attach): `tell` is called on the thread of the exception.
    #[must_use]
    pub fn new(tell: impl Fn(UnwindStep) + Send + Sync + 'static) -> Self {
        Self {
            tell: Arc::new(tell),
            is_by_events: AtomicBool::new(false),
        }
    }

    fn tell(&self, step: UnwindStep) -> Result<()> {
        (self.tell)(step);
        Ok(())
    }
}

impl Component for Unwinding {
    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        if info.runtime_information()?.loses_exceptions() {
            self.is_by_events.store(true, Ordering::Relaxed);
            let tell = Arc::clone(&self.tell);
            setup.attach(ExceptionEvents::new(move |_, event| {
                if let ExceptionEvent::CatchBegins(function)
                | ExceptionEvent::FinallyBegins(function) = event
                {
                    tell(UnwindStep::Handle(function));
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
        self.tell(UnwindStep::Enter(function))
    }

    fn exception_unwind_function_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        self.tell(UnwindStep::Leave)
    }

    fn exception_catcher_enter(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _thrown: ObjectId<'_>,
    ) -> Result<()> {
        self.tell(UnwindStep::Caught)
    }
}
