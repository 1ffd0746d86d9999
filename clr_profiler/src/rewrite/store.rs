//! What is remembered of the modules and methods that were rewritten.
//!
//! It is keyed by the id of a module, which the runtime gives to another module when the first was
//! unloaded: what belongs to a module is dropped then. Whoever is still working with it has a
//! reference of their own, and what they leave behind goes with it.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use super::RewriteError;
use super::answers::Answers;
use super::import::Tokens;
use super::lookup::LoadedModules;
use super::subject::unnamed;
use crate::error::Result;
use crate::ids::ModuleId;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::token::{MethodDef, TypeToken};

/// A lock whose holder may have panicked: what it guards is changed in one step each time.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All modules of one runtime.
#[derive(Default)]
pub(super) struct RewriteStore {
    modules: Mutex<HashMap<ModuleId, Arc<Module>>>,
    /// Where what is referred to is looked for.
    pub(super) loaded: LoadedModules,
}

/// One module, from its first rewrite to its unloading.
#[derive(Default)]
pub(super) struct Module {
    methods: Mutex<HashMap<MethodDef, Arc<Slot>>>,
    /// The lock of the module's metadata.
    pub(super) tokens: Mutex<Tokens>,
    /// Whether values of these types live on the stack alone.
    pub(super) by_ref_like: Mutex<HashMap<TypeToken, bool>>,
    pub(super) answers: Answers,
}

/// One method.
#[derive(Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    /// The body as it was before anything was done to it.
    pristine: Option<Arc<[u8]>>,
    /// Why the profiler's code does not get the method, which is the library's own.
    reserved: Option<NotInstrumentable>,
    worker: Option<ThreadId>,
    outcome: Option<Outcome>,
}

/// What has become of a method that the program compiles.
pub(super) type Outcome = Result<Arc<[u8]>, RewriteError>;

/// What is remembered for a runtime.
pub(super) fn store(info: &ProfilerInfo) -> &RewriteStore {
    info.extension()
}

/// The module is being unloaded.
pub(crate) fn forget(info: &ProfilerInfo, module: ModuleId) {
    store(info).forget(module);
}

impl RewriteStore {
    pub(super) fn module(&self, module: ModuleId) -> Arc<Module> {
        lock(&self.modules).entry(module).or_default().clone()
    }

    fn forget(&self, module: ModuleId) {
        let forgotten = lock(&self.modules).remove(&module);
        drop(forgotten);
        self.loaded.forget(module);
    }
}

impl Module {
    pub(super) fn method(&self, method: MethodDef) -> Arc<Slot> {
        lock(&self.methods).entry(method).or_default().clone()
    }
}

/// What a thread that asks for a rewrite is to do.
pub(super) enum Turn<'a> {
    /// The work; the guard is told what has become of it.
    Work(Working<'a>),
    /// Nothing: it was done before.
    Done(Outcome),
    /// Nothing, for it is being done, and this thread must not wait: it does the work itself, further
    /// up on its stack, or it is at another method that the worker may be waiting for.
    Busy,
}

impl Slot {
    /// Keeps the method from being rewritten.
    pub(super) fn reserve(&self, reason: NotInstrumentable) {
        lock(&self.state).reserved = Some(reason);
    }

