//! ReJIT: gives methods new IL while the program runs, and reverts them to their original IL.
//!
//! [`Rejit`] is a component that requests and reverts methods on a thread of its own and keeps the outcome of
//! each; its documentation has an example. A profiler that calls the runtime itself starts at
//! [`request_rejit`](crate::info::CorProfilerInfo4::request_rejit) and [`FunctionControl`].

mod options;
mod search;
mod table;
mod worker;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::error::{Error, Hresult, Result};
use crate::event_mask::EventMask;
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::info::function_control::FunctionControl;
use crate::info::{CorProfilerInfo2, expect};
use crate::profiler::{Component, Setup};
use crate::runtime::{ProfilerInfo, lock};
use crate::worker::Worker;
use clr_profiler_il::pattern::MethodPattern;
use clr_profiler_il::token::MethodDef;
use clr_profiler_macros::component;

pub use options::{Inliners, Precompiled, RejitOptions};
pub use table::{RejitOutcome, RejitState};

pub(crate) use worker::held_bytes;
use worker::{Job, Shared, StopsWhenDropped, Target};

/// Gives methods new IL while the program runs, and reverts them, from a thread of its own.
///
/// [`request`](Self::request) and [`revert`](Self::revert) may be called anywhere, also in callbacks: they
/// only queue the request. The thread passes the requests to the runtime, many methods at once, and
/// [`outcomes`](Self::outcomes) returns the outcome of each. The last request for a method counts: a method
/// that is switched on and off faster than the thread works is not compiled each time.
///
/// Methods are named by module and token, or by [`MethodPattern`]. A request by pattern stays in force: it
/// applies to the loaded modules and to each that is loaded later. All instances of a generic method get its
/// IL, so that a pattern for one instance, such as `Shop.Cart<int>.Add`, matches nothing here.
///
/// New IL takes effect with the next call of a method: threads that are in the method stay in the old code. A
/// method whose module has just been loaded may be called once or twice with its original IL before.
/// [`RejitOptions`] decides what happens to methods that have inlined it, and to precompiled ones.
///
/// The thread ends with [`stop`](Self::stop), and by itself with the profiler. After the first ReJIT, the
/// runtime does not let the profiler detach: instead, revert everything with [`revert_all`](Self::revert_all)
/// and keep the profiler idle.
///
/// Calls `ICorProfilerInfo4::RequestReJIT`, `ICorProfilerInfo10::RequestReJITWithInliners` and
/// `ICorProfilerInfo4::RequestRevert`. **Events**: adds [`ENABLE_REJIT`](crate::EventMask::ENABLE_REJIT) and
/// the others that it needs.
///
/// ```
/// use std::sync::Arc;
///
/// use clr_profiler::il::fragment::Fragment;
/// use clr_profiler::prelude::*;
/// use clr_profiler::rejit::{Rejit, RejitOptions};
///
/// struct Answers {
///     rejit: Arc<Rejit>,
/// }
///
/// #[profiler(clsid = "2D0A2F0E-55A5-4A0B-8B1B-6B8A4F1D3C77")]
/// impl Profiler for Answers {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let rejit = Rejit::new(RejitOptions::default(), |info, module, method, control| {
///             control.rewrite(info, module, method, |body, _| {
///                 body.before_ret(Fragment::new().ldc_i4(1).add())?;
///                 Ok(())
///             })?;
///             Ok(())
///         });
///         let rejit = setup.attach(rejit)?;
///         rejit.request_pattern(&"Shop!Shop.Cart.Count".parse()?);
///         Ok(Answers { rejit })
///     }
///
///     fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
///         for outcome in self.rejit.outcomes() {
///             eprintln!("{outcome:?}");
///         }
///         Ok(())
///     }
/// }
///
/// register!(Answers);
/// ```
pub struct Rejit {
    shared: Arc<Shared>,
    edit: Box<Edit>,
    /// Set when it is attached.
    worker: OnceLock<Worker>,
}

