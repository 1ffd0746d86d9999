//! The lines that may break a rule.

/// A line that may break a rule.
#[derive(Debug)]
pub struct Exception {
    /// The name of the rule.
    pub rule: &'static str,
    /// The file, from the root of the repository.
    pub file: &'static str,
    /// The line with the first word that breaks the rule, without the spaces around it.
    pub line: &'static str,
    /// Why the line is good English.
    pub reason: &'static str,
}

/// All exceptions. One that excuses nothing fails the test.
pub const EXCEPTIONS: &[Exception] = &[Exception {
    rule: "what",
    file: "clr_profiler_test/src/fetch/mod.rs",
    line: r#"what:    the package {package} {version}, {size:.1} MB\n  \"#,
    reason: "a label in a list, next to `from`, `licence` and `to`",
}];
