//! The results as JSON, from which they can be read again to add runs up.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::coverage::{
    BranchKey, Coverage, FileCoverage, FileHits, MethodCoverage, MethodKey, MethodName, Share,
    Shares,
};

/// The version of the format.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Results<'a> {
    version: u64,
    #[serde(skip_deserializing)]
    summary: Summary,
    files: Vec<File<'a>>,
    without_lines: Vec<Blocks<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contexts: Vec<Context<'a>>,
}

#[derive(Default, Serialize)]
struct Summary {
    lines: Part,
    branches: Part,
    methods: Part,
}

#[derive(Default, Serialize)]
struct Part {
    covered: usize,
    all: usize,
}

#[derive(Serialize, Deserialize)]
struct File<'a> {
    path: Cow<'a, str>,
    #[serde(skip_deserializing)]
    summary: Summary,
    lines: Cow<'a, BTreeMap<u32, u64>>,
    branches: Vec<Branch<'a>>,
    methods: Vec<Method<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Branch<'a> {
    line: u32,
    method: Cow<'a, str>,
    offset: u32,
    outcomes: Cow<'a, [u64]>,
}

#[derive(Serialize, Deserialize)]
struct Name<'a> {
    assembly: Cow<'a, str>,
    class: Cow<'a, str>,
    name: Cow<'a, str>,
    parameters: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct Method<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    line: u32,
    calls: u64,
    lines: Cow<'a, BTreeSet<u32>>,
}

#[derive(Serialize, Deserialize)]
struct Blocks<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    blocks: Cow<'a, [u64]>,
}

#[derive(Serialize, Deserialize)]
struct Context<'a> {
    name: Cow<'a, str>,
    files: Vec<ContextFile<'a>>,
}

#[derive(Serialize, Deserialize)]
struct ContextFile<'a> {
    path: Cow<'a, str>,
    lines: Cow<'a, BTreeSet<u32>>,
    branches: Vec<Branch<'a>>,
    methods: Vec<Name<'a>>,
}

/// The results as JSON.
#[must_use]
pub fn to_json(coverage: &Coverage) -> String {
    let files = coverage.files.iter().map(|(path, file)| File {
        path: path.into(),
        summary: summary(file.shares()),
        lines: Cow::Borrowed(&file.lines),
        branches: file.branches.iter().map(branch).collect(),
        methods: file.methods.iter().map(method).collect(),
    });
    let blocks = coverage.blocks.iter().map(|(key, blocks)| Blocks {
        name: name(key),
        blocks: blocks.into(),
    });
    let contexts = coverage.contexts.iter().map(|(name, files)| Context {
        name: name.into(),
        files: files.iter().map(context_file).collect(),
    });
    let results = Results {
        version: VERSION,
        summary: summary(coverage.shares()),
        files: files.collect(),
        without_lines: blocks.collect(),
        contexts: contexts.collect(),
    };
    // Text and numbers can always be written.
    let mut text = serde_json::to_string_pretty(&results).unwrap_or_default();
    text.push('\n');
    text
}

fn context_file<'a>((path, hits): (&'a String, &'a FileHits)) -> ContextFile<'a> {
    ContextFile {
        path: path.into(),
        lines: Cow::Borrowed(&hits.lines),
        branches: hits.branches.iter().map(branch).collect(),
        methods: hits.methods.iter().map(name).collect(),
    }
}

fn branch<'a>((key, outcomes): (&'a BranchKey, &'a Vec<u64>)) -> Branch<'a> {
    Branch {
        line: key.line,
        method: (&key.method).into(),
        offset: key.offset,
        outcomes: outcomes.into(),
    }
}

fn method<'a>((key, method): (&'a MethodKey, &'a MethodCoverage)) -> Method<'a> {
    Method {
        name: name(key),
        line: method.line,
        calls: method.calls,
        lines: Cow::Borrowed(&method.lines),
    }
}

fn name(key: &MethodKey) -> Name<'_> {
    Name {
        assembly: (&key.assembly).into(),
        class: (&key.name.class).into(),
        name: (&key.name.name).into(),
        parameters: (&key.name.parameters).into(),
    }
}

fn summary(shares: Shares) -> Summary {
    let part = |share: Share| Part {
        covered: share.covered,
        all: share.all,
    };
    Summary {
        lines: part(shares.lines),
        branches: part(shares.branches),
        methods: part(shares.methods),
    }
}

/// Reads results that [`to_json`] has written.
///
/// # Errors
///
/// That the text is none, in words.
pub fn from_json(text: &str) -> Result<Coverage, String> {
    let results = serde_json::from_str(text).map_err(|error| error.to_string());
    let known = results.and_then(|results: Results<'_>| match results.version {
        VERSION => Ok(results),
        other => Err(format!("its version is {other}")),
    });
    let results = known.map_err(|reason| {
        format!("it is no result of `cargo clr cover -o FILE.json` of this version: {reason}")
    })?;
    let mut coverage = Coverage::default();
    for file in results.files {
        let methods = file.methods.into_iter().map(|method| {
            let covered = MethodCoverage {
                calls: method.calls,
                line: method.line,
                lines: method.lines.into_owned(),
            };
            (method.name.into(), covered)
        });
        let of = FileCoverage {
            lines: file.lines.into_owned(),
            branches: branches(file.branches),
            methods: methods.collect(),
        };
        coverage.files.insert(file.path.into_owned(), of);
    }
    let blocks = results.without_lines.into_iter();
    coverage.blocks = blocks
        .map(|of| (of.name.into(), of.blocks.into_owned()))
        .collect();
    for context in results.contexts {
        let files = context.files.into_iter().map(|file| {
            let hits = FileHits {
                lines: file.lines.into_owned(),
                branches: branches(file.branches),
                methods: file.methods.into_iter().map(MethodKey::from).collect(),
            };
            (file.path.into_owned(), hits)
        });
        let files = files.collect();
        coverage.contexts.insert(context.name.into_owned(), files);
    }
    Ok(coverage)
}

fn branches(all: Vec<Branch<'_>>) -> BTreeMap<BranchKey, Vec<u64>> {
    let branches = all.into_iter().map(|branch| {
        let key = BranchKey {
            line: branch.line,
            method: branch.method.into_owned(),
            offset: branch.offset,
        };
        (key, branch.outcomes.into_owned())
    });
    branches.collect()
}

impl From<Name<'_>> for MethodKey {
    fn from(name: Name<'_>) -> Self {
        Self {
            assembly: name.assembly.into_owned(),
            name: MethodName {
                class: name.class.into_owned(),
                name: name.name.into_owned(),
                parameters: name.parameters.into_owned(),
            },
        }
    }
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
