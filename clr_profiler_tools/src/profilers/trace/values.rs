//! The arguments and results of calls: which are recorded, and how much of them.
//!
//! The helper passes a line for each value. Values are redacted before they are truncated, on the thread of the call, so that
//! nothing else ever has them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use crate::report::lock;

/// Replaces a value that is not to be recorded.
const REDACTED: &str = "[redacted]";
/// Replaces the rest of a text, or of the values of a call.
const REST: &str = "...";
/// The limit for the characters of a text.
const TEXT: usize = 48;
/// The limit for those of the name of a type.
const NAME: usize = 128;
/// The limit for those of all arguments of a call.
const ALL: usize = 256;
/// The number of characters of a text that the helper passes; more are replaced by [`REST`].
const PASSED: usize = 256;

/// The values that the user has asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    pub(crate) arguments: bool,
    pub(crate) results: bool,
    /// Enumerations have spans.
    pub(crate) iterators: bool,
    pub(crate) redacted: Redaction,
}

/// Patterns for the names and the texts of values that are not recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction(Arc<[Vec<char>]>);

/// The values of a run, and which arguments and results of its methods are never recorded.
#[derive(Debug, Default)]
struct Recorded {
    values: Values,
    hidden: HashMap<u32, Hidden>,
}

#[derive(Debug, Clone, Default)]
struct Hidden {
    /// By the number of the line.
    arguments: Vec<bool>,
    result: bool,
}

static RECORDED: LazyLock<Mutex<Recorded>> = LazyLock::new(Mutex::default);

/// Another run of the tool begins, which records these values.
pub(super) fn record(values: Values) {
    *lock(&RECORDED) = Recorded {
        values,
        hidden: HashMap::new(),
    };
}

/// The values that are recorded.
pub(super) fn recorded() -> Values {
    lock(&RECORDED).values.clone()
}

/// Hides those values of a method whose names match a pattern. Methods of the same name in two assemblies have one number: a value that is
/// hidden in one of them is in both.
pub(super) fn hide(number: u32, method: &str, arguments: &[String]) {
    let mut recorded = lock(&RECORDED);
    let redacted = recorded.values.redacted.clone();
    if redacted.is_empty() {
        return;
    }
    let hidden = recorded.hidden.entry(number).or_default();
    hidden.result |= redacted.matches("result") || redacted.matches(method);
    for (index, name) in arguments.iter().enumerate() {
        if hidden.arguments.len() <= index {
            hidden.arguments.push(false);
        }
        hidden.arguments[index] |= redacted.matches(name);
    }
}

/// The patterns, and the hidden values of a method.
fn redaction(method: u32) -> (Redaction, Hidden) {
    let recorded = lock(&RECORDED);
    let redacted = recorded.values.redacted.clone();
    match redacted.is_empty() {
        true => (redacted, Hidden::default()),
        false => {
            let hidden = recorded.hidden.get(&method).cloned();
            (redacted, hidden.unwrap_or_default())
        }
    }
}

/// The arguments of a call as they are recorded, in lines.
pub(super) fn arguments(method: u32, lines: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let (redacted, hidden) = redaction(method);
    joined(lines, &redacted, &hidden.arguments)
}

/// The result of a call as it is recorded.
pub(super) fn result(method: u32, line: &str) -> String {
    let (redacted, hidden) = redaction(method);
    joined(line, &redacted, &[hidden.result])
}

fn joined(lines: &str, redacted: &Redaction, hidden: &[bool]) -> String {
    let mut all = String::new();
    let mut length = 0;
    let is_whole = lines.ends_with('\n');
    let mut values = lines.split_terminator('\n').enumerate().peekable();
    while let Some((number, value)) = values.next() {
        let is_last = values.peek().is_none();
        let value = match hidden.get(number) {
            Some(true) => REDACTED.to_owned(),
            _ if redacted.matches_value(value) => REDACTED.to_owned(),
            _ => truncated(value),
        };
        if !all.is_empty() {
            all.push('\n');
        }
        length += value.chars().count();
        if length > ALL || (is_last && !is_whole) {
            all.push_str(REST);
            return all;
        }
        all.push_str(&value);
    }
    all
}

/// The text in a line, if its value is one.
fn text(line: &str) -> Option<&str> {
    line.strip_prefix('"')?.strip_suffix('"')
}

