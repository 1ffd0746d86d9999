//! Each file with functions that are called from outside has a row in `docs/panics.md`, and the tests
//! that it names exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pages::workspace;

/// All files of Rust below these folders.
fn sources(folders: &[&str]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|name| workspace().join(name)).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// Whether a line begins a function that native code can call, or a thread.
fn is_border(line: &str) -> bool {
    let words = line.trim_start();
    let is_function = words.split("fn ").next().is_some_and(|before| {
        before.contains("extern \"system\" ") || before.contains("extern \"C\" ")
    });
    let is_comment = words.starts_with("//");
    let is_definition = words.contains("fn ") && !words.contains("fn(");
    !is_comment && ((is_function && is_definition) || words.contains("thread::Builder::new()"))
}

#[test]
fn each_border_and_each_test_of_it_is_there() {
    let table = fs::read_to_string(workspace().join("docs/panics.md")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split(" | ").collect())
        .collect();
    let quoted = |cell: &str| -> Vec<String> {
        let parts = cell.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };

    let root = workspace().join("clr_profiler/src");
    let has_border = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        // Unit tests follow.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        code.lines().any(is_border)
    };
    let mut found: Vec<String> = sources(&["clr_profiler/src"])
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs") && has_border(path))
        .map(|path| {
            path.strip_prefix(&root)
                .unwrap_or(Path::new(""))
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let mut listed: Vec<String> = rows.iter().flat_map(|row| quoted(row[0])).collect();
    found.sort();
    listed.sort();
    assert_eq!(listed, found, "docs/panics.md");

    let all: Vec<String> = sources(&["clr_profiler/src", "tests"])
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for row in &rows {
        let tests = quoted(row.last().unwrap());
        assert!(!tests.is_empty(), "{} has no test", row[0]);
        for name in tests {
            let function = format!("fn {name}()");
            assert!(
                all.iter().any(|text| text.contains(&function)),
                "there is no test {name}"
            );
        }
    }
}
