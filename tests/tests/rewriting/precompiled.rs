//! Each call is seen of precompiled code, which contains inlined copies of its own methods.
//!
//! A library of the framework is such code. Under another name it is one of the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clr_metadata::Bundle;
use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes};

const LIBRARY: &str = "System.Private.Uri";
const RENAMED: &str = "Zystem.Private.Uri";

/// The library of the framework with another name of the same length, in this folder.
fn renamed(runtime: &Runtime, folder: &Folder) -> PathBuf {
    let file = format!("{LIBRARY}.dll");
    let content = match runtime.framework() {
        Some(framework) => fs::read(framework.join(file)).unwrap(),
        None => {
            let application = fs::read(runtime.application().unwrap()).unwrap();
            let bundle = Bundle::find(&application).unwrap();
            let mut files = bundle.files().map(Result::unwrap);
            let found = files.find(|found| found.path == file).unwrap();
            found.contents().unwrap().into_owned()
        }
    };
    // The signature of ReadyToRun code.
    assert!(content.windows(4).any(|bytes| bytes == b"RTR\0"));
    let mut content = content;
    let old = format!("{LIBRARY}\0").into_bytes();
    let places: Vec<usize> = content
        .windows(old.len())
        .enumerate()
        .filter_map(|(place, bytes)| (bytes == old).then_some(place))
        .collect();
    for place in places {
        content[place..place + RENAMED.len()].copy_from_slice(RENAMED.as_bytes());
    }
    let path = folder.path(&format!("{RENAMED}.dll"));
    fs::write(&path, content).unwrap();
    path
}

/// The results of an example on the program with the library.
fn results(example: Example, runtime: &Runtime, library: &Path, options: &[&str]) -> String {
    let folder = Folder::new();
    let file = folder.path("results");
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let words = [library.to_str().unwrap()];
    let plain = Finished::of(example.plain(runtime, &profilee("Precompiled"), &words));
    let told = "http example.org 8080 /b/c%20d.e ?f=g49 #h Zystem.Private.Uri\n";
    assert_eq!(plain.output(), (Some(7), told, ""));
    let finished = Finished::of(example.command(runtime, &all, &profilee("Precompiled"), &words));
    assert_eq!(finished.output(), plain.output(), "{}", runtime.name);
    fs::read_to_string(file).unwrap()
}

/// The library's methods, each with the number of its calls: all overloads as one, and all instances.
fn counts<'a>(
    lines: &'a str,
    call: impl Fn(&'a str) -> Option<(&'a str, u64)>,
) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (name, number) in lines.lines().filter_map(call) {
        if name.starts_with("System.") {
            *counts.entry(plain_name(name)).or_default() += number;
        }
    }
    counts
}

/// A method's name without parameters and generic arguments.
fn plain_name(name: &str) -> String {
    let (name, _) = name.split_once('(').unwrap_or((name, ""));
    let mut depth = 0;
    let outside = name.chars().filter(|character| {
        depth += i32::from(*character == '<');
        let is_outside = depth == 0;
        depth -= i32::from(*character == '>');
        is_outside
    });
    outside.collect()
}

#[test]
fn each_call_of_a_precompiled_library_is_logged() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let library = renamed(runtime, &folder);
        let il = folder.path("il");
        let options = ["--il", il.to_str().unwrap()];
        let log = results(Example("method_logger"), runtime, &library, &options);
        let logged = counts(&log, |line| {
            let call = line.trim_start().strip_prefix("> ")?;
            Some((call.split("  [").next()?, 1))
        });
        let il = fs::read_to_string(il).unwrap();
        assert!(!il.contains("\nrefused: "), "{il}");
        let counted = counted(runtime, &library);
        assert!(counted.len() > 30, "{counted:?}");
        assert_eq!(logged, counted);
    }
}

/// The calls that hooks see: each one, because with hooks no precompiled code is used and nothing is inlined.
fn counted(runtime: &Runtime, library: &Path) -> BTreeMap<String, u64> {
    let table = results(Example("call_counter"), runtime, library, &["--no-times"]);
    counts(&table, |line| {
        let (number, name) = line.trim_start().split_once("  ")?;
        Some((name.trim_start(), number.parse().ok()?))
    })
}

#[test]
fn each_call_from_precompiled_code_is_traced() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let library = renamed(runtime, &folder);
        let [config, summary] = ["config", "summary"].map(|name| folder.path(name));
        // Small methods, but not their callers.
        fs::write(&config, format!("{RENAMED}!**.get_*\n")).unwrap();
        let config = format!("@{}", config.display());
        let file = summary.to_str().unwrap();
        let methods = ["--budget", "100", "--methods", &config];
        let options = [&methods[..], &["--summary", file]].concat();
        results(Example("method_tracer"), runtime, &library, &options);
        let summary = fs::read_to_string(file).unwrap();
        assert!(!summary.contains("not traced:"), "{summary}");
        let traced = counts(&summary, |line| {
            let number = line.split_whitespace().next()?.parse().ok()?;
            Some((&line[line.find("System.")?..], number))
        });
        let mut counted = counted(runtime, &library);
        counted.retain(|name, _| name.contains(".get_"));
        assert!(counted.len() > 10, "{counted:?}");
        assert_eq!(traced, counted);
    }
}
