//! Methods that are left alone until they are compiled again.

use super::{Functions, MethodKey, Row, RowOutcome, RuleIndex, Rules, Selected, Table, Timing};
use crate::ids::{FunctionId, ModuleId};
use crate::instrumentation::outcome::MethodState;

/// The rules by which a method is edited that is being compiled.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::instrumentation) enum Begun {
    /// No code of it exists.
    First(Rules),
    /// It was left alone when its first code was compiled.
    Again(Rules),
}

/// A method that was left alone before it was decided about: it has no rules yet. There may be tens of thousands.
#[derive(Debug, Default)]
pub(in crate::instrumentation) struct Unseen {
    /// As those of a [`Row`].
    compilations: u32,
    functions: Functions,
}

impl Unseen {
    /// The row of the method, now that it is decided about.
    pub(super) fn decided(self, row: Row) -> Row {
        Row {
            state: MethodState::Deferred,
            compilations: self.compilations,
            functions: self.functions,
            ..row
        }
    }
}

impl Row {
    /// Whether it is undecided whether the method is edited.
    fn is_undecided(&self) -> bool {
        let is_new = matches!(self.state, MethodState::NotCompiled | MethodState::Deferred);
        is_new && !self.is_edited && !self.is_plain
    }
}

impl Table {
    /// Lets those methods of a module wait whose rules allow it. If all do, precompiled code that has copies of them may be used, too.
    pub(in crate::instrumentation) fn let_wait(
        &mut self,
        id: ModuleId,
        may_wait: impl Fn(&[RuleIndex]) -> bool,
    ) {
        if let Some(module) = self.modules.get_mut(&id) {
            for row in module.rows.values_mut() {
                row.may_wait = may_wait(&row.rules);
            }
            module.may_wait = module.rows.values().all(|row| row.may_wait);
        }
    }

    /// Whether a method can still be left alone.
    pub(in crate::instrumentation) fn can_wait(&self, (id, method): MethodKey) -> bool {
        let module = self.modules.get(&id);
        let module =
            module.filter(|of| of.timing == Timing::Compilation && !of.is_by_rejit && !self.is_off);
        let row = module.and_then(|module| module.rows.get(&method));
        !self.is_removed() && row.is_some_and(|row| row.may_wait && row.is_undecided())
    }

    /// Whether a method is undecided, and can be left alone, whatever the decision is.
    pub(in crate::instrumentation) fn waits_undecided(&self, (id, method): MethodKey) -> bool {
        let module = self.modules.get(&id);
        let is_late = module.is_some_and(|module| module.late.is_some() && module.may_wait);
        let is_meant = is_late && !self.is_off && !self.is_removed();
        is_meant && matches!(self.selected((id, method)), Selected::Undecided(_))
    }

    /// Leaves a method alone that is being compiled, without a decision about it; `false` if it was decided about, or cannot wait.
    pub(in crate::instrumentation) fn leave_undecided(
        &mut self,
        (id, method): MethodKey,
        function: FunctionId,
    ) -> bool {
        if !self.waits_undecided((id, method)) {
            return false;
        }
        let Some(module) = self.modules.get_mut(&id) else {
            return false;
        };
        let unseen = module.unseen.entry(method).or_default();
        unseen.compilations += 1;
        unseen.functions.add(function);
        true
    }

    /// Methods that were left alone without a decision, at most this many.
    pub(in crate::instrumentation) fn unseen(&self, most: usize) -> Vec<MethodKey> {
        let rows = self.modules.iter().flat_map(|(id, module)| {
            let unseen = module.unseen.keys();
            unseen.map(|method| (*id, *method))
        });
        rows.take(most).collect()
    }

    /// The number of methods that were left alone without a decision.
    pub(in crate::instrumentation) fn count_unseen(&self) -> usize {
        self.modules
            .values()
            .map(|module| module.unseen.len())
            .sum()
    }

    /// The outcomes of those that are wanted, at most this many.
    pub(in crate::instrumentation) fn unseen_outcomes(
        &self,
        is_wanted: impl Fn(MethodState, Option<&str>) -> bool,
        most: usize,
    ) -> Vec<RowOutcome> {
        if !is_wanted(MethodState::Deferred, None) {
            return Vec::new();
        }
        let state = match self.is_removed() {
            true => MethodState::Off,
            false => MethodState::Deferred,
        };
        let outcomes = self.modules.iter().flat_map(|(id, module)| {
            module.unseen.keys().map(move |method| RowOutcome {
                key: (*id, *method),
                assembly: module.assembly.clone(),
                name: None,
                state,
                rules: Rules::default(),
                problem: None,
            })
        });
        outcomes.take(most).collect()
    }

    /// Whether a loaded module of whose methods those alone are known that were compiled has such an assembly.
    pub(in crate::instrumentation) fn is_late(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        let mut late = self.modules.values().filter(|module| module.late.is_some());
        late.any(|module| is_meant(&module.assembly))
    }

    /// Whether the precompiled code of a method may be used while methods wait.
    pub(in crate::instrumentation) fn may_keep_code(&self, key: MethodKey) -> bool {
        let module = self.modules.get(&key.0);
        module.is_some_and(|module| {
            module.may_wait && (!module.rows.contains_key(&key.1) || self.can_wait(key))
        })
    }

    /// Records that a method was left alone.
    pub(in crate::instrumentation) fn defer(&mut self, (id, method): MethodKey) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            row.state = MethodState::Deferred;
        }
    }

    /// [`begin`](Self::begin), for a method that is left alone if it can be and `is_deferring`.
    pub(in crate::instrumentation) fn begin_or_defer(
        &mut self,
        key: MethodKey,
        is_deferring: bool,
    ) -> Option<Begun> {
        let mut has_code = false;
        if self.can_wait(key) {
            let module = self.modules.get_mut(&key.0)?;
            let row = module.rows.get_mut(&key.1)?;
            row.compilations += 1;
            has_code = row.state == MethodState::Deferred;
            // The JIT reads the exception clauses of the body while it compiles it: another thread would get those of the new one.
            if is_deferring || has_code && row.compilations > 1 {
                row.state = MethodState::Deferred;
                return None;
            }
            // Until it is edited: a thread that compiles it meanwhile waits for that.
            row.state = MethodState::NotCompiled;
        }
        let rules = self.begin(key)?;
        if !has_code {
            return Some(Begun::First(rules));
        }
        let module = self.modules.get_mut(&key.0)?;
        module.rows.get_mut(&key.1)?.needs_map = true;
        Some(Begun::Again(rules))
    }

    /// Records that a compilation has ended.
    pub(in crate::instrumentation) fn compiled(&mut self, (id, method): MethodKey) {
        let Some(module) = self.modules.get_mut(&id) else {
            return;
        };
        if let Some(row) = module.rows.get_mut(&method) {
            row.compilations = row.compilations.saturating_sub(1);
        } else if let Some(unseen) = module.unseen.get_mut(&method) {
            unseen.compilations = unseen.compilations.saturating_sub(1);
        }
    }
}
