//! The reports of a run, read by the tools that they are for.
//!
//! The schema of Cobertura is in no package of npm or PyPI, so that ours has the same elements and attributes in other words. The variable
//! `COBERTURA_DTD` names the file to validate against instead: Debian has it (`apt-get source cobertura`) in
//! `src/test/resources/dtds/coverage-04.dtd`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clr_profiler_tests::{Folder, runtimes};
use serde_json::Value;

use super::truth::{cover, marked};
use crate::command::{clr, stderr, text};
use crate::compiled::compile;

const SOURCE: &str = include_str!("Lines.cs");

/// Whether a tool of the system is there.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no {tool}");
    }
    found
}

#[test]
fn each_format_has_the_same_lines() {
    let Some(program) = compile("Lines", SOURCE, &[]) else {
        return;
    };
    let truth = marked(SOURCE);
    let hit = truth.values().filter(|line| line.0).count();
    let outcomes = truth.values().filter_map(|line| line.1);
    let (reached, all) = outcomes.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let runtime = &runtimes()[0];
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let (xml, json, html) = (path("cover.xml"), path("cover.json"), path("html"));
    let words = [
        "--methods",
        "Lines!**",
        "--also",
        &xml,
        "--also",
        &json,
        "--html",
        &html,
        "--threshold",
        "50",
    ];
    let covered = cover(runtime, program.path(), &folder, &words, &[]);
    let told = stderr(&covered);

    let value: Value = serde_json::from_str(&text(&folder, "cover.json")).unwrap();
    let summary = &value["summary"];
    assert_eq!(summary["lines"]["covered"], hit, "{told}");
    assert_eq!(summary["lines"]["all"], truth.len());
    assert_eq!(summary["branches"]["covered"], reached);
    assert_eq!(summary["branches"]["all"], all);
    // `Never` and the setter of `Property` have not run.
    assert_eq!(summary["methods"]["all"], 16);

    let cobertura = text(&folder, "cover.xml");
    for part in [
        format!("lines-covered=\"{hit}\" lines-valid=\"{}\"", truth.len()),
        format!("branches-covered=\"{reached}\" branches-valid=\"{all}\""),
        "<package name=\"Lines\"".to_owned(),
        "<method name=\"Choose\" signature=\"(int)\"".to_owned(),
        "filename=\"Lines.cs\"".to_owned(),
    ] {
        assert!(cobertura.contains(&part), "{part}: {cobertura}");
    }
    if has("xmllint") {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cover/coverage-04.dtd");
        let dtd = std::env::var_os("COBERTURA_DTD").map_or(own, PathBuf::from);
        let mut lint = Command::new("xmllint");
        lint.args(["--noout", "--nonet", "--dtdvalid"])
            .arg(dtd)
            .arg(&xml);
        let output = lint.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }

    let index = fs::read_to_string(folder.path("html/index.html")).unwrap();
    let page = fs::read_to_string(folder.path("html/0.html")).unwrap();
    assert!(index.contains("<a href=\"0.html\">Lines.cs</a>"), "{index}");
    assert_eq!(
        page.matches(" class=\"missed\" title").count(),
        truth.len() - hit
    );
    assert!(
        page.contains("for (int i = 0; i &lt; count; i++)"),
        "{page}"
    );

    if has("genhtml") {
        let mut genhtml = Command::new("genhtml");
        genhtml.args(["--branch-coverage", "-o", &path("genhtml")]);
        let output = genhtml.arg(path("cover.lcov")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains(&format!("({hit} of {} lines)", truth.len())),
            "{said}"
        );
        assert!(
            said.contains(&format!("({reached} of {all} branches)")),
            "{said}"
        );
    }

    // The sum of a run with itself has the same shares, and a threshold that is missed has an exit code.
    let mut merge = clr(&["cover-merge", "-o", &path("sum.lcov"), &json, &json]);
    let output = merge.args(["--threshold", "branches=99"]).output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(
        told.contains("of branches are covered, which is less than 99 %"),
        "{told}"
    );
    let ends = |text: String| {
        let lines = text
            .lines()
            .filter(|line| line.starts_with('L') || line.starts_with("BR"));
        let lines = lines.filter(|line| !line.starts_with("BRDA"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        ends(text(&folder, "sum.lcov")),
        ends(text(&folder, "cover.lcov"))
    );
}

#[test]
fn mistakes_on_the_command_line_start_nothing() {
    let folder = Folder::new();
    let text = folder.path("cover.txt");
    let text = text.to_str().unwrap();
    for (words, part) in [
        (&["cover", "-o", text, "--", "App.dll"][..], "no format"),
        (
            &["cover", "--threshold", "101", "--", "App.dll"],
            "percentage",
        ),
        (&["cover", "--methods", "A::B", "--", "App.dll"], "patterns"),
        (
            &["cover", "--methods", "-App!**", "--", "App.dll"],
            "Begin with `**;`",
        ),
        (
            &["cover", "--", "no-such-dotnet", "App.dll"],
            "No folder of PATH",
        ),
        (&["cover-merge"], "RUN"),
        (
            &["cover-merge", "-o", "a.lcov", "missing.json"],
            "Cannot read",
        ),
    ] {
        let output = clr(words).current_dir(folder.path(".")).output().unwrap();
        let told = stderr(&output);
        assert!(
            !output.status.success() && told.contains(part),
            "{words:?}: {told}"
        );
    }
    assert_eq!(fs::read_dir(folder.path(".")).unwrap().count(), 0);
}
