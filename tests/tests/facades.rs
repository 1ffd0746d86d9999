//! Assemblies that refer to the core library by a facade: `mscorlib`, as those built for .NET Framework
//! do, and `netstandard`. A facade forwards only types that are older than itself.

#![cfg(unix)]

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Scenario, profilee, runtimes};

const FACADES: [&str; 2] = ["mscorlib", "netstandard"];

/// The program's output, with or without an example.
const OUTPUT: (Option<i32>, &str, &str) = (
    Some(5),
    "outer 42\ncaught\ntook 1\ntook 13\ntook 2\nitem 3\n",
    "",
);

/// Runs the program under an example on each runtime; the log is the results of the example.
fn under(example: Example, options: &[&str], assert: impl Fn(&str)) {
    for runtime in runtimes() {
        for facade in FACADES {
            let folder = Folder::new();
            let results = folder.path("results");
            let mut all = options.to_vec();
            all.extend(["--output", results.to_str().unwrap()]);
            let program = profilee(&format!("{facade}/Helped"));
            let plain = Finished::of(example.plain(runtime, &program, &[]));
            let profiled = Finished::of(example.command(runtime, &all, &program, &[]));
            assert_eq!(plain.output(), OUTPUT);
            assert_eq!(profiled.output(), OUTPUT);
            println!("on {}, referring to {facade}", runtime.name);
            assert(&fs::read_to_string(results).unwrap());
        }
    }
}

/// How many lines begin with one text and contain another.
fn count(results: &str, start: &str, part: &str) -> usize {
    let lines = results.lines().map(str::trim_start);
    lines
        .filter(|line| line.starts_with(start) && line.contains(part))
        .count()
}

#[test]
fn a_guard_holds() {
    for facade in FACADES {
        let scenario = Scenario::at(profilee(&format!("{facade}/Helped")))
            .profiler("Helped")
            .env("HELPED", "native")
            .env("HELPER_WAY", "load")
            .env("HELPER", profilee("helper/Helper").to_str().unwrap());
        scenario.on_each_runtime(|_, profiled| {
            // The helper calls ToString of the 13th item, which throws.
            let output = OUTPUT.1.replace("took 13", "not this one");
            assert_eq!(
                profiled.output(),
                (Some(5), &*output, ""),
                "{}",
                profiled.log
            );
            let lines: Vec<_> = profiled.log.lines().skip(2).collect();
            assert_eq!(lines, ["saw item 1", "saw item 2", "saw item 3"]);
        });
    }
}

#[test]
fn calls_are_logged() {
    let options = ["--methods", "Helped.Program.*", "--count"];
    under(Example("method_logger"), &options, |calls| {
        for (method, expected) in [("Outer", 2), ("Inner", 2), ("Take", 3)] {
            let method = format!(" Helped.Program.{method}(");
            assert_eq!(count(calls, ">", &method), expected, "{calls}");
            assert_eq!(count(calls, "<", &method), expected, "{calls}");
        }
    });
}

#[test]
fn results_are_shown() {
    for options in [
        &["--methods", "Helped.Program.*"][..],
        &["--methods", "Helped.Program.*", "--native"],
    ] {
        under(Example("return_inspector"), options, |results| {
            // The second calls throw.
            let [inner, outer, main] = [
                "Helped.Program.Inner(int) = 21",
                "Helped.Program.Outer(int) = 42",
                "Helped.Program.Main() = 5",
            ]
            .map(|line| count(results, line, ""));
            assert_eq!((inner, outer, main), (1, 1, 1), "{results}");
        });
    }
}
