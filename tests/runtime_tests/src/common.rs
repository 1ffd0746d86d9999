//! Shared by the profilers: the log, checks, names, and calls by the program.

use std::fmt::{Debug, Display};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;

pub(crate) use scenario_support::{clsid, log};

/// Reports failures of callbacks in the log.
pub(crate) fn report_failures(setup: &mut Setup) {
    setup.on_failure(|failure| log::line(format_args!("FAILED {failure}")));
}

/// Logs a failure unless this is so.
pub(crate) fn check(is_so: bool, what: impl Display) {
    if !is_so {
        log::line(format_args!("FAILED {what}"));
    }
}

/// The value as text, or the error.
pub(crate) fn shown<T: Debug>(answer: Result<T>) -> String {
    match answer {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

/// The contents of a lock, also after a panic.
pub(crate) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a type, `None` for those without one, such as types that are being loaded.
pub(crate) fn class_name(info: &ProfilerInfo, class: ClassId) -> Option<String> {
    info.class_full_name(class).ok()
}

/// The name of a method with its type, without parameters.
pub(crate) fn method_name(info: &ProfilerInfo, function: FunctionId) -> Result<String> {
    let name = info.method(function)?.full_name()?;
    let name = name.split('(').next().unwrap_or_default();
    Ok(name.to_owned())
}

/// A counter that callbacks share.
#[derive(Default)]
pub(crate) struct Count(AtomicU32);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Counts one more, and returns the count with it.
    pub(crate) fn one(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Collections, of which no end comes before its begin.
#[derive(Default)]
pub(crate) struct Collections {
    started: Count,
    finished: Count,
}

impl Collections {
    /// Counts a begin, and returns the number of begins.
    pub(crate) fn start(&self) -> u32 {
        let started = self.started.one();
        let finished = self.finished.get();
        check(
            started <= finished + 2,
            format_args!("{started} begins and {finished} ends of collections"),
        );
        started
    }

    pub(crate) fn finish(&self) {
        let finished = self.finished.one();
        let started = self.started.get();
        check(
            finished <= started,
            format_args!("{started} begins and {finished} ends of collections"),
        );
    }

    /// Logs whether there were begins and ends.
    pub(crate) fn report(&self) {
        let (started, finished) = (self.started.get(), self.finished.get());
        log::line(format_args!(
            "collections {}",
            started > 0 && finished > 0 && started - finished <= 1
        ));
    }
}

/// Answers the program's calls of `Profiler.Call`.
pub(crate) type Answer = fn(&ProfilerInfo, i32) -> Result<i32>;

static CALLED: OnceLock<(ProfilerInfo, Answer)> = OnceLock::new();

/// Replaces the body of `Profiler.Call` by a call of this function, whose errors are logged: for
/// `jit_compilation_started`.
pub(crate) fn answer_calls(
    info: &ProfilerInfo,
    function: FunctionId,
    answer: Answer,
) -> Result<()> {
    let method = info.method(function)?;
    if method.name()? != "Call" || method.full_name()? != "RuntimeTests.Profiler.Call(int)" {
        return Ok(());
    }
    CALLED.get_or_init(|| (info.clone(), answer));
    let call = NativeCall::new(|what: i32| {
        let Some((info, answer)) = CALLED.get() else {
            return -2;
        };
        answer(info, what).unwrap_or_else(|error| {
            log::line(format_args!("FAILED {error}"));
            -3
        })
    });
    method.rewrite(|body, cx| {
        let call = cx.call_native(&call)?;
        let wrap = Wrap::new().replace_result(move |code, _, _| {
            code.ldarg(0).append(&call);
        });
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    })?;
    Ok(())
}

/// Runs `work` on a thread of the profiler's own, and waits for it.
pub(crate) fn on_own_thread<R: Send + 'static>(
    info: &ProfilerInfo,
    work: impl FnOnce(&ProfilerInfo) -> Result<R> + Send + 'static,
) -> Result<R> {
    let info = info.clone();
    let worker = std::thread::spawn(move || {
        info.initialize_current_thread()?;
        work(&info)
    });
    worker
        .join()
        .map_err(|_| Error::other("the worker panicked"))?
}
