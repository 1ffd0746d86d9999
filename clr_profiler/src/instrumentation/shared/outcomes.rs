//! The outcomes of methods, with their names.

use super::Shared;
use crate::error::Error;
use crate::info::CorProfilerInfo;
use crate::instrumentation::outcome::{
    MethodOutcome, MethodState, Outcomes, PatchWay, PatternMatches,
};
use crate::instrumentation::rules::RuleIndex;
use crate::instrumentation::table::{MethodKey, RowOutcome};
use crate::metadata::{Instantiation, MetadataImport, method_name};
use crate::runtime::lock;
use clr_profiler_il::pattern::MethodPattern;

impl Shared {
    /// The state of methods that call patches by slots.
    fn slot_state(&self) -> (MethodState, Option<String>) {
        let mut helpers = self.description.helpers_with_slots();
        let missing = helpers.find_map(|helper| helper.check(&self.info).err());
        match missing {
            None => (MethodState::Instrumented, None),
            Some(error) => (MethodState::AwaitsHelper, Some(error.to_string())),
        }
    }

    pub(in super::super) fn outcomes(&self) -> Outcomes {
        self.decide_unseen(usize::MAX);
        self.outcomes_of(|_, _| true)
    }

    /// The outcomes, of methods those alone that are wanted: to find their names takes time.
    pub(in super::super) fn outcomes_of(
        &self,
        is_wanted: impl Fn(MethodState, Option<&str>) -> bool,
    ) -> Outcomes {
        let (rows, problems, unloaded) = {
            let table = lock(&self.table);
            let rows = table.outcomes(is_wanted);
            (rows, table.problems(), table.unloaded())
        };
        let methods = rows.into_iter().map(|row| self.named(row));
        let matches = |(pattern, methods): (&MethodPattern, u64)| PatternMatches {
            pattern: pattern.clone(),
            methods,
        };
        Outcomes {
            methods: methods.collect(),
            patterns: self.description.patterns().map(matches).collect(),
            callees: self.description.callees().map(matches).collect(),
            problems,
            unloaded,
        }
    }

    /// The methods in a state: their number, and the outcomes of the first of them.
    pub(in super::super) fn in_state(
        &self,
        state: MethodState,
        most: usize,
    ) -> (usize, Vec<MethodOutcome>) {
        if matches!(state, MethodState::Deferred) {
            self.decide_unseen(most);
        }
        // Others become known only here: they wait for a helper, or are off.
        let is_final = matches!(state, MethodState::Deferred | MethodState::Failed);
        let is_wanted = |of: MethodState, _: Option<&str>| !is_final || of == state;
        // There may be tens of thousands that are undecided.
        let (mut rows, undecided, others) = {
            let table = lock(&self.table);
            let undecided = table.unseen_outcomes(is_wanted, most.max(1));
            let others = table.count_unseen() - undecided.len();
            (table.decided_outcomes(is_wanted), undecided, others)
        };
        let is_of_others = undecided
            .last()
            .is_some_and(|row| row.state.name() == state.name());
        rows.extend(undecided);
        rows.retain(|row| self.state(row).0.name() == state.name());
        let count = rows.len() + if is_of_others { others } else { 0 };
        let first = rows.into_iter().take(most);
        (count, first.map(|row| self.named(row)).collect())
    }

    /// The ways of a method to its patches.
    fn ways(&self, row: &RowOutcome) -> Vec<PatchWay> {
        let is_core = row.assembly == self.info.core_library();
        self.description.ways(&row.rules, is_core)
    }

    /// The state of a method, and its problem.
    fn state(&self, row: &RowOutcome) -> (MethodState, Option<String>) {
        match row.state {
            MethodState::Instrumented if self.ways(row).contains(&PatchWay::Slot) => {
                self.slot_state()
            }
            state => (state, row.problem.clone()),
        }
    }

    fn named(&self, row: RowOutcome) -> MethodOutcome {
        let (state, problem) = self.state(&row);
        MethodOutcome {
            module: row.key.0,
            method: row.key.1,
            state,
            problem,
            conflict: self.conflict(state, &row.rules),
            ways: self.ways(&row),
            name: match row.name {
                Some(name) => name.to_string(),
                None => self.name(row.key),
            },
            assembly: row.assembly,
        }
    }

    /// The decision between rules of a method, if it has its new IL.
    pub(super) fn conflict(&self, state: MethodState, rules: &[RuleIndex]) -> Option<String> {
        self.description
            .conflict(rules)
            .filter(|_| state == MethodState::Instrumented)
    }

    /// The full name of a method, or its token.
    pub(super) fn name(&self, (module, method): MethodKey) -> String {
        let read = || {
            let metadata = self.info.module_metadata(module)?;
            let props = metadata.method_props(method)?;
            method_name(&metadata, method, &props, Instantiation::default())
        };
        read().unwrap_or_else(|_: Error| method.to_string())
    }
}
