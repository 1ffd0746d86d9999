//! Calls that are balanced, despite exceptions.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use clr_profiler::hooks::{CallHooks, HookedFunction, HookedFunctions, UnwindStep};
use clr_profiler::prelude::*;
use clr_profiler_tools::calls::CallStack;
use scenario_support::{clsid, log};

use super::make_tail_calls;

/// A function, with how often it was entered, and how often hooks and exceptions ended it.
#[derive(Default)]
pub(crate) struct Function {
    name: String,
    entered: AtomicU64,
    left: AtomicU64,
    unwound: AtomicU64,
}

/// How often something other than one call ended at once.
static UNPAIRED: AtomicU64 = AtomicU64::new(0);
/// The largest number of active calls of one thread.
static DEEPEST: AtomicU64 = AtomicU64::new(0);

type Stack = CallStack<&'static HookedFunction<Function>>;

thread_local! {
    static STACK: RefCell<Stack> = RefCell::new(Stack::with_capacity(2000));
}

struct Pairs;

fn left(function: &'static HookedFunction<Function>) {
    STACK.with_borrow_mut(|stack| {
        let mut ended = 0;
        for (_, call) in stack.leave(function.id()) {
            call.left.fetch_add(1, Ordering::Relaxed);
            ended += 1;
        }
        if ended != 1 {
            UNPAIRED.fetch_add(1, Ordering::Relaxed);
        }
    });
}

// SAFETY: the hooks touch atomics and memory of their own.
unsafe impl CallHooks for Pairs {
    type Function = Function;

    fn enter(&self, function: &'static HookedFunction<Function>) {
        function.entered.fetch_add(1, Ordering::Relaxed);
        STACK.with_borrow_mut(|stack| {
            stack.enter(function.id(), function);
            DEEPEST.fetch_max(stack.len() as u64, Ordering::Relaxed);
        });
    }

    fn leave(&self, function: &'static HookedFunction<Function>) {
        left(function);
    }

    fn tailcall(&self, function: &'static HookedFunction<Function>) {
        left(function);
    }
}

/// Pairs the calls of `Hooked`.
pub(crate) struct PairsCalls(HookedFunctions<Function>);

#[profiler(clsid = clsid("PairsCalls"))]
impl Profiler for PairsCalls {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        let functions = setup.hooks(Pairs, |info, function| {
            let Ok(name) = info.method(function).and_then(|method| method.full_name()) else {
                return Ok(None);
            };
            let is_hooked = ["Count", "Tail", "Main("]
                .iter()
                .any(|start| name.starts_with(&format!("Hooked.Program.{start}")));
            Ok(is_hooked.then(|| Function {
                name,
                ..Function::default()
            }))
        })?;
        Ok(Self(functions))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        make_tail_calls(info, function, "Hooked.Program.Tail")
    }

    fn exception_unwind_function_enter(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<()> {
        STACK.with_borrow_mut(|stack| drop(stack.unwind(UnwindStep::Enter(function))));
        Ok(())
    }

    fn exception_catcher_enter(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _object: ObjectId<'_>,
    ) -> Result<()> {
        STACK.with_borrow_mut(|stack| drop(stack.unwind(UnwindStep::Caught)));
        Ok(())
    }

    fn exception_unwind_function_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        STACK.with_borrow_mut(|stack| {
            let mut ended = 0;
            for (_, call) in stack.unwind(UnwindStep::Leave) {
                call.unwound.fetch_add(1, Ordering::Relaxed);
                ended += 1;
            }
            if ended > 1 {
                UNPAIRED.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let mut lines: Vec<String> = self
            .0
            .iter()
            .map(|function| {
                let [entered, left, unwound] =
                    [&function.entered, &function.left, &function.unwound]
                        .map(|count| count.load(Ordering::Relaxed));
                format!("{} {entered} {left} {unwound}", function.name)
            })
            .collect();
        lines.sort();
        lines.iter().for_each(log::line);
        log::line(format_args!(
            "unpaired 0 {} {}",
            UNPAIRED.load(Ordering::Relaxed),
            DEEPEST.load(Ordering::Relaxed)
        ));
        Ok(())
    }
}
