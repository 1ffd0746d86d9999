//! The functions that edit a method: before it is compiled, again for a later tier, and by ReJIT.

use super::replacement;
use super::store::{Body, Task, store};
use super::subject::{Subject, unnamed};
use super::{LocalTypes, NewBody, RewriteContext, RewriteError, Rewritten, is_rewriting, work};
use crate::error::{Error, Result};
use crate::ids::{FunctionId, ModuleId};
use crate::info::function_control::FunctionControl;
use crate::info::method::Method;
use crate::info::{CorProfilerInfo, prepare};
use crate::profiler::name_of;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::token::MethodDef;
use std::cell::OnceCell;
use std::sync::Arc;

impl Method<'_> {
    /// Edits the body of the method before it is compiled.
    ///
    /// For [`jit_compilation_started`](crate::Profiler::jit_compilation_started). The closure gets the body
    /// from the module, and its result is verified before the runtime gets it; an unchanged body is not set.
    /// All instances of a generic method and all tiers of compilation share one body, so the closure runs
    /// once for a method: later calls return the result of the first, also if it is an error, and threads
    /// that call meanwhile wait for it. The result must depend on the method alone.
    ///
    /// The profiler and its [components](crate::Component) can all edit a method: each once, in the order in
    /// which they receive callbacks, and each gets the result of the one before.
    ///
    /// When a module is unloaded, the results for its methods are dropped. A method that is inlined into
    /// another one is inlined with the body that it has at that time: refuse it in
    /// [`jit_inlining`](crate::Profiler::jit_inlining) where that matters. To change a method again, or one
    /// that was compiled already, use [`FunctionControl::rewrite`].
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: in `jit_compilation_started` of the method,
    /// or before; not during a GC. Afterwards the profiler cannot be detached.
    ///
    /// # Errors
    ///
    /// A [`RewriteError`] that names the method and says that it has no IL, which rule the result breaks and
    /// where, or which call of the runtime failed, or that contains the error of the closure.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let text = format!("enter {}", cx.full_name());
    ///     body.prologue(Fragment::new().ldstr(&text).call(&write))?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "SetILFunctionBody")]
    pub fn rewrite(
        &self,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        let (method, function) = ((self.module(), self.token()), Some(self.function()));
        self.info()
            .rewrite_once(method, function, LocalTypes::Read, edit)
    }
}

/// Whether a method is rewritten that the same owner has rewritten before.
#[derive(Clone, Copy, PartialEq)]
enum Times {
    Once,
    Again,
}

impl ProfilerInfo {
    /// Opens the metadata of a module for the tokens that rewritten methods need.
    ///
    /// The runtime does not synchronise the first opening with its own readers: a thread that compiles a method of the module, or
    /// finds one, can crash the program. When the module has just been loaded there is no such thread.
    /// [`Instrumentation`](crate::instrumentation::Instrumentation) does this for the modules of its methods. A profiler that
    /// calls [`Method::rewrite`] does it here; without that, each module is opened at its first rewrite, and from then on those that
    /// are loaded later when they are: those of the program, and those of .NET after a rewrite of one of them. An open
    /// module takes more memory, and 0.1 to 5 ms.
    ///
    /// Calls `ICorProfilerInfo::GetModuleMetaData`. **Context**: in
    /// [`module_load_finished`](crate::Profiler::module_load_finished) of the module.
    ///
    /// # Errors
    ///
    /// As of [`module_metadata_for_writing`](CorProfilerInfo::module_metadata_for_writing).
    #[doc(alias = "GetModuleMetaData")]
    pub fn prepare_rewriting(&self, module: ModuleId) -> Result<()> {
        prepare(self, module)
    }

