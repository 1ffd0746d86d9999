//! [`Rejit`]: gives methods other IL while the program runs, and takes it back.

mod name;
mod options;
mod table;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Hresult, Result};
use crate::ids::{FunctionId, ModuleId};
use crate::info::CorProfilerInfo2;
use crate::profiler::Setup;
use crate::runtime::ProfilerInfo;
use crate::worker::Worker;
use clr_profiler_il::token::MethodDef;

pub use name::MethodName;
pub use options::{Inliners, Precompiled, RejitOptions};
pub use table::{RejitOutcome, RejitState};

use worker::{Job, Shared, StopsWhenDropped, Target, lock};

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
/// The profiler hands on five callbacks to it, a line each, as in the example. It ends with
/// [`stop`](Self::stop), when it is dropped, and by itself when the runtime shuts down. Once a method
/// was compiled again, the runtime does not let the profiler detach: take everything back with
/// [`revert_all`](Self::revert_all) instead, and let it idle.
///
/// Ends in `ICorProfilerInfo4::RequestReJIT`, `ICorProfilerInfo10::RequestReJITWithInliners` and
/// `ICorProfilerInfo4::RequestRevert`. **Events**: it adds
/// [`ENABLE_REJIT`](crate::EventMask::ENABLE_REJIT) and what else it needs.
///
/// ```
/// use clr_profiler::il::fragment::Fragment;
/// use clr_profiler::prelude::*;
/// use clr_profiler::{Rejit, RejitOptions};
///
/// struct Answers {
///     rejit: Rejit,
/// }
///
/// #[profiler(clsid = "2D0A2F0E-55A5-4A0B-8B1B-6B8A4F1D3C77")]
/// impl Profiler for Answers {
///     fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let rejit = Rejit::start(info, setup, RejitOptions::default())?;
///         rejit.request_name(&"[Shop]Shop.Cart.Count".parse()?);
///         Ok(Answers { rejit })
///     }
///
///     fn get_rejit_parameters(
///         &self,
///         info: &ProfilerInfo,
///         module: ModuleId,
///         method: MethodDef,
///         control: &FunctionControl<'_>,
///     ) -> Result<()> {
///         // Others are asked about because of what they have inlined: they are left as they are.
///         self.rejit.get_rejit_parameters(module, method, || {
///             control.rewrite(info, module, method, |body, _| {
///                 body.before_ret(Fragment::new().ldc_i4(1).add())?;
///                 Ok(())
///             })
///         })?;
///         Ok(())
///     }
///
///     fn rejit_compilation_finished(
///         &self,
///         _info: &ProfilerInfo,
///         function: FunctionId,
///         _rejit: RejitId,
///         status: Hresult,
///         _is_safe_to_block: bool,
///     ) -> Result<()> {
///         self.rejit.rejit_compilation_finished(function, status)
///     }
///
///     fn rejit_error(
///         &self,
///         _info: &ProfilerInfo,
///         module: ModuleId,
///         method: MethodDef,
///         _function: Option<FunctionId>,
///         status: Hresult,
///     ) -> Result<()> {
///         self.rejit.rejit_error(module, method, status);
///         Ok(())
///     }
///
///     fn module_load_finished(
///         &self,
///         _info: &ProfilerInfo,
///         module: ModuleId,
///         status: Hresult,
///     ) -> Result<()> {
///         self.rejit.module_load_finished(module, status);
///         Ok(())
///     }
///
///     fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
///         self.rejit.module_unload_started(module);
///         Ok(())
///     }
///
///     fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
///         for outcome in self.rejit.outcomes() {
///             eprintln!("{outcome:?}");
///         }
///         self.rejit.stop()
///     }
/// }
///
/// register!(Answers);
/// ```
pub struct Rejit {
    shared: Arc<Shared>,
    worker: Worker,
}

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
    /// Begins; nothing is wanted yet. For `initialize` and `initialize_for_attach`: the runtime is told
    /// nothing before these have returned.
    ///
    /// # Errors
    ///
    /// The runtime is older than the options need ([`Inliners::Follow`]: .NET Core 3.0), or the
    /// operating system refuses a thread.
    pub fn start(info: &ProfilerInfo, setup: &mut Setup, options: RejitOptions) -> Result<Self> {
        const CALL: &str = "Rejit::start";
        let needs = match options.inliners {
            Inliners::Follow => 10,
            Inliners::Keep => 4,
        };
        if info.version() < needs {
            return Err(Error::unsupported(CALL, needs, info.version()));
        }
        setup.add_events(options.events());
        let shared = Arc::new(Shared::new(info.clone(), options));
        let stops = StopsWhenDropped(Arc::clone(&shared));
        let worker = Worker::start(info, "rejit", move |_| stops.0.serve())?;
        Ok(Self { shared, worker })
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
        self.shared.wait(Instant::now() + patience)
    }

    /// What became of each method that was ever wanted, in modules that are still loaded.
    pub fn outcomes(&self) -> Vec<RejitOutcome> {
        lock(&self.shared.state).table.outcomes()
    }

    /// What became of the names that are wanted now.
    pub fn names(&self) -> Vec<NameOutcome> {
        self.shared.names()
    }

    /// The methods that have a new code of their own IL, because their first one has inlined a method
    /// that has other IL.
    pub fn inliners(&self) -> Vec<(ModuleId, MethodDef)> {
        lock(&self.shared.state).table.inliners()
    }

    /// To be called in [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters): calls `set`, which
    /// sets the IL of the method, if other IL is wanted for it, and remembers what became of that.
    ///
    /// `None` if the method is compiled again because it has inlined one of these: it is left as it is.
    ///
    /// # Errors
    ///
    /// Those of `set`. The runtime then compiles the method with the IL that it has, and the method is
    /// [`Failed`](RejitState::Failed).
    pub fn get_rejit_parameters<R>(
        &self,
        module: ModuleId,
        method: MethodDef,
        set: impl FnOnce() -> Result<R>,
    ) -> Result<Option<R>> {
        let place = (module, method);
        if !self.shared.asked(place) {
            return Ok(None);
        }
        let mut answer = Answer {
            shared: &self.shared,
            place,
            problem: Some((Hresult::E_FAIL, "the code that sets it panicked".to_owned())),
        };
        let outcome = set();
        let error = outcome.as_ref().err();
        answer.problem = error.map(|error| (error.hresult(), error.to_string()));
        outcome.map(Some)
    }

    /// To be called in
    /// [`rejit_compilation_finished`](crate::Profiler::rejit_compilation_finished).
    ///
    /// # Errors
    ///
    /// What the runtime answers when it is asked for the method of the function.
    pub fn rejit_compilation_finished(&self, function: FunctionId, status: Hresult) -> Result<()> {
        let facts = self.shared.info.function_info2(function)?;
        let place = (facts.module, facts.token);
        lock(&self.shared.state).table.compiled(place, status);
        Ok(())
    }

    /// To be called in [`rejit_error`](crate::Profiler::rejit_error).
    pub fn rejit_error(&self, module: ModuleId, method: MethodDef, status: Hresult) {
        lock(&self.shared.state)
            .table
            .failed((module, method), status);
    }

    /// To be called in [`module_load_finished`](crate::Profiler::module_load_finished): names are
    /// looked for in the module, unless it could not be loaded.
    pub fn module_load_finished(&self, module: ModuleId, status: Hresult) {
        if status.is_ok() {
            self.shared.add([Job::Loaded(module)]);
        }
    }

    /// To be called in [`module_unload_started`](crate::Profiler::module_unload_started): nothing is
    /// asked of the module afterwards.
    pub fn module_unload_started(&self, module: ModuleId) {
        self.shared.forget(module);
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
        self.worker
            .stop("Rejit::stop", "the thread that requests ReJIT has panicked")
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

impl fmt::Debug for Rejit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejit")
            .field("options", &self.shared.options)
            .field("methods", &self.outcomes().len())
            .finish_non_exhaustive()
    }
}
