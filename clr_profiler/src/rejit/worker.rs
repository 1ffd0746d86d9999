//! The thread that passes requests to the runtime.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Hresult, Result};
use crate::ids::ModuleId;
use crate::info::{
    CorProfilerInfo, CorProfilerInfo3, CorProfilerInfo4, CorProfilerInfo6, CorProfilerInfo10,
    ModuleFlags, RejitFlags,
};
use crate::runtime::{ProfilerInfo, lock, wait_while};

use super::NameOutcome;
use super::name::MethodName;
use super::options::{Inliners, Precompiled, RejitOptions};
use super::table::{MethodKey, Table, Work};

/// A request or an event for the thread.
#[derive(Debug)]
pub(super) enum Job {
    On(Target),
    Off(Target),
    AllOff,
    /// A module was loaded.
    Loaded(ModuleId),
}

#[derive(Debug)]
pub(super) enum Target {
    Method(MethodKey),
    Name(MethodName),
}

pub(super) struct Shared {
    pub(super) options: RejitOptions,
    /// Never held during a call of the runtime: such a call may end in a callback that needs it.
    pub(super) state: Mutex<State>,
    changed: Condvar,
    /// Held during the calls of the thread: modules are not unloaded meanwhile.
    working: Mutex<()>,
}

pub(super) struct State {
    pub(super) table: Table,
    names: BTreeMap<MethodName, Named>,
    jobs: VecDeque<Job>,
    is_busy: bool,
    is_stopped: bool,
}

/// The matches of a requested name.
#[derive(Default)]
struct Named {
    methods: BTreeSet<MethodKey>,
    problem: Option<String>,
}

/// Owned by the thread: when it ends, all who wait are released.
pub(super) struct StopsWhenDropped(pub(super) Arc<Shared>);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl State {
    fn is_settled(&self) -> bool {
        self.jobs.is_empty() && self.table.is_settled()
    }
}

impl Shared {
    pub(super) fn new(options: RejitOptions) -> Self {
        Self {
            options,
            state: Mutex::new(State {
                table: Table::new(options.inliners),
                names: BTreeMap::new(),
                jobs: VecDeque::new(),
                is_busy: false,
                is_stopped: false,
            }),
            changed: Condvar::new(),
            working: Mutex::new(()),
        }
    }

    pub(super) fn add(&self, jobs: impl IntoIterator<Item = Job>) {
        lock(&self.state).jobs.extend(jobs);
        self.changed.notify_all();
    }

    pub(super) fn asked(&self, key: MethodKey) -> bool {
        let mut state = lock(&self.state);
        let is_wanted = state.table.asked(key);
        if !state.table.is_settled() {
            self.changed.notify_all();
        }
        is_wanted
    }

    pub(super) fn forget(&self, module: ModuleId) {
        let _idle = lock(&self.working);
        let mut state = lock(&self.state);
        state.table.forget(module);
        state.jobs.retain(|job| match job {
            Job::On(Target::Method(key)) | Job::Off(Target::Method(key)) => key.0 != module,
            Job::Loaded(loaded) => *loaded != module,
            Job::On(Target::Name(_)) | Job::Off(Target::Name(_)) | Job::AllOff => true,
        });
        for named in state.names.values_mut() {
            named.methods.retain(|key| key.0 != module);
        }
        self.changed.notify_all();
    }

    pub(super) fn names(&self) -> Vec<NameOutcome> {
        let state = lock(&self.state);
        let names = state.names.iter();
        names
            .map(|(name, named)| NameOutcome {
                name: name.clone(),
                methods: named.methods.iter().copied().collect(),
                problem: named.problem.clone(),
            })
            .collect()
    }

