//! The outcomes of methods and patterns.

use std::fmt::{self, Write};

use crate::ids::ModuleId;
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::pattern::MethodPattern;
use clr_profiler_il::token::MethodDef;

/// The state of a selected method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodState {
    /// It has not been compiled since it was selected: nothing has called it.
    NotCompiled,
    /// The runtime has its new IL.
    Instrumented,
    /// It was [left alone](super::Instrumentation::defer) until it is compiled again.
    Deferred,
    /// The rules have left its IL as it was.
    Unchanged,
    /// Its next call loads the [helper](super::Instrumentation::helper), or a call is at it: its module was loaded before
    /// the profiler was attached. It gets its new IL after that. Of the core library: it has its new IL, and the program has not loaded
    /// its [patches](PatchWay::Slot) yet.
    AwaitsHelper,
    /// It cannot be instrumented, and keeps its IL.
    Refused(NotInstrumentable),
    /// A rule or a call of the runtime has failed, or the new IL broke a rule; it keeps its IL.
    Failed,
    /// It was [switched off](super::Instrumentation::off), and runs its original IL.
    Off,
}

impl MethodState {
    /// One word, as in the table and in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotCompiled => "not compiled",
            Self::Instrumented => "instrumented",
            Self::Deferred => "deferred",
            Self::Unchanged => "unchanged",
            Self::AwaitsHelper => "awaits helper",
            Self::Refused(_) => "refused",
            Self::Failed => "failed",
            Self::Off => "off",
        }
    }
}

/// How the code of a method reaches its patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PatchWay {
    /// The method calls them, for all of its callers.
    Method,
    /// The method calls them by addresses, for all of its callers: patches in C# of the core library, which cannot refer to their
    /// assembly. The program stores the addresses when it loads the patches; until then, the method runs its original code.
    Slot,
    /// The method calls other methods, and the patches are around these calls.
    Calls,
}

impl PatchWay {
    /// One word, as in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Slot => "slot",
            Self::Calls => "calls",
        }
    }

    /// As in the table.
    fn description(&self) -> &'static str {
        match self {
            Self::Method => "patched itself, for all callers",
            Self::Slot => "patched itself by addresses, for all callers",
            Self::Calls => "patched at its calls of other methods",
        }
    }
}

/// The outcome of one selected method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodOutcome {
    /// The module that defines it.
    pub module: ModuleId,
    /// The method; the same for all its generic instances.
    pub method: MethodDef,
    /// The simple name of its assembly.
    pub assembly: String,
    /// The full name; generic parameters by their names.
    pub name: String,
    /// Its state.
    pub state: MethodState,
    /// Why it was [refused](MethodState::Refused) or has [failed](MethodState::Failed).
    pub problem: Option<String>,
    /// Which of several patches runs that [replace](crate::patches::Patch::replace) its code.
    pub conflict: Option<String>,
    /// How it reaches its [patches](crate::patches), if it has any, in order.
    pub ways: Vec<PatchWay>,
}

impl MethodOutcome {
    fn is_patched(&self, way: PatchWay) -> bool {
        let has_new_il = matches!(
            self.state,
            MethodState::Instrumented | MethodState::AwaitsHelper
        );
        has_new_il && self.ways.contains(&way)
    }
}

/// The number of methods that a pattern has matched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternMatches {
    /// The pattern.
    pub pattern: MethodPattern,
    /// The methods in the modules that have been loaded so far; of dynamic modules, those that were compiled. With
    /// zero, the assembly has not been loaded, or the pattern is mistaken. Of a pattern in [`Outcomes::callees`], its calls.
    pub methods: u64,
}

/// The outcomes of an [`Instrumentation`](super::Instrumentation) so far.
///
/// `Display` writes a table, and [`to_json`](Self::to_json) JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcomes {
    /// The selected methods of the modules that are loaded now, in the order of modules and tokens.
    pub methods: Vec<MethodOutcome>,
    /// The patterns of all rules, in their order.
    pub patterns: Vec<PatternMatches>,
    /// The patterns of methods whose calls are [patched](crate::patches::Patch::call), with the number of their calls in the methods
    /// that have been compiled so far.
    pub callees: Vec<PatternMatches>,
    /// Assemblies of which something failed before their methods were looked at, with the errors.
    pub problems: Vec<String>,
    /// The number of selected methods in modules that were unloaded.
    pub unloaded: u64,
}

