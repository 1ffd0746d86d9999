//! The results as JSON, from which they can be read again to add runs up.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::coverage::{
    BranchKey, Coverage, FileCoverage, FileHits, MethodCoverage, MethodKey, MethodName, Share,
    Shares,
};

/// The version of the format.
const VERSION: u64 = 1;

/// The results as JSON.
#[must_use]
pub fn to_json(coverage: &Coverage) -> String {
    let files = coverage.files.iter().map(|(path, file)| {
        let lines: BTreeMap<String, u64> = file
            .lines
            .iter()
            .map(|(line, hits)| (line.to_string(), *hits))
            .collect();
        let branches = file.branches.iter().map(branch);
        let methods = file.methods.iter().map(|(key, method)| {
            let mut value = name(key);
            value["line"] = method.line.into();
            value["calls"] = method.calls.into();
            value["lines"] = json!(method.lines);
            value
        });
        json!({
            "path": path,
            "summary": shares(file.shares()),
            "lines": lines,
            "branches": branches.collect::<Vec<_>>(),
            "methods": methods.collect::<Vec<_>>(),
        })
    });
    let blocks = coverage.blocks.iter().map(|(key, blocks)| {
        let mut value = name(key);
        value["blocks"] = json!(blocks);
        value
    });
    let mut value = json!({
        "version": VERSION,
        "summary": shares(coverage.shares()),
        "files": files.collect::<Vec<_>>(),
        "without_lines": blocks.collect::<Vec<_>>(),
    });
    if !coverage.contexts.is_empty() {
        let contexts = coverage.contexts.iter().map(|(name, files)| {
            let files = files.iter().map(|(path, hits)| {
                json!({
                    "path": path,
                    "lines": hits.lines,
                    "branches": hits.branches.iter().map(branch).collect::<Vec<_>>(),
                    "methods": hits.methods.iter().map(self::name).collect::<Vec<_>>(),
                })
            });
            json!({ "name": name, "files": files.collect::<Vec<_>>() })
        });
        value["contexts"] = contexts.collect();
    }
    format!("{value:#}\n")
}

fn branch((key, outcomes): (&BranchKey, &Vec<u64>)) -> Value {
    json!({ "line": key.line, "method": key.method, "offset": key.offset, "outcomes": outcomes })
}

fn name(key: &MethodKey) -> Value {
    json!({
        "assembly": key.assembly,
        "class": key.name.class,
        "name": key.name.name,
        "parameters": key.name.parameters,
    })
}

fn shares(shares: Shares) -> Value {
    let share = |share: Share| json!({ "covered": share.covered, "all": share.all });
    json!({
        "lines": share(shares.lines),
        "branches": share(shares.branches),
        "methods": share(shares.methods),
    })
}

/// Reads results that [`to_json`] has written.
///
/// # Errors
///
/// That the text is none, in words.
pub fn from_json(text: &str) -> Result<Coverage, String> {
    let of_others = "it is no result of `cargo clr cover -o FILE.json` of this version";
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("{of_others}: {error}"))?;
    if value["version"] != VERSION {
        return Err(of_others.to_owned());
    }
    read(&value).ok_or_else(|| "a value is missing, or of another kind".to_owned())
}

fn read(value: &Value) -> Option<Coverage> {
    let mut coverage = Coverage::default();
    for file in value["files"].as_array()? {
        let mut of = FileCoverage::default();
        for (line, hits) in file["lines"].as_object()? {
            of.lines.insert(line.parse().ok()?, hits.as_u64()?);
        }
        of.branches = branches(&file["branches"])?;
        for method in file["methods"].as_array()? {
            let lines = method["lines"].as_array()?.iter().map(number);
            let covered = MethodCoverage {
                calls: method["calls"].as_u64()?,
                line: number(&method["line"])?,
                lines: lines.collect::<Option<_>>()?,
            };
            of.methods.insert(key(method)?, covered);
        }
        coverage.files.insert(text(&file["path"])?, of);
    }
    for method in value["without_lines"].as_array()? {
        coverage
            .blocks
            .insert(key(method)?, hits(&method["blocks"])?);
    }
    for context in value["contexts"].as_array().into_iter().flatten() {
        let files = coverage.contexts.entry(text(&context["name"])?);
        let files = files.or_default();
        for file in context["files"].as_array()? {
            let lines = file["lines"].as_array()?.iter().map(number);
            let methods = file["methods"].as_array()?.iter().map(key);
            let of = FileHits {
                lines: lines.collect::<Option<_>>()?,
                branches: branches(&file["branches"])?,
                methods: methods.collect::<Option<_>>()?,
            };
            files.insert(text(&file["path"])?, of);
        }
    }
    Some(coverage)
}

fn branches(value: &Value) -> Option<BTreeMap<BranchKey, Vec<u64>>> {
    let mut branches = BTreeMap::new();
    for branch in value.as_array()? {
        let key = BranchKey {
            line: number(&branch["line"])?,
            method: text(&branch["method"])?,
            offset: number(&branch["offset"])?,
        };
        branches.insert(key, hits(&branch["outcomes"])?);
    }
    Some(branches)
}

fn key(value: &Value) -> Option<MethodKey> {
    Some(MethodKey {
        assembly: text(&value["assembly"])?,
        name: MethodName {
            class: text(&value["class"])?,
            name: text(&value["name"])?,
            parameters: text(&value["parameters"])?,
        },
    })
}

fn hits(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::report::tests::{sample, with_contexts};

    #[test]
    fn results_can_be_read_again() {
        for coverage in [sample(), with_contexts()] {
            assert_eq!(from_json(&to_json(&coverage)).as_ref(), Ok(&coverage));
        }
    }

    #[test]
    fn other_json_is_refused() {
        for text in ["", "{}", "[1]", r#"{"version": 2}"#, r#"{"version": 1}"#] {
            assert!(from_json(text).is_err(), "{text}");
        }
    }
}
