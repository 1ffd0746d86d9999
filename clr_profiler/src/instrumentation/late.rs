//! Methods that are decided about when they are first used, not when their module is loaded.

use std::sync::Arc;

use super::Instrumentation;
use super::rules::{Description, RuleIndex};
use super::table::{Rules, Timing};
use crate::error::Result;
use crate::ids::ModuleId;
use crate::image::ModuleImage;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::pattern::MethodPattern;
use clr_profiler_il::token::MethodDef;

/// Decides about a module when it is loaded, and about its methods when they are first used.
pub(super) struct LateChoice {
    pub(super) open: Box<Open>,
    pub(super) is_chosen: Box<IsChosen>,
}

type Open = dyn Fn(&ProfilerInfo, ModuleId) -> Result<bool> + Send + Sync;

type IsChosen = dyn Fn(ModuleId, MethodDef) -> Result<bool> + Send + Sync;

/// A module of which each chosen method is changed by the same rules.
#[derive(Clone)]
pub(super) struct Whole {
    pub(super) image: Arc<ModuleImage>,
    pub(super) rules: Rules,
    /// The first method that is not a global one.
    pub(super) first: MethodDef,
}

impl Instrumentation {
    /// Decides about the methods of a module when they are compiled, and not when the module is loaded, if each pattern that reaches
    /// the module selects all of its methods, as `Shop!**` does.
    ///
    /// Most programs compile few of their methods, so that searching all of them would take most of the time of the start. The
    /// [outcomes](Self::outcomes) then have no methods that were neither compiled nor candidates for inlining, and a pattern counts the others
    /// alone. A method that is [left alone](Self::defer) is decided about when it is compiled again, or when its outcome is asked for.
    ///
    /// It is a no-op for precompiled modules, since code of other methods may have copies of selected ones, for an attached profiler,
    /// and together with [`choose`](Self::choose), [`at_module_load`](Self::at_module_load), [`switchable`](Self::switchable), declared
    /// methods and patches.
    pub fn select_late(mut self) -> Self {
        self.description.is_late = true;
        self
    }

    /// Chooses the methods of a module when they are first used, instead of by [`choose`](Self::choose) when the module is loaded, if each
    /// pattern that reaches the module selects all of its methods, and those that the compiler has made are selected, too:
    /// `Shop!**; generated Shop!**`.
    ///
    /// A run uses few of the methods of a large module. `open` runs when such a module is loaded, and returns whether methods of it
    /// may be changed. `is_chosen` then says for each method that is compiled, or that the JIT wants to inline, whether it is changed: by
    /// all rules that reach the module. The precompiled code of such a module is not used.
    ///
    /// Precompiled modules of .NET, modules that the program builds at run time, and all modules in an attached profiler are searched as without this
    /// call, and so is each module together with [`at_module_load`](Self::at_module_load), [`except`](Self::except),
    /// [`switchable`](Self::switchable), declared methods and patches.
    pub fn choose_at_first_use(
        mut self,
        open: impl Fn(&ProfilerInfo, ModuleId) -> Result<bool> + Send + Sync + 'static,
        is_chosen: impl Fn(ModuleId, MethodDef) -> Result<bool> + Send + Sync + 'static,
    ) -> Self {
        self.description.late_choice = Some(Arc::new(LateChoice {
            open: Box::new(open),
            is_chosen: Box::new(is_chosen),
        }));
        self
    }
}

impl Description {
    /// The rules that may change methods of an assembly, if its methods are decided about when they are compiled: each pattern
    /// that reaches it selects all of them.
    pub(super) fn late_rules(&self, assembly: &str, is_framework: bool) -> Option<Vec<RuleIndex>> {
        let needs_load = self.choice.is_some()
            || self.timing != Timing::Compilation
            || self.is_switchable
            || !self.uses.is_empty()
            || self.group().is_some();
        if !self.is_late || needs_load {
            return None;
        }
        let mut late = Vec::new();
        for (index, rule) in (0..).zip(&self.rules) {
            let mut patterns = rule.patterns.patterns().iter().filter(|pattern| {
                !pattern.is_exclusion() && self.is_reaching(pattern, assembly, is_framework)
            });
            if let Some(first) = patterns.next() {
                if !first.selects_all() || !patterns.all(MethodPattern::selects_all) {
                    return None;
                }
                late.push(index);
            }
        }
        (!late.is_empty()).then_some(late)
    }

