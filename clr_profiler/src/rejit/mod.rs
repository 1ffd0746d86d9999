//! ReJIT: other IL for methods while the program runs, and their original IL again.
//!
//! [`Rejit`] is a component that requests and reverts methods on a thread of its own and keeps the outcome of
//! each; its documentation has an example. A profiler that calls the runtime itself starts at
//! [`request_rejit`](crate::info::CorProfilerInfo4::request_rejit) and
//! [`FunctionControl`].

mod name;
mod options;
mod table;
mod worker;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::error::{Error, Hresult, Result};
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::info::CorProfilerInfo2;
use crate::info::function_control::FunctionControl;
use crate::profiler::{Component, Setup};
use crate::runtime::{ProfilerInfo, lock};
use crate::worker::Worker;
use clr_profiler_il::token::MethodDef;
use clr_profiler_macros::component;

pub use name::MethodName;
pub use options::{Inliners, Precompiled, RejitOptions};
pub use table::{RejitOutcome, RejitState};

use worker::{Job, Shared, StopsWhenDropped, Target};

/// Gives methods other IL while the program runs, and takes it back, from a thread of its own.
///
/// [`request`](Self::request) and [`revert`](Self::revert) may be called anywhere, in callbacks too:
/// they only say what is wanted. The thread tells the runtime, many methods at once, and
/// [`outcomes`](Self::outcomes) says what became of each. What is wanted last counts: a method that
/// is switched on and off faster than the thread works is not compiled for each time.
///
/// Methods are named by module and token, or by [`MethodName`]. A name stays wanted: it is looked for
/// in the modules that are there and in each that is loaded later. All instances of a generic method
/// get its IL.
///
/// Other IL begins with the next call of a method: who is in the method stays in the code he is in.
/// A method whose module has just been loaded may be called once or twice with its own IL before.
/// Methods that have inlined it, and precompiled ones, are treated as [`RejitOptions`] says.
///
/// It ends with [`stop`](Self::stop) and by itself with the profiler. Once a method
/// was compiled again, the runtime does not let the profiler detach: take everything back with
/// [`revert_all`](Self::revert_all) instead, and let it idle.
///
/// Ends in `ICorProfilerInfo4::RequestReJIT`, `ICorProfilerInfo10::RequestReJITWithInliners` and
/// `ICorProfilerInfo4::RequestRevert`. **Events**: it adds
/// [`ENABLE_REJIT`](crate::EventMask::ENABLE_REJIT) and what else it needs.
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
///         rejit.request_name(&"[Shop]Shop.Cart.Count".parse()?);
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
    /// From when it is attached.
    worker: OnceLock<Worker>,
}

/// What sets the IL of a method.
type Edit =
    dyn Fn(&ProfilerInfo, ModuleId, MethodDef, &FunctionControl<'_>) -> Result<()> + Send + Sync;

/// What became of a [`MethodName`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NameOutcome {
    /// The name.
    pub name: MethodName,
    /// The methods that have it, in the modules that were loaded so far. None says that the module
    /// has not come yet, or that it has no such method with IL.
    pub methods: Vec<(ModuleId, MethodDef)>,
    /// Modules in which it could not be looked for: what the last one answered.
    pub problem: Option<String>,
}

impl Rejit {
    /// To be [attached](Setup::attach); nothing is wanted yet.
    ///
    /// `edit` sets the IL of a method that is wanted, as [`FunctionControl::rewrite`] does, in the
    /// callback [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters). It is asked each time
    /// that the runtime asks: for each request, and by .NET Core 3.1 for instances of generic methods.
    /// After its error the runtime compiles the method with the IL that it has, and the method is
    /// [`Failed`](RejitState::Failed).
    ///
    /// The runtime is told nothing before `initialize` has returned. Attaching fails where the runtime
    /// is older than the options need ([`Inliners::Follow`]: .NET Core 3.0), or the operating system
    /// refuses a thread.
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

    /// Wants other IL for these methods; once more where they have other IL already.
    ///
    /// **Context**: any.
    pub fn request(&self, methods: impl IntoIterator<Item = (ModuleId, MethodDef)>) {
        let jobs = methods.into_iter().map(|at| Job::On(Target::Place(at)));
        self.shared.add(jobs);
    }

