//! The requests, the state that the runtime knows and the outcome of each method.
//!
//! No call of the runtime is made here: the thread of [`Rejit`](super::Rejit) takes work from the table and
//! makes the calls, and the callbacks record their results in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Hresult;
use crate::ids::ModuleId;
use clr_profiler_il::token::MethodDef;

use super::options::Inliners;

/// The key of a method of a loaded module.
pub(super) type MethodKey = (ModuleId, MethodDef);

/// The progress of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejitState {
    /// The request has not been passed to the runtime yet.
    Queued,
    /// The runtime has accepted the request; the method has not been called since.
    Requested,
    /// The runtime has asked for the new IL, because the method is called.
    Compiling,
    /// Code of the new IL exists.
    Compiled,
    /// The runtime refused, or the profiler's own callback failed, and the method runs with the IL that it
    /// had. The code is the error, and [`RejitOutcome::problem`] its text if the request or the callback failed: both
    /// stay until the next request.
    Failed(Hresult),
    /// It has precompiled code, and the options leave such methods alone.
    Refused,
    /// It has its original IL again, from the next call on.
    Reverted,
    /// It has its original IL again, and has not been called meanwhile.
    NeverCalled,
}

/// The outcome of one method of a [`Rejit`](super::Rejit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejitOutcome {
    /// The module that defines it.
    pub module: ModuleId,
    /// The method; the same for all its generic instances.
    pub method: MethodDef,
    /// The progress.
    pub state: RejitState,
    /// The error with which the method has [failed](RejitState::Failed): of the request, or of the profiler's own callback, of
    /// which a [`RewriteError`](crate::rewrite::RewriteError) names the method and the reason.
    pub problem: Option<String>,
    /// Whether new IL is requested for it now, regardless of the outcome.
    pub is_wanted: bool,
    /// The number of requests that the runtime has accepted.
    pub requests: u32,
    /// The number of compilations of new IL: tiers and generic instances can cause several for each request.
    pub compilations: u32,
}

/// The next calls of the thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PendingCalls {
    /// Methods that are reverted to their original IL.
    pub(super) revert: Vec<MethodKey>,
    /// Methods that are compiled again.
    pub(super) request: Vec<MethodKey>,
}

#[derive(Debug)]
struct Row {
    /// The public part.
    method: RejitOutcome,
    /// Whether the runtime does not know the current request yet.
    is_due: bool,
    /// Whether the runtime has new IL for it.
    is_held: bool,
    was_il_requested: bool,
}

#[derive(Debug)]
pub(super) struct Table {
    rows: BTreeMap<MethodKey, Row>,
    /// Methods that the runtime compiled again because of the methods that they have inlined, or that keep
    /// new code of their original IL for that reason.
    inliners: BTreeSet<MethodKey>,
    how: Inliners,
}

impl Table {
    pub(super) fn new(how: Inliners) -> Self {
        Self {
            rows: BTreeMap::new(),
            inliners: BTreeSet::new(),
            how,
        }
    }

    /// The bytes of all rows.
    pub(super) fn held_bytes(&self) -> usize {
        let texts = self
            .rows
            .values()
            .filter_map(|row| row.method.problem.as_ref());
        self.rows.len() * size_of::<(MethodKey, Row)>()
            + self.inliners.len() * size_of::<MethodKey>()
            + texts.map(String::len).sum::<usize>()
    }

    /// Requests new IL, again if the method has it already.
    pub(super) fn want(&mut self, key: MethodKey) {
        let (module, method) = key;
        let row = self.rows.entry(key).or_insert(Row {
            method: RejitOutcome {
                module,
                method,
                state: RejitState::Queued,
                problem: None,
                is_wanted: true,
                requests: 0,
                compilations: 0,
            },
            is_due: true,
            is_held: false,
            was_il_requested: false,
        });
        row.method.state = RejitState::Queued;
        row.method.problem = None;
        row.method.is_wanted = true;
        row.is_due = true;
    }

    /// Requests the original IL; returns whether that changes anything.
    pub(super) fn unwant(&mut self, key: MethodKey) -> bool {
        let Some(row) = self.rows.get_mut(&key).filter(|row| row.method.is_wanted) else {
            return false;
        };
        row.method.is_wanted = false;
        row.is_due = true;
        true
    }

    /// Leaves the method alone.
    pub(super) fn refuse(&mut self, key: MethodKey) {
        if let Some(row) = self.rows.get_mut(&key) {
            row.method.state = RejitState::Refused;
            row.is_due = false;
            row.method.is_wanted = false;
        }
    }

