//! The data of the modules and methods that were rewritten.
//!
//! It is keyed by module ID. The runtime reuses the ID of an unloaded module for another one, so the data of
//! a module is dropped when it is unloaded. A thread that still works with it has its own reference, and its
//! additions are dropped with the data.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use super::RewriteError;
use super::access::Access;
use super::helper::HelperProgress;
use super::import::Tokens;
use super::lookup::LoadedModules;
use super::subject::unnamed;
use crate::error::Result;
use crate::events::CallbackSet;
use crate::ids::ModuleId;
use crate::profiler::{Component, thread_panicked};
use crate::runtime::{Owner, ProfilerInfo, catch, lock, owned_by};
use clr_profiler_il::edit::{NotInstrumentable, OffsetMapping};
use clr_profiler_il::metadata::{Cache, ResolutionCache};
use clr_profiler_il::token::{HashTokens, MethodDef, Token, TypeDef, TypeToken};

/// All modules of one runtime.
#[derive(Default)]
pub(super) struct RewriteStore {
    modules: Mutex<HashMap<ModuleId, Arc<Module>, HashTokens>>,
    /// The modules in which references are resolved.
    pub(super) loaded: LoadedModules,
    editors: Mutex<Vec<(Owner, Arc<Editor>)>>,
}

/// Edits a method by a description, so that it need not wait for the callback of the method's compilation.
pub(crate) type Editor = dyn Fn(ModuleId, MethodDef) + Send + Sync;

/// One module, from its first rewrite to its unloading.
#[derive(Default)]
pub(super) struct Module {
    methods: Mutex<HashMap<MethodDef, Arc<Slot>, HashTokens>>,
    /// Its lock is the lock of the module's metadata.
    pub(super) tokens: Mutex<Tokens>,
    /// Whether values of these types are restricted to the stack.
    pub(super) by_ref_like: Cache<TypeToken, bool>,
    pub(super) resolutions: ResolutionCache,
    /// Which code may use the members and types that tokens name.
    pub(super) access: Cache<Token, Access>,
    /// Why `newobj` cannot use these constructors.
    pub(super) made: Cache<Token, Option<Arc<str>>>,
    /// The numbers of a type's parameters that are constrained to reference types.
    pub(super) references: Cache<TypeDef, Arc<[u32]>>,
    /// On .NET Framework, the module's progress in loading helpers, by the identities of these.
    pub(super) helpers: Mutex<Vec<(usize, &'static HelperProgress)>>,
}

/// One method.
#[derive(Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    /// The original body.
    pristine: Option<Arc<[u8]>>,
    /// Why the profiler's code must not edit the method, which this library defined.
    reserved: Option<NotInstrumentable>,
    worker: Option<ThreadId>,
    /// The number of threads that wait for the worker.
    waiting: u32,
    /// The edits of components and the profiler when the method was compiled, in their order.
    edits: Vec<Edit>,
}

/// The edit of one component or of the profiler.
struct Edit {
    owner: Owner,
    outcome: Outcome,
}

/// The result of rewriting a method that the program compiles.
pub(super) type Outcome = Result<Body, RewriteError>;

/// A body, and the offsets in it of the original instructions.
#[derive(Clone)]
pub(super) struct Body {
    pub(super) bytes: Arc<[u8]>,
    pub(super) offsets: OffsetMapping,
}

impl Body {
    /// The original body.
    fn own(bytes: Arc<[u8]>) -> Self {
        let offsets = OffsetMapping::Identity;
        Self { bytes, offsets }
    }
}

/// The body after the last of these edits that succeeded.
fn latest<'a>(edits: impl DoubleEndedIterator<Item = &'a Edit>) -> Option<Body> {
    let mut made = edits.rev().filter_map(|edit| edit.outcome.as_ref().ok());
    made.next().cloned()
}

opaque! { RewriteStore { this => rewritten_modules: lock(&this.modules).len() } }

/// Has this owner edit methods by a description.
pub(crate) fn add_editor(info: &ProfilerInfo, owner: Owner, editor: Arc<Editor>) {
    store(info).add_editor(owner, editor);
}

/// The data of a runtime.
pub(super) fn store(info: &ProfilerInfo) -> &RewriteStore {
    info.extension()
}

/// The bytes of all bodies, and of the data of modules.
pub(crate) fn held_bytes(info: &ProfilerInfo) -> usize {
    let modules: Vec<Arc<Module>> = lock(&store(info).modules).values().cloned().collect();
    modules.iter().map(|module| module.held_bytes()).sum()
}

