//! The attributes of the shipped rules are those of the published semantic conventions.

use std::collections::{HashMap, HashSet};
use std::fs;

use clr_profiler_test::{Archive, Index, Pinned, Platform};
use clr_profiler_tests::fetched;
use clr_profiler_tools::conventions::{SHIPPED, checked};

/// The names of the conventions, as constants for JavaScript.
const CONVENTIONS: Pinned = Pinned {
    name: "the semantic conventions of OpenTelemetry 1.38.0",
    version: "1.38.0",
    index: Index::Npm,
    package: "@opentelemetry/semantic-conventions",
    package_version: "1.38.0",
    licence: "Apache-2.0",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "opentelemetry-semantic-conventions-1.38.0.tgz",
        sha256: "8d7f4e92a88519d140e9b56a5d1f6140c089ee02ec7282ddeddb2759b1a5546a",
        size: 1_415_561,
        executable: "package/build/src/stable_attributes.js",
    }],
};

/// Attributes that the conventions do not have.
const OWN: [&str; 3] = [
    "ado_net.affected_rows",
    "logging.event_ids",
    "logging.levels",
];

/// The names of constants with their texts, and those of deprecated ones.
#[derive(Default)]
struct Published {
    constants: HashMap<String, String>,
    deprecated: HashSet<String>,
}

impl Published {
    fn read(&mut self, source: &str) {
        let mut is_deprecated = false;
        for line in source.lines() {
            if line.starts_with("/**") {
                is_deprecated = false;
            }
            is_deprecated |= line.contains("* @deprecated");
            let Some((name, value)) = line
                .strip_prefix("exports.")
                .and_then(|rest| rest.split_once(" = "))
            else {
                continue;
            };
            let value = value.trim_end_matches(';');
            let quote = |text: &str| text.len() >= 2 && (text.starts_with(['\'', '"']));
            if quote(value) {
                let value = value[1..value.len() - 1].to_owned();
                if is_deprecated {
                    self.deprecated.insert(name.to_owned());
                }
                self.constants.insert(name.to_owned(), value);
            }
        }
    }

    /// The constant of an attribute.
    fn attribute(&self, name: &str) -> Option<&str> {
        let mut all = self.constants.iter();
        let found = all.find(|(constant, text)| constant.starts_with("ATTR_") && *text == name);
        found.map(|(constant, _)| &**constant)
    }

    /// The values that an attribute may have; nothing if it may have any.
    fn values(&self, constant: &str) -> HashSet<&str> {
        let start = format!("{}_VALUE_", constant.strip_prefix("ATTR_").unwrap());
        let all = self.constants.iter();
        let values = all.filter(|(constant, _)| constant.starts_with(&start));
        values.map(|(_, value)| &**value).collect()
    }
}

/// The texts that an expression can have as its value: a literal, or the branches of a choice.
fn literals(expression: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let pieces: Vec<&str> = expression.split(['\'', '"']).collect();
    for (index, piece) in pieces.iter().enumerate().skip(1).step_by(2) {
        let before = pieces[index - 1].trim_end();
        if before.is_empty() || before.ends_with(['?', ':']) {
            found.push(*piece);
        }
    }
    found
}

#[test]
fn attributes_are_those_of_the_published_conventions() {
    let Some(stable) = fetched(&CONVENTIONS) else {
        return;
    };
    let mut published = Published::default();
    for file in ["stable_attributes.js", "experimental_attributes.js"] {
        published.read(&fs::read_to_string(stable.with_file_name(file)).unwrap());
    }
    assert!(published.deprecated.contains("ATTR_HTTP_METHOD"));
    let mut names = HashSet::new();
    let mut checked_values = 0;
    for rule in checked::read(SHIPPED).unwrap() {
        for (name, _, expression) in &rule.text.attributes {
            if OWN.contains(&&**name) {
                assert_eq!(published.attribute(name), None);
                continue;
            }
            let constant = published.attribute(name);
            let constant = constant.unwrap_or_else(|| panic!("`{name}` is not published"));
            assert!(!published.deprecated.contains(constant), "{name}");
            names.insert(name.clone());
            let values = published.values(constant);
            // Other attributes may have any value.
            for literal in literals(expression)
                .into_iter()
                .filter(|_| !values.is_empty())
            {
                assert!(
                    values.contains(literal),
                    "{name}: `{literal}` of {values:?}"
                );
                checked_values += 1;
            }
        }
    }
    println!("{names:?}, {checked_values} values");
    assert!(
        names.len() >= 15 && checked_values >= 7,
        "{names:?} {checked_values}"
    );
}

/// The kinds of spans, which the package does not have: a file of rules, the page of the conventions, the kind of spans of its own, and
/// the spans to which it adds.
const KINDS: [(&str, &str, Option<&str>, &[&str]); 5] = [
    ("ado_net.yaml", "db/database-spans", Some("client"), &[]),
    (
        "aspnet_core.yaml",
        "http/http-spans",
        Some("server"),
        &["server"],
    ),
    // The server's span is that of its request.
    (
        "grpc.yaml",
        "rpc/rpc-spans",
        Some("client"),
        &["innermost", "server"],
    ),
    ("http_client.yaml", "http/http-spans", Some("client"), &[]),
    // No spans of its own.
    ("logging.yaml", "general/logs", None, &["innermost"]),
];

#[test]
fn kinds_are_those_of_the_pages_of_the_conventions() {
    let mut seen = HashSet::new();
    for rule in checked::read(SHIPPED).unwrap() {
        let text = &rule.text;
        let file = text.origin.split(':').next().unwrap();
        let known = KINDS.iter().find(|(known, ..)| *known == file);
        let (file, page, kind, adds_to) = known.unwrap_or_else(|| panic!("{file} is not known"));
        seen.insert(*file);
        match text.adds_to.as_deref() {
            Some(span) => assert!(adds_to.contains(&span), "{}: {page}", text.origin),
            None => assert_eq!(text.kind.as_deref(), *kind, "{}: {page}", text.origin),
        }
    }
    assert_eq!(seen.len(), KINDS.len(), "{seen:?}");
}
