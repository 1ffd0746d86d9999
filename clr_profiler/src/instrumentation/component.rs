//! The callbacks of [`Instrumentation`].

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use super::Instrumentation;
use super::outcome::PatternMatches;
use super::shared::Shared;
use super::table::{Begun, Timing};
use crate::error::{Error, Hresult, Result};
use crate::event_mask::EventMask;
use crate::events::CallbackSet;
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::info::function_control::FunctionControl;
use crate::info::{CorProfilerInfo, CorProfilerInfo2};
use crate::profiler::{Component, Setup};
use crate::rejit::{Inliners, Rejit, RejitOptions};
use crate::rewrite::{RewriteContext, Rewritten, mistake};
use crate::runtime::{ProfilerInfo, lock};
use crate::worker::Worker;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::token::MethodDef;

impl Component for Instrumentation {
    fn callbacks(&self) -> CallbackSet {
        let mut callbacks = CallbackSet::EMPTY
            .with("module_load_finished")
            .with("module_unload_started")
            .with("jit_inlining")
            .with("jit_compilation_started")
            .with("jit_compilation_finished");
        if self.shared.get().is_none_or(|shared| !shared.is_attached) {
            callbacks = callbacks.with("jit_cached_function_search_started");
        }
        match self.rejit.get() {
            Some(rejit) => callbacks.union(rejit.callbacks()),
            None => callbacks,
        }
    }

