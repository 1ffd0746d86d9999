//! Programs of other people that have PDBs: a generator of C# code, and a single-file application.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use clr_profiler_tests::{
    Folder, GENERATOR, Runtime, VALIDATOR, configure_generator, fetched, runtimes_where, write_log,
};
use serde_json::Value;

use crate::command::{clr, clr_on, stderr, text};

/// The files that the generator has written to a folder, by their names.
fn generated(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "cs") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                all.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    all
}

/// Runs the generator by a command for its words. It writes different code from run to run if it has more than one processor.
fn run(command: impl FnOnce(&str) -> Command) -> (BTreeMap<String, String>, String) {
    let folder = Folder::new();
    let path = configure_generator(&folder, 1);
    let output = command(path.to_str().unwrap())
        .env("DOTNET_PROCESSOR_COUNT", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (generated(&path), stderr(&output))
}

#[test]
fn a_generator_of_others_is_covered_and_writes_the_same() {
    // The application in which 9.0.1 is started has an older version of a library of the generator's.
    let is_able =
        |runtime: &Runtime| runtime.major == 9 && runtime.version().to_string() != "9.0.1";
    let Some(runtime) = runtimes_where(is_able).into_iter().next() else {
        return;
    };
    let Some(generator) = fetched(&GENERATOR) else {
        return;
    };
    let (plain, _) = run(|path| {
        let launch = runtime.launch(&generator, &["--standalone", path]);
        launch.command().unwrap()
    });
    assert!(plain["Apple0.cs"].contains("class Apple0"), "{plain:?}");
    let reports = Folder::new();
    let report = |name: &str| reports.path(name).to_str().unwrap().to_owned();
    let (lcov, json) = (report("cover.lcov"), report("cover.json"));
    let words = [
        "cover",
        "--methods",
        "AutoRest.CSharp!**",
        "-o",
        &lcov,
        "--also",
        &json,
    ];
    let (covered, told) = run(|path| clr_on(runtime, &words, &generator, &["--standalone", path]));
    assert_eq!(covered, plain, "{told}");

    // Each record of lcov agrees with its own lines, and all of them with the summary.
    let (mut files, mut found, mut hit) = (0, 0, 0);
    let lcov = text(&reports, "cover.lcov");
    for record in lcov.split_terminator("end_of_record\n") {
        let lines = |start: &str| -> Vec<&str> {
            record
                .lines()
                .filter_map(|line| line.strip_prefix(start))
                .collect()
        };
        let all: Vec<(u32, u64)> = lines("DA:")
            .iter()
            .map(|line| line.split_once(',').unwrap())
            .map(|(line, hits)| (line.parse().unwrap(), hits.parse().unwrap()))
            .collect();
        let hits = all.iter().filter(|(_, hits)| *hits > 0).count();
        assert_eq!(lines("LF:"), [all.len().to_string()], "{record}");
        assert_eq!(lines("LH:"), [hits.to_string()], "{record}");
        files += 1;
        found += all.len();
        hit += hits;
        // It has run once, without its server.
        if lines("SF:")[0].ends_with(r"\AutoRest.CSharp\Program.cs") {
            let main = "1,AutoRest.CSharp.Program.Main(string[])";
            let plugin = "0,AutoRest.CSharp.Program.PluginStart(JsonRpcConnection, string, string)";
            let called = lines("FNDA:");
            assert!(
                called.contains(&main) && called.contains(&plugin),
                "{called:?}"
            );
        }
    }
    assert_eq!(files, 688);
    let summary: Value = serde_json::from_str(&text(&reports, "cover.json")).unwrap();
    assert_eq!(summary["summary"]["lines"]["all"], found);
    assert_eq!(summary["summary"]["lines"]["covered"], hit);
    let share = hit as f64 / found as f64;
    println!("{hit} of {found} lines");
    assert!((0.15..0.25).contains(&share), "{share}");
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_single_file_application_is_covered_by_the_pdbs_next_to_it() {
    let Some(validator) = fetched(&VALIDATOR) else {
        return;
    };
    let folder = Folder::new();
    let log = write_log(&folder, 3);
    let lcov = folder.path("cover.lcov");
    let run = |mut command: Command| {
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        let output = command.arg("validate").arg(&log).output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{told}");
        (String::from_utf8(output.stdout).unwrap(), told)
    };
    let (plain, _) = run(Command::new(&validator));
    let mut command = clr(&["cover", "-o", lcov.to_str().unwrap(), "--"]);
    command.arg(&validator);
    let (covered, told) = run(command);
    assert_eq!(covered, plain, "{told}");
    assert!(plain.contains("SARIF2005"), "{plain}");

    // The rule has found its fault, another one none of its own.
    let lcov = text(&folder, "cover.lcov");
    let lines = |file: &str| {
        let mut records = lcov.split_terminator("end_of_record\n");
        let record = records.find(|record| record.contains(file)).expect(file);
        let hit = record.lines().filter(|line| {
            let hits = line.strip_prefix("DA:");
            hits.is_some_and(|line| !line.ends_with(",0"))
        });
        (hit.count(), record.contains("DA:"))
    };
    let (found, _) = lines("SARIF2005.ProvideToolProperties.cs");
    let (merges, has_lines) = lines("MergeCommand.cs");
    assert!(found > 20, "{found}");
    assert!(merges == 0 && has_lines, "{merges}");
}

/// A name as the JIT and the report have it, without generic parameters, arguments and the numbers of them.
fn plain_name(class: &str, method: &str) -> String {
    let (mut name, mut depth) = (String::new(), 0);
    for one in format!("{class}.{method}").replace('+', ".").chars() {
        match one {
            '[' | '<' => depth += 1,
            ']' | '>' => depth -= 1,
            _ if depth == 0 => name.push(one),
            _ => {}
        }
    }
    let mut parts = name.split('`');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        name + part.trim_start_matches(|one: char| one.is_ascii_digit())
    })
}