fn truncated(line: &str) -> String {
    let start = |text: &str, most: usize| match text.char_indices().nth(most) {
        Some((at, _)) => text.get(..at).map(str::to_owned),
        None => None,
    };
    match text(line) {
        Some(text) => start(text, TEXT).map(|start| format!("\"{start}{REST}\"")),
        None => start(line, NAME).map(|start| format!("{start}{REST}")),
    }
    .unwrap_or_else(|| line.to_owned())
}

impl Redaction {
    /// Patterns with `*` and `?`, with `;` between two of them. Upper and lower case are the same.
    pub(crate) fn parse(patterns: &str) -> Self {
        let patterns = patterns.split(';').map(str::trim);
        let patterns = patterns.filter(|pattern| !pattern.is_empty());
        Self(patterns.map(lower_case).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn matches(&self, name: &str) -> bool {
        let name = lower_case(name);
        self.0.iter().any(|pattern| is_match(pattern, &name, false))
    }

    fn matches_value(&self, line: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let value = lower_case(text(line).unwrap_or(line));
        // The rest is unknown: a pattern may end anywhere in it.
        let is_part = value.len() > PASSED && value.ends_with(&['.', '.', '.']);
        let value = match is_part {
            true => value.get(..value.len() - REST.len()).unwrap_or_default(),
            false => &value,
        };
        self.0
            .iter()
            .any(|pattern| is_match(pattern, value, is_part))
    }
}

fn lower_case(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Whether a text matches a pattern; with `is_start`, also one that continues after a part that matches.
fn is_match(pattern: &[char], text: &[char], is_start: bool) -> bool {
    let (mut at, mut read) = (0, 0);
    // The position after the last `*`, and that of the text from which it was tried.
    let mut star = None;
    loop {
        match (pattern.get(at), text.get(read)) {
            (None, None) => return true,
            (None, Some(_)) if is_start => return true,
            (Some('*'), _) => {
                at += 1;
                star = Some((at, read));
            }
            (Some(expected), Some(found)) if *expected == '?' || expected == found => {
                (at, read) = (at + 1, read + 1);
            }
            (_, None) => return false,
            _ => match &mut star {
                Some((after, from)) => {
                    *from += 1;
                    (at, read) = (*after, *from);
                }
                None => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(patterns: &str, value: &str) -> String {
        joined(&format!("{value}\n"), &Redaction::parse(patterns), &[])
    }

    #[test]
    fn patterns_match_whole_names_and_texts_in_any_case() {
        for (pattern, text, expected) in [
            ("password", "Password", true),
            ("password", "passwords", false),
            ("*pass*", "userPasswd", true),
            ("*word", "password1", false),
            ("*a*b", "xaxbxab", true),
            ("p?n", "PIN", true),
            ("p?n", "pn", false),
            ("a; *token ;", "sessiontoken", true),
            ("", "a", false),
            ("*", "", true),
        ] {
            let found = Redaction::parse(pattern).matches(text);
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn values_are_redacted_before_they_are_truncated() {
        assert_eq!(line("bearer *", "\"Bearer 0815\""), REDACTED);
        assert_eq!(line("bearer *", "\"bear\""), "\"bear\"");
        assert_eq!(line("4711", "4711"), REDACTED);
        let long = |end: &str| format!("\"{}{end}\"", "x".repeat(60));
        assert_eq!(line("", &long("")), format!("\"{}...\"", "x".repeat(48)));
        assert_eq!(line("*secret", &long("secret")), REDACTED);
        // The helper has passed a part of the text: the end of the pattern may be in the rest.
        let part = format!("\"secret{}...\"", "x".repeat(PASSED - 6));
        assert_eq!(line("*secret", &part), REDACTED);
        assert_eq!(line("secret", &part), REDACTED);
        assert_ne!(line("public", &part), REDACTED);
    }

    #[test]
    fn the_values_of_a_call_have_a_limit() {
        let values = "1\n".repeat(300);
        let all = joined(&values, &Redaction::default(), &[false, true]);
        let lines: Vec<_> = all.split('\n').collect();
        assert_eq!(lines[..3], ["1", REDACTED, "1"]);
        assert_eq!(lines.last(), Some(&REST));
        assert!(all.chars().filter(|c| *c != '\n').count() <= ALL + REST.len());
        // A value of which a part is there may be one to redact.
        assert_eq!(joined("1\n\"sec", &Redaction::default(), &[]), "1\n...");
        let name = "N".repeat(200);
        assert_eq!(line("", &name), format!("{}...", "N".repeat(NAME)));
        // Bytes of one character stay together.
        assert_eq!(
            line("", &format!("\"{}\"", "ä".repeat(60))),
            format!("\"{}...\"", "ä".repeat(48))
        );
    }
}