/// Drops the data of unloaded modules, for a profiler that rewrites.
pub(crate) struct Unloads;

impl Component for Unloads {
    fn callbacks(&self) -> CallbackSet {
        CallbackSet::EMPTY.with("module_unload_started")
    }

    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        store(info).forget(module);
        Ok(())
    }
}

impl RewriteStore {
    pub(super) fn module(&self, module: ModuleId) -> Arc<Module> {
        lock(&self.modules).entry(module).or_default().clone()
    }

    /// Adds an editor. A method that ReJIT compiles before its first call is passed to it.
    pub(super) fn add_editor(&self, owner: Owner, editor: Arc<Editor>) {
        let mut editors = lock(&self.editors);
        editors.push((owner, editor));
        editors.sort_by_key(|(owner, _)| *owner);
    }

    /// Has the editors of all owners but this one edit a method, in the order of callbacks.
    pub(super) fn edit_before_rejit(&self, by: Owner, (module, method): (ModuleId, MethodDef)) {
        let editors = lock(&self.editors).clone();
        for (owner, edit) in editors.into_iter().filter(|(owner, _)| *owner != by) {
            // Its panic is not one of the owner of the ReJIT.
            if let Err(message) = catch(|| owned_by(owner, || edit(module, method))) {
                thread_panicked(message);
            }
        }
    }

    /// The progress of all modules in loading a helper, on .NET Framework.
    pub(super) fn progress_of_modules(&self, helper: usize) -> Vec<&'static HelperProgress> {
        let modules: Vec<Arc<Module>> = lock(&self.modules).values().cloned().collect();
        let mut all = Vec::new();
        for module in modules {
            let helpers = lock(&module.helpers);
            let of_helper = helpers.iter().filter(|(of, _)| *of == helper);
            all.extend(of_helper.map(|(_, progress)| *progress));
        }
        all
    }

    fn forget(&self, module: ModuleId) {
        let forgotten = lock(&self.modules).remove(&module);
        drop(forgotten);
        self.loaded.forget(module);
    }
}

impl Module {
    fn held_bytes(&self) -> usize {
        let methods: Vec<Arc<Slot>> = lock(&self.methods).values().cloned().collect();
        let methods = methods.iter().map(|slot| slot.held_bytes());
        // Held during calls of the runtime, which may wait for this thread.
        let tokens = self.tokens.try_lock();
        size_of::<Self>()
            + methods.sum::<usize>()
            + tokens.map_or(0, |tokens| tokens.held_bytes())
            + self.resolutions.held_bytes()
            + self.by_ref_like.held_bytes()
            + self.access.held_bytes()
            + self.made.held_bytes()
            + self.references.held_bytes()
    }

    pub(super) fn method(&self, method: MethodDef) -> Arc<Slot> {
        lock(&self.methods).entry(method).or_default().clone()
    }
}

/// The task of a thread that requests a rewrite.
pub(super) enum Task<'a> {
    /// To do the work, and to record the result in the guard.
    Work(PendingRewrite<'a>),
    /// Nothing: it was done before.
    Done(Outcome),
    /// Nothing: the work is being done, and this thread must not wait. Either it does the work itself,
    /// further up on its stack, or it is rewriting another method that the worker may be waiting for.
    Busy,
    /// Nothing: this owner precedes the other, which has edited the method already.
    Late(Owner),
}

impl Slot {
    fn held_bytes(&self) -> usize {
        let state = lock(&self.state);
        let edits = state.edits.iter().map(|edit| match &edit.outcome {
            Ok(body) => {
                let map = match &body.offsets {
                    OffsetMapping::Mapped(map) => size_of_val(&**map),
                    _ => 0,
                };
                size_of::<Edit>() + body.bytes.len() + map
            }
            Err(error) => size_of::<Edit>() + error.to_string().len(),
        });
        let pristine = state.pristine.as_ref().map_or(0, |bytes| bytes.len());
        size_of::<(MethodDef, Self)>() + pristine + edits.sum::<usize>()
    }

    /// Keeps the method from being rewritten.
    pub(super) fn reserve(&self, reason: NotInstrumentable) {
        lock(&self.state).reserved = Some(reason);
    }