/// The closure that sets the IL of a method.
type Edit =
    dyn Fn(&ProfilerInfo, ModuleId, MethodDef, &FunctionControl<'_>) -> Result<()> + Send + Sync;

/// The outcome of a [`MethodPattern`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PatternOutcome {
    /// The pattern.
    pub pattern: MethodPattern,
    /// The methods that match it, in the modules that have been loaded so far. It is empty if the
    /// module has not been loaded yet, or has no such method with IL.
    pub methods: Vec<(ModuleId, MethodDef)>,
    /// The error of the last module that could not be searched, if there is one.
    pub problem: Option<String>,
}

impl Rejit {
    /// Creates a component to be [attached](Setup::attach); no methods are requested yet.
    ///
    /// `edit` sets the IL of a requested method, as [`FunctionControl::rewrite`] does, in the callback
    /// [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters). It runs each time that the runtime
    /// asks: for each request, and on .NET Core 3.1 for instances of generic methods. If it fails, the
    /// runtime compiles the method with the IL that it has, and the method is [`Failed`](RejitState::Failed).
    ///
    /// No request reaches the runtime before `initialize` has returned. Attaching fails if the runtime is
    /// older than the options need ([`Inliners::Follow`]: .NET Core 3.0), or if the operating system refuses
    /// a thread.
    pub fn new(
        options: RejitOptions,
        edit: impl Fn(&ProfilerInfo, ModuleId, MethodDef, &FunctionControl<'_>) -> Result<()>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            shared: Arc::new(Shared::new(options)),
            edit: Box::new(edit),
            worker: OnceLock::new(),
        }
    }

    /// Requests new IL for these methods; again for those that have new IL already. Methods of modules that are
    /// unloaded before the thread gets to them are left out, without an outcome.
    ///
    /// **Context**: any.
    pub fn request(&self, methods: impl IntoIterator<Item = (ModuleId, MethodDef)>) {
        let jobs = methods.into_iter().map(|at| Job::On(Target::Method(at)));
        self.shared.add(jobs);
    }

    /// [`request`](Self::request), for another thread.
    pub(crate) fn requests(&self) -> impl Fn(Vec<(ModuleId, MethodDef)>) + Send + Sync + 'static {
        let shared = Arc::clone(&self.shared);
        move |methods| {
            let jobs = methods.into_iter().map(|at| Job::On(Target::Method(at)));
            shared.add(jobs);
        }
    }

    /// Requests new IL for the methods that match this pattern, in all modules that are loaded now or later.
    ///
    /// **Context**: any.
    pub fn request_pattern(&self, pattern: &MethodPattern) {
        self.shared
            .add([Job::On(Target::Pattern(Box::new(pattern.clone())))]);
    }

    /// Reverts these methods to their original IL; without effect on those of unloaded modules.
    ///
    /// **Context**: any.
    pub fn revert(&self, methods: impl IntoIterator<Item = (ModuleId, MethodDef)>) {
        let jobs = methods.into_iter().map(|at| Job::Off(Target::Method(at)));
        self.shared.add(jobs);
    }

    /// Reverts the methods of a requested pattern to their original IL; those of modules that are loaded later
    /// keep it.
    ///
    /// **Context**: any.
    pub fn revert_pattern(&self, pattern: &MethodPattern) {
        self.shared
            .add([Job::Off(Target::Pattern(Box::new(pattern.clone())))]);
    }

    /// Reverts all methods to their original IL, and withdraws all requests by pattern.
    ///
    /// **Context**: any.
    pub fn revert_all(&self) {
        self.shared.add([Job::AllOff]);
    }

    /// Waits until the runtime has got all requests; `false` if that takes longer than `patience`, or if the
    /// component is stopped.
    ///
    /// The outcomes follow later, with the next call of each method.
    ///
    /// **Context**: a thread of the profiler's own, or a callback that may block.
    pub fn wait(&self, patience: Duration) -> bool {
        self.shared.wait(patience)
    }

    /// The outcomes of all methods that were ever requested, in modules that are still loaded.
    #[must_use]
    pub fn outcomes(&self) -> Vec<RejitOutcome> {
        lock(&self.shared.state).table.outcomes()
    }

    /// The outcomes of the patterns that are requested now.
    #[must_use]
    pub fn patterns(&self) -> Vec<PatternOutcome> {
        self.shared.patterns()
    }

    /// The methods that are compiled again from their original IL, because their first code has inlined a
    /// method that has new IL.
    #[must_use]
    pub fn inliners(&self) -> Vec<(ModuleId, MethodDef)> {
        lock(&self.shared.state).table.inliners()
    }

    /// Ends the thread that requests ReJIT, and waits for its end. Methods keep their current IL. A second call
    /// is a no-op.
    ///
    /// **Context**: any. While the runtime is suspended (during a GC, too), in callbacks of exceptions, and in
    /// others that receive an object, the call ends the thread without waiting, and returns an error.
    ///
    /// # Errors
    ///
    /// The error that ended the thread before.
    pub fn stop(&self) -> Result<()> {
        self.shared.stop();
        match self.worker.get() {
            Some(worker) => {
                worker.stop("Rejit::stop", "the thread that requests ReJIT has panicked")
            }
            None => Ok(()),
        }
    }
}