    /// The body as it was first seen; `read` reads it. An error if the method is the library's own.
    pub(super) fn pristine(&self, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Arc<[u8]>> {
        {
            let state = lock(&self.state);
            if let Some(reason) = state.reserved {
                return Err(reason.into());
            }
            if let Some(pristine) = &state.pristine {
                return Ok(pristine.clone());
            }
        }
        // Not under the lock: the runtime is asked. Nobody sets another body meanwhile but for the
        // worker, which comes through here first.
        let read: Arc<[u8]> = read()?.into();
        let mut state = lock(&self.state);
        Ok(state.pristine.get_or_insert(read).clone())
    }

    /// Waits while another thread works, if this one may.
    pub(super) fn turn(&self, may_wait: bool, method: (ModuleId, MethodDef)) -> Turn<'_> {
        let me = thread::current().id();
        let mut state = lock(&self.state);
        loop {
            if let Some(outcome) = &state.outcome {
                return Turn::Done(outcome.clone());
            }
            match state.worker {
                None => {
                    state.worker = Some(me);
                    return Turn::Work(Working {
                        slot: self,
                        method,
                        outcome: None,
                    });
                }
                Some(worker) if worker == me || !may_wait => return Turn::Busy,
                Some(_) => {
                    state = self
                        .done
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// The one thread that works at a method.
pub(super) struct Working<'a> {
    slot: &'a Slot,
    method: (ModuleId, MethodDef),
    outcome: Option<Outcome>,
}

impl Working<'_> {
    pub(super) fn finish(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.slot.state);
        state.worker = None;
        // Without an outcome the user's code has panicked: the next one would, too.
        state.outcome = Some(self.outcome.take().unwrap_or_else(|| {
            let (module, method) = self.method;
            let problem = "the code that edits it panicked";
            Err(RewriteError::new(unnamed(module, method), problem))
        }));
        self.slot.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn slot(store: &RewriteStore) -> Arc<Slot> {
        let method = MethodDef::from_row(1).unwrap();
        store.module(ModuleId::from_runtime(8)).method(method)
    }

    fn turn(slot: &Slot) -> Turn<'_> {
        slot.turn(true, (ModuleId::from_runtime(8), MethodDef::NIL))
    }

    #[test]
    fn one_of_many_threads_works_and_the_others_get_what_it_made() {
        let store = RewriteStore::default();
        let works = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let slot = slot(&store);
                    match turn(&slot) {
                        Turn::Work(working) => {
                            works.fetch_add(1, Ordering::Relaxed);
                            thread::sleep(std::time::Duration::from_millis(20));
                            working.finish(Ok([7].into()));
                        }
                        Turn::Done(outcome) => assert_eq!(*outcome.unwrap(), [7]),
                        Turn::Busy => panic!("nobody asks twice"),
                    }
                });
            }
        });
        assert_eq!(works.into_inner(), 1);
    }

    #[test]
    fn a_method_that_rewrites_itself_does_not_wait_for_itself() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        let Turn::Work(working) = turn(&slot) else {
            panic!("the first one works");
        };
        assert!(matches!(turn(&slot), Turn::Busy));
        working.finish(Ok([].into()));
        assert!(matches!(turn(&slot), Turn::Done(Ok(_))));
    }

    #[test]
    fn a_panic_is_remembered_and_wakes_those_who_wait() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let Turn::Work(_working) = turn(&slot) else {
                return;
            };
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
        let Turn::Done(Err(error)) = turn(&slot) else {
            panic!("it was done");
        };
        assert_eq!(
            error.to_string(),
            "the method 0x06000000 of the module 0x8 was not rewritten: the code that edits it \
             panicked"
        );
    }

    #[test]
    fn a_method_of_the_library_is_not_handed_out() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        slot.reserve(NotInstrumentable::Added);
        let error = slot.pristine(|| Ok(vec![1])).unwrap_err();
        assert!(error.to_string().starts_with("not instrumentable: "));
    }

    #[test]
    fn an_unloaded_module_leaves_nothing_to_the_next_one_with_its_id() {
        let store = RewriteStore::default();
        let old = slot(&store);
        let read = old.pristine(|| Ok(vec![1]));
        assert_eq!(*read.unwrap(), [1]);
        let again = slot(&store).pristine(|| Ok(vec![2]));
        assert_eq!(*again.unwrap(), [1]);
        store.forget(ModuleId::from_runtime(8));
        let new = slot(&store).pristine(|| Ok(vec![3]));
        assert_eq!(*new.unwrap(), [3]);
    }
}
