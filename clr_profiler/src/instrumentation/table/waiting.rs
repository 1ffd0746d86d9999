//! Methods that are left alone until they are compiled again.

use std::sync::Arc;

use super::{MethodKey, Row, Rules, Table, Timing};
use crate::ids::ModuleId;
use crate::instrumentation::outcome::MethodState;

/// The rules by which a method is edited that is being compiled.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::instrumentation) enum Begun {
    /// No code of it exists.
    First(Rules),
    /// It was left alone when its first code was compiled.
    Again(Rules),
}

impl Row {
    /// Whether it is undecided whether the method is edited.
    fn is_undecided(&self) -> bool {
        let is_new = matches!(self.state, MethodState::NotCompiled | MethodState::Deferred);
        is_new && !self.is_edited && !self.is_plain
    }
}

impl Table {
    /// Lets the methods of a module wait, and with them the precompiled code that has copies of them.
    pub(in crate::instrumentation) fn let_wait(&mut self, id: ModuleId) {
        if let Some(module) = self.modules.get_mut(&id) {
            module.may_wait = true;
        }
    }

    /// The rules of a method that can still be left alone.
    pub(in crate::instrumentation) fn undecided(&self, (id, method): MethodKey) -> Option<Rules> {
        let module = self.modules.get(&id)?;
        let row = module.rows.get(&method)?;
        let can_wait = module.timing == Timing::Compilation && !module.is_by_rejit;
        let is_undecided = can_wait && !self.is_off && !self.is_removed() && row.is_undecided();
        is_undecided.then(|| Arc::clone(&row.rules))
    }

    /// Whether the precompiled code of a method may be used while methods wait.
    pub(in crate::instrumentation) fn may_keep_code(&self, key: MethodKey) -> bool {
        let module = self.modules.get(&key.0);
        module.is_some_and(|module| {
            let is_selected = module.rows.contains_key(&key.1);
            module.may_wait && (!is_selected || self.undecided(key).is_some())
        })
    }

    /// Records that a method was left alone.
    pub(in crate::instrumentation) fn defer(&mut self, (id, method): MethodKey) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            row.state = MethodState::Deferred;
        }
    }

    /// [`begin`](Self::begin), for a method that can be left alone, and is if `is_deferred`.
    pub(in crate::instrumentation) fn begin_or_defer(
        &mut self,
        key: MethodKey,
        is_deferred: bool,
    ) -> Option<Begun> {
        let mut has_code = false;
        if self.undecided(key).is_some() {
            let module = self.modules.get_mut(&key.0)?;
            let row = module.rows.get_mut(&key.1)?;
            row.compilations += 1;
            has_code = row.state == MethodState::Deferred;
            // The JIT reads the exception clauses of the body while it compiles it: another thread would get those of the new one.
            if is_deferred || has_code && row.compilations > 1 {
                row.state = MethodState::Deferred;
                return None;
            }
            // Until it is edited: a thread that compiles it meanwhile waits for that.
            row.state = MethodState::NotCompiled;
        }
        let rules = self.begin(key)?;
        Some(match has_code {
            true => Begun::Again(rules),
            false => Begun::First(rules),
        })
    }

    /// Records that a compilation has ended.
    pub(in crate::instrumentation) fn compiled(&mut self, (id, method): MethodKey) {
        let module = self.modules.get_mut(&id);
        if let Some(row) = module.and_then(|module| module.rows.get_mut(&method)) {
            row.compilations = row.compilations.saturating_sub(1);
        }
    }
}
