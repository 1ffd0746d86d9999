//! The description: which methods are changed, and how.

use std::any::Any;
use std::borrow::Borrow;
use std::sync::Arc;

use super::into_patterns::IntoPatterns;
use super::late::LateChoice;
use super::outcome::PatchWay;
use super::table::Timing;
use super::{MethodOutcome, SelectedMethod};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::is_framework;
use crate::info::method_facts::MethodDefinition;
use crate::rewrite::{HelperAssembly, LocalTypes, RewriteContext, Rewritten};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::pattern::{Matched, MethodFacts, MethodPattern, MethodPatterns};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::MethodDef;
use clr_profiler_il::wrap::Wrap;

/// The changes and their methods; they do not change once the component is attached.
#[derive(Clone, Default)]
pub(super) struct Description {
    pub(super) rules: Vec<Rule>,
    pub(super) helper: Option<HelperAssembly>,
    /// Those of groups.
    pub(super) helpers_of_groups: Vec<HelperAssembly>,
    pub(super) report: Option<Arc<Report>>,
    /// Whether only methods with a problem are reported: the names of the others are not looked up.
    pub(super) reports_problems_alone: bool,
    /// Which of the selected methods of a module are changed.
    pub(super) choice: Option<Arc<Choice>>,
    /// The same, for modules whose methods are all selected, when a method is first used.
    pub(super) late_choice: Option<Arc<LateChoice>>,
    /// Which selected methods are left alone.
    pub(super) except: Option<Arc<Except>>,
    /// The methods that inserted code calls, as far as they were declared.
    pub(super) uses: Vec<MethodSymbol>,
    /// The patterns of rules for methods that a program need not have.
    pub(super) optional: Vec<Arc<MethodPatterns>>,
    /// The methods whose calls are changed.
    pub(super) callees: Vec<Arc<MethodPatterns>>,
    pub(super) is_switchable: bool,
    /// When bodies are set.
    pub(super) timing: Timing,
    /// Whether modules stay closed to writing.
    pub(super) adds_no_tokens: bool,
    /// Whether the edits need no types of locals.
    pub(super) needs_no_locals: bool,
    /// Whether methods wait that are first compiled now, and are selected by rules that allow it alone.
    pub(super) deferral: Option<Arc<Deferral>>,
    /// Whether patterns without an assembly reach those of .NET.
    pub(super) has_framework: bool,
    /// Whether methods of modules that are selected as a whole are decided about when they are compiled.
    pub(super) is_late: bool,
    /// The mistake in the first bad pattern.
    pub(super) mistake: Option<String>,
}

/// Gets each method that was worked at.
pub(super) type Report = dyn Fn(&MethodOutcome, Option<&Rewritten>) + Send + Sync;

/// Gets the selected methods of a module, and returns those that are changed.
pub(super) type Choice =
    dyn Fn(&ProfilerInfo, ModuleId, &[MethodDef]) -> Result<Vec<MethodDef>> + Send + Sync;

/// Decides which selected methods are left alone.
pub(super) type Except = dyn Fn(&SelectedMethod<'_>) -> bool + Send + Sync;

/// Whether methods that are first compiled now are left alone until they are compiled again.
pub(super) type Deferral = dyn Fn() -> bool + Send + Sync;

/// The number of a rule in its description.
pub(super) type RuleIndex = u32;

/// The rules that change a method, with the patterns of each rule that it matches.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) rules: Vec<RuleIndex>,
    matched: Vec<(RuleIndex, Matched)>,
}

/// A change of methods.
#[derive(Clone)]
pub(super) struct Rule {
    pub(super) patterns: Arc<MethodPatterns>,
    change: Change,
    priority: i32,
    /// Whether it is around the code of a method and does not run it.
    replaces: bool,
    /// Whether its code may call the helper, or need another new token.
    adds_tokens: bool,
    /// Whether its methods may be left alone until they are compiled again.
    may_wait: bool,
    /// If it is a patch: how methods reach it.
    way: Option<PatchWay>,
}

