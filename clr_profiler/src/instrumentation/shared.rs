//! [`Shared`]: the work with modules and methods, which calls the runtime.

mod first_use;
mod late;
mod outcomes;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::outcome::{MethodOutcome, MethodState};
use super::rules::{Description, RuleIndex};
use super::search;
use super::table::{MethodKey, Module, Rules, Selected, Table, Timing};
use crate::error::{Error, Result};
use crate::ids::{ClassId, FunctionId, ModuleId};
use crate::image::Images;
use crate::info::function_control::FunctionControl;
use crate::info::{
    self, CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo3, ModuleFlags, is_framework,
};
use crate::rewrite::HelperAssembly;
use crate::rewrite::{
    RewriteContext, RewriteError, Rewritten, add_editor, missing_methods, set_offset_map,
};
use crate::runtime::{Owner, ProfilerInfo, lock, owned_by};
use crate::worker::{Stop, Worker};
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::token::{HashTokens, MethodDef};

/// The part of an attached component that its callbacks and threads share.
pub(super) struct Shared {
    pub(super) info: ProfilerInfo,
    pub(super) description: Description,
    /// Never held during a call of the runtime.
    pub(super) table: Mutex<Table>,
    /// Held while the thread searches a module, which is not unloaded meanwhile.
    pub(super) searching: Mutex<()>,
    pub(super) is_attached: bool,
    /// The component, as owner of its edits.
    pub(super) owner: OnceLock<Owner>,
    /// Requests the ReJIT of methods.
    pub(super) request: OnceLock<Box<Request>>,
    /// The thread that waits for the helper, from the first method on that loads it.
    pub(super) awaiting: OnceLock<Worker>,
    /// Held while the thread is started.
    pub(super) starting: Mutex<()>,
    /// Whether the declared methods were looked up.
    pub(super) is_checked: AtomicBool,
}

/// Whether a body was not set because the method may be running in a loop.
fn is_in_loop(error: &Error) -> bool {
    let reason = RewriteError::of(error).and_then(RewriteError::reason);
    reason == Some(NotInstrumentable::MayBeInLoop)
}

pub(super) type Request = dyn Fn(Vec<MethodKey>) + Send + Sync;

/// The intervals at which the thread looks whether the helper is loaded: the first one, and the longest one.
const LOADED_SOON: Duration = Duration::from_millis(2);
const LOADED_LATE: Duration = Duration::from_secs(1);

impl Shared {
    /// Records the owner of the callback that this is called in.
    pub(super) fn own(self: &Arc<Self>, info: &ProfilerInfo) {
        self.owner.get_or_init(|| {
            let owner = info.owner();
            // The store belongs to the runtime, to which this has a handle.
            let shared = Arc::downgrade(self);
            let editor = move |module, method| {
                if let Some(shared) = shared.upgrade() {
                    shared.rewrite_early((module, method));
                }
            };
            add_editor(info, owner, Arc::new(editor));
            owner
        });
    }

    /// Looks the declared methods up, once, if a module has selected methods.
    pub(super) fn check_uses(&self, module: ModuleId) -> Result<()> {
        let uses = &self.description.uses;
        if uses.is_empty()
            || !lock(&self.table).has_methods(module)
            || self.is_checked.swap(true, Ordering::Relaxed)
        {
            return Ok(());
        }
        let missing = missing_methods(&self.info, module, uses)?;
        if missing.is_empty() {
            return Ok(());
        }
        let problem = format!("declared methods are missing: {}", missing.join("; "));
        lock(&self.table).add_problem(problem.clone());
        Err(Error::other(problem))
    }

    /// Gives methods their original bodies, for their next compilations.
    pub(super) fn set_back(&self, methods: Vec<MethodKey>) {
        let Some(owner) = self.owner.get() else {
            return;
        };
        for key in methods {
            let _idle = lock(&self.searching);
            // It may have been unloaded meanwhile.
            if lock(&self.table).selected(key) != Selected::Yes {
                continue;
            }
            let result = owned_by(*owner, || {
                self.info.rewrite_method_again(key.0, key.1, |_, _| Ok(()))
            });
            if let Err(error) = result {
                let problem = format!("its new IL cannot be removed: {error}");
                lock(&self.table).keep(key, problem);
            }
        }
        lock(&self.table).end_removal();
    }

