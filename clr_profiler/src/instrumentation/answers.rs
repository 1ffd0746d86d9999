//! The answers about methods while the program runs.

use super::Instrumentation;
use super::outcome::{MethodOutcome, MethodState, Outcomes};
use crate::rejit::{Rejit, RejitState};
use crate::runtime::lock;

impl Instrumentation {
    /// The ReJIT by which methods change in a running program, if it is attached or
    /// [switchable](Self::switchable): to wait until the runtime has got all requests.
    #[must_use]
    pub fn rejit(&self) -> Option<&Rejit> {
        self.rejit.get()
    }

    /// The outcomes so far.
    ///
    /// **Context**: any but during a GC. After the profiler's shutdown, methods that were never compiled are named by
    /// their tokens.
    #[must_use]
    pub fn outcomes(&self) -> Outcomes {
        let Some(shared) = self.shared.get() else {
            return Outcomes::default();
        };
        let mut outcomes = shared.outcomes();
        let rejits = self.rejit.get().map(Rejit::outcomes).unwrap_or_default();
        for rejit in rejits.iter().filter(|rejit| rejit.is_wanted) {
            let key = (rejit.module, rejit.method);
            // They are in the order of their keys.
            let methods = &mut outcomes.methods;
            let found = methods.binary_search_by_key(&key, |of| (of.module, of.method));
            let method = found.ok().and_then(|index| methods.get_mut(index));
            if let (Some(method), RejitState::Failed(code)) = (method, rejit.state)
                && method.problem.is_none()
            {
                let problem = rejit.problem.clone().unwrap_or_else(|| code.to_string());
                method.state = MethodState::Failed;
                method.problem = Some(format!("it cannot be rejitted: {problem}"));
            }
        }
        outcomes
    }

    /// The methods in a state: their number, and the outcomes of the first of them, at most `most`.
    ///
    /// Of a large program it takes less time than all [outcomes](Self::outcomes), which have the names of all methods.
    /// ReJIT that has failed is in those alone. Methods that were left alone [before they were decided about](Self::select_late) are decided
    /// about now, at most `most` of them; further ones count as [deferred](MethodState::Deferred).
    ///
    /// **Context**: any.
    #[must_use]
    pub fn in_state(&self, state: MethodState, most: usize) -> (usize, Vec<MethodOutcome>) {
        let shared = self.shared.get();
        let found = shared.map(|shared| shared.in_state(state, most));
        found.unwrap_or_default()
    }

    /// The reasons for which assemblies, or rules for their methods, were left out: [`Outcomes::problems`] alone.
    ///
    /// **Context**: any.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let shared = self.shared.get();
        let problems = shared.map(|shared| lock(&shared.table).problems());
        problems.unwrap_or_default()
    }
}