    /// The body with which an edit of this owner begins when the method is compiled: the original body with the
    /// edits of the owners that precede it.
    pub(super) fn body_for(
        &self,
        owner: Owner,
        read: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Body> {
        let own = self.pristine(read)?;
        let state = lock(&self.state);
        let before = state.edits.iter().filter(|edit| edit.owner < owner);
        Ok(latest(before).unwrap_or_else(|| Body::own(own)))
    }

    /// The body with which an edit of this owner begins at a ReJIT: the original body with the edits of the
    /// other owners.
    ///
    /// If another owner was the last to edit, and this one has edited before, the two edits cannot be separated:
    /// then the inner error is the other owner.
    pub(super) fn body_for_rejit(
        &self,
        owner: Owner,
        read: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Result<Body, Owner>> {
        let own = self.pristine(read)?;
        let state = lock(&self.state);
        let mut by_owner = state.edits.iter().filter(|edit| edit.owner == owner);
        match state.edits.last() {
            Some(last) if last.owner != owner && by_owner.next().is_some() => Ok(Err(last.owner)),
            _ => {
                let others = state.edits.iter().filter(|edit| edit.owner != owner);
                Ok(Ok(latest(others).unwrap_or_else(|| Body::own(own))))
            }
        }
    }

    /// The original body; `read` reads it at the first call. An error if this library defined the method.
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
        // Without the lock, because this calls the runtime. Meanwhile only the worker can set another body,
        // and it calls this first.
        let read: Arc<[u8]> = read()?.into();
        let mut state = lock(&self.state);
        Ok(state.pristine.get_or_insert(read).clone())
    }

    /// The body after all edits; `None` if none has succeeded.
    pub(super) fn last_body(&self) -> Option<Body> {
        latest(lock(&self.state).edits.iter())
    }

    /// Takes the last edit, if this owner has made it, so that it can make another one. If another thread works, it waits
    /// where it may.
    pub(super) fn take_edit(&self, owner: Owner, may_wait: bool) -> Option<Outcome> {
        let me = thread::current().id();
        let mut state = lock(&self.state);
        while may_wait && state.worker.is_some_and(|worker| worker != me) {
            state = self.wait(state);
        }
        let is_last = state.edits.last().is_some_and(|last| last.owner == owner);
        match is_last && state.worker.is_none() {
            true => state.edits.pop().map(|edit| edit.outcome),
            false => None,
        }
    }

    /// Waits until the worker is done.
    fn wait<'s>(&self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        state.waiting += 1;
        let done = self.done.wait(state);
        let mut state = done.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    /// Returns the task of this thread. If another one works, it waits, unless it must not.
    pub(super) fn task(
        &self,
        owner: Owner,
        may_wait: bool,
        method: (ModuleId, MethodDef),
    ) -> Task<'_> {
        let me = thread::current().id();
        let mut state = lock(&self.state);
        loop {
            if let Some(edit) = state.edits.iter().find(|edit| edit.owner == owner) {
                return Task::Done(edit.outcome.clone());
            }
            match state.worker {
                None => {
                    if let Some(last) = state.edits.last()
                        && last.owner > owner
                    {
                        return Task::Late(last.owner);
                    }
                    state.worker = Some(me);
                    return Task::Work(PendingRewrite {
                        slot: self,
                        owner,
                        method,
                        outcome: None,
                    });
                }
                Some(worker) if worker == me || !may_wait => return Task::Busy,
                Some(_) => state = self.wait(state),
            }
        }
    }
}

/// The thread that works at a method.
pub(super) struct PendingRewrite<'a> {
    slot: &'a Slot,
    owner: Owner,
    method: (ModuleId, MethodDef),
    outcome: Option<Outcome>,
}

