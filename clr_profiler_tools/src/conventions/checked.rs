//! The checked form of rules: JSON, which the command writes and the profiler reads.

use serde_json::{Value, json};

use super::rule::Rule;

/// The version of the form.
const VERSION: u64 = 1;

/// The texts of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleText {
    /// The file and the line.
    pub origin: String,
    /// Patterns.
    pub methods: String,
    /// The kind of the spans.
    pub kind: Option<String>,
    /// The kind of the span to which the attributes are added.
    pub adds_to: Option<String>,
    /// An expression.
    pub name: Option<String>,
    /// Name, type and expression of each attribute.
    pub attributes: Vec<(String, Option<String>, String)>,
    /// Code, condition and description of each status; the last two are expressions.
    pub statuses: Vec<(String, String, Option<String>)>,
    /// A path, and methods: whether there is a header, one that removes it, and one that adds it.
    pub inject: Option<[String; 4]>,
    /// Paths to `traceparent` and `tracestate`.
    pub extract: Option<[String; 2]>,
}

/// Writes rules.
#[must_use]
pub fn write(rules: &[RuleText]) -> String {
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| {
            json!({
                "origin": rule.origin,
                "methods": rule.methods,
                "kind": rule.kind,
                "adds_to": rule.adds_to,
                "name": rule.name,
                "attributes": rule.attributes,
                "status": rule.statuses,
                "inject": rule.inject,
                "extract": rule.extract,
            })
            .to_string()
        })
        .collect();
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
    let all: Value = serde_json::from_str(text).map_err(|error| {
        format!("these are no checked rules, which `cargo clr rules` writes: {error}")
    })?;
    if all["version"] != VERSION {
        return Err(format!(
            "the rules are in the form {} and not {VERSION}: check them again by `cargo clr rules`",
            all["version"]
        ));
    }
    let rules = all["rules"].as_array().into_iter().flatten();
    rules.map(rule).collect()
}

fn rule(of: &Value) -> Result<Rule, String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let texts = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.map(|one| text(one).unwrap_or_default()).collect()
    };
    let list = |name: &str| of[name].as_array().into_iter().flatten();
    let rule = RuleText {
        origin: text(&of["origin"]).unwrap_or_default(),
        methods: text(&of["methods"]).unwrap_or_default(),
        kind: text(&of["kind"]),
        adds_to: text(&of["adds_to"]),
        name: text(&of["name"]),
        attributes: list("attributes")
            .map(|one| {
                let name = text(&one[0]).unwrap_or_default();
                (name, text(&one[1]), text(&one[2]).unwrap_or_default())
            })
            .collect(),
        statuses: list("status")
            .map(|one| {
                let [code, condition] = [0, 1].map(|at| text(&one[at]).unwrap_or_default());
                (code, condition, text(&one[2]))
            })
            .collect(),
        inject: texts(&of["inject"]).try_into().ok(),
        extract: texts(&of["extract"]).try_into().ok(),
    };
    let origin = rule.origin.clone();
    Rule::read(rule).map_err(|mistake| format!("{origin}: {mistake}"))
}
