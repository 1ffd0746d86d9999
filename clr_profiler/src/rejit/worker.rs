//! The thread that passes requests to the runtime.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Hresult, Result};
use crate::ids::ModuleId;
use crate::info::{
    CorProfilerInfo, CorProfilerInfo3, CorProfilerInfo4, CorProfilerInfo6, CorProfilerInfo10,
    ModuleFlags, NEWEST_OF_3_1, RejitFlags,
};
use crate::runtime::{ProfilerInfo, lock, wait_while};
use clr_profiler_il::pattern::MethodPattern;

use super::PatternOutcome;
use super::options::{Inliners, Precompiled, RejitOptions};
use super::search::{self, Types};
use super::table::{MethodKey, PendingCalls, Table};

/// Whether a module was unloaded, after which no callback removes its methods.
fn is_unloaded(info: &ProfilerInfo, module: ModuleId) -> bool {
    let error = info.module_info(module).err();
    error.is_some_and(|error| error.is(Hresult::CORPROF_E_DATAINCOMPLETE))
}

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
    Pattern(Box<MethodPattern>),
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
    patterns: BTreeMap<MethodPattern, NameMatches>,
    jobs: VecDeque<Job>,
    is_busy: bool,
    is_stopped: bool,
}

/// The matches of a requested pattern.
#[derive(Default)]
struct NameMatches {
    methods: BTreeSet<MethodKey>,
    problem: Option<String>,
}

/// The bytes of the table, after the last work.
#[derive(Debug, Default)]
struct Held(AtomicUsize);