    /// Edits the body of a method by module and token, before it is compiled.
    ///
    /// Like [`Method::rewrite`], and once for each method like it, for moments in which no function exists: in
    /// [`module_load_finished`](crate::Profiler::module_load_finished) of the module. Each inlined copy of the method then has the
    /// new body, so that inlining need not be refused. The runtime does not get a map of IL offsets, because it takes
    /// one for a function; a call of [`set_il_instrumented_code_map`](CorProfilerInfo::set_il_instrumented_code_map) when the
    /// method is compiled gives it one.
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: in `module_load_finished` of the module, or later; not
    /// during a GC. Afterwards the profiler cannot be detached.
    ///
    /// # Errors
    ///
    /// As of [`Method::rewrite`].
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    ///
    /// # fn loaded(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    /// let metadata = info.module_metadata(module)?;
    /// let class = metadata.find_type_def_by_name("Shop.Store", None)?;
    /// for method in metadata.methods(class) {
    ///     info.rewrite_method(module, method?, |body, _| {
    ///         body.prologue(Fragment::new().nop())?;
    ///         Ok(())
    ///     })?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "SetILFunctionBody")]
    pub fn rewrite_method(
        &self,
        module: ModuleId,
        method: MethodDef,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        self.rewrite_once((module, method), None, LocalTypes::Read, edit)
    }

    /// Edits the body of a method anew, in place of the edit that the same profiler or
    /// [component](crate::Component) has made before.
    ///
    /// The closure gets the body as it was before that edit, and leaves it unchanged to give the method its original IL. The new body is
    /// that of the next compilation: call it in [`jit_compilation_started`](crate::Profiler::jit_compilation_started) of a
    /// later tier, so that a method loses its instrumentation without ReJIT, after which it would never be inlined again. If it
    /// fails, the earlier body stays.
    ///
    /// From .NET 7 on, the runtime replaces code in the middle of a loop, by code of the method's current IL. So a method with a loop
    /// keeps its body, unless the new one has the same branches at the same offsets, and the same locals: with `nop`s in place of other
    /// instructions, for example.
    ///
    /// The runtime does not get a map of IL offsets, as with [`rewrite_method`](Self::rewrite_method). It has one map for all code of a
    /// method, and applies it when it first needs the offsets of a code: ask for the
    /// [offsets](crate::info::CorProfilerInfo9::il_to_native_mapping3) of earlier code before the map changes, and stack traces keep its lines.
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: as of [`rewrite_method`](Self::rewrite_method).
    ///
    /// # Errors
    ///
    /// As of [`Method::rewrite`]; also that another one has edited the method after the edit that is to be replaced, and
    /// [`MayBeInLoop`](NotInstrumentable::MayBeInLoop).
    #[doc(alias = "SetILFunctionBody")]
    pub fn rewrite_method_again(
        &self,
        module: ModuleId,
        method: MethodDef,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        let how = (Times::Again, LocalTypes::Read);
        self.rewrite_as((module, method), None, how, edit)
    }

    /// [`rewrite_method`](Self::rewrite_method), or [`Method::rewrite`] of a function of the method, of which nothing is asked.
    pub(crate) fn rewrite_once(
        &self,
        method: (ModuleId, MethodDef),
        function: Option<FunctionId>,
        locals: LocalTypes,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        self.rewrite_as(method, function, (Times::Once, locals), edit)
    }

