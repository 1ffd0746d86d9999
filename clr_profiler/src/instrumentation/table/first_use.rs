//! Methods whose bodies are set when they are first used.
//!
//! The JIT reads the IL of a method, then asks whether to inline it. A copy has the new IL if the body was set before the last callback of
//! the same compilation: the JIT has read the IL after that one. So bodies that are set are numbered, and each compilation
//! keeps the greatest number at its last callback. Those of a thread are nested where the JIT runs code of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{MethodKey, Removal, Table, Timing};
use crate::ids::ModuleId;
use crate::instrumentation::late::Whole;
use crate::instrumentation::outcome::MethodState;
use clr_profiler_il::token::MethodDef;

/// The number of bodies that were set, of all components.
static SETS: AtomicU64 = AtomicU64::new(0);

/// The number of selected methods of a module up to which the small ones get their bodies at once.
const AT_ONCE: usize = 4_000;

/// The number of a body that was set just now.
pub(super) fn count_set() -> u64 {
    SETS.fetch_add(1, Ordering::AcqRel) + 1
}

/// The number of the last body that was set.
pub(in crate::instrumentation) fn last_set() -> u64 {
    SETS.load(Ordering::Acquire)
}

impl Table {
    /// Has the methods of a module be chosen at their first use.
    pub(in crate::instrumentation) fn choose_late(
        &mut self,
        id: ModuleId,
        whole: Whole,
        timing: Timing,
    ) {
        if let Some(module) = self.modules.get_mut(&id) {
            module.late = Some(Arc::clone(&whole.image));
            module.whole = Some(whole);
            module.timing = timing;
            // The code of methods that are not chosen may have copies of others.
            module.is_copied_anywhere = module.is_precompiled;
        }
    }

    /// A module whose methods are chosen at their first use.
    pub(in crate::instrumentation) fn whole(&self, id: ModuleId) -> Option<Whole> {
        self.modules.get(&id)?.whole.clone()
    }

    /// Whether a selected method may be inlined, because the copies have the IL that it has. `seen` is the number of the last body
    /// at the last callback of the compilation.
    pub(in crate::instrumentation) fn may_be_inlined(
        &self,
        (id, method): MethodKey,
        seen: u64,
    ) -> bool {
        let module = self.modules.get(&id);
        module.is_some_and(|module| {
            let row = module.rows.get(&method);
            let is_set = match module.timing {
                Timing::Compilation => false,
                Timing::Load => true,
                Timing::FirstUse => {
                    row.is_some_and(|row| row.state != MethodState::NotCompiled && row.set <= seen)
                }
            };
            is_set
                || row.is_some_and(|row| row.is_given_back)
                || self.removal == Removal::Done && row.is_none_or(|row| !row.is_kept)
        })
    }

    /// Whether the body of a method is set at its first use, which this is.
    pub(in crate::instrumentation) fn is_first_use(&self, (id, method): MethodKey) -> bool {
        let module = self.modules.get(&id);
        let module = module.filter(|module| module.timing == Timing::FirstUse);
        let row = module.and_then(|module| module.rows.get(&method));
        row.is_some_and(|row| !row.is_edited)
    }

    /// The methods of a module without a new body, of which the small ones get theirs at once; none if that was done, or there are
    /// too many.
    pub(in crate::instrumentation) fn begin_small(&mut self, id: ModuleId) -> Vec<MethodDef> {
        let Some(module) = self.modules.get_mut(&id).filter(|of| !of.are_small_set) else {
            return Vec::new();
        };
        let methods: Vec<MethodDef> = match &module.late {
            // Those that are not chosen, too.
            Some(image) => {
                let all = image.read(|own| Some(own.tokens().take(AT_ONCE + 1).collect()));
                all.unwrap_or_default()
            }
            None if module.rows.len() > AT_ONCE => return Vec::new(),
            None => module.rows.keys().copied().collect(),
        };
        if methods.len() > AT_ONCE {
            return Vec::new();
        }
        module.are_small_set = true;
        let methods = methods.into_iter().filter(|method| {
            let row = module.rows.get(method);
            row.is_none_or(|row| !row.is_edited)
        });
        methods.collect()
    }
}