    /// Applies the rules to methods again, for their next compilations. Returns those that have new IL.
    pub(super) fn renew(&self, methods: &[MethodKey]) -> Vec<MethodKey> {
        let mut renewed = Vec::new();
        let Some(owner) = self.owner.get() else {
            return renewed;
        };
        for key in methods.iter().copied() {
            let _idle = lock(&self.searching);
            let rules: Option<Rules> = lock(&self.table).begin_again(key);
            let Some(rules) = rules else {
                continue;
            };
            let result = owned_by(*owner, || {
                self.info.rewrite_method_again(key.0, key.1, |body, cx| {
                    self.description.apply(&rules, body, cx)
                })
            });
            let mut table = lock(&self.table);
            match result {
                Ok(rewritten) => {
                    table.end_again(key, rewritten.is_changed());
                    renewed.push(key);
                }
                // It keeps the IL of before.
                Err(error) if is_in_loop(&error) => {}
                Err(error) => {
                    let assembly = table.assembly(key.0);
                    table.add_problem(format!("{assembly}: {}: {error}", key.1));
                }
            }
        }
        renewed
    }

    /// Gives the runtime the map of IL offsets of a method that needs one; `earlier` are the functions whose code gets its offsets
    /// before.
    pub(super) fn set_offset_map(
        &self,
        function: FunctionId,
        key: MethodKey,
        earlier: Option<Vec<FunctionId>>,
    ) {
        if let Some(earlier) = earlier
            && let Some(with_code) = set_offset_map(&self.info, function, key, &earlier)
        {
            lock(&self.table).have_offsets(key, &with_code, function);
        }
    }

    /// Searches a module for selected methods, and prepares it for them. Returns those that ReJIT has to change, and adds the
    /// reasons for which rules do not change a method.
    pub(super) fn enter(
        &self,
        module: ModuleId,
        is_loaded: bool,
        problems: &mut Vec<String>,
    ) -> Result<Vec<MethodKey>> {
        let (info, description) = (&self.info, &self.description);
        let (facts, flags) = info.module_info2(module)?;
        let Some(assembly) = facts.assembly else {
            return Ok(Vec::new());
        };
        let assembly = info.assembly_info(assembly)?.name;
        let fills_slots = !is_loaded && self.fills_slots(&assembly, flags);
        if flags.contains(ModuleFlags::RESOURCE) || !description.selects_assembly(&assembly) {
            self.load_helpers(module, &assembly, |helper| {
                fills_slots && helper.has_slots()
            });
            return Ok(Vec::new());
        }
        let is_precompiled = flags.contains(ModuleFlags::NGEN);
        let is_dynamic = flags.contains(ModuleFlags::DYNAMIC);
        let is_framework = is_framework(&assembly);
        let is_by_rejit = is_loaded || is_precompiled && self.is_attached;
        let is_searched = is_dynamic || is_precompiled || is_loaded || self.is_attached;
        let late = match is_searched {
            true => None,
            false => description.late_rules(&assembly, is_framework),
        };
        let late =
            late.and_then(|rules| Some((rules, info.extension::<Images>().as_loaded(module)?)));
        let entry = Module {
            assembly: assembly.clone(),
            is_framework,
            is_dynamic,
            late: late.as_ref().map(|(_, image)| Arc::clone(image)),
            may_wait: late
                .as_ref()
                .is_some_and(|(rules, _)| description.may_wait(rules)),
            is_precompiled,
            is_collectible: flags.contains(ModuleFlags::COLLECTIBLE),
            // Of precompiled code, an attached profiler hears nothing.
            is_by_rejit,
            ..Module::default()
        };
        if !lock(&self.table).begin_module(module, entry) {
            return Ok(Vec::new());
        }
        if let Some((rules, _)) = late {
            self.prepare(module, [&rules]);
            let is_core = assembly == info.core_library();
            let loads_helpers = description.refers_to_helper(&rules, is_core);
            self.load_helpers(module, &assembly, |helper| {
                loads_helpers || fills_slots && helper.has_slots()
            });
            return Ok(Vec::new());
        }
        // Hundreds of precompiled instances are over types of .NET itself.
        let is_searched = is_dynamic || is_loaded || self.is_attached;
        let is_searched = is_searched || is_framework && is_precompiled;
        if !is_searched && self.enter_late(module, (&assembly, is_framework), problems) {
            for problem in problems.iter() {
                lock(&self.table).add_problem(problem.clone());
            }
            return Ok(Vec::new());
        }
        let mut found = match search::find(info, module, description, (&assembly, is_framework)) {
            Ok(found) => found,
            Err(error) => {
                let problem = format!("{assembly}: its methods cannot be read: {error}");
                lock(&self.table).end_module(module, Some(problem));
                return Err(error);
            }
        };
        if let Some(choice) = description.choice.as_ref().filter(|_| !found.is_empty()) {
            let selected: Vec<MethodDef> = found.iter().map(|(method, _)| *method).collect();
            let chosen = choice(info, module, &selected).unwrap_or_else(|error| {
                problems.push(format!("{assembly}: its methods were not chosen: {error}"));
                Vec::new()
            });
            let chosen: HashSet<MethodDef, HashTokens> = chosen.into_iter().collect();
            found.retain(|(method, _)| chosen.contains(method));
        }
        for (method, rules) in &mut found {
            problems.extend(description.checked(info, module, *method, rules));
        }
        found.retain(|(_, rules)| !rules.is_empty());
        for problem in problems.iter() {
            lock(&self.table).add_problem(problem.clone());
        }
        if found.is_empty() && !is_dynamic {
            lock(&self.table).end_module(module, None);
            self.load_helpers(module, &assembly, |helper| {
                fills_slots && helper.has_slots()
            });
            return Ok(Vec::new());
        }
        if !is_loaded && !is_dynamic {
            self.prepare(module, found.iter().map(|(_, rules)| rules));
        }
        let inliners = match is_precompiled && !self.is_attached {
            true => search::inliners(info, module, found.iter().map(|(method, _)| *method)),
            false => Some(Vec::new()),
        };
        let methods: Vec<MethodDef> = found.iter().map(|(method, _)| *method).collect();
        // The initialiser of a module that the program builds does not run.
        let loads_helpers = !is_loaded && !is_dynamic;
        let loads_helpers = loads_helpers
            && found.iter().any(|(_, rules)| {
                description.refers_to_helper(rules, assembly == info.core_library())
            });
        let timing = match self.is_attached || is_dynamic {
            true => Timing::Compilation,
            false => description.timing,
        };
        let rejits = {
            let mut table = lock(&self.table);
            let rejits = table.add_methods(module, found, inliners, timing);
            if description.deferral.is_some() {
                table.let_wait(module, |rules| description.may_wait(rules));
            }
            rejits
        };
        if timing == Timing::Load {
            for method in methods {
                self.rewrite_early((module, method));
            }
        }
        self.load_helpers(module, &assembly, |helper| {
            loads_helpers || fills_slots && helper.has_slots()
        });
        Ok(rejits)
    }

