//! The files of the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use crate::exceptions::{EXCEPTIONS, Exception};
use crate::rules::Rule;
use crate::text::{Language, texts};
use crate::violations;

/// These files quote the words.
const SKIPPED: [&str; 2] = ["tests/words/src/rules.rs", "tests/words/src/exceptions.rs"];

/// A violation in a file of the repository.
#[derive(Debug)]
pub struct Found {
    /// The rule.
    pub rule: &'static Rule,
    /// From the root of the repository.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The text of the line, without the spaces around it.
    pub text: String,
}

impl Found {
    /// The folder at the top of the repository, or `root`.
    #[must_use]
    pub fn area(&self) -> &str {
        self.file.split_once('/').map_or("root", |(area, _)| area)
    }

    /// The area and the name of the rule.
    #[must_use]
    pub fn key(&self) -> (String, String) {
        (self.area().to_owned(), self.rule.name.to_owned())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            file,
            line,
            text,
        } = self;
        write!(f, "{file}:{line}: {}: {text}", rule.name)
    }
}

/// All violations without an exception, and the exceptions that excuse nothing.
#[must_use]
pub fn check() -> (Vec<Found>, Vec<&'static Exception>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = root.ancestors().nth(2).unwrap();
    let mut files = Vec::new();
    collect(root, &mut files);
    files.sort();
    let mut stale: Vec<&Exception> = EXCEPTIONS.iter().collect();
    let mut found = Vec::new();
    for (path, language) in files {
        let relative = path.strip_prefix(root).unwrap();
        let file = relative.to_str().unwrap().replace('\\', "/");
        if SKIPPED.contains(&&*file) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = source.lines().collect();
        for violation in violations(&texts(&source, language)) {
            let text = lines[violation.line - 1].trim();
            let rule = violation.rule;
            let excuses =
                |it: &Exception| it.rule == rule.name && it.file == file && it.line == text;
            if EXCEPTIONS.iter().any(excuses) {
                stale.retain(|it| !excuses(it));
                continue;
            }
            found.push(Found {
                rule,
                file: file.clone(),
                line: violation.line,
                text: text.to_owned(),
            });
        }
    }
    (found, stale)
}

/// The number of violations by area and rule.
#[must_use]
pub fn counts(found: &[Found]) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for it in found {
        *counts.entry(it.key()).or_default() += 1;
    }
    counts
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Language)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap_or_default();
        let hidden = name.starts_with('.') && name != ".ci";
        if hidden || name == "target" || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if let Some(language) = language(&path) {
            files.push((path, language));
        }
    }
}

fn language(path: &Path) -> Option<Language> {
    let extension = path.extension().map(|it| it.to_str().unwrap_or_default());
    match extension {
        Some("rs") => Some(Language::Rust),
        Some("cs" | "c" | "il") => Some(Language::CSharp),
        Some("md") => Some(Language::Markdown),
        Some("toml" | "sh" | "py") => Some(Language::Hash),
        None => fs::read(path)
            .is_ok_and(|bytes| bytes.starts_with(b"#!"))
            .then_some(Language::Hash),
        Some(_) => None,
    }
}