    /// Whether new IL is requested for this method.
    pub(super) fn is_wanted(&self, key: MethodKey) -> bool {
        let row = self.rows.get(&key);
        row.is_some_and(|row| row.method.is_wanted)
    }

    /// Whether new IL is requested for any method.
    fn any_wanted(&self) -> bool {
        self.rows.values().any(|row| row.method.is_wanted)
    }

    /// Whether the runtime knows all requests.
    pub(super) fn is_settled(&self) -> bool {
        self.rows.values().all(|row| !row.is_due) && (self.any_wanted() || self.inliners.is_empty())
    }

    /// Requested methods whose request the runtime does not know yet.
    pub(super) fn due(&self) -> impl Iterator<Item = MethodKey> {
        let due = self
            .rows
            .iter()
            .filter(|(_, row)| row.is_due && row.method.is_wanted);
        due.map(|(key, _)| *key)
    }

    /// Takes the work to do.
    pub(super) fn take(&mut self) -> PendingCalls {
        let mut work = PendingCalls::default();
        let any_wanted = self.any_wanted();
        for (key, row) in &mut self.rows {
            if !std::mem::take(&mut row.is_due) {
                continue;
            }
            if row.method.is_wanted {
                row.method.state = RejitState::Requested;
                row.was_il_requested = false;
                row.is_held = true;
                self.inliners.remove(key);
                work.request.push(*key);
                continue;
            }
            row.method.state = if row.was_il_requested || row.method.state == RejitState::Compiled {
                RejitState::Reverted
            } else if let RejitState::Failed(_) = row.method.state {
                row.method.state
            } else {
                RejitState::NeverCalled
            };
            if !std::mem::take(&mut row.is_held) {
                continue;
            }
            match self.how {
                // Its first code may contain inlined copies of methods that still have new IL: so it keeps
                // new code of its original IL until no method has.
                Inliners::Follow if any_wanted => {
                    self.inliners.insert(*key);
                    work.request.push(*key);
                }
                _ => work.revert.push(*key),
            }
        }
        if !any_wanted {
            work.revert.extend(std::mem::take(&mut self.inliners));
        }
        work
    }

    /// Records that the runtime has accepted requests.
    pub(super) fn accepted(&mut self, keys: &[MethodKey]) {
        for key in keys {
            // Not of a method that keeps new code of its original IL.
            if let Some(row) = self.rows.get_mut(key).filter(|row| row.is_held) {
                row.method.requests += 1;
            }
        }
    }

    /// Forgets a method of an unloaded module, whose request came after that.
    pub(super) fn forget_method(&mut self, key: MethodKey) {
        self.rows.remove(&key);
        self.inliners.remove(&key);
    }

    /// Records that the runtime asks for the IL of a method; returns whether it gets new IL.
    ///
    /// Otherwise it is compiled again because of a method that it has inlined.
    pub(super) fn il_requested(&mut self, key: MethodKey) -> bool {
        match self.rows.get_mut(&key) {
            Some(row) if row.method.is_wanted => {
                row.was_il_requested = true;
                if row.method.state == RejitState::Requested {
                    row.method.state = RejitState::Compiling;
                }
                true
            }
            _ => {
                self.inliners.insert(key);
                false
            }
        }
    }

    /// Records that the profiler has failed to set the IL.
    pub(super) fn not_set(&mut self, key: MethodKey, status: Hresult, problem: String) {
        // If the method was requested again meanwhile, the runtime asks for it again.
        let row = self.rows.get_mut(&key);
        if let Some(row) = row.filter(|row| row.method.state == RejitState::Compiling) {
            row.method.state = RejitState::Failed(status);
            row.method.problem = Some(problem);
        }
    }

    pub(super) fn compiled(&mut self, key: MethodKey, status: Hresult) {
        let Some(row) = self.rows.get_mut(&key).filter(|row| row.method.is_wanted) else {
            return;
        };
        if !status.is_ok() {
            row.method.state = RejitState::Failed(status);
            return;
        }
        match row.method.state {
            // Compiled without the new IL, or before the runtime has asked for it.
            RejitState::Failed(_) | RejitState::Requested => return,
            RejitState::Compiling => row.method.state = RejitState::Compiled,
            _ => {}
        }
        row.method.compilations += 1;
    }

    pub(super) fn failed(&mut self, key: MethodKey, status: Hresult) {
        match self.rows.get_mut(&key) {
            Some(row) => row.method.state = RejitState::Failed(status),
            // An inliner that cannot be compiled again.
            None => {
                self.inliners.remove(&key);
            }
        }
    }