    /// Opens a module for writing, unless it gets no new tokens by the rules of its methods.
    fn prepare<'a>(&self, module: ModuleId, rules: impl IntoIterator<Item = &'a Vec<RuleIndex>>) {
        let mut rules = rules.into_iter();
        if rules.any(|rules| self.description.adds_tokens(rules)) {
            // Whoever writes to it gets the error.
            let _ = info::prepare(&self.info, module);
        }
    }

    /// Whether a module of the program has to load the helpers with slots, so that methods of the core library find them filled.
    fn fills_slots(&self, assembly: &str, flags: ModuleFlags) -> bool {
        let unfit = [
            ModuleFlags::RESOURCE,
            ModuleFlags::DYNAMIC,
            ModuleFlags::COLLECTIBLE,
        ];
        let mut helpers = self.description.helpers();
        !is_framework(assembly)
            && !unfit.into_iter().any(|flag| flags.contains(flag))
            && !helpers.any(|helper| helper.props().name == assembly)
            && self
                .description
                .helpers_with_slots()
                .any(|helper| helper.check(&self.info).is_err())
    }

    /// Has a module load helpers before its first code runs, unless they are loaded for all modules.
    fn load_helpers(
        &self,
        module: ModuleId,
        assembly: &str,
        is_wanted: impl Fn(&HelperAssembly) -> bool,
    ) {
        for helper in self.description.helpers().filter(|one| is_wanted(one)) {
            if helper.is_loaded_for_all(&self.info) {
                continue;
            }
            if let Err(error) = helper.load_into(&self.info, module) {
                let name = &helper.props().name;
                let problem = format!("{assembly}: it cannot load the helper {name}: {error}");
                lock(&self.table).add_problem(problem);
            }
        }
    }

    /// Sets the body of a method before the callback of its compilation: when its module is loaded, or when the ReJIT of another
    /// component or profiler compiles it first.
    pub(super) fn rewrite_early(&self, key: MethodKey) {
        if let Err(error) = self.decide_late(key) {
            let mut table = lock(&self.table);
            let assembly = table.assembly(key.0);
            table.add_problem(format!("{assembly}: {}: {error}", key.1));
        }
        let rules: Option<Rules> = lock(&self.table).begin_early(key);
        let Some(rules) = rules else {
            return;
        };
        let mut edited = None;
        let locals = self.description.locals();
        let result = self.info.rewrite_once(key, None, locals, |body, cx| {
            edited = Some(self.name_to_keep(cx));
            self.description.apply(&rules, body, cx)
        });
        // Another thread may have compiled it meanwhile.
        let is_first = edited.is_some() || result.as_ref().map_or(true, Rewritten::is_first);
        if is_first {
            self.finish(key, edited.flatten(), &result);
        }
    }

    /// Whether methods that can be left alone are.
    pub(super) fn is_deferring(&self) -> bool {
        let deferral = self.description.deferral.as_ref();
        deferral.is_some_and(|is_deferring| is_deferring())
    }

    /// Whether a method, which is selected or has copies of selected ones, keeps its precompiled code.
    pub(super) fn keeps_code(&self, key: MethodKey) -> bool {
        if !self.is_deferring() {
            return false;
        }
        let mut table = lock(&self.table);
        let may_keep = table.may_keep_code(key);
        if may_keep {
            table.defer(key);
        }
        may_keep
    }

    /// Whether a method is selected; decides about methods of modules that were not searched.
    pub(super) fn selects(&self, key: MethodKey, function: FunctionId) -> Result<bool> {
        let selected = lock(&self.table).selected(key);
        let Selected::Undecided(is_framework) = selected else {
            return Ok(selected == Selected::Yes);
        };
        if let Some(is_selected) = self.decide_late(key)? {
            return Ok(is_selected);
        }
        let method = self.info.method(function)?;
        let is_global = method.declaring_type()?.row() == 1;
        let definition = method.definition()?;
        let description = &self.description;
        let assembly = lock(&self.table).assembly(key.0);
        let reaching = description.reaching(&assembly, is_framework);
        let rules =
            description.select_definition(&reaching, &definition, is_framework, is_global)?;
        Ok(self.decide(key, rules.into()))
    }

    /// Whether precompiled instances over a type may have copies of selected methods.
    pub(super) fn is_copied_into_instances(&self, class: ClassId) -> bool {
        // Arrays and pointers are not types of a module: all arrays of classes share their code.
        self.info.class_id_info2(class).is_ok_and(|facts| {
            let module = facts.module;
            module.is_some_and(|module| lock(&self.table).is_copied_into_instances(module))
                || facts
                    .type_arguments
                    .into_iter()
                    .any(|argument| self.is_copied_into_instances(argument))
        })
    }

    /// The name of a method that is being edited, unless it is looked up if it is needed.
    pub(super) fn name_to_keep(&self, cx: &RewriteContext<'_>) -> Option<Arc<str>> {
        let is_kept = !self.description.reports_problems_alone;
        is_kept.then(|| cx.full_name().into())
    }

    /// Records and reports the result of a rewrite; its error is in the outcome.
    pub(super) fn finish(
        &self,
        key: MethodKey,
        name: Option<Arc<str>>,
        result: &Result<Rewritten>,
    ) {
        let (state, problem) = match result {
            Ok(rewritten) if rewritten.is_changed() => (MethodState::Instrumented, None),
            Ok(_) => (MethodState::Unchanged, None),
            Err(error) => {
                let reason = RewriteError::of(error).and_then(RewriteError::reason);
                let state = reason.map_or(MethodState::Failed, MethodState::Refused);
                (state, Some(error.to_string()))
            }
        };
        let is_named = problem.is_some() || !self.description.reports_problems_alone;
        let name: Option<Arc<str>> = match name {
            None if is_named => Some(self.name(key).into()),
            name => name,
        };
        lock(&self.table).finish(key, state, problem.clone(), name.clone());
        let (Some(report), Some(name)) = (&self.description.report, name.filter(|_| is_named))
        else {
            return;
        };
        let (assembly, rules) = {
            let table = lock(&self.table);
            (table.assembly(key.0), table.rules(key))
        };
        let outcome = MethodOutcome {
            module: key.0,
            method: key.1,
            name: name.to_string(),
            state,
            problem,
            conflict: self.conflict(state, &rules),
            ways: self
                .description
                .ways(&rules, assembly == self.info.core_library()),
            assembly,
        };
        report(&outcome, result.as_ref().ok());
    }

    /// The edit of [`Rejit`].
    pub(super) fn rejit(
        self: &Arc<Self>,
        info: &ProfilerInfo,
        key: MethodKey,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let Some(rules) = lock(&self.table).rules_of_rejit(key) else {
            return Ok(());
        };
        let mut name = None;
        let missing = match self.description.calls_helper(&rules) {
            true => self.missing_helpers(key),
            false => Vec::new(),
        };
        let result = control.rewrite(info, key.0, key.1, |body, cx| {
            name = self.name_to_keep(cx);
            for helper in &missing {
                helper.load_in_method(body, cx)?;
            }
            match rules.is_empty() || !missing.is_empty() {
                true => Ok(()),
                false => self.description.apply(&rules, body, cx),
            }
        });
        if !missing.is_empty() {
            if result.is_ok() {
                return self.await_helper();
            }
            lock(&self.table).awaits_no_more(key);
        }
        if !rules.is_empty() {
            self.finish(key, name, &result);
        }
        result.map(drop)
    }

    /// The helpers that a method has to load. The method then awaits them.
    fn missing_helpers(&self, key: MethodKey) -> Vec<&HelperAssembly> {
        let missing = || {
            let helpers = self.description.helpers();
            let is_missing = |helper: &&HelperAssembly| {
                helper.check(&self.info).is_err() && !helper.has_failed()
            };
            helpers.filter(is_missing).collect::<Vec<_>>()
        };
        if missing().is_empty() {
            return Vec::new();
        }
        // Before the second look: the thread looks at the helpers first, and at the methods after that.
        lock(&self.table).await_helper(key);
        let missing = missing();
        if missing.is_empty() {
            lock(&self.table).awaits_no_more(key);
        }
        missing
    }

    /// Starts the thread that requests new IL for the methods that await the helper.
    fn await_helper(self: &Arc<Self>) -> Result<()> {
        let _one = lock(&self.starting);
        if self.awaiting.get().is_some() {
            return Ok(());
        }
        let shared = Arc::clone(self);
        let worker = Worker::start(&self.info, "instrumentation", move |stop| {
            shared.request_awaiting(stop);
            Ok(())
        })?;
        let _ = self.awaiting.set(worker);
        Ok(())
    }

    /// Waits until all helpers are loaded or refused, and requests the new IL of the methods that await them.
    fn request_awaiting(&self, stop: &Stop) {
        let Some(request) = self.request.get() else {
            return;
        };
        let mut pace = LOADED_SOON;
        loop {
            let helpers = self.description.helpers();
            let mut missing = helpers
                .filter(|helper| helper.check(&self.info).is_err())
                .peekable();
            if missing.peek().is_none() {
                break;
            }
            // Of two threads that load one from memory at once, one fails.
            let was_refused = missing.all(HelperAssembly::has_failed);
            if was_refused {
                pace = LOADED_LATE;
            }
            if stop.wait(pace) {
                return;
            }
            if was_refused {
                break;
            }
            pace = (pace * 2).min(LOADED_LATE);
        }
        request(lock(&self.table).take_awaiting());
    }

    /// Searches the modules that were loaded before the profiler was attached.
    pub(super) fn enter_loaded(&self, rejit: impl Fn(Vec<MethodKey>)) -> Result<()> {
        for module in self.info.modules()? {
            let module = module?;
            let _idle = lock(&self.searching);
            // The hook for failures is for callbacks: the outcomes have them.
            match self.enter(module, true, &mut Vec::new()) {
                Ok(methods) => {
                    rejit(methods);
                    // Its error is among the problems.
                    let _ = self.check_uses(module);
                }
                // It may have been unloaded meanwhile.
                Err(error) => lock(&self.table).add_problem(format!("a loaded module: {error}")),
            }
        }
        Ok(())
    }
}