    fn rewrite_as(
        &self,
        (module, method): (ModuleId, MethodDef),
        function: Option<FunctionId>,
        (times, locals): (Times, LocalTypes),
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        let info = self;
        let cached = store(info).module(module);
        let slot = cached.method(method);
        let owner = info.owner();
        let earlier = match times {
            Times::Once => None,
            Times::Again => slot.take_edit(owner, !is_rewriting()),
        };
        let refuse =
            |problem: String| Err(RewriteError::new(unnamed(module, method), problem).into());
        let pending = match slot.task(owner, !is_rewriting(), (module, method)) {
            Task::Work(pending) => pending,
            Task::Done(_) if times == Times::Again => {
                return refuse(
                    "its edit cannot be replaced: another part of the profiler has edited it since, or does so now"
                        .to_owned(),
                );
            }
            Task::Done(outcome) => {
                let after = outcome?.bytes;
                let before = slot.body_for(owner, || Ok(after.to_vec()))?.bytes;
                return Ok(Rewritten {
                    before,
                    after,
                    first: false,
                });
            }
            Task::Busy => {
                return refuse(
                    "it is being rewritten, and this thread is rewriting as well: the code that \
                     edits must not lead to another rewrite"
                        .to_owned(),
                );
            }
            Task::Late(later) => {
                return refuse(format!(
                    "{} comes before {}, which has edited it already: edit methods in \
                     `jit_compilation_started`, which all receive in their order",
                    name_of(info, owner),
                    name_of(info, later)
                ));
            }
        };
        // The body of an earlier edit, which is the current one.
        let edited = match &earlier {
            Some(Ok(body)) => Some(Arc::clone(&body.bytes)),
            _ => None,
        };
        let begun = OnceCell::new();
        let set = |new: &NewBody, is_changed: bool| {
            if is_changed || edited.is_some() {
                if times == Times::Again
                    && let Some(current) = edited.as_ref().or_else(|| begun.get())
                {
                    replacement::check(info, current, &new.bytes)?;
                }
                info.set_il_function_body(module, method, &new.bytes)?;
                if let (Some(map), Some(function)) = (new.entries(), function) {
                    // An error is ignored: the map serves debuggers, and the body counts.
                    let _ = info.set_il_instrumented_code_map(function, true, &map);
                }
            }
            Ok(())
        };
        let begin = |subject: &Subject<'_>| {
            let body = slot.body_for(owner, || subject.current_body())?;
            Ok(Body {
                bytes: Arc::clone(begun.get_or_init(|| body.bytes)),
                ..body
            })
        };
        let of = (&*cached, locals);
        let outcome = work(info, (module, method), of, begin, edit, set);
        let (rewritten, made) = match outcome {
            Ok((rewritten, body)) => (Ok(rewritten), Ok(body)),
            // The runtime still has the earlier body.
            Err(error) => (Err(error.clone().into()), earlier.unwrap_or(Err(error))),
        };
        pending.finish(made);
        rewritten
    }
}

impl FunctionControl<'_> {
    /// Edits the body that a method gets by ReJIT.
    ///
    /// For [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters), which names module and method.
    /// The closure gets the body from the module, without the edits that [`Method::rewrite`] of the same
    /// profiler or [component](crate::Component) or an earlier ReJIT has made; the edits of the others stay.
    /// It runs each time, because requests of ReJIT can differ. Otherwise it works like [`Method::rewrite`].
    ///
    /// Calls `ICorProfilerFunctionControl::SetILFunctionBody`.
    ///
    /// # Errors
    ///
    /// A [`RewriteError`] that names the method, as of [`Method::rewrite`]. The ReJIT then compiles the
    /// method with the IL that it has. Runtime-async methods are refused: .NET 10 reports that they were
    /// compiled, and calls their original code.
    #[doc(alias = "SetILFunctionBody")]
    pub fn rewrite(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        let cached = store(info).module(module);
        let slot = cached.method(method);
        // Set also if it is the original IL: it may replace rewritten IL.
        let set = |new: &NewBody, _is_changed: bool| {
            self.set_il_function_body(&new.bytes)?;
            if let Some(map) = new.entries() {
                self.set_il_instrumented_code_map(&map)?;
            }
            Ok(())
        };
        let edit = |body: &mut MethodBody, cx: &mut RewriteContext<'_>| {
            if cx.shape()?.is_runtime_async() {
                return Err(NotInstrumentable::RuntimeAsyncRejit.into());
            }
            edit(body, cx)
        };
        let owner = info.owner();
        // Of a method that was never compiled, no callback has told the others.
        if !is_rewriting() {
            store(info).edit_before_rejit(owner, (module, method));
        }
        let begin = |subject: &Subject<'_>| {
            let body = slot.body_for_rejit(owner, || subject.current_body())?;
            body.map_err(|other| {
                Error::other(format!(
                    "{} has edited it when it was compiled, and {} after that: order the one that \
                     edits it by ReJIT last",
                    name_of(info, owner),
                    name_of(info, other)
                ))
            })
        };
        let of = (&*cached, LocalTypes::Read);
        Ok(work(info, (module, method), of, begin, edit, set)?.0)
    }
}
