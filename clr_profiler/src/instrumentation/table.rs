//! The selected methods of the loaded modules, and their states.
//!
//! No call of the runtime is made here: the table is locked in callbacks that the runtime makes in its own calls.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::late::Whole;
use super::outcome::MethodState;
use super::rules::RuleIndex;
use crate::ids::{FunctionId, ModuleId};
use crate::image::ModuleImage;
use clr_profiler_il::token::{HashTokens, MethodDef};
use functions::Functions;
pub(super) use waiting::Begun;
use waiting::Unseen;

/// The key of a method of a loaded module.
pub(super) type MethodKey = (ModuleId, MethodDef);

/// The rules of a method.
pub(super) type Rules = Arc<[RuleIndex]>;

#[derive(Default)]
pub(super) struct Table {
    modules: BTreeMap<ModuleId, Module>,
    /// Methods whose precompiled code has copies of selected ones.
    inliners: HashSet<MethodKey>,
    is_off: bool,
    removal: Removal,
    unloaded: u64,
    problems: Vec<String>,
    /// The problems that callbacks have returned.
    reported: HashSet<String>,
    /// The methods that were compiled with code that loads the helper.
    awaiting: BTreeSet<MethodKey>,
}

/// The progress of a removal of all changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Removal {
    #[default]
    No,
    /// No method is changed anymore, and the bodies are being set back.
    Begun,
    /// All bodies are the original ones, so that methods may be inlined.
    Done,
}

/// A module with selected methods, or one that may get them.
#[derive(Default)]
pub(super) struct Module {
    pub(super) assembly: String,
    pub(super) is_framework: bool,
    /// Whether methods are decided about when they are compiled: the program adds methods.
    pub(super) is_dynamic: bool,
    /// Its image, if methods are decided about when they are compiled, although they are known: most are selected.
    pub(super) late: Option<Arc<ModuleImage>>,
    /// If each method is changed that is chosen at its first use.
    pub(super) whole: Option<Whole>,
    /// Whether ReJIT gives the methods their IL, because code of them may exist that no callback reports.
    pub(super) is_by_rejit: bool,
    pub(super) is_precompiled: bool,
    /// Whether it can be unloaded: runtimes do not rejit the methods of such modules.
    pub(super) is_collectible: bool,
    /// Whether each precompiled code of the module may have copies of the selected methods.
    pub(super) is_copied_anywhere: bool,
    pub(super) timing: Timing,
    /// Whether all of its small methods got their bodies at once.
    pub(super) are_small_set: bool,
    /// Whether all of its methods may be left alone until they are compiled again.
    pub(super) may_wait: bool,
    /// Each callback looks several up, of up to some ten thousands.
    pub(super) rows: HashMap<MethodDef, Row, HashTokens>,
    /// Methods that are not selected, of a module whose methods are decided about when they are compiled.
    pub(super) others: HashSet<MethodDef, HashTokens>,
    /// Methods of such a module that were left alone before they were decided about.
    pub(super) unseen: HashMap<MethodDef, Unseen, HashTokens>,
}

/// When the bodies of a module are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Timing {
    /// When methods are compiled, which are not inlined.
    #[default]
    Compilation,
    /// Before any code of the module was compiled.
    Load,
    /// When a method is compiled, or the JIT asks whether to inline it.
    FirstUse,
}

pub(super) struct Row {
    rules: Rules,
    state: MethodState,
    problem: Option<String>,
    name: Option<Arc<str>>,
    /// Whether it was compiled while the rules were on, which gave it new IL if they could.
    is_edited: bool,
    /// Whether it was compiled while the rules were off.
    is_plain: bool,
    /// Whether a removal has failed: each compilation gets the new IL.
    is_kept: bool,
    /// The number of its body among those that were set; see [`first_use`].
    set: u64,
    /// Whether its body was set without a map of IL offsets: before the callback of its compilation, or again.
    needs_map: bool,
    /// Those of whose native code the runtime may still apply another map of IL offsets.
    functions: Functions,
    /// Whether its rules were applied again, and have given it its original IL.
    is_given_back: bool,
    /// Whether it may be left alone until it is compiled again, and its compilations that have not ended.
    may_wait: bool,
    compilations: u32,
}

