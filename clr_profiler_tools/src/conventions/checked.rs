//! The checked form of rules: JSON, which the command writes and the profiler reads.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rule::Rule;

/// The version of the form.
const VERSION: u64 = 1;

/// The texts of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleText {
    /// The file and the line.
    pub origin: String,
    /// Patterns.
    pub methods: String,
    /// The kind of the spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The kind of the span to which the attributes are added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds_to: Option<String>,
    /// An expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name, type and expression of each attribute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, Option<String>, String)>,
    /// Code, condition and description of each status; the last two are expressions.
    #[serde(rename = "status", skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<(String, String, Option<String>)>,
    /// A path, and methods: whether there is a header, one that removes it, and one that adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject: Option<[String; 4]>,
    /// Paths to `traceparent` and `tracestate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<[String; 2]>,
}

/// The whole text.
#[derive(Deserialize)]
struct Checked {
    version: u64,
    rules: Vec<RuleText>,
}

#[derive(Deserialize)]
struct Version {
    version: u64,
}

/// Writes rules.
#[must_use]
pub fn write(rules: &[RuleText]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| json!(rule).to_string()).collect();
    format!(
        "{{\"version\": {VERSION}, \"rules\": [\n{}\n]}}\n",
        rules.join(",\n")
    )
}

/// Reads rules.
///
/// # Errors
///
/// That the text is none that [`write()`] has written, or the mistake of a rule.
pub fn read(text: &str) -> Result<Vec<Rule>, String> {
    let checked: Checked =
        serde_json::from_str(text).map_err(|error| match serde_json::from_str(text) {
            Ok(Version { version }) if version != VERSION => of_version(version),
            _ => format!("these are no checked rules, which `cargo clr rules` writes: {error}"),
        })?;
    if checked.version != VERSION {
        return Err(of_version(checked.version));
    }
    let rules = checked.rules.into_iter().map(|text| {
        let origin = text.origin.clone();
        Rule::read(text).map_err(|mistake| format!("{origin}: {mistake}"))
    });
    rules.collect()
}

fn of_version(version: u64) -> String {
    format!(
        "the rules are in the form {version} and not {VERSION}: check them again by `cargo clr rules`"
    )
}
