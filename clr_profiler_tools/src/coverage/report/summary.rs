//! The table for a terminal.

use std::fmt::Write;

use crate::coverage::{Coverage, Shares};

/// A line for each assembly, and one for all.
#[must_use]
pub fn summary(coverage: &Coverage) -> String {
    let mut text = String::new();
    let assemblies = coverage.assemblies();
    if !assemblies.is_empty() {
        text += "    lines  branches   methods  assembly\n";
    }
    for (assembly, shares) in &assemblies {
        row(&mut text, *shares, assembly);
    }
    if assemblies.len() != 1 && !assemblies.is_empty() {
        row(&mut text, coverage.shares(), "all");
    }
    let blocks = coverage.block_shares();
    if blocks.all > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} % of {} IL blocks in {} methods without lines",
            blocks.percent(),
            blocks.all,
            coverage.blocks.len()
        );
    }
    text
}

fn row(text: &mut String, shares: Shares, name: &str) {
    let percent = |share: crate::coverage::Share| format!("{} %", share.percent());
    let _ = writeln!(
        text,
        "{:>9} {:>9} {:>9}  {name}",
        percent(shares.lines),
        percent(shares.branches),
        percent(shares.methods),
    );
}