    /// Wants other IL for the methods of this name, in all modules that are there or come.
    ///
    /// **Context**: any.
    pub fn request_name(&self, name: &MethodName) {
        self.shared.add([Job::On(Target::Name(name.clone()))]);
    }

    /// Wants these methods to have their own IL again.
    ///
    /// **Context**: any.
    pub fn revert(&self, methods: impl IntoIterator<Item = (ModuleId, MethodDef)>) {
        let jobs = methods.into_iter().map(|at| Job::Off(Target::Place(at)));
        self.shared.add(jobs);
    }

    /// Wants the methods of this name to have their own IL again, and those of modules that come to
    /// keep it.
    ///
    /// **Context**: any.
    pub fn revert_name(&self, name: &MethodName) {
        self.shared.add([Job::Off(Target::Name(name.clone()))]);
    }

    /// Wants all methods to have their own IL again, and no name any more.
    ///
    /// **Context**: any.
    pub fn revert_all(&self) {
        self.shared.add([Job::AllOff]);
    }

    /// Waits until the runtime has been told everything that is wanted; `false` if it took longer
    /// than that, or if it will not be told any more.
    ///
    /// What the runtime makes of it comes later, with the next call of each method.
    ///
    /// **Context**: a thread of the profiler's own, or a callback that the program may wait in.
    pub fn wait(&self, patience: Duration) -> bool {
        self.shared.wait(patience)
    }

    /// What became of each method that was ever wanted, in modules that are still loaded.
    #[must_use]
    pub fn outcomes(&self) -> Vec<RejitOutcome> {
        lock(&self.shared.state).table.outcomes()
    }

    /// What became of the names that are wanted now.
    #[must_use]
    pub fn names(&self) -> Vec<NameOutcome> {
        self.shared.names()
    }

    /// The methods that have a new code of their own IL, because their first one has inlined a method
    /// that has other IL.
    #[must_use]
    pub fn inliners(&self) -> Vec<(ModuleId, MethodDef)> {
        lock(&self.shared.state).table.inliners()
    }

    /// Ends the thread and waits for its end: methods keep the IL that they have. Does nothing the
    /// second time.
    ///
    /// **Context**: any but during a collection. In the callbacks of exceptions, and others that get an
    /// object, the thread ends but is not waited for: that is an error.
    ///
    /// # Errors
    ///
    /// What made the thread end before.
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
        let needs = match options.inliners {
            Inliners::Follow => 10,
            Inliners::Keep => 4,
        };
        info.check_version(CALL, needs)?;
        setup.add_events(options.events());
        let stops = StopsWhenDropped(Arc::clone(&self.shared));
        let worker = Worker::start(info, "rejit", {
            let info = info.clone();
            move |_| stops.0.serve(&info)
        })?;
        self.worker
            .set(worker)
            .map_err(|_| Error::rule(CALL, "it was attached before"))
    }

    /// Methods that the runtime asks for because they have inlined one are left as they are.
    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let place = (module, method);
        if !self.shared.asked(place) {
            return Ok(());
        }
        let mut answer = Answer {
            shared: &self.shared,
            place,
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
        let place = (facts.module, facts.token);
        lock(&self.shared.state).table.compiled(place, status);
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

    /// Names are looked for in the module, unless it could not be loaded.
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

    /// Nothing is asked of the module afterwards.
    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.shared.forget(module);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.stop()
    }
}

/// The answer to the runtime's question for the IL of a method; remembered when it is dropped.
struct Answer<'a> {
    shared: &'a Shared,
    place: (ModuleId, MethodDef),
    problem: Option<(Hresult, String)>,
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        if let Some((status, problem)) = self.problem.take() {
            let mut state = lock(&self.shared.state);
            state.table.not_set(self.place, status, problem);
        }
    }
}

impl Drop for Rejit {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.stop();
    }
}

opaque! { Rejit { this => options: this.shared.options, methods: this.outcomes().len() } }
