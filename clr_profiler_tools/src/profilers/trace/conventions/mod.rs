//! The spans of rules: which methods have them, and where their values are read.

mod code;
// The functions that the helper calls read its strings.
#[allow(unsafe_code)]
mod native;
mod reader;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::instrumentation::SelectedMethod;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

pub(super) use code::{Readers, Spanned};
pub(super) use native::of;

use super::SPANS;
use super::notes::{self, About};
use crate::conventions::{AddsTo, Rule, SHIPPED, checked};
use crate::report::{Settings, failures};

/// The rules of a run: those of the user, then those that ship with the tool.
pub(crate) struct Conventions {
    rules: Vec<Arc<Rule>>,
    /// The number of the user's rules.
    own: usize,
    /// The number of the first path of each rule.
    firsts: Vec<u32>,
    /// All patterns that select methods, for the instrumentation.
    patterns: Arc<MethodPatterns>,
    /// The same for lookups, which are not counted as matches.
    lookup: MethodPatterns,
    /// The rule of each pattern.
    rule_of: Vec<usize>,
    /// Whether requests carry the context of their spans.
    has_contexts: bool,
}

/// A rule for a method.
pub(crate) struct Applied<'a> {
    pub(crate) rule: &'a Arc<Rule>,
    pub(crate) number: u32,
    /// The number of its first path.
    pub(crate) first: u32,
    pub(crate) has_contexts: bool,
}

impl Conventions {
    /// The rules of the settings. Those that ship with the tool are among them if spans are sent to a collector, unless the settings decide.
    pub(crate) fn read(
        settings: &Settings,
        (has_collector, has_contexts): (bool, bool),
    ) -> Result<Self> {
        reader::forget();
        let mut rules = Vec::new();
        if let Some(file) = settings
            .get("METHOD_TRACER_RULES")
            .filter(|file| !file.is_empty())
        {
            let file = PathBuf::from(file);
            let fault = |problem: String| {
                Error::other(format!("the rules in `{}`: {problem}", file.display()))
            };
            let text = fs::read_to_string(&file).map_err(|error| fault(error.to_string()))?;
            rules = checked::read(&text).map_err(fault)?;
        }
        let own = rules.len();
        let shipped = settings.text("METHOD_TRACER_CONVENTIONS")?;
        let has_shipped = match shipped.as_deref() {
            None | Some("") => has_collector,
            Some("all") => true,
            Some("none") => false,
            Some(other) => {
                return Err(Error::other(format!(
                    "METHOD_TRACER_CONVENTIONS is `all` or `none`, not `{other}`"
                )));
            }
        };
        if has_shipped {
            rules.extend(checked::read(SHIPPED).map_err(Error::other)?);
        }
        let rules: Vec<Arc<Rule>> = rules.into_iter().map(Arc::new).collect();
        let mut rule_of = Vec::new();
        let mut patterns = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            let included = rule.methods.patterns().iter();
            for pattern in included.filter(|pattern| !pattern.is_exclusion()) {
                patterns.push(pattern.clone());
                rule_of.push(number);
            }
        }
        let patterns: MethodPatterns = patterns.into_iter().collect();
        Ok(Self {
            firsts: SPANS.set_rules(&rules),
            rules,
            own,
            lookup: patterns.clone(),
            patterns: Arc::new(patterns),
            rule_of,
            has_contexts,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether the user has rules.
    pub(crate) fn has_own(&self) -> bool {
        self.own > 0
    }

    /// The patterns of all rules.
    pub(crate) fn patterns(&self) -> Arc<MethodPatterns> {
        Arc::clone(&self.patterns)
    }

    /// The rules for a method, in their order.
    fn rules_of(
        &self,
        matching: impl Fn(&MethodPatterns) -> Result<Vec<usize>>,
    ) -> Result<Vec<Applied<'_>>> {
        let mut found: Vec<usize> = Vec::new();
        for pattern in matching(&self.lookup)? {
            let Some(&number) = self.rule_of.get(pattern) else {
                continue;
            };
            if !found.contains(&number) {
                found.push(number);
            }
        }
        found.sort_unstable();
        let mut all = Vec::new();
        for number in found {
            let (Some(rule), Some(&first)) = (self.rules.get(number), self.firsts.get(number))
            else {
                continue;
            };
            let mut patterns = rule.methods.patterns().iter();
            let has_exclusions = patterns.any(|pattern| pattern.is_exclusion());
            if has_exclusions && matching(&rule.methods)?.is_empty() {
                continue;
            }
            all.push(Applied {
                rule,
                number: number as u32,
                first,
                has_contexts: self.has_contexts,
            });
        }
        Ok(all)
    }

    /// Whether a rule gives the calls of a method spans.
    pub(crate) fn has_span(&self, cx: &RewriteContext<'_>) -> Result<bool> {
        if self.is_empty() {
            return Ok(false);
        }
        let all = self.rules_of(|patterns| cx.matching(patterns))?;
        Ok(all.iter().any(|applied| applied.rule.adds_to.is_none()))
    }

    /// Whether a rule selects a method.
    pub(crate) fn selects(&self, method: &SelectedMethod<'_>) -> bool {
        !self.is_empty()
            && self
                .rules_of(|patterns| method.matching(patterns))
                .is_ok_and(|all| !all.is_empty())
    }

    /// Changes a method that a rule selects.
    pub(crate) fn edit(&self, body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
        let all = self.rules_of(|patterns| cx.matching(patterns))?;
        let adds = |outer: bool| {
            all.iter().filter(move |applied| {
                let adds_to = applied.rule.adds_to;
                adds_to.is_some_and(|adds_to| (adds_to == AddsTo::Innermost) == outer)
            })
        };
        for applied in adds(false) {
            code::add(body, cx, applied)?;
        }
        let own = all.iter().find(|applied| applied.rule.adds_to.is_none());
        if let Some(applied) = own {
            super::methods::trace(body, cx, false, Some(applied))?;
        }
        // Before the method's own span begins.
        for applied in adds(true) {
            code::add(body, cx, applied)?;
        }
        Ok(())
    }

    /// Reports the rules of the user that have matched no method.
    pub(crate) fn note_unmatched(&self) {
        let mut counts = vec![0; self.rules.len()];
        for ((_, count), number) in self.patterns.counts().zip(&self.rule_of) {
            if let Some(sum) = counts.get_mut(*number) {
                *sum += count;
            }
        }
        for (rule, _) in self
            .rules
            .iter()
            .zip(counts)
            .take(self.own)
            .filter(|(_, count)| *count == 0)
        {
            let patterns = rule.text.methods.replace('\n', "; ");
            let origin = &rule.text.origin;
            if notes::add(
                About::Unmatched,
                origin,
                format!("no method matches `{patterns}`"),
            ) {
                failures::add(
                    "rules match nothing",
                    format_args!("{origin}: `{patterns}`"),
                );
            }
        }
    }
}