    /// The rules that reach an assembly, if its methods are [chosen](Instrumentation::choose_at_first_use) when they are first used.
    pub(super) fn rules_of_all(&self, assembly: &str, is_framework: bool) -> Option<Rules> {
        let needs_load = self.timing == Timing::Load
            || self.is_switchable
            || self.except.is_some()
            || !self.uses.is_empty()
            || self.helpers().next().is_some()
            || self.group().is_some();
        if self.late_choice.is_none() || needs_load {
            return None;
        }
        let (mut has_generated, mut has_others) = (false, false);
        let mut rules = Vec::new();
        for (index, rule) in (0..).zip(&self.rules) {
            let patterns = rule.patterns.patterns().iter();
            let reaching =
                patterns.filter(|pattern| self.is_reaching(pattern, assembly, is_framework));
            for pattern in reaching {
                has_generated |= pattern.selects_all_generated();
                has_others |= pattern.selects_all();
                if !pattern.selects_all_generated() && !pattern.selects_all() {
                    return None;
                }
                if rules.last() != Some(&index) {
                    rules.push(index);
                }
            }
        }
        (has_generated && has_others).then(|| rules.into())
    }

    /// Whether a pattern is for an assembly of this name.
    pub(super) fn is_reaching(
        &self,
        pattern: &MethodPattern,
        assembly: &str,
        is_framework: bool,
    ) -> bool {
        let is_named = !self.needs_name(is_framework) || pattern.assembly().is_some();
        is_named && pattern.matches_assembly(assembly)
    }

    /// Counts a method for each pattern that reaches an assembly, because none of its methods is compared with them.
    pub(super) fn count_reaching(&self, assembly: &str, is_framework: bool) {
        for rule in &self.rules {
            for (index, pattern) in rule.patterns.patterns().iter().enumerate() {
                if self.is_reaching(pattern, assembly, is_framework) {
                    rule.patterns.count_one(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrumentation::rules::Change;

    fn described(lists: &[&str]) -> Description {
        let mut description = Description {
            late_choice: Some(Arc::new(LateChoice {
                open: Box::new(|_, _| Ok(true)),
                is_chosen: Box::new(|_, _| Ok(true)),
            })),
            ..Description::default()
        };
        for patterns in lists {
            description.add(*patterns, Change::Wrap(Box::default()));
        }
        assert!(description.mistake.is_none());
        description
    }

    #[test]
    fn all_methods_of_a_module_have_to_be_selected() {
        let all = ["**", "generated **"];
        for (lists, expected) in [
            (&all[..], true),
            (&["Shop!**; generated *!**"], true),
            (&["Shop!**; Other!A.*", "generated Shop!**"], true),
            (&["**; -Other!**", "generated **"], true),
            (&["**"], false),
            (&["generated **"], false),
            (&["**; -**.Main", "generated **"], false),
            (&["**; -Shop!**", "generated **"], false),
            (&["Shop!**; Shop!A.*", "generated **"], false),
            (&["Other!**", "generated Other!**"], false),
        ] {
            let found = described(lists).rules_of_all("Shop", false);
            assert_eq!(found.is_some(), expected, "{lists:?}");
        }
        let rules = described(&all).rules_of_all("Shop", false).unwrap();
        assert_eq!(&*rules, [0, 1]);
        let of_net = |lists| described(lists).rules_of_all("System.Linq", true);
        assert!(of_net(&all).is_none());
        assert!(of_net(&["*!**", "generated System.Linq!**"]).is_some());
        let at_load = Description {
            timing: Timing::Load,
            ..described(&all)
        };
        assert!(at_load.rules_of_all("Shop", false).is_none());
    }
}