impl PendingRewrite<'_> {
    pub(super) fn finish(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for PendingRewrite<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.slot.state);
        state.worker = None;
        // There is no outcome if the user's code has panicked: it would panic for the next caller, too.
        let outcome = self.outcome.take().unwrap_or_else(|| {
            let (module, method) = self.method;
            let problem = "the code that edits it panicked";
            Err(RewriteError::new(unnamed(module, method), problem))
        });
        // Most methods have one.
        state.edits.reserve_exact(1);
        state.edits.push(Edit {
            owner: self.owner,
            outcome,
        });
        // Each wake-up is a system call.
        if state.waiting > 0 {
            self.slot.done.notify_all();
        }
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

    fn task(slot: &Slot) -> Task<'_> {
        task_of(slot, Owner::PROFILER)
    }

    fn task_of(slot: &Slot, owner: Owner) -> Task<'_> {
        slot.task(owner, true, (ModuleId::from_runtime(8), MethodDef::NIL))
    }

    fn body(byte: u8, offsets: OffsetMapping) -> Body {
        let bytes = [byte].into();
        Body { bytes, offsets }
    }

    #[test]
    fn one_of_many_threads_works_and_the_others_get_what_it_made() {
        let store = RewriteStore::default();
        let works = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let slot = slot(&store);
                    match task(&slot) {
                        Task::Work(pending) => {
                            works.fetch_add(1, Ordering::Relaxed);
                            thread::sleep(std::time::Duration::from_millis(20));
                            pending.finish(Ok(body(7, OffsetMapping::Identity)));
                        }
                        Task::Done(outcome) => assert_eq!(*outcome.unwrap().bytes, [7]),
                        _ => panic!("nobody asks twice"),
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
        let Task::Work(pending) = task(&slot) else {
            panic!("the first one works");
        };
        assert!(matches!(task(&slot), Task::Busy));
        pending.finish(Ok(body(1, OffsetMapping::Identity)));
        assert!(matches!(task(&slot), Task::Done(Ok(_))));
    }

    #[test]
    fn a_panic_is_remembered_and_wakes_those_who_wait() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let Task::Work(_pending) = task(&slot) else {
                return;
            };
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
        let Task::Done(Err(error)) = task(&slot) else {
            panic!("it was done");
        };
        assert_eq!(
            error.to_string(),
            "the method 0x06000000 of the module 0x8 was not rewritten: the code that edits it \
             panicked"
        );
    }

    fn edit(slot: &Slot, owner: Owner, made: Outcome) {
        match task_of(slot, owner) {
            Task::Work(pending) => pending.finish(made),
            _ => panic!("it is its turn"),
        }
    }

    #[test]
    fn each_edit_begins_with_what_the_one_before_has_made() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        let [first, second] = [0, 1].map(Owner::component);
        let body_for = |owner| slot.body_for(owner, || Ok(vec![1])).unwrap().bytes[0];
        assert_eq!(body_for(second), 1);
        edit(&slot, first, Ok(body(2, OffsetMapping::Identity)));
        assert_eq!((body_for(first), body_for(second)), (1, 2));
        // A failed edit leaves the body as it was.
        let failed = RewriteError::new(String::new(), "no");
        edit(&slot, second, Err(failed));
        assert_eq!(body_for(Owner::PROFILER), 2);
        edit(&slot, Owner::PROFILER, Ok(body(3, OffsetMapping::Identity)));
        assert!(matches!(task_of(&slot, first), Task::Done(Ok(_))));
        assert!(matches!(task_of(&slot, second), Task::Done(Err(_))));
        let between = Owner::component(2);
        assert!(matches!(
            task_of(&slot, between),
            Task::Late(Owner::PROFILER)
        ));
    }

    #[test]
    fn the_last_edit_can_be_made_again_by_its_owner() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        let [first, second] = [0, 1].map(Owner::component);
        assert!(slot.take_edit(first, true).is_none());
        slot.pristine(|| Ok(vec![1])).unwrap();
        edit(&slot, first, Ok(body(2, OffsetMapping::Identity)));
        assert_eq!(slot.take_edit(first, true).unwrap().unwrap().bytes[0], 2);
        assert!(slot.last_body().is_none());
        edit(&slot, first, Ok(body(3, OffsetMapping::Identity)));
        edit(&slot, second, Ok(body(4, OffsetMapping::Identity)));
        assert!(slot.take_edit(first, true).is_none());
        assert_eq!(slot.last_body().unwrap().bytes[0], 4);
    }

    #[test]
    fn rejit_begins_with_what_the_others_have_made() {
        let store = RewriteStore::default();
        let slot = slot(&store);
        let [first, second] = [0, 1].map(Owner::component);
        let body_for = |owner| {
            let body = slot.body_for_rejit(owner, || Ok(vec![1])).unwrap();
            body.map(|body| body.bytes[0])
        };
        assert_eq!(body_for(first), Ok(1));
        edit(&slot, first, Ok(body(2, OffsetMapping::Identity)));
        assert_eq!((body_for(first), body_for(second)), (Ok(1), Ok(2)));
        edit(&slot, Owner::PROFILER, Ok(body(3, OffsetMapping::Identity)));
        assert_eq!(body_for(first), Err(Owner::PROFILER));
        assert_eq!(
            (body_for(second), body_for(Owner::PROFILER)),
            (Ok(3), Ok(2))
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