    pub(super) fn wait(&self, patience: Duration) -> bool {
        let is_told = |state: &State| !state.is_busy && state.is_settled();
        let waits = |state: &mut State| !is_told(state) && !state.is_stopped;
        let waited = self
            .changed
            .wait_timeout_while(lock(&self.state), patience, waits);
        is_told(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    pub(super) fn stop(&self) {
        lock(&self.state).is_stopped = true;
        self.changed.notify_all();
    }

    /// The main function of the thread.
    pub(super) fn serve(&self, info: &ProfilerInfo) -> Result<()> {
        while self.sleep() {
            self.work(info);
            if info.is_closed() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for work; `false` at the end.
    fn sleep(&self) -> bool {
        let idle = |state: &mut State| !state.is_stopped && state.is_settled();
        !wait_while(&self.changed, lock(&self.state), idle).is_stopped
    }

    fn work(&self, info: &ProfilerInfo) {
        let idle = lock(&self.working);
        let jobs = {
            let mut state = lock(&self.state);
            state.is_busy = true;
            std::mem::take(&mut state.jobs)
        };
        for job in jobs {
            self.apply(info, job);
        }
        if self.options.precompiled == Precompiled::Refuse {
            self.refuse_precompiled(info);
        }
        let work = lock(&self.state).table.take();
        self.tell(info, &work);
        drop(idle);
        lock(&self.state).is_busy = false;
        self.changed.notify_all();
    }

    fn apply(&self, info: &ProfilerInfo, job: Job) {
        match job {
            Job::On(Target::Method(key)) => lock(&self.state).table.want(key),
            Job::Off(Target::Method(key)) => {
                lock(&self.state).table.unwant(key);
            }
            Job::On(Target::Name(name)) => {
                lock(&self.state).names.entry(name.clone()).or_default();
                match info.modules().and_then(Iterator::collect::<Result<Vec<_>>>) {
                    Ok(modules) => {
                        for module in modules {
                            self.look_for(info, &name, module, true);
                        }
                    }
                    Err(error) => self.found(&name, Err(error), true),
                }
            }
            Job::Off(Target::Name(name)) => {
                let mut state = lock(&self.state);
                if let Some(named) = state.names.remove(&name) {
                    for key in named.methods {
                        state.table.unwant(key);
                    }
                }
            }
            Job::AllOff => {
                let mut state = lock(&self.state);
                state.names.clear();
                let all = state.table.outcomes();
                for outcome in all {
                    state.table.unwant((outcome.module, outcome.method));
                }
            }
            Job::Loaded(module) => {
                let names: Vec<MethodName> = lock(&self.state).names.keys().cloned().collect();
                for name in names {
                    self.look_for(info, &name, module, false);
                }
            }
        }
    }

    fn look_for(&self, info: &ProfilerInfo, name: &MethodName, module: ModuleId, is_new: bool) {
        let found = name.find(info, module);
        let keys = found.map(|methods| methods.into_iter().map(|m| (module, m)).collect());
        self.found(name, keys, is_new);
    }

    /// Requests the matches of a name. A module that is loaded while it is searched for a name is searched
    /// twice.
    fn found(&self, name: &MethodName, keys: Result<Vec<MethodKey>>, is_new: bool) {
        let mut state = lock(&self.state);
        let State { names, table, .. } = &mut *state;
        let Some(named) = names.get_mut(name) else {
            return;
        };
        match keys {
            Ok(keys) => {
                for key in keys {
                    if named.methods.insert(key) || is_new {
                        table.want(key);
                    }
                }
            }
            Err(error) => named.problem = Some(error.to_string()),
        }
    }

    fn refuse_precompiled(&self, info: &ProfilerInfo) {
        let mut known = HashMap::new();
        let due: Vec<MethodKey> = lock(&self.state).table.due().collect();
        for key in due {
            let is_precompiled = *known.entry(key.0).or_insert_with(|| {
                let facts = info.module_info2(key.0);
                facts.is_ok_and(|(_, flags)| flags.contains(ModuleFlags::NGEN))
            });
            if is_precompiled {
                lock(&self.state).table.refuse(key);
            }
        }
    }

    /// Makes the calls; records the errors for each method.
    fn tell(&self, info: &ProfilerInfo, work: &Work) {
        if !work.revert.is_empty() && info.request_revert(&work.revert).is_err() {
            for key in &work.revert {
                // The call fails for methods that were never compiled again, or are unloaded: there is
                // nothing to revert.
                let _ = info.request_revert(&[*key]);
            }
        }
        if work.request.is_empty() || self.request(info, &work.request).is_ok() {
            return;
        }
        // One wrong method fails the whole request: request each alone.
        for key in &work.request {
            if let Err(error) = self.request(info, &[*key]) {
                lock(&self.state).table.failed(*key, error.hresult());
            }
        }
    }

    fn request(&self, info: &ProfilerInfo, methods: &[MethodKey]) -> Result<()> {
        if self.options.inliners == Inliners::Keep {
            return info.request_rejit(methods);
        }
        // .NET Core 3.1 crashes when it searches for the inliners of a method whose type is not loaded.
        let (unloaded, loaded): (Vec<MethodKey>, Vec<MethodKey>) = methods
            .iter()
            .partition(|key| info.version() < 12 && Self::is_unloaded(info, **key));
        if !loaded.is_empty() {
            // With callbacks for inliners: one of them may itself be a requested method, for whose IL the
            // runtime would not ask otherwise.
            info.request_rejit_with_inliners(
                RejitFlags::BLOCK_INLINING | RejitFlags::INLINING_CALLBACKS,
                &loaded,
            )?;
        }
        if !unloaded.is_empty() {
            Self::request_unloaded(info, unloaded)?;
        }
        Ok(())
    }

    fn is_unloaded(info: &ProfilerInfo, (module, method): MethodKey) -> bool {
        let function = info.function_from_token(module, method);
        let unloaded = [Hresult::CORPROF_E_DATAINCOMPLETE, Hresult::E_INVALIDARG];
        function
            .err()
            .is_some_and(|error| unloaded.contains(&error.hresult()))
    }

    /// Requests methods whose types are not loaded: only precompiled code can have inlined them.
    fn request_unloaded(info: &ProfilerInfo, mut methods: Vec<MethodKey>) -> Result<()> {
        let mut inliners = Vec::new();
        for (module, method) in &methods {
            // Fails for a module without precompiled code, which has no inliners.
            let found = info.ngen_module_methods_inlining_this_method(*module, *module, *method);
            if let Ok(found) = found {
                inliners.extend(found.methods.flatten());
            }
        }
        methods.extend(inliners);
        methods.sort_unstable();
        methods.dedup();
        info.request_rejit(&methods)
    }
}