    fn attach(&self, info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        const CALL: &str = "Instrumentation::new";
        if let Some(mistake) = &self.description.mistake {
            return Err(Error::other(mistake.as_str()));
        }
        for method in &self.description.uses {
            if let Some(mistake) = mistake(method) {
                return Err(Error::other(format!(
                    "the declared method {method}: {mistake}"
                )));
            }
        }
        if self.description.timing != Timing::Compilation {
            let conflict = match self.description.helpers().next() {
                Some(_) => Some("a helper is not loaded when the bodies of a module are set"),
                None => self
                    .description
                    .is_switchable
                    .then_some("ReJIT does not change inlined copies"),
            };
            if let Some(conflict) = conflict {
                return Err(Error::rule("Instrumentation::at_module_load", conflict));
            }
        }
        if self.description.adds_no_tokens && self.description.helpers().next().is_some() {
            return Err(Error::rule(
                "Instrumentation::without_new_tokens",
                "a helper needs references to it",
            ));
        }
        if self.description.deferral.is_some() {
            let has_load = self.description.timing != Timing::Compilation;
            let has_load = has_load.then_some("bodies that are set at load cannot wait");
            let is_switchable = self.description.is_switchable;
            let switches =
                is_switchable.then_some("ReJIT changes methods whether they wait or not");
            if let Some(conflict) = has_load.or(switches) {
                return Err(Error::rule("Instrumentation::defer", conflict));
            }
        }
        let is_attached = info.loaded().by_attach;
        if info.is_net_framework()? && !is_attached {
            if self.description.deferral.is_some() {
                return Err(Error::rule(
                    "Instrumentation::defer",
                    "methods that wait are changed when they are compiled for the next tier, and .NET Framework has no tiers",
                ));
            }
            setup.add_events(EventMask::OF_REWRITING_ON_FRAMEWORK);
        }
        let shared = Arc::new(Shared {
            info: info.clone(),
            description: self.description.clone(),
            table: Mutex::default(),
            searching: Mutex::default(),
            owner: OnceLock::new(),
            request: OnceLock::new(),
            awaiting: OnceLock::new(),
            starting: Mutex::default(),
            is_checked: AtomicBool::new(false),
            is_attached,
        });
        let again = |_| Error::rule(CALL, "it was attached before");
        if is_attached || self.description.is_switchable {
            let mut options = RejitOptions::default();
            // The JIT inlines no selected method from the start on, and precompiled copies are not used.
            if !is_attached {
                options.inliners = Inliners::Keep;
            }
            let rejit = Rejit::new(options, {
                let shared = Arc::clone(&shared);
                move |info, module, method, control| shared.rejit(info, (module, method), control)
            });
            let _ = shared.request.set(Box::new(rejit.requests()));
            Component::attach(&rejit, info, setup)?;
            self.rejit.set(rejit).map_err(|_| again(()))?;
        }
        if is_attached && let Some(rejit) = self.rejit.get() {
            let (shared, rejit) = (Arc::clone(&shared), rejit.requests());
            let worker =
                Worker::start(info, "instrumentation", move |_| shared.enter_loaded(rejit))?;
            self.worker.set(worker).map_err(|_| again(()))?;
        }
        self.shared.set(shared).map_err(|_| again(()))
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        if let Some(rejit) = self.rejit.get() {
            rejit.module_load_finished(info, module, status)?;
        }
        let Some(shared) = self.shared.get().filter(|_| status.is_ok()) else {
            return Ok(());
        };
        shared.own(info);
        let mut problems = Vec::new();
        let rejits = shared.enter(module, false, &mut problems)?;
        if let Some(rejit) = self.rejit.get() {
            rejit.request(rejits);
        }
        shared.check_uses(module)?;
        if problems.is_empty() {
            return Ok(());
        }
        let error = Error::other(problems.join("; "));
        let mut table = lock(&shared.table);
        for problem in problems {
            table.reported(problem);
        }
        Err(error)
    }

    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        if let Some(shared) = self.shared.get() {
            let _idle = lock(&shared.searching);
            lock(&shared.table).forget(module);
        }
        match self.rejit.get() {
            Some(rejit) => rejit.module_unload_started(info, module),
            None => Ok(()),
        }
    }

    /// Rejects precompiled code of selected methods, and of methods that have copies of them.
    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        let Some(shared) = self.shared.get() else {
            return Ok(true);
        };
        // Most are not selected: their type arguments are not asked for.
        let facts = info.function_info(function)?;
        let (is_rejected, instances_matter) = {
            let table = lock(&shared.table);
            let is_rejected = table.rejects_code((facts.module, facts.token));
            (is_rejected, table.has_copies_in_instances())
        };
        if is_rejected {
            return Ok(shared.keeps_code((facts.module, facts.token)));
        }
        if !instances_matter {
            return Ok(true);
        }
        // Instances over a module's types were compiled with it.
        let facts = info.function_info2(function)?;
        let class = facts
            .class
            .and_then(|class| info.class_id_info2(class).ok());
        let of_class = class.into_iter().flat_map(|class| class.type_arguments);
        let mut arguments = of_class.chain(facts.type_arguments);
        Ok(!arguments.any(|class| shared.is_copied_into_instances(class)))
    }

    /// Keeps the JIT from copying selected methods.
    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        let Some(shared) = self.shared.get() else {
            return Ok(true);
        };
        let facts = info.function_info(callee)?;
        let key = (facts.module, facts.token);
        if shared.is_left_alone(key) || !shared.selects(key, callee)? {
            return Ok(true);
        }
        if shared.sets_at_first_use() {
            return Ok(shared.may_be_copied(key));
        }
        let is_deferring = shared.is_deferring();
        let table = lock(&shared.table);
        let is_left_alone = is_deferring && table.can_wait(key);
        Ok(is_left_alone || table.may_be_inlined(key, 0))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let Some(shared) = self.shared.get() else {
            return Ok(());
        };
        let _noted = shared.note_compilation(function);
        let facts = info.function_info(function)?;
        let key = (facts.module, facts.token);
        // Under one lock: another instance may be decided about meanwhile, and its body set.
        if shared.is_deferring() && lock(&shared.table).leave_undecided(key, function) {
            return Ok(());
        }
        if !shared.selects(key, function)? {
            return Ok(());
        }
        let is_deferring = shared.is_deferring();
        let (begun, earlier) = {
            let mut table = lock(&shared.table);
            let begun = table.begin_or_defer(key, is_deferring);
            (begun, table.needs_map(key, function))
        };
        let (rules, has_code) = match begun {
            Some(Begun::First(rules)) => (rules, false),
            Some(Begun::Again(rules)) => (rules, true),
            None => {
                shared.set_offset_map(function, key, earlier);
                return Ok(());
            }
        };
        let mut edited = None;
        let edit = |body: &mut MethodBody, cx: &mut RewriteContext<'_>| {
            edited = Some(shared.name_to_keep(cx));
            shared.description.apply(&rules, body, cx)
        };
        let result = match has_code {
            true => info.rewrite_method_again(key.0, key.1, edit),
            false => {
                let locals = shared.description.locals();
                info.rewrite_once(key, Some(function), locals, edit)
            }
        };
        // Another thread may have been setting it before, which this one has waited for.
        shared.set_offset_map(function, key, earlier);
        // Other threads and instances find the work done.
        let is_first = edited.is_some() || result.as_ref().map_or(true, Rewritten::is_first);
        if is_first {
            shared.finish(key, edited.flatten(), &result);
        }
        match result {
            Err(error) if shared.description.reports(&rules) && is_first => {
                lock(&shared.table).reported(error.to_string());
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let Some(shared) = self.shared.get() else {
            return Ok(());
        };
        shared.end_compilation(function);
        if shared.description.deferral.is_some() {
            let facts = info.function_info(function)?;
            lock(&shared.table).compiled((facts.module, facts.token));
        }
        Ok(())
    }

    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        match self.rejit.get() {
            Some(rejit) => rejit.get_rejit_parameters(info, module, method, control),
            None => Ok(()),
        }
    }

    fn rejit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        id: RejitId,
        status: Hresult,
        is_safe_to_block: bool,
    ) -> Result<()> {
        match self.rejit.get() {
            Some(rejit) => {
                rejit.rejit_compilation_finished(info, function, id, status, is_safe_to_block)
            }
            None => Ok(()),
        }
    }

    fn rejit_error(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        match self.rejit.get() {
            Some(rejit) => rejit.rejit_error(info, module, method, function, status),
            None => Ok(()),
        }
    }

    /// Reports the patterns that have matched nothing, and the methods that could not be rewritten.
    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        let awaiting = self.shared.get().and_then(|shared| shared.awaiting.get());
        for worker in self.worker.get().into_iter().chain(awaiting) {
            worker.stop(
                "Instrumentation::shutdown",
                "the thread that searches modules has panicked",
            )?;
        }
        if let Some(rejit) = self.rejit.get() {
            Component::shutdown(rejit, info)?;
        }
        let outcomes = match (self.shared.get(), self.rejit.get()) {
            // The names of methods without a problem are not needed.
            (Some(shared), None) => shared.outcomes_of(|_, problem| problem.is_some()),
            _ => self.outcomes(),
        };
        let mut words = Vec::new();
        let is_late = |of: &&PatternMatches| {
            let table = self.shared.get().map(|shared| lock(&shared.table));
            table.is_some_and(|table| table.is_late(|name| of.pattern.matches_assembly(name)))
        };
        let patterns = outcomes.patterns.iter().filter(|of| of.methods == 0);
        let (late, others): (Vec<_>, Vec<_>) = patterns.partition(is_late);
        let calls = outcomes.callees.iter().filter(|of| of.methods == 0);
        let calls = calls.collect();
        for (unmatched, what, why) in [
            (
                late,
                "method",
                "none of the loaded assembly was compiled, or all were left alone",
            ),
            (
                others,
                "method",
                "the assembly was not loaded, or the pattern is mistaken",
            ),
            (
                calls,
                "call",
                "no method with such a call was compiled, or the pattern is mistaken",
            ),
        ] {
            if !unmatched.is_empty() {
                let unmatched: Vec<_> = unmatched
                    .iter()
                    .map(|of| format!("`{}`", of.pattern))
                    .collect();
                let unmatched = unmatched.join(", ");
                words.push(format!("no {what} has matched {unmatched}: {why}"));
            }
        }
        // A profiler that reports each of them has said it.
        let is_reported = self
            .shared
            .get()
            .is_some_and(|shared| shared.description.report.is_some());
        if let Some(shared) = self.shared.get().filter(|_| !is_reported) {
            let table = lock(&shared.table);
            words.extend(outcomes.failures(|problem| table.was_reported(problem)));
        }
        match words.is_empty() {
            true => Ok(()),
            false => Err(Error::other(words.join("; "))),
        }
    }
}
