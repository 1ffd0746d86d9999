//! The tracefile of lcov, which `genhtml` and most services read.

use std::fmt::Write;

use crate::coverage::{Coverage, FileCoverage, FileHits};

/// The tracefile. If contexts were told apart, each has records of the files that it has hit, and the hits outside of all have
/// records of all files.
#[must_use]
pub fn lcov(coverage: &Coverage) -> String {
    let mut text = String::new();
    let nothing = FileHits::default();
    let outside = coverage.contexts.get("");
    for (path, file) in &coverage.files {
        let outside = match coverage.contexts.is_empty() {
            true => None,
            false => outside.and_then(|of| of.get(path)).or(Some(&nothing)),
        };
        // Writing to a string cannot fail.
        let _ = match outside {
            None => write_file(&mut text, "", path, file),
            Some(outside) => write_file(&mut text, "", path, &outside.project(file)),
        };
    }
    for (name, files) in coverage
        .contexts
        .iter()
        .filter(|(name, _)| !name.is_empty())
    {
        let name = test_name(name);
        for (path, hits) in files {
            if let Some(file) = coverage.files.get(path) {
                let _ = write_file(&mut text, &name, path, &hits.project(file));
            }
        }
    }
    text
}

/// The name of a test has letters, digits and underlines.
fn test_name(name: &str) -> String {
    name.replace(|one: char| !one.is_ascii_alphanumeric(), "_")
}

fn write_file(text: &mut String, test: &str, path: &str, file: &FileCoverage) -> std::fmt::Result {
    let shares = file.shares();
    writeln!(text, "TN:{test}\nSF:{path}")?;
    for (key, method) in &file.methods {
        writeln!(text, "FN:{},{}", method.line, key.name)?;
    }
    let mut called = 0;
    for (key, method) in &file.methods {
        called += usize::from(method.calls > 0);
        writeln!(text, "FNDA:{},{}", method.calls, key.name)?;
    }
    writeln!(text, "FNF:{}\nFNH:{called}", file.methods.len())?;
    for line in file.lines.keys() {
        let is_hit = file.lines.get(line).is_some_and(|hits| *hits > 0);
        for (block, outcomes) in file.branches_at(*line).enumerate() {
            // Of a line that another context began.
            let is_evaluated = is_hit || outcomes.iter().any(|hits| *hits > 0);
            for (branch, hits) in outcomes.iter().enumerate() {
                match is_evaluated {
                    true => writeln!(text, "BRDA:{line},{block},{branch},{hits}")?,
                    // Its condition was never evaluated.
                    false => writeln!(text, "BRDA:{line},{block},{branch},-")?,
                }
            }
        }
    }
    let branches = shares.branches;
    writeln!(text, "BRF:{}\nBRH:{}", branches.all, branches.covered)?;
    for (line, hits) in &file.lines {
        writeln!(text, "DA:{line},{hits}")?;
    }
    let lines = shares.lines;
    writeln!(text, "LF:{}\nLH:{}", lines.all, lines.covered)?;
    writeln!(text, "end_of_record")
}