#[component(crate = crate)]
impl Component for Rejit {
    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        const CALL: &str = "Rejit::new";
        let options = self.shared.options;
        let is_net_framework = info.is_net_framework()?;
        if is_net_framework && info.loaded().by_attach {
            return Err(Error::rule_with_code(
                CALL,
                "a profiler that is attached to a program of .NET Framework cannot change methods: load it at start-up",
                Hresult::CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER,
            ));
        }
        if is_net_framework && options.inliners == Inliners::Follow {
            return Err(Error::rule(
                CALL,
                "`Inliners::Follow` needs .NET Core 3.0 or newer; on .NET Framework choose `Inliners::Keep`, and keep the JIT \
                 from inlining the methods: return `false` from `jit_inlining`, or add DISABLE_INLINING",
            ));
        }
        let needs = match options.inliners {
            Inliners::Follow => 10,
            Inliners::Keep => 4,
        };
        info.check_version(CALL, needs)?;
        setup.add_events(options.events());
        if is_net_framework {
            setup.add_events(EventMask::OF_REWRITING_ON_FRAMEWORK);
        }
        expect(info);
        let stops = StopsWhenDropped(Arc::clone(&self.shared));
        let worker = Worker::start(info, "rejit", {
            let info = info.clone();
            move |_| stops.0.serve(&info)
        })?;
        self.worker
            .set(worker)
            .map_err(|_| Error::rule(CALL, "it was attached before"))
    }

    /// Leaves methods as they are that the runtime asks for only because they have inlined a requested one.
    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let key = (module, method);
        if !self.shared.il_requested(key) {
            return Ok(());
        }
        let mut answer = Answer {
            shared: &self.shared,
            key,
            problem: Some((Hresult::E_FAIL, "the code that sets it panicked".to_owned())),
        };
        let outcome = (self.edit)(info, module, method, control);
        let error = outcome.as_ref().err();
        answer.problem = error.map(|error| (error.hresult(), error.to_string()));
        outcome
    }

    fn rejit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _rejit: RejitId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let facts = info.function_info2(function)?;
        let key = (facts.module, facts.token);
        lock(&self.shared.state).table.compiled(key, status);
        Ok(())
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        let mut state = lock(&self.shared.state);
        state.table.failed((module, method), status);
        Ok(())
    }

    /// Searches the module for the requested patterns, unless it could not be loaded.
    fn module_load_finished(
        &self,
        _info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        if status.is_ok() {
            self.shared.add([Job::Loaded(module)]);
        }
        Ok(())
    }

    /// No call names the module afterwards.
    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.shared.forget(module);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.stop()
    }
}

/// The reply to the runtime's request for the IL of a method; recorded when it is dropped.
struct Answer<'a> {
    shared: &'a Shared,
    key: (ModuleId, MethodDef),
    problem: Option<(Hresult, String)>,
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        if let Some((status, problem)) = self.problem.take() {
            let mut state = lock(&self.shared.state);
            state.table.not_set(self.key, status, problem);
        }
    }
}

impl Drop for Rejit {
    fn drop(&mut self) {
        // Nobody can receive the error.
        let _ = self.stop();
    }
}

opaque! { Rejit { this => options: this.shared.options, methods: this.outcomes().len() } }