impl Outcomes {
    /// The number of methods in this state; of refused ones, with any reason.
    #[must_use]
    pub fn count(&self, state: MethodState) -> usize {
        let methods = self.methods.iter();
        methods
            .filter(|method| method.state.name() == state.name())
            .count()
    }

    /// The patterns that have matched no method, and those of called methods that have matched no call.
    pub fn unmatched(&self) -> impl Iterator<Item = &MethodPattern> {
        let patterns = self.patterns.iter().chain(&self.callees);
        let unmatched = patterns.filter(|of| of.methods == 0);
        unmatched.map(|of| &of.pattern)
    }

    /// The methods that could not be rewritten and the assemblies with problems, in words; of each kind the first that was not
    /// reported.
    pub(super) fn failures(&self, was_reported: impl Fn(&str) -> bool) -> Option<String> {
        let mut failed = self.methods.iter().filter_map(|method| {
            let problem = method.problem.as_ref()?;
            (!was_reported(problem)).then_some((method, problem))
        });
        let mut words = Vec::new();
        if let Some((method, problem)) = failed.next() {
            words.push(match failed.count() {
                0 => format!("{} could not be rewritten: {problem}", method.name),
                more => format!(
                    "{} methods could not be rewritten, the first {}: {problem}",
                    more + 1,
                    method.name
                ),
            });
        }
        let mut problems = self.problems.iter();
        words.extend(problems.find(|one| !was_reported(one)).cloned());
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// The number of methods that reach patches in this way, of those that have their new IL.
    #[must_use]
    pub fn patched(&self, way: PatchWay) -> usize {
        let methods = self.methods.iter();
        let patched = methods.filter(|method| method.is_patched(way));
        patched.count()
    }

    /// All of it as one object: `methods` with `assembly`, `method`, `token`, `state`, `problem`, `conflict` and `ways`, `patterns` with
    /// `pattern` and `methods`, `callees` with `pattern` and `calls`, `problems`, and `unloaded`.
    ///
    /// ```
    /// use clr_profiler::instrumentation::Outcomes;
    ///
    /// let json = Outcomes::default().to_json();
    /// assert_eq!(json, r#"{"methods":[],"patterns":[],"callees":[],"problems":[],"unloaded":0}"#);
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::from("{\"methods\":[");
        separated(&mut json, &self.methods, |json, method| {
            json.push_str("{\"assembly\":");
            text(json, &method.assembly);
            json.push_str(",\"method\":");
            text(json, &method.name);
            json.push_str(",\"token\":");
            text(json, &method.method.to_string());
            json.push_str(",\"state\":");
            text(json, method.state.name());
            for (name, value) in [("problem", &method.problem), ("conflict", &method.conflict)] {
                if let Some(value) = value {
                    // Writing to a `String` cannot fail.
                    let _ = write!(json, ",\"{name}\":");
                    text(json, value);
                }
            }
            if !method.ways.is_empty() {
                json.push_str(",\"ways\":[");
                separated(json, &method.ways, |json, way| text(json, way.name()));
                json.push(']');
            }
            json.push('}');
        });
        for (list, patterns, what) in [
            ("patterns", &self.patterns, "methods"),
            ("callees", &self.callees, "calls"),
        ] {
            // Writing to a `String` cannot fail.
            let _ = write!(json, "],\"{list}\":[");
            separated(&mut json, patterns, |json, of| {
                json.push_str("{\"pattern\":");
                text(json, &of.pattern.to_string());
                let _ = write!(json, ",\"{what}\":{}}}", of.methods);
            });
        }
        json.push_str("],\"problems\":[");
        separated(&mut json, &self.problems, |json, problem| {
            text(json, problem);
        });
        let _ = write!(json, "],\"unloaded\":{}}}", self.unloaded);
        json
    }
}

fn separated<T>(json: &mut String, items: &[T], mut each: impl FnMut(&mut String, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        each(json, item);
    }
}