#[derive(Clone)]
pub(super) enum Change {
    Wrap(Box<Wrap>),
    WrapEach(Arc<WrapEach>),
    Edit(Arc<Edit>),
    /// The part of a group with this index.
    Part(Arc<dyn Group>, usize),
}

/// Rules that change a method together: all parts that select it, in one change.
pub(crate) trait Group: Any + Send + Sync {
    /// Why a part cannot change a method, which is looked at when its module is loaded.
    fn check(
        &self,
        part: usize,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
    ) -> Result<()>;

    /// Whether a part changes the calls in a method instead of the method.
    fn is_of_calls(&self, part: usize) -> bool;

    /// Applies these parts to a body.
    fn apply(
        &self,
        parts: &[usize],
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
    ) -> Result<()>;
}

pub(super) type WrapEach = dyn Fn(&mut RewriteContext<'_>) -> Result<Wrap> + Send + Sync;
pub(super) type Edit = dyn Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> + Send + Sync;

fn address(group: &Arc<dyn Group>) -> *const () {
    Arc::as_ptr(group).cast()
}

impl Rule {
    fn part(&self) -> Option<(&Arc<dyn Group>, usize)> {
        match &self.change {
            Change::Part(group, part) => Some((group, *part)),
            _ => None,
        }
    }

    fn apply(&self, body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
        let made;
        let wrap = match &self.change {
            Change::Edit(edit) => return edit(body, cx),
            Change::Wrap(wrap) => wrap,
            Change::Part(group, part) => return group.apply(&[*part], body, cx),
            Change::WrapEach(make) => {
                made = make(cx)?;
                &made
            }
        };
        body.wrap(wrap, &cx.shape()?)?;
        Ok(())
    }
}

impl Description {
    /// Adds a rule, or records the mistake in its patterns.
    pub(super) fn add(&mut self, patterns: impl IntoPatterns, change: Change) {
        self.add_with((0, false), None, patterns.into_patterns(), change);
    }

    /// Adds a rule after those with a lower priority or the same one.
    pub(super) fn add_with(
        &mut self,
        (priority, replaces): (i32, bool),
        way: Option<PatchWay>,
        patterns: Result<Arc<MethodPatterns>>,
        change: Change,
    ) {
        self.insert(patterns, |patterns| Rule {
            patterns,
            change,
            priority,
            replaces,
            adds_tokens: true,
            may_wait: false,
            way,
        });
    }

    /// Adds a rule whose code needs no new token, and so calls no helper.
    pub(super) fn add_without_new_tokens(&mut self, patterns: impl IntoPatterns, change: Change) {
        self.insert(patterns.into_patterns(), |patterns| Rule {
            patterns,
            change,
            priority: 0,
            replaces: false,
            adds_tokens: false,
            may_wait: false,
            way: None,
        });
    }

    fn insert(
        &mut self,
        patterns: Result<Arc<MethodPatterns>>,
        make: impl FnOnce(Arc<MethodPatterns>) -> Rule,
    ) {
        match patterns {
            Ok(patterns) => {
                let rule = make(patterns);
                let rules = &mut self.rules;
                let at = rules.partition_point(|known| known.priority <= rule.priority);
                rules.insert(at, rule);
            }
            Err(mistake) => {
                self.mistake.get_or_insert(mistake.to_string());
            }
        }
    }

    /// Lets the methods of the rules so far wait.
    pub(super) fn let_wait(&mut self, is_deferred: Arc<Deferral>) {
        self.deferral = Some(is_deferred);
        for rule in &mut self.rules {
            rule.may_wait = true;
        }
    }

    /// Whether a method with these rules may be left alone until it is compiled again.
    pub(super) fn may_wait(&self, rules: &[RuleIndex]) -> bool {
        let mut rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        self.deferral.is_some() && rules.all(|rule| rule.may_wait)
    }

    /// Whether the code of one of these rules may call a helper.
    pub(super) fn calls_helper(&self, rules: &[RuleIndex]) -> bool {
        let mut rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        rules.any(|rule| rule.adds_tokens)
    }

    /// Whether the code of one of these rules may need a new token.
    pub(super) fn adds_tokens(&self, rules: &[RuleIndex]) -> bool {
        !self.adds_no_tokens && self.calls_helper(rules)
    }

    /// Whether the types of locals are read for the edits.
    pub(super) const fn locals(&self) -> LocalTypes {
        match self.needs_no_locals {
            true => LocalTypes::Unread,
            false => LocalTypes::Read,
        }
    }

    /// Whether the code of one of these rules refers to a helper, so that the module has to load it. Groups refer to none in the core
    /// library.
    pub(super) fn refers_to_helper(&self, rules: &[RuleIndex], is_core: bool) -> bool {
        let mut rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        rules.any(|rule| rule.adds_tokens && (!is_core || rule.part().is_none()))
    }

    /// How a method reaches its patches.
    pub(super) fn ways(&self, rules: &[RuleIndex], is_core: bool) -> Vec<PatchWay> {
        let rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        let mut ways: Vec<PatchWay> = rules
            .filter_map(|rule| match rule.part() {
                None => rule.way,
                Some((group, part)) if group.is_of_calls(part) => Some(PatchWay::Calls),
                Some(_) if is_core => Some(PatchWay::Slot),
                Some(_) => Some(PatchWay::Method),
            })
            .collect();
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    /// The helpers whose methods are called by slots, which programs fill that refer to none of them, too.
    pub(super) fn helpers_with_slots(&self) -> impl Iterator<Item = &HelperAssembly> {
        self.helpers().filter(|helper| helper.has_slots())
    }

    /// The group, if there is one.
    pub(super) fn group(&self) -> Option<&Arc<dyn Group>> {
        let mut parts = self.rules.iter().filter_map(Rule::part);
        parts.next().map(|(group, _)| group)
    }

    /// Has another group do the work of the present one, which is a beginning of it.
    pub(super) fn replace_group(&mut self, new: &Arc<dyn Group>) {
        for rule in &mut self.rules {
            if let Change::Part(group, _) = &mut rule.change {
                *group = Arc::clone(new);
            }
        }
    }

    /// All helpers.
    pub(super) fn helpers(&self) -> impl Iterator<Item = &HelperAssembly> {
        self.helper.iter().chain(&self.helpers_of_groups)
    }

    /// Records a mistake, unless there was one before.
    pub(super) fn refuse(&mut self, mistake: &Error) {
        self.mistake.get_or_insert_with(|| mistake.to_string());
    }

    /// Whether methods of an assembly may be changed.
    pub(super) fn selects_assembly(&self, name: &str) -> bool {
        let is_helper = |helper: &HelperAssembly| helper.props().name == name;
        !self.helpers().any(is_helper) && !self.reaching(name, is_framework(name)).is_empty()
    }

    /// The rules that may change methods of an assembly.
    pub(super) fn reaching(&self, assembly: &str, is_framework: bool) -> Vec<RuleIndex> {
        let needs_name = self.needs_name(is_framework);
        let rules = (0..).zip(&self.rules);
        let reaching = rules.filter(|(_, rule)| match needs_name {
            true => rule.patterns.names_assembly(assembly),
            false => rule.patterns.matches_assembly(assembly),
        });
        reaching.map(|(index, _)| index).collect()
    }

    /// Whether only patterns with an assembly reach an assembly, which is part of .NET or not.
    pub(super) fn needs_name(&self, is_framework: bool) -> bool {
        is_framework && !self.has_framework
    }

    /// Those of the rules that change a method, in the order of the description. A global method, of `<Module>`, is changed only by
    /// patterns that name that: a module's initialiser runs before all else.
    pub(super) fn select<F: MethodFacts + ?Sized>(
        &self,
        rules: &[RuleIndex],
        method: &F,
        is_framework: bool,
        is_global: bool,
    ) -> std::result::Result<Selection, F::Error> {
        let needs_name = self.needs_name(is_framework);
        let mut selected = Selection::default();
        for index in rules.iter().copied() {
            let Some(rule) = self.rules.get(index as usize) else {
                continue;
            };
            let matched = rule.patterns.matched(method)?;
            let patterns = rule.patterns.patterns();
            let indices = matched.indices().iter();
            let mut matching = indices.filter_map(|at| patterns.get(*at));
            let is_meant = |pattern: &MethodPattern| {
                (!needs_name || pattern.assembly().is_some())
                    && (!is_global || pattern.type_name() == Some("<Module>"))
            };
            if matching.any(is_meant) {
                selected.rules.push(index);
            }
            selected.matched.push((index, matched));
        }
        Ok(selected)
    }

    /// Whether the same ones of these rules change all methods of a type whose names the compiler has made, and the same ones all of its others.
    pub(super) fn are_of_types(&self, rules: &[RuleIndex]) -> bool {
        let mut rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        rules.all(|rule| rule.patterns.are_of_types())
    }

    /// Counts another method that the same patterns select.
    pub(super) fn count(&self, selection: &Selection) {
        for (index, matched) in &selection.matched {
            if let Some(rule) = self.rules.get(*index as usize) {
                rule.patterns.count(matched);
            }
        }
    }

    /// The same, without those that leave the method alone.
    pub(super) fn select_definition(
        &self,
        rules: &[RuleIndex],
        method: &MethodDefinition<'_>,
        is_framework: bool,
        is_global: bool,
    ) -> Result<Vec<RuleIndex>> {
        let mut selected = self.select(rules, method, is_framework, is_global)?.rules;
        self.leave_alone(&mut selected, || Ok(method))?;
        Ok(selected)
    }

    /// Removes those that leave the method alone. It is asked for only where that depends on it.
    pub(super) fn leave_alone<'a, M: Borrow<MethodDefinition<'a>>>(
        &self,
        rules: &mut Vec<RuleIndex>,
        method: impl FnOnce() -> Result<M>,
    ) -> Result<()> {
        if let Some(is_excepted) = &self.except
            && self.calls_helper(rules)
            && is_excepted(&SelectedMethod::new(method()?.borrow()))
        {
            rules.retain(|rule| !self.calls_helper(&[*rule]));
        }
        Ok(())
    }

    /// Applies rules to a body.
    pub(super) fn apply(
        &self,
        rules: &[RuleIndex],
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
    ) -> Result<()> {
        if !self.adds_tokens(rules) {
            cx.refuse_new_tokens();
        }
        let rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        // Groups do so themselves where they insert calls.
        if rules
            .clone()
            .any(|rule| rule.part().is_none() && rule.adds_tokens)
        {
            for helper in self.helpers() {
                cx.refer_to(helper)?;
            }
        }
        let mut groups: Vec<*const ()> = Vec::new();
        for rule in rules.clone() {
            let Some((group, _)) = rule.part() else {
                rule.apply(body, cx)?;
                continue;
            };
            // All parts of a group in place of the first one.
            if !groups.contains(&address(group)) {
                groups.push(address(group));
                let parts = rules.clone().filter_map(Rule::part);
                let parts = parts.filter(|(of, _)| address(of) == address(group));
                let parts: Vec<usize> = parts.map(|(_, part)| part).collect();
                group.apply(&parts, body, cx)?;
            }
        }
        Ok(())
    }

    /// The decision between rules of a method that replace its code. The last of them is around the others.
    pub(super) fn conflict(&self, rules: &[RuleIndex]) -> Option<String> {
        let rules = rules
            .iter()
            .filter_map(|index| self.rules.get(*index as usize));
        let priorities: Vec<i32> = rules
            .filter(|rule| rule.replaces)
            .map(|rule| rule.priority)
            .collect();
        let (last, others) = priorities.split_last()?;
        (!others.is_empty()).then(|| {
            format!(
                "{} patches replace it: the last one with the priority {last} runs, and others only if it fails",
                priorities.len()
            )
        })
    }

    /// Removes the rules that cannot change a method of a module, and returns the reasons.
    pub(super) fn checked(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        rules: &mut Vec<RuleIndex>,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        rules.retain(|index| {
            let rule = self.rules.get(*index as usize);
            let Some((group, part)) = rule.and_then(Rule::part) else {
                return true;
            };
            let result = group.check(part, info, module, method);
            problems.extend(result.as_ref().err().map(ToString::to_string));
            result.is_ok()
        });
        problems
    }

    /// Whether a failure of one of these rules is reported at once, too.
    pub(super) fn reports(&self, rules: &[RuleIndex]) -> bool {
        let mut rules = rules.iter().filter_map(|it| self.rules.get(*it as usize));
        rules.any(|rule| rule.part().is_some())
    }

    /// Adds a rule for methods that a program need not have.
    pub(super) fn add_optional(&mut self, patterns: impl IntoPatterns, change: Change) {
        let patterns = patterns.into_patterns();
        self.optional.extend(patterns.iter().map(Arc::clone));
        self.add_with((0, false), None, patterns, change);
    }

    /// The patterns that can select methods of an assembly, in their order.
    pub(super) fn patterns_reaching(
        &self,
        assembly: &str,
        is_framework: bool,
    ) -> impl Iterator<Item = &MethodPattern> {
        let all = self.rules.iter().flat_map(|rule| rule.patterns.patterns());
        all.filter(move |pattern| {
            !pattern.is_exclusion() && self.is_reaching(pattern, assembly, is_framework)
        })
    }

    /// All patterns, in their order, without those that have matched nothing and need not.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&MethodPattern, u64)> {
        self.rules.iter().flat_map(|rule| {
            let is_optional = self
                .optional
                .iter()
                .any(|it| Arc::ptr_eq(it, &rule.patterns));
            let counts = rule.patterns.counts();
            counts.filter(move |(_, methods)| !is_optional || *methods > 0)
        })
    }

    /// The patterns of called methods, with the numbers of their calls.
    pub(super) fn callees(&self) -> impl Iterator<Item = (&MethodPattern, u64)> {
        self.callees.iter().flat_map(|callees| callees.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(patterns: &str) -> Description {
        let mut description = Description::default();
        description.add(patterns, Change::Wrap(Box::default()));
        assert!(description.mistake.is_none());
        description
    }

    #[test]
    fn the_framework_is_selected_by_name_alone() {
        for (patterns, assembly, expected) in [
            ("**", "Shop", true),
            ("**", "Systematics", true),
            ("**", "System", false),
            ("**", "System.Linq", false),
            ("**", "Anonymously Hosted DynamicMethods Assembly", false),
            ("System.Linq.**", "System.Linq", false),
            ("*!**", "System.Linq", true),
            ("System.*!**", "System.Linq", true),
            ("Shop!**", "System.Linq", false),
            ("Shop!**", "Shop", true),
            ("-Shop!**", "Shop", false),
        ] {
            let selects = described(patterns).selects_assembly(assembly);
            assert_eq!(selects, expected, "{patterns} {assembly}");
        }
    }

    #[test]
    fn rules_need_new_tokens_unless_all_promise_that_they_do_not() {
        let mut description = described("**");
        description.add_without_new_tokens("**", Change::Wrap(Box::default()));
        let all: [(&[RuleIndex], bool); 4] =
            [(&[], false), (&[0], true), (&[1], false), (&[0, 1], true)];
        for (rules, expected) in all {
            assert_eq!(description.adds_tokens(rules), expected, "{rules:?}");
            let promised = Description {
                adds_no_tokens: true,
                ..description.clone()
            };
            assert!(!promised.adds_tokens(rules));
        }
    }

    #[test]
    fn patterns_reach_the_framework_if_they_are_to() {
        let with_framework = Description {
            has_framework: true,
            ..described("**")
        };
        assert!(with_framework.selects_assembly("System.Linq"));
    }
}
