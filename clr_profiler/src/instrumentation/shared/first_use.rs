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

/// A method that is being compiled by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Compilation {
    function: FunctionId,
    /// The number of bodies that were set before the end of its last callback.
    sets: u64,
}

/// The methods that a thread is compiling for a component: code of the program, such as a class constructor, can run while the JIT
/// compiles a method, and be compiled itself.
#[derive(Debug, Default)]
struct Compilations(Vec<Compilation>);

impl Compilations {
    /// More are those of compilations that have failed, whose end is not reported.
    const MOST: usize = 64;

    fn begin(&mut self, function: FunctionId, sets: u64) {
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push(Compilation { function, sets });
    }

    fn end(&mut self, function: FunctionId) {
        if let Some(at) = self.0.iter().rposition(|one| one.function == function) {
            self.0.truncate(at);
        }
    }

    /// That whose callbacks come now.
    fn current(&self) -> Option<Compilation> {
        self.0.last().copied()
    }

    /// The JIT has asked in that.
    fn asked(&mut self, sets: u64) {
        if let Some(current) = self.0.last_mut() {
            current.sets = sets;
        }
    }
}

thread_local! {
    /// Those of each component, by the address of its part that is shared. A profiler has few. Those of one that has ended have smaller
    /// numbers than all that follow.
    static COMPILATIONS: RefCell<Vec<(usize, Compilations)>> = const { RefCell::new(Vec::new()) };
}

/// Notes the end of a callback when it is dropped.
pub(in super::super) struct Noted<'s> {
    shared: &'s Shared,
    /// The method whose compilation has begun; `None` for a question.
    begun: Option<FunctionId>,
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.shared.with_compilations(|all| match self.begun {
            Some(function) => all.begin(function, last_set()),
            None => all.asked(last_set()),
        });
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
            begun: Some(function),
        }
    }

    /// Notes that a method was compiled.
    pub(in super::super) fn end_compilation(&self, function: FunctionId) {
        self.with_compilations(|all| all.end(function));
    }

    /// `None` if they do not matter, and in a thread that is about to end: its copies are refused.
    fn with_compilations<T>(&self, change: impl FnOnce(&mut Compilations) -> T) -> Option<T> {
        if !self.sets_at_first_use() {
            return None;
        }
        let own = std::ptr::from_ref(self).addr();
        let changed = COMPILATIONS.try_with(|all| {
            let mut all = all.borrow_mut();
            let at = match all.iter().position(|(component, _)| *component == own) {
                Some(at) => at,
                None => {
                    all.push((own, Compilations::default()));
                    all.len() - 1
                }
            };
            all.get_mut(at).map(|(_, of)| change(of))
        });
        changed.ok().flatten()
    }

    /// Whether the JIT may copy a selected method, of which it has the IL. Its body is set if this is its first use.
    pub(in super::super) fn may_be_copied(&self, key: MethodKey) -> bool {
        // A dynamic method has none: its copies are refused.
        let current = self.with_compilations(|all| all.current()).flatten();
        let _noted = Noted {
            shared: self,
            begun: None,
        };
        let (may_be_inlined, is_first_use) = {
            let table = lock(&self.table);
            let sets = current.map_or(0, |current| current.sets);
            (table.may_be_inlined(key, sets), table.is_first_use(key))
        };
        if is_first_use {
            self.rewrite_early(key);
            if current.is_some_and(|current| self.is_first_code(current.function)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_belongs_to_the_method_that_is_compiled_whatever_was_compiled_meanwhile() {
        let [outer, inner, failed] = [8, 16, 24].map(FunctionId::from_runtime);
        let mut all = Compilations::default();
        assert_eq!(all.current(), None);
        all.begin(outer, 1);
        all.asked(2);
        // Code of the program runs, and sets bodies that the JIT has read for the outer one.
        all.begin(inner, 5);
        all.asked(6);
        all.begin(failed, 7);
        let sets = |all: &Compilations| all.current().map(|one| one.sets);
        assert_eq!(sets(&all), Some(7));
        all.end(inner);
        assert_eq!(sets(&all), Some(2));
        all.end(outer);
        assert_eq!(all.current(), None);
        for sets in 0..1000 {
            all.begin(failed, sets);
        }
        assert_eq!(all.0.len(), Compilations::MOST);
    }
}
