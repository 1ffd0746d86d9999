//! The time in which reports are written.

use std::time::Instant;

use clr_profiler_tests::Folder;
use serde_json::{Value, json};

use crate::command::{clr, stderr};

/// Prints the time in which the command reads runs and writes all reports.
fn print_time_of_reports(of: &str, folder: &Folder, runs: &[&str]) {
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let (lcov, xml, sum) = (path("a.lcov"), path("a.xml"), path("a.json"));
    for words in [
        &["-o", &lcov][..],
        &["-o", &xml],
        &["-o", &sum],
        &["-o", &lcov, "--html", &path("html")],
    ] {
        let begun = Instant::now();
        let mut merge = clr(&["cover-merge"]);
        let output = merge.args(words).args(runs).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let took = begun.elapsed().as_millis();
        println!("{of}: {took} ms for {}", words.join(" "));
    }
}

pub(super) fn thousand_files() {
    const FILES: u32 = 1_000;
    const LINES: u32 = 300;
    let folder = Folder::new();
    let files = (0..FILES).map(|file| {
        let source = folder.path(&format!("File{file}.cs"));
        std::fs::write(&source, "    return 1;\n".repeat(LINES as usize)).unwrap();
        let lines = (1..=LINES).map(|line| (line.to_string(), Value::from(line % 3)));
        let lines: serde_json::Map<String, Value> = lines.collect();
        let branches = (1..=LINES / 10).map(|line| {
            json!({ "line": line, "method": "Shop.File.Sell()", "offset": line, "outcomes": [0, 1] })
        });
        let methods = (0..LINES / 10).map(|method| {
            let first = method * 10 + 1;
            json!({
                "assembly": "Shop", "class": format!("Shop.File{file}"), "name": format!("Sell{method}"),
                "parameters": "()", "line": first, "calls": 1, "lines": (first..first + 10).collect::<Vec<_>>(),
            })
        });
        json!({
            "path": source, "lines": lines, "branches": branches.collect::<Vec<_>>(),
            "methods": methods.collect::<Vec<_>>(),
        })
    });
    let run = json!({ "version": 1, "files": files.collect::<Vec<_>>(), "without_lines": [] });
    let path = folder.path("run.json");
    std::fs::write(&path, run.to_string()).unwrap();
    print_time_of_reports("1000 files", &folder, &[path.to_str().unwrap()]);
}