/// The decision about a method.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selected {
    No,
    Yes,
    /// It has not been looked at: whether the module is part of .NET.
    Undecided(bool),
}

/// The methods to be passed to ReJIT after a switch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Switched {
    pub(super) request: Vec<MethodKey>,
    pub(super) revert: Vec<MethodKey>,
}

/// The methods that get their original IL for good.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Removed {
    /// Their bodies have to be set back.
    pub(super) set_back: Vec<MethodKey>,
    /// ReJIT has given them their new IL.
    pub(super) revert: Vec<MethodKey>,
}

/// The outcome of a method, whose name may not be known yet.
pub(super) struct RowOutcome {
    pub(super) key: MethodKey,
    pub(super) assembly: String,
    pub(super) name: Option<Arc<str>>,
    pub(super) state: MethodState,
    pub(super) problem: Option<String>,
    pub(super) rules: Rules,
}

impl Module {
    /// Whether precompiled instances over types of the module may have copies. The image does not record those of generic
    /// code of other modules; .NET has hundreds of instances over its own types.
    fn is_copied_into_instances(&self) -> bool {
        self.is_copied_anywhere || self.is_precompiled && !self.is_framework
    }
}

impl Row {
    fn new(rules: Rules) -> Self {
        Self {
            rules,
            state: MethodState::NotCompiled,
            problem: None,
            name: None,
            is_edited: false,
            is_plain: false,
            is_kept: false,
            set: 0,
            needs_map: false,
            functions: Functions::default(),
            is_given_back: false,
            may_wait: false,
            compilations: 0,
        }
    }
}

impl Table {
    /// Reserves the entry of a module; `false` if it has one.
    pub(super) fn begin_module(&mut self, id: ModuleId, module: Module) -> bool {
        let is_new = !self.modules.contains_key(&id);
        if is_new {
            self.modules.insert(id, module);
        }
        is_new
    }

    /// Adds the selected methods of a module, with the methods that have copies of them. Returns the methods that
    /// ReJIT has to give their IL.
    pub(super) fn add_methods(
        &mut self,
        id: ModuleId,
        methods: Vec<(MethodDef, Vec<RuleIndex>)>,
        inliners: Option<Vec<MethodKey>>,
        timing: Timing,
    ) -> Vec<MethodKey> {
        let Some(module) = self.modules.get_mut(&id) else {
            return Vec::new();
        };
        module.timing = timing;
        let rejits = module.is_by_rejit && !self.is_off;
        let keys = methods.iter().map(|(method, _)| (id, *method));
        let keys = if rejits { keys.collect() } else { Vec::new() };
        // Most have the same ones.
        let mut last = Rules::default();
        let rows = methods.into_iter().map(|(method, rules)| {
            if *last != *rules {
                last = rules.into();
            }
            (method, Row::new(Arc::clone(&last)))
        });
        module.rows.extend(rows);
        match inliners {
            Some(inliners) => self.inliners.extend(inliners),
            None => module.is_copied_anywhere = true,
        }
        keys
    }

    /// The image and the assembly of a module whose methods are known, and are decided about when they are compiled.
    pub(super) fn late(&self, id: ModuleId) -> Option<(Arc<ModuleImage>, String)> {
        let module = self.modules.get(&id)?;
        Some((Arc::clone(module.late.as_ref()?), module.assembly.clone()))
    }