/// A string of JSON.
fn text(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\n' => json.push_str("\\n"),
            '\0'..='\u{1f}' => {
                let _ = write!(json, "\\u{:04x}", u32::from(character));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
}

/// A line for each method, with its problem below, and for each pattern that has matched nothing; then the numbers.
impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for method in &self.methods {
            writeln!(
                f,
                "{:<13} {}!{}",
                method.state.name(),
                method.assembly,
                method.name
            )?;
            for text in method.problem.iter().chain(&method.conflict) {
                writeln!(f, "{:<13} {text}", "")?;
            }
            for way in method.ways.iter().filter(|way| method.is_patched(**way)) {
                writeln!(f, "{:<13} {}", "", way.description())?;
            }
        }
        for problem in &self.problems {
            writeln!(f, "{:<13} {problem}", "failed")?;
        }
        for pattern in self.unmatched() {
            writeln!(f, "{:<13} {pattern}", "matched none")?;
        }
        let reason = NotInstrumentable::Abstract;
        write!(
            f,
            "{} methods: {} instrumented, {} not compiled, {} unchanged, {} refused, {} failed, {} off; {} in \
             unloaded modules",
            self.methods.len(),
            self.count(MethodState::Instrumented),
            self.count(MethodState::NotCompiled),
            self.count(MethodState::Unchanged),
            self.count(MethodState::Refused(reason)),
            self.count(MethodState::Failed),
            self.count(MethodState::Off),
            self.unloaded
        )?;
        for (state, words) in [
            (MethodState::Deferred, "are deferred"),
            (MethodState::AwaitsHelper, "await the helper"),
        ] {
            match self.count(state) {
                0 => {}
                count => write!(f, "; {count} {words}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes() -> Outcomes {
        let outcome = |row, name: &str, state, problem: Option<&str>| MethodOutcome {
            module: ModuleId::from_runtime(8),
            method: MethodDef::from_row(row).unwrap(),
            assembly: "Shop".to_owned(),
            name: name.to_owned(),
            state,
            problem: problem.map(str::to_owned),
            conflict: None,
            ways: match name {
                "A.B()" => vec![PatchWay::Slot, PatchWay::Calls],
                _ => vec![PatchWay::Method],
            },
        };
        let pattern = |text: &str, methods| PatternMatches {
            pattern: text.parse().unwrap(),
            methods,
        };
        let refused = MethodState::Refused(NotInstrumentable::VarArg);
        Outcomes {
            methods: vec![
                outcome(1, "A.B()", MethodState::Instrumented, None),
                outcome(2, "A.C()", refused, Some("no \"vararg\"\n\u{1}")),
            ],
            patterns: vec![pattern("A.*", 2), pattern("A.D", 0)],
            callees: vec![pattern("A.E", 1)],
            problems: vec!["Late: too late".to_owned()],
            unloaded: 3,
        }
    }

    #[test]
    fn a_table_says_what_has_become_of_methods_and_patterns() {
        assert_eq!(
            outcomes().to_string(),
            "instrumented  Shop!A.B()\n              patched itself by addresses, for all callers\n\
             \x20             patched at its calls of other methods\n\
             refused       Shop!A.C()\n              no \"vararg\"\n\u{1}\n\
             failed        Late: too late\n\
             matched none  A.D\n\
             2 methods: 1 instrumented, 0 not compiled, 0 unchanged, 1 refused, 0 failed, 0 off; 3 in unloaded \
             modules"
        );
    }

    #[test]
    fn json_escapes_what_must_be() {
        assert_eq!(
            outcomes().to_json(),
            "{\"methods\":[{\"assembly\":\"Shop\",\"method\":\"A.B()\",\"token\":\"0x06000001\",\
             \"state\":\"instrumented\",\"ways\":[\"slot\",\"calls\"]},{\"assembly\":\"Shop\",\"method\":\"A.C()\",\
             \"token\":\"0x06000002\",\"state\":\"refused\",\
             \"problem\":\"no \\\"vararg\\\"\\n\\u0001\",\"ways\":[\"method\"]}],\
             \"patterns\":[{\"pattern\":\"A.*\",\"methods\":2},{\"pattern\":\"A.D\",\"methods\":0}],\
             \"callees\":[{\"pattern\":\"A.E\",\"calls\":1}],\
             \"problems\":[\"Late: too late\"],\"unloaded\":3}"
        );
    }
}