/// The bytes of the requests and their outcomes.
pub(crate) fn held_bytes(info: &ProfilerInfo) -> usize {
    info.extension::<Held>().0.load(Ordering::Relaxed)
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
                patterns: BTreeMap::new(),
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

    pub(super) fn il_requested(&self, key: MethodKey) -> bool {
        let mut state = lock(&self.state);
        let is_wanted = state.table.il_requested(key);
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
            Job::On(Target::Pattern(_)) | Job::Off(Target::Pattern(_)) | Job::AllOff => true,
        });
        for named in state.patterns.values_mut() {
            named.methods.retain(|key| key.0 != module);
        }
        self.changed.notify_all();
    }

    pub(super) fn patterns(&self) -> Vec<PatternOutcome> {
        let state = lock(&self.state);
        let patterns = state.patterns.iter();
        patterns
            .map(|(pattern, named)| PatternOutcome {
                pattern: pattern.clone(),
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
        let mut types = Types::default();
        for job in jobs {
            self.apply(info, job, &mut types);
        }
        if self.options.precompiled == Precompiled::Refuse {
            self.refuse_precompiled(info);
        }
        let work = lock(&self.state).table.take();
        self.make_calls(info, &work);
        drop(idle);
        let mut state = lock(&self.state);
        state.is_busy = false;
        let held = &info.extension::<Held>().0;
        held.store(state.table.held_bytes(), Ordering::Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    fn apply(&self, info: &ProfilerInfo, job: Job, types: &mut Types) {
        match job {
            Job::On(Target::Method(key)) => lock(&self.state).table.want(key),
            Job::Off(Target::Method(key)) => {
                lock(&self.state).table.unwant(key);
            }
            Job::On(Target::Pattern(pattern)) => {
                lock(&self.state)
                    .patterns
                    .entry((*pattern).clone())
                    .or_default();
                match info.modules().and_then(Iterator::collect::<Result<Vec<_>>>) {
                    Ok(modules) => {
                        for module in modules {
                            self.look_for(info, &pattern, module, true, types);
                        }
                    }
                    Err(error) => self.found(&pattern, Err(error), true),
                }
            }
            Job::Off(Target::Pattern(pattern)) => {
                let mut state = lock(&self.state);
                if let Some(named) = state.patterns.remove(&pattern) {
                    for key in named.methods {
                        state.table.unwant(key);
                    }
                }
            }
            Job::AllOff => {
                let mut state = lock(&self.state);
                state.patterns.clear();
                let all = state.table.outcomes();
                for outcome in all {
                    state.table.unwant((outcome.module, outcome.method));
                }
            }
            Job::Loaded(module) => {
                let patterns: Vec<MethodPattern> =
                    lock(&self.state).patterns.keys().cloned().collect();
                for pattern in patterns {
                    self.look_for(info, &pattern, module, false, types);
                }
            }
        }
    }

    fn look_for(
        &self,
        info: &ProfilerInfo,
        pattern: &MethodPattern,
        module: ModuleId,
        is_new: bool,
        types: &mut Types,
    ) {
        let found = search::find(info, module, pattern, types);
        let keys = found.map(|methods| methods.into_iter().map(|m| (module, m)).collect());
        self.found(pattern, keys, is_new);
    }

    /// Requests the matches of a pattern. A module that is loaded while it is searched for a pattern is searched
    /// twice.
    fn found(&self, pattern: &MethodPattern, keys: Result<Vec<MethodKey>>, is_new: bool) {
        let mut state = lock(&self.state);
        let State {
            patterns, table, ..
        } = &mut *state;
        let Some(named) = patterns.get_mut(pattern) else {
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
    fn make_calls(&self, info: &ProfilerInfo, work: &PendingCalls) {
        if !work.revert.is_empty() && info.request_revert(&work.revert).is_err() {
            for key in &work.revert {
                // The call fails for methods that were never compiled again, or are unloaded: there is
                // nothing to revert.
                let _ = info.request_revert(&[*key]);
            }
        }
        if work.request.is_empty() {
            return;
        }
        if self.request(info, &work.request).is_ok() {
            lock(&self.state).table.accepted(&work.request);
            return;
        }
        // One wrong method fails the whole request: request each alone.
        for key in &work.request {
            let requested = self.request(info, &[*key]);
            let is_unloaded = requested.is_err() && is_unloaded(info, key.0);
            let table = &mut lock(&self.state).table;
            match requested {
                Ok(()) => table.accepted(&[*key]),
                Err(_) if is_unloaded => table.forget_method(*key),
                Err(error) => table.not_requested(*key, error.hresult(), error.to_string()),
            }
        }
    }

    fn request(&self, info: &ProfilerInfo, methods: &[MethodKey]) -> Result<()> {
        if self.options.inliners == Inliners::Keep {
            return info.request_rejit(methods);
        }
        if info.version() > NEWEST_OF_3_1 {
            return Self::request_with_inliners(info, methods);
        }
        // .NET Core 3.1 crashes when it searches for the inliners of a method whose type is not loaded: only precompiled
        // code can have inlined it.
        let (unloaded, loaded): (Vec<MethodKey>, Vec<MethodKey>) = methods
            .iter()
            .partition(|key| Self::is_unloaded(info, **key));
        if !loaded.is_empty() {
            Self::request_with_inliners(info, &loaded)?;
        }
        // It also leaves out precompiled inliners. These follow, because only now the methods are no longer inlined.
        let mut others = self.precompiled_inliners(info, methods);
        others.extend(unloaded);
        if others.is_empty() {
            return Ok(());
        }
        info.request_rejit(&Vec::from_iter(others))
    }

    /// Requests methods with callbacks for inliners: one of them may itself be a requested method, for whose IL the
    /// runtime would not ask otherwise.
    fn request_with_inliners(info: &ProfilerInfo, methods: &[MethodKey]) -> Result<()> {
        let flags = RejitFlags::BLOCK_INLINING | RejitFlags::INLINING_CALLBACKS;
        info.request_rejit_with_inliners(flags, methods)
    }

    fn is_unloaded(info: &ProfilerInfo, (module, method): MethodKey) -> bool {
        let function = info.function_from_token(module, method);
        let unloaded = [Hresult::CORPROF_E_DATAINCOMPLETE, Hresult::E_INVALIDARG];
        function
            .err()
            .is_some_and(|error| unloaded.contains(&error.hresult()))
    }

    /// The methods whose precompiled code has inlined one of these, without those that have new IL themselves.
    fn precompiled_inliners(
        &self,
        info: &ProfilerInfo,
        methods: &[MethodKey],
    ) -> BTreeSet<MethodKey> {
        let mut inliners = BTreeSet::new();
        if self.options.precompiled == Precompiled::DisableImages {
            return inliners;
        }
        for (module, method) in methods {
            // Fails for a module without precompiled code, which has no inliners, and in an attached profiler.
            let found = info.ngen_module_methods_inlining_this_method(*module, *module, *method);
            if let Ok(found) = found {
                inliners.extend(found.methods.flatten());
            }
        }
        let table = &lock(&self.state).table;
        inliners.retain(|key| !table.is_wanted(*key));
        inliners
    }
}