/// A server's command line of others: those of its methods are covered that the JIT says it has compiled, and its output is the same.
#[test]
fn the_methods_that_the_jit_has_compiled_are_covered() {
    let is_able = |runtime: &Runtime| runtime.major == 9 && runtime.application().is_some();
    let Some(runtime) = runtimes_where(is_able).into_iter().next() else {
        return;
    };
    let folder = Folder::new();
    let (json, compiled) = (folder.path("cover.json"), folder.path("compiled"));
    let application = runtime.application().unwrap();
    let run = |mut command: Command| {
        command.args(["tools", "list"]).env("HOME", folder.path(""));
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        command.env("AZURE_MCP_COLLECT_TELEMETRY", "false");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let (duration, rest): (Vec<&str>, Vec<&str>) = text
            .lines()
            .partition(|line| line.contains("\"duration\": "));
        assert_eq!(duration.len(), 1);
        rest.join("\n")
    };
    let plain = run(Command::new(application));
    let methods = "Azure.Mcp*!**; azmcp!**";
    let mut command = clr(&["cover", "--methods", methods, "-o", json.to_str().unwrap()]);
    command.arg("--").arg(application);
    command.env("DOTNET_JitDisasmSummary", "1");
    command.env("DOTNET_JitStdOutFile", &compiled);
    assert_eq!(run(command), plain);

    let report: Value = serde_json::from_str(&text(&folder, "cover.json")).unwrap();
    let (mut all, mut hit) = (BTreeSet::new(), BTreeSet::new());
    for method in report["without_lines"].as_array().unwrap() {
        let part = |name: &str| method[name].as_str().unwrap();
        let name = plain_name(part("class"), part("name"));
        let blocks = method["blocks"].as_array().unwrap();
        if blocks.iter().any(|hits| hits.as_u64() > Some(0)) {
            hit.insert(name.clone());
        }
        all.insert(name);
    }
    let compiled = text(&folder, "compiled");
    let names = compiled.lines().filter_map(|line| {
        let (_, method) = line.split_once(": JIT compiled ")?;
        // The name of an explicit implementation has colons, too.
        let (class, method) = method.split_once(':')?;
        Some(plain_name(class, method.split('(').next()?))
    });
    let compiled: BTreeSet<String> = names.filter(|name| all.contains(name)).collect();
    assert!(
        hit.len() > 500 && all.len() > 10 * hit.len(),
        "{} {}",
        hit.len(),
        all.len()
    );
    let without: Vec<_> = hit.difference(&compiled).collect();
    assert!(without.is_empty(), "{without:?}");
    // The process may end between the compilation of a method and its call.
    let missing: Vec<_> = compiled.difference(&hit).collect();
    assert!(missing.len() < 3, "{missing:?}");
}
