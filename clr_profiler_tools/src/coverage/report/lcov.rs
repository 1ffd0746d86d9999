//! The tracefile of lcov, which `genhtml` and most services read.

use std::fmt::Write;

use crate::coverage::{Coverage, FileCoverage};

/// The tracefile.
#[must_use]
pub fn lcov(coverage: &Coverage) -> String {
    let mut text = String::new();
    for (path, file) in &coverage.files {
        // Writing to a string cannot fail.
        let _ = write_file(&mut text, path, file);
    }
    text
}

fn write_file(text: &mut String, path: &str, file: &FileCoverage) -> std::fmt::Result {
    let shares = file.shares();
    writeln!(text, "TN:\nSF:{path}")?;
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
            for (branch, hits) in outcomes.iter().enumerate() {
                match is_hit {
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
