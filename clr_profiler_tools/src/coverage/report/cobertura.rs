//! The XML of Cobertura, which many services and editors read.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::SystemTime;

use super::folders::Folders;
use super::markup::escaped;
use crate::coverage::{Coverage, FileCoverage, MethodCoverage, MethodKey, Share, Shares};

/// The methods of a class in a file.
type Class<'a> = (
    &'a str,
    &'a FileCoverage,
    Vec<(&'a MethodKey, &'a MethodCoverage)>,
);

/// The report, for `coverage-04.dtd`: a package for each assembly, and a class for each file with a part of it. The names of
/// files begin at their common folder, which is the source.
#[must_use]
pub fn cobertura(coverage: &Coverage) -> String {
    let mut packages: BTreeMap<&str, BTreeMap<(&str, &str), Class<'_>>> = BTreeMap::new();
    for (path, file) in &coverage.files {
        for (key, method) in &file.methods {
            let classes = packages.entry(&key.assembly).or_default();
            let class = classes.entry((&key.name.class, path));
            let class = class.or_insert_with(|| (path, file, Vec::new()));
            class.2.push((key, method));
        }
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, coverage, &packages);
    text
}

fn write_all(
    text: &mut String,
    coverage: &Coverage,
    packages: &BTreeMap<&str, BTreeMap<(&str, &str), Class<'_>>>,
) -> std::fmt::Result {
    let Shares {
        lines, branches, ..
    } = coverage.shares();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_secs();
    let files = coverage.files.values();
    let complexity: usize = files
        .map(|file| complexity(file, file.lines.keys().copied()))
        .sum();
    writeln!(
        text,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n\
         <coverage line-rate=\"{}\" branch-rate=\"{}\" lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" \
         branches-valid=\"{}\" complexity=\"{complexity}\" version=\"{}\" timestamp=\"{now}\">\n  \
         <sources>",
        rate(lines),
        rate(branches),
        lines.covered,
        lines.all,
        branches.covered,
        branches.all,
        env!("CARGO_PKG_VERSION"),
    )?;
    let folders = Folders::of(coverage.files.keys());
    for folder in folders.iter() {
        writeln!(text, "    <source>{}</source>", escaped(folder))?;
    }
    writeln!(text, "  </sources>\n  <packages>")?;
    for (name, classes) in packages {
        let mut shares = Shares::default();
        let mut complexity_of_all = 0;
        for (_, file, methods) in classes.values() {
            let methods = methods.iter().map(|(_, method)| *method);
            shares = shares.and(file.shares_of(methods.clone()));
            complexity_of_all += complexity_of(file, methods);
        }
        writeln!(
            text,
            "    <package name=\"{}\" {} complexity=\"{complexity_of_all}\">\n      <classes>",
            escaped(name),
            rates(shares),
        )?;
        for ((class, _), parts) in classes {
            write_class(text, &folders, class, parts)?;
        }
        writeln!(text, "      </classes>\n    </package>")?;
    }
    writeln!(text, "  </packages>\n</coverage>")
}

fn write_class(
    text: &mut String,
    folders: &Folders<'_>,
    name: &str,
    class: &Class<'_>,
) -> std::fmt::Result {
    let (path, file, methods) = class;
    let all = methods.iter().map(|(_, method)| *method);
    writeln!(
        text,
        "        <class name=\"{}\" filename=\"{}\" {} complexity=\"{}\">\n          <methods>",
        escaped(name),
        escaped(folders.below(path)),
        rates(file.shares_of(all.clone())),
        complexity_of(file, all.clone()),
    )?;
    for (key, method) in methods {
        writeln!(
            text,
            "            <method name=\"{}\" signature=\"{}\" {} complexity=\"{}\">\n              <lines>",
            escaped(&key.name.name),
            escaped(&key.name.parameters),
            rates(file.shares_of([*method])),
            complexity_of(file, [*method]),
        )?;
        write_lines(text, "                ", file, method.lines.iter().copied())?;
        writeln!(text, "              </lines>\n            </method>")?;
    }
    writeln!(text, "          </methods>\n          <lines>")?;
    let lines: std::collections::BTreeSet<u32> = all
        .flat_map(|method| method.lines.iter().copied())
        .collect();
    write_lines(text, "            ", file, lines)?;
    writeln!(text, "          </lines>\n        </class>")
}

fn write_lines(
    text: &mut String,
    indent: &str,
    file: &FileCoverage,
    lines: impl IntoIterator<Item = u32>,
) -> std::fmt::Result {
    for line in lines {
        let Some(hits) = file.lines.get(&line) else {
            continue;
        };
        let outcomes: Vec<&Vec<u64>> = file.branches_at(line).collect();
        if outcomes.is_empty() {
            writeln!(
                text,
                "{indent}<line number=\"{line}\" hits=\"{hits}\" branch=\"false\"/>"
            )?;
            continue;
        }
        let share = Share::of(outcomes.iter().copied().flatten().copied());
        writeln!(
            text,
            "{indent}<line number=\"{line}\" hits=\"{hits}\" branch=\"true\" condition-coverage=\"{}% ({}/{})\">\n\
             {indent}  <conditions>",
            share.covered * 100 / share.all.max(1),
            share.covered,
            share.all,
        )?;
        for (number, outcomes) in outcomes.into_iter().enumerate() {
            let share = Share::of(outcomes.iter().copied());
            let kind = if share.all > 2 { "switch" } else { "jump" };
            writeln!(
                text,
                "{indent}    <condition number=\"{number}\" type=\"{kind}\" coverage=\"{}%\"/>",
                share.covered * 100 / share.all.max(1),
            )?;
        }
        writeln!(text, "{indent}  </conditions>\n{indent}</line>")?;
    }
    Ok(())
}

fn rate(share: Share) -> String {
    format!("{:.4}", share.rate())
}

fn rates(shares: Shares) -> String {
    format!(
        "line-rate=\"{}\" branch-rate=\"{}\"",
        rate(shares.lines),
        rate(shares.branches)
    )
}

/// The cyclomatic complexity of methods: one for each, and one for each outcome of a branch beyond its first.
fn complexity_of<'a>(
    file: &FileCoverage,
    methods: impl IntoIterator<Item = &'a MethodCoverage>,
) -> usize {
    let methods = methods.into_iter();
    methods
        .map(|method| 1 + decisions(file, method.lines.iter().copied()))
        .sum()
}

fn complexity(file: &FileCoverage, lines: impl IntoIterator<Item = u32>) -> usize {
    file.methods.len() + decisions(file, lines)
}

fn decisions(file: &FileCoverage, lines: impl IntoIterator<Item = u32>) -> usize {
    let branches = lines.into_iter().flat_map(|line| file.branches_at(line));
    branches
        .map(|outcomes| outcomes.len().saturating_sub(1))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::report::tests::sample;

    #[test]
    fn files_are_named_from_their_common_folder_on() {
        let text = cobertura(&sample());
        assert!(text.contains("<source>/shop/src/</source>"), "{text}");
        assert_eq!(text.matches("<source>").count(), 1, "{text}");
        for file in ["filename=\"A.cs\"", "filename=\"B.cs\""] {
            assert!(text.contains(file), "{text}");
        }
    }
}