    /// Records the decision about a method that has not been looked at.
    pub(super) fn decide(&mut self, (id, method): MethodKey, rules: Rules, may_wait: bool) {
        let Some(module) = self.modules.get_mut(&id) else {
            return;
        };
        let is_late = module.late.is_some();
        if rules.is_empty() {
            module.unseen.remove(&method);
            module.others.insert(method);
            return;
        }
        // Another thread may have decided.
        let Entry::Vacant(place) = module.rows.entry(method) else {
            return;
        };
        let row = Row {
            // The program compiles methods of its own modules once.
            may_wait: may_wait && is_late,
            ..Row::new(rules)
        };
        place.insert(match module.unseen.remove(&method) {
            Some(unseen) => unseen.decided(row),
            None => row,
        });
    }

    /// Removes a module without selected methods; records why it was not searched.
    pub(super) fn end_module(&mut self, id: ModuleId, problem: Option<String>) {
        self.modules.remove(&id);
        self.problems.extend(problem);
    }

    /// Records a problem, once.
    pub(super) fn add_problem(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Records that a callback has returned a problem, so that it need not be reported at the end.
    pub(super) fn reported(&mut self, problem: String) {
        self.reported.insert(problem);
    }

    /// Whether a callback has returned a problem.
    pub(super) fn was_reported(&self, problem: &str) -> bool {
        self.reported.contains(problem)
    }

    pub(super) fn forget(&mut self, id: ModuleId) {
        if let Some(module) = self.modules.remove(&id) {
            self.unloaded += (module.rows.len() + module.unseen.len()) as u64;
        }
        self.inliners.retain(|key| key.0 != id);
        self.awaiting.retain(|key| key.0 != id);
    }

    /// Whether a module has selected methods.
    pub(super) fn has_methods(&self, id: ModuleId) -> bool {
        let module = self.modules.get(&id);
        module.is_some_and(|module| !module.rows.is_empty() || !module.unseen.is_empty())
    }

    /// Whether a method is selected.
    pub(super) fn selected(&self, (id, method): MethodKey) -> Selected {
        match self.modules.get(&id) {
            None => Selected::No,
            Some(module) if module.rows.contains_key(&method) => Selected::Yes,
            Some(module)
                if (module.is_dynamic || module.late.is_some())
                    && !module.others.contains(&method) =>
            {
                Selected::Undecided(module.is_framework)
            }
            Some(_) => Selected::No,
        }
    }

    /// Whether the precompiled code of a method must not be used.
    pub(super) fn rejects_code(&self, key: MethodKey) -> bool {
        if self.removal == Removal::Done {
            return false;
        }
        let module = self.modules.get(&key.0);
        module.is_some_and(|module| module.is_copied_anywhere)
            || self.inliners.contains(&key)
            || self.selected(key) == Selected::Yes
    }

    pub(super) fn assembly(&self, id: ModuleId) -> String {
        let module = self.modules.get(&id);
        module
            .map(|module| module.assembly.clone())
            .unwrap_or_default()
    }

    /// Whether precompiled instances over types of a module may have copies.
    pub(super) fn is_copied_into_instances(&self, id: ModuleId) -> bool {
        let module = self.modules.get(&id);
        module.is_some_and(Module::is_copied_into_instances)
    }

    /// Whether there are modules over whose types precompiled instances may have copies.
    pub(super) fn has_copies_in_instances(&self) -> bool {
        self.modules.values().any(Module::is_copied_into_instances)
    }

    /// The rules by which a method is edited that is being compiled; `None` if it is not edited now.
    pub(super) fn begin(&mut self, (id, method): MethodKey) -> Option<Rules> {
        let module = self.modules.get_mut(&id)?;
        let row = module.rows.get_mut(&method)?;
        if self.removal != Removal::No {
            // Its next tier has the body that was set back, or it is compiled for the first time.
            if self.removal == Removal::Done && !row.is_kept {
                row.is_edited = false;
            }
            return None;
        }
        if module.is_by_rejit || row.is_edited && row.state != MethodState::NotCompiled {
            return None;
        }
        // Compiled again by a later tier: its first code has the original IL, and ReJIT changes it.
        if self.is_off || row.is_plain {
            row.is_plain = true;
            return None;
        }
        row.is_edited = true;
        Some(Arc::clone(&row.rules))
    }

    /// [`begin`](Self::begin), for a method that no callback has reported.
    pub(super) fn begin_early(&mut self, key: MethodKey) -> Option<Rules> {
        let rules = self.begin(key)?;
        let module = self.modules.get_mut(&key.0)?;
        module.rows.get_mut(&key.1)?.needs_map = true;
        Some(rules)
    }

    /// The functions whose code has to get its offsets before the map of them changes, if the body of the method was set
    /// without a map. The other function is being compiled, so that it has more code the next time.
    pub(super) fn needs_map(
        &mut self,
        (id, method): MethodKey,
        function: FunctionId,
    ) -> Option<Vec<FunctionId>> {
        let is_removed = self.is_removed();
        let row = self.modules.get_mut(&id)?.rows.get_mut(&method)?;
        let earlier = (is_removed || row.needs_map).then(|| row.functions.all().to_vec());
        row.functions.add(function);
        earlier
    }

    /// Records that the code of these functions has its offsets; that of the other one is being compiled.
    pub(super) fn have_offsets(
        &mut self,
        (id, method): MethodKey,
        earlier: &[FunctionId],
        function: FunctionId,
    ) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            row.functions.remove(earlier);
            row.functions.add(function);
        }
    }

    /// The rules to be applied again to a method that they have edited; `None` if its body is another one now, or by ReJIT.
    pub(super) fn begin_again(&mut self, (id, method): MethodKey) -> Option<Rules> {
        let is_on = !self.is_off && !self.is_removed();
        let module = self.modules.get_mut(&id)?;
        let row = module.rows.get_mut(&method)?;
        let is_edited = row.is_edited && row.state == MethodState::Instrumented;
        let is_meant = is_edited && is_on && !module.is_by_rejit;
        row.needs_map |= is_meant;
        is_meant.then(|| Arc::clone(&row.rules))
    }

    /// Records whether rules that were applied again have changed the original IL.
    pub(super) fn end_again(&mut self, (id, method): MethodKey, is_changed: bool) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            row.is_given_back = !is_changed;
        }
    }

    /// The rules by which ReJIT edits a method: none to give it its original IL.
    pub(super) fn rules_of_rejit(&self, (id, method): MethodKey) -> Option<Rules> {
        let row = self.modules.get(&id)?.rows.get(&method)?;
        Some(match self.is_off || self.removal != Removal::No {
            true => Rules::default(),
            false => Arc::clone(&row.rules),
        })
    }

    /// The rules of a method.
    pub(super) fn rules(&self, (id, method): MethodKey) -> Rules {
        let module = self.modules.get(&id);
        let row = module.and_then(|module| module.rows.get(&method));
        row.map(|row| Arc::clone(&row.rules)).unwrap_or_default()
    }

    /// Records that a method gets its new IL once the helper is loaded.
    pub(super) fn await_helper(&mut self, key: MethodKey) {
        self.awaiting.insert(key);
    }

    /// Records that a method does not wait for the helper.
    pub(super) fn awaits_no_more(&mut self, key: MethodKey) {
        self.awaiting.remove(&key);
    }

    /// Takes the methods that get their new IL now that the helper is loaded, or was refused.
    pub(super) fn take_awaiting(&mut self) -> Vec<MethodKey> {
        let awaiting = std::mem::take(&mut self.awaiting);
        match self.is_off || self.is_removed() {
            true => Vec::new(),
            false => awaiting.into_iter().collect(),
        }
    }

    /// Records the outcome of a method.
    pub(super) fn finish(
        &mut self,
        (id, method): MethodKey,
        state: MethodState,
        problem: Option<String>,
        name: Option<Arc<str>>,
    ) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            (row.state, row.problem, row.name) = (state, problem, name);
            row.set = first_use::count_set();
        }
    }

    /// Turns the rules on or off, and returns the methods whose code has to change.
    pub(super) fn switch(&mut self, is_on: bool) -> Switched {
        let mut switched = Switched::default();
        if self.is_off != is_on {
            return switched;
        }
        self.is_off = !is_on;
        let modules = self.modules.iter();
        for (id, module) in modules.filter(|(_, module)| !module.is_collectible) {
            for (method, row) in &module.rows {
                let key = (*id, *method);
                // Its first code has the new IL, or the original one.
                let is_first_edited = row.is_edited;
                let has_first = row.is_edited || row.is_plain || module.is_by_rejit;
                match (has_first, is_first_edited == is_on) {
                    (false, _) => {}
                    (true, true) => switched.revert.push(key),
                    (true, false) => switched.request.push(key),
                }
            }
        }
        switched.request.sort_unstable();
        switched.revert.sort_unstable();
        switched
    }

    /// Ends all changes, and returns the methods whose bodies have to change; nothing if that was done before.
    pub(super) fn begin_removal(&mut self) -> Removed {
        let mut removed = Removed::default();
        if self.removal != Removal::No {
            return removed;
        }
        self.removal = Removal::Begun;
        for (id, module) in &self.modules {
            for (method, row) in &module.rows {
                let key = (*id, *method);
                if row.is_edited {
                    removed.set_back.push(key);
                } else if !self.is_off && (row.is_plain || module.is_by_rejit) {
                    removed.revert.push(key);
                }
            }
        }
        removed.set_back.sort_unstable();
        removed.revert.sort_unstable();
        removed
    }

    /// Records why a body could not be set back.
    pub(super) fn keep(&mut self, (id, method): MethodKey, problem: String) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            row.is_kept = true;
            row.problem = Some(problem);
        }
    }

    pub(super) fn end_removal(&mut self) {
        self.removal = Removal::Done;
    }

    pub(super) fn is_removed(&self) -> bool {
        self.removal != Removal::No
    }

    /// The outcomes of the methods whose state and problem are wanted.
    pub(super) fn outcomes(
        &self,
        is_wanted: impl Fn(MethodState, Option<&str>) -> bool,
    ) -> Vec<RowOutcome> {
        let mut outcomes = self.decided_outcomes(&is_wanted);
        outcomes.extend(self.unseen_outcomes(&is_wanted, usize::MAX));
        outcomes
    }

    /// The same, of methods that were decided about.
    pub(super) fn decided_outcomes(
        &self,
        is_wanted: impl Fn(MethodState, Option<&str>) -> bool,
    ) -> Vec<RowOutcome> {
        let mut outcomes = Vec::new();
        for (id, module) in &self.modules {
            let rows = module.rows.iter();
            let wanted = rows.filter(|(_, row)| is_wanted(row.state, row.problem.as_deref()));
            outcomes.extend(wanted.map(|(method, row)| RowOutcome {
                key: (*id, *method),
                assembly: module.assembly.clone(),
                name: row.name.clone(),
                state: match row.state {
                    MethodState::Refused(_) | MethodState::Failed => row.state,
                    _ if self.is_off && !(module.is_collectible && row.is_edited) => {
                        MethodState::Off
                    }
                    _ if self.is_removed() && !row.is_edited => MethodState::Off,
                    _ if self.awaiting.contains(&(*id, *method)) => MethodState::AwaitsHelper,
                    state => state,
                },
                rules: Arc::clone(&row.rules),
                problem: row.problem.clone(),
            }));
        }
        outcomes.sort_unstable_by_key(|outcome| outcome.key);
        outcomes
    }

    pub(super) fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    pub(super) fn unloaded(&self) -> u64 {
        self.unloaded
    }
}

pub(super) mod first_use;
mod functions;
mod waiting;

#[cfg(test)]
mod tests;
