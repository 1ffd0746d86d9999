//! Bodies that are set when methods are first used: when the JIT compiles them, or asks whether to inline them.

use std::cell::RefCell;

use super::Shared;
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::info::{CorProfilerInfo, CorProfilerInfo9};
use crate::instrumentation::table::first_use::last_set;
use crate::instrumentation::table::{MethodKey, Timing};
use crate::metadata::MetadataImport;
use crate::runtime::lock;
use clr_profiler_il::attributes::MethodImplAttributes;

/// The size of a body, with its header, up to which the JIT may inline the method without a profile and an attribute.
const SMALL: usize = 128 + 12;

/// The last callback of a thread in a component.
#[derive(Clone, Copy)]
struct Seen {
    /// The address of the component's part that is shared.
    component: usize,
    /// The method that was compiled last.
    compiled: Option<FunctionId>,
    /// The number of bodies that were set before the end of the callback.
    sets: u64,
}

thread_local! {
    /// An entry for each component, of which a profiler has few. That of one that has ended has a smaller number than all that follow.
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

/// Notes the end of a callback when it is dropped.
pub(in super::super) struct Noted<'s> {
    shared: &'s Shared,
    compiled: Option<FunctionId>,
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        if self.shared.sets_at_first_use() {
            self.shared.note(self.compiled);
        }
    }
}

impl Shared {
    /// Whether bodies are set when methods are first used.
    pub(in super::super) fn sets_at_first_use(&self) -> bool {
        self.description.timing == Timing::FirstUse
    }

    /// Notes the compilation of a method, at the end of the callback.
    pub(in super::super) const fn note_compilation(&self, function: FunctionId) -> Noted<'_> {
        Noted {
            shared: self,
            compiled: Some(function),
        }
    }

    fn component(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn note(&self, compiled: Option<FunctionId>) {
        let seen = Seen {
            component: self.component(),
            compiled,
            sets: last_set(),
        };
        // A thread that is about to end has none: its copies are refused.
        let _ = SEEN.try_with(|all| {
            let mut all = all.borrow_mut();
            match all.iter_mut().find(|one| one.component == seen.component) {
                Some(one) => *one = seen,
                None => all.push(seen),
            }
        });
    }

    fn last_callback(&self) -> Option<Seen> {
        let own = self.component();
        let find = |all: &RefCell<Vec<Seen>>| {
            let all = all.borrow();
            all.iter().find(|one| one.component == own).copied()
        };
        SEEN.try_with(find).ok().flatten()
    }

    /// Whether the JIT may copy a selected method, of which it has the IL. Its body is set if this is its first use.
    pub(in super::super) fn may_be_copied(&self, key: MethodKey) -> bool {
        let seen = self.last_callback();
        let compiled = seen.and_then(|seen| seen.compiled);
        let _noted = Noted {
            shared: self,
            compiled,
        };
        let (may_be_inlined, is_first_use) = {
            let table = lock(&self.table);
            let sets = seen.map_or(0, |seen| seen.sets);
            (table.may_be_inlined(key, sets), table.is_first_use(key))
        };
        if is_first_use {
            self.rewrite_early(key);
            if compiled.is_some_and(|function| self.is_first_code(function)) {
                self.rewrite_small(key.0);
            }
        }
        may_be_inlined
    }

    /// Whether a method that is being compiled has no other code.
    fn is_first_code(&self, function: FunctionId) -> bool {
        let codes = self
            .info
            .native_code_start_addresses(function, RejitId::ORIGINAL);
        codes.map_or(true, |codes| codes.is_empty())
    }

    /// Sets the bodies of all methods of a module that the JIT may ask about.
    fn rewrite_small(&self, module: ModuleId) {
        let methods = lock(&self.table).begin_small(module);
        let Ok(metadata) = self.info.module_metadata(module) else {
            return;
        };
        for method in methods {
            let body = self.info.il_function_body(module, method);
            let is_small = body.is_ok_and(|body| body.len() <= SMALL);
            let is_asked_about = is_small
                || metadata.method_props(method).is_ok_and(|props| {
                    props
                        .implementation
                        .contains(MethodImplAttributes::AGGRESSIVE_INLINING)
                });
            if is_asked_about {
                self.rewrite_early((module, method));
            }
        }
    }
}
