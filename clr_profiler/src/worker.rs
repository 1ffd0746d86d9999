//! [`Worker`]: a thread of a component of the library.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use crate::error::{Error, Hresult, Result};
use crate::info::CorProfilerInfo4;
use crate::profiler::thread_panicked;
use crate::runtime::{ProfilerInfo, catch, lock, may_wait};

/// The interval between attempts while the runtime is still starting.
const EARLY: Duration = Duration::from_millis(1);

/// A thread that calls the runtime, from the profiler's start to its end.
///
/// It does nothing before `initialize` has returned and the runtime has the profiler's events; its work
/// begins when the runtime knows the thread. It ends with the runtime or the profiler, which is not a
/// failure.
pub(crate) struct Worker {
    info: ProfilerInfo,
    stop: Arc<Stop>,
    id: ThreadId,
    thread: Mutex<Option<JoinHandle<Outcome>>>,
}

/// The result of the work; `None` after a panic, which was reported.
type Outcome = Option<Result<()>>;

/// The request to the thread of a [`Worker`] to end.
#[derive(Default)]
pub(crate) struct Stop {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        *lock(&self.is_set)
    }

    /// Waits for this duration; `true` as soon as the thread must end.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        let (is_set, _) = self
            .changed
            .wait_timeout_while(lock(&self.is_set), patience, |is_set| !*is_set)
            .unwrap_or_else(PoisonError::into_inner);
        *is_set
    }

    fn set(&self) {
        *lock(&self.is_set) = true;
        self.changed.notify_all();
    }
}

impl Worker {
    /// Starts a thread with this name. `work` is dropped without a call if the worker is stopped, or the
    /// profiler ends, before the profiler has started.
    pub(crate) fn start(
        info: &ProfilerInfo,
        name: &str,
        work: impl FnOnce(&Stop) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let thread = thread::Builder::new().name(name.to_owned()).spawn({
            let (info, stop) = (info.clone(), Arc::clone(&stop));
            move || {
                // `work` may contain user code: a panic of it ends here, and neither writes to the program's
                // stderr nor becomes the result of the thread.
                let worked = catch(|| match begin(&info, &stop) {
                    Ok(true) => work(&stop),
                    Ok(false) => Ok(()),
                    Err(error) => Err(error),
                });
                match worked {
                    Ok(Err(_)) if info.has_ended() => Some(Ok(())),
                    Ok(worked) => Some(worked),
                    Err(message) => {
                        thread_panicked(message);
                        None
                    }
                }
            }
        })?;
        Ok(Self {
            info: info.clone(),
            stop,
            id: thread.thread().id(),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Tells the thread to end, and waits for it unless it is this thread. Returns its result once.
    ///
    /// # Errors
    ///
    /// This thread must not wait; or the error of the thread, which is `panicked` after a panic.
    pub(crate) fn stop(&self, call: &'static str, panicked: &'static str) -> Result<()> {
        self.stop.set();
        self.info.gate().wake();
        if thread::current().id() == self.id {
            return Ok(());
        }
        if !may_wait() {
            return Err(Error::rule(
                call,
                "the component's thread ends, but this thread may not wait for it, because it has suspended \
                 the runtime, or is in a callback that others wait for: stop the component in another \
                 callback, or on a thread of the profiler's own",
            ));
        }
        // Held until the thread has ended, so that concurrent calls wait, too.
        let mut thread = lock(&self.thread);
        match thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(Some(ended))) => ended,
            Some(Ok(None) | Err(_)) => Err(Error::other(panicked)),
        }
    }

    /// Waits until the thread does not hold this lock, which it holds during a delivery.
    ///
    /// # Errors
    ///
    /// This thread must not wait, or is the worker's own.
    pub(crate) fn wait_for_delivery<T>(&self, call: &'static str, held: &Mutex<T>) -> Result<()> {
        if thread::current().id() == self.id {
            return Err(Error::rule(
                call,
                "this is the thread that delivers: return from the closure instead",
            ));
        }
        if !may_wait() {
            return Err(Error::rule(
                call,
                "this thread may not wait for a delivery, because it has suspended the runtime, or is \
                 in a callback that others wait for: make the call in another callback, or on a thread \
                 of the profiler's own",
            ));
        }
        drop(lock(held));
        Ok(())
    }
}

/// Waits for the profiler's start, and registers the thread with the runtime; `false` if it must end.
fn begin(info: &ProfilerInfo, stop: &Stop) -> Result<bool> {
    if !info.gate().pass(|| stop.is_set()) {
        return Ok(false);
    }
    loop {
        match info.initialize_current_thread() {
            Ok(()) => return Ok(true),
            Err(error) if is_early(&error) && !info.has_ended() => {
                if stop.wait(EARLY) {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether a call may succeed later: the runtime is still starting, another thread has suspended it, or a
/// detach is requested that may be refused.
pub(crate) fn is_early(error: &Error) -> bool {
    matches!(
        error.hresult(),
        Hresult::CORPROF_E_RUNTIME_UNINITIALIZED
            | Hresult::CORPROF_E_SUSPENSION_IN_PROGRESS
            | Hresult::CORPROF_E_PROFILER_DETACHING
    )
}