    /// Records that the request was refused, by the runtime or by this library.
    pub(super) fn not_requested(&mut self, key: MethodKey, status: Hresult, problem: String) {
        if let Some(row) = self.rows.get_mut(&key) {
            row.method.state = RejitState::Failed(status);
            row.method.problem = Some(problem);
        }
    }

    /// Forgets the methods of a module that is unloaded.
    pub(super) fn forget(&mut self, module: ModuleId) {
        self.rows.retain(|key, _| key.0 != module);
        self.inliners.retain(|key| key.0 != module);
    }

    pub(super) fn inliners(&self) -> Vec<MethodKey> {
        self.inliners.iter().copied().collect()
    }

    pub(super) fn outcomes(&self) -> Vec<RejitOutcome> {
        self.rows.values().map(|row| row.method.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RejitState::{
        Compiled, Compiling, Failed, NeverCalled, Queued, Refused, Requested, Reverted,
    };
    use super::*;

    fn key(row: u32) -> MethodKey {
        (ModuleId::from_runtime(8), MethodDef::from_row(row).unwrap())
    }

    fn state(table: &Table, of: MethodKey) -> RejitState {
        let outcomes = table.outcomes();
        let outcome = outcomes.iter().find(|o| (o.module, o.method) == of);
        outcome.unwrap().state
    }

    /// The state of a requested method after each sequence of events.
    #[test]
    fn states_follow_what_happens() {
        type Step = fn(&mut Table, MethodKey);
        const TAKE: Step = |t, _| drop(t.take());
        const ASK: Step = |t, p| assert!(t.il_requested(p));
        const COMPILE: Step = |t, p| t.compiled(p, Hresult::S_OK);
        const BREAK: Step = |t, p| t.compiled(p, Hresult::E_FAIL);
        const ERROR: Step = |t, p| t.failed(p, Hresult::E_FAIL);
        const NOT_SET: Step = |t, p| t.not_set(p, Hresult::E_FAIL, "no".to_owned());
        const OFF: Step = |t, p| assert!(t.unwant(p));
        const ON: Step = |t, p| t.want(p);
        let cases: &[(&[Step], RejitState, bool)] = &[
            (&[], Queued, true),
            (&[TAKE], Requested, true),
            (&[TAKE, ASK], Compiling, true),
            (&[TAKE, ASK, COMPILE], Compiled, true),
            (&[TAKE, ASK, COMPILE, COMPILE], Compiled, true),
            (&[TAKE, ASK, BREAK], Failed(Hresult::E_FAIL), true),
            (&[TAKE, ASK, ERROR, COMPILE], Failed(Hresult::E_FAIL), true),
            // Compiled, but with the IL that it had.
            (&[TAKE, ASK, NOT_SET], Failed(Hresult::E_FAIL), true),
            (
                &[TAKE, ASK, NOT_SET, COMPILE],
                Failed(Hresult::E_FAIL),
                true,
            ),
            (&[TAKE, ASK, NOT_SET, COMPILE, OFF, TAKE], Reverted, false),
            (&[TAKE, ASK, ON, NOT_SET], Queued, true),
            (
                &[TAKE, ASK, NOT_SET, ON, TAKE, ASK, COMPILE],
                Compiled,
                true,
            ),
            // The compiled code is that of an earlier request.
            (&[TAKE, COMPILE], Requested, true),
            (&[TAKE, ERROR], Failed(Hresult::E_FAIL), true),
            (&[TAKE, ERROR, ON], Queued, true),
            (&[TAKE, ERROR, ON, TAKE, ASK, COMPILE], Compiled, true),
            (&[TAKE, OFF, TAKE], NeverCalled, false),
            (&[OFF, TAKE], NeverCalled, false),
            (&[TAKE, ASK, OFF, TAKE], Reverted, false),
            (&[TAKE, ASK, COMPILE, OFF, TAKE], Reverted, false),
            (&[TAKE, ERROR, OFF, TAKE], Failed(Hresult::E_FAIL), false),
            (&[TAKE, ASK, COMPILE, OFF, ON], Queued, true),
            (&[TAKE, ASK, COMPILE, OFF, ON, TAKE], Requested, true),
            (
                &[TAKE, ASK, COMPILE, OFF, TAKE, ON, TAKE, OFF, TAKE],
                NeverCalled,
                false,
            ),
        ];
        for (index, (steps, expected, is_wanted)) in cases.iter().enumerate() {
            let (mut table, method) = (Table::new(Inliners::Follow), key(1));
            table.want(method);
            for step in *steps {
                step(&mut table, method);
            }
            assert_eq!(state(&table, method), *expected, "case {index}");
            let outcomes = table.outcomes();
            assert_eq!(outcomes[0].is_wanted, *is_wanted, "case {index}");
        }
    }

    #[test]
    fn what_the_callback_said_stays_until_the_next_request() {
        let (mut table, method) = (Table::new(Inliners::Follow), key(1));
        table.want(method);
        table.take();
        assert!(table.il_requested(method));
        table.not_set(method, Hresult::E_FAIL, "no".to_owned());
        table.compiled(method, Hresult::S_OK);
        let [outcome] = &*table.outcomes() else {
            panic!("one method is wanted");
        };
        assert_eq!(outcome.problem.as_deref(), Some("no"));
        assert_eq!(outcome.compilations, 0);
        table.want(method);
        assert_eq!(table.outcomes()[0].problem, None);
    }

    #[test]
    fn work_comes_in_batches_and_once() {
        let mut table = Table::new(Inliners::Keep);
        (1..=3).for_each(|row| table.want(key(row)));
        assert!(!table.is_settled());
        let request = vec![key(1), key(2), key(3)];
        let revert = Vec::new();
        assert_eq!(table.take(), PendingCalls { revert, request });
        assert!(table.is_settled());
        assert_eq!(table.take(), PendingCalls::default());
        assert!(table.unwant(key(2)) && !table.unwant(key(2)));
        table.want(key(3));
        let (revert, request) = (vec![key(2)], vec![key(3)]);
        assert_eq!(table.take(), PendingCalls { revert, request });
    }

    #[test]
    fn accepted_requests_are_counted() {
        let mut table = Table::new(Inliners::Follow);
        for row in 1..=3 {
            table.want(key(row));
        }
        let counts = |table: &Table| -> Vec<u32> {
            let outcomes = table.outcomes();
            outcomes.iter().map(|outcome| outcome.requests).collect()
        };
        let request = table.take().request;
        assert_eq!(counts(&table), [0, 0, 0]);
        table.accepted(&request[..2]);
        table.not_requested(key(3), Hresult::E_FAIL, "no".to_owned());
        assert_eq!(counts(&table), [1, 1, 0]);
        // The first gets new code of its original IL, which is no request of its user.
        table.unwant(key(1));
        let request = table.take().request;
        assert_eq!(request, [key(1)]);
        table.accepted(&request);
        assert_eq!(counts(&table), [1, 1, 0]);
        table.forget_method(key(3));
        assert_eq!(counts(&table), [1, 1]);
    }

    #[test]
    fn what_the_runtime_never_heard_of_is_not_reverted() {
        let mut table = Table::new(Inliners::Keep);
        table.want(key(1));
        table.unwant(key(1));
        assert_eq!(table.take(), PendingCalls::default());
        table.want(key(2));
        table.refuse(key(2));
        assert_eq!(state(&table, key(2)), Refused);
        assert_eq!(table.take(), PendingCalls::default());
    }

    #[test]
    fn what_follows_goes_back_with_the_last() {
        let mut table = Table::new(Inliners::Follow);
        table.want(key(1));
        table.want(key(2));
        table.take();
        // The runtime asks for a method that has inlined the first.
        assert!(!table.il_requested(key(7)));
        assert_eq!(table.inliners(), [key(7)]);
        // Its first code may have inlined the second: it gets new code of its original IL.
        table.unwant(key(1));
        let (revert, request) = (Vec::new(), vec![key(1)]);
        assert_eq!(table.take(), PendingCalls { revert, request });
        assert!(!table.il_requested(key(1)));
        assert_eq!(state(&table, key(1)), NeverCalled);
        table.unwant(key(2));
        let (revert, request) = (vec![key(2), key(1), key(7)], Vec::new());
        assert_eq!(table.take(), PendingCalls { revert, request });
        // The runtime asks late for a method that had not been called before.
        assert!(!table.il_requested(key(9)));
        assert!(!table.is_settled());
        assert_eq!(table.take().revert, [key(9)]);
        assert!(table.is_settled());
    }

    #[test]
    fn a_module_takes_its_methods_along() {
        let mut table = Table::new(Inliners::Follow);
        table.want(key(1));
        table.il_requested(key(7));
        table.forget(ModuleId::from_runtime(16));
        assert_eq!(table.outcomes().len(), 1);
        table.forget(ModuleId::from_runtime(8));
        assert!(table.outcomes().is_empty() && table.inliners().is_empty());
    }
}
