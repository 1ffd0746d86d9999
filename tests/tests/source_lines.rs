//! The option `--lines` of examples: files and lines of the program's source, and names as they are in it.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, profilee, runtimes};

/// The output of an example with `--lines` for a program, whose own output it does not change.
fn output_of(
    example: &'static str,
    name: &str,
    options: &[&str],
    arguments: &[&str],
) -> Vec<(String, String)> {
    let (example, program) = (Example(example), profilee(name));
    let outputs = runtimes().into_iter().map(|runtime| {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        // Logs are text.
        let file = folder.path(match example.0 {
            "cpu_sampler" => "output.folded",
            _ => "output.txt",
        });
        let own = ["--lines", "--output", file.to_str().unwrap()];
        let options = [&own[..], options].concat();
        let plain = Finished::of(example.plain(runtime, &program, arguments));
        let profiled = Finished::of(example.command(runtime, &options, &program, arguments));
        assert_eq!(profiled.status.code(), plain.status.code());
        assert_eq!(profiled.stdout, plain.stdout);
        (runtime.name.to_string(), fs::read_to_string(file).unwrap())
    });
    outputs.collect()
}

#[test]
fn jit_logger_tells_where_methods_begin() {
    for name in ["pdb/SourcesDebug", "pdb/SourcesRelease"] {
        for (_, log) in output_of(
            "jit_logger",
            name,
            &["--methods", "Sources.**; generated Sources.**"],
            &[],
        ) {
            let line = |method: &str| {
                let line = log
                    .lines()
                    .find(|line| line.starts_with(&format!("[jit] Sources.Program.{method} in ")));
                let line = line.unwrap_or_else(|| panic!("{method}: {log}"));
                line.rsplit_once(" in ").unwrap().1
            };
            assert!(line("Main()").starts_with("/_/tests/profilees/pdb/Sources.cs:"));
            // Lines of `#line`, after those of the file itself.
            assert!(line("Others(int)").contains("/Sources.cs:"), "{log}");
            // The iterator, whose code is in a state machine.
            assert!(line("Items(int)").contains("/Sources.cs:"), "{log}");
            assert!(line("Later(int)").contains("/Sources.cs:"), "{log}");
            assert!(!log.contains(".MoveNext()"), "{log}");
        }
    }
}

#[test]
fn exception_logger_tells_the_lines_of_frames() {
    for (runtime, log) in output_of("exception_logger", "pdb/SourcesDebug", &[], &[]) {
        // .NET 9 reports exceptions by events, in which it refuses the call for lines.
        if runtime.contains("NET 9.") {
            assert!(log.contains("    at Sources.Program.Later(int)\n"), "{log}");
            continue;
        }
        for frame in [
            "    at Sources.Program.Fail(object) in /_/tests/profilees/pdb/Sources.cs:",
            "    at Sources.Program.Others(int) in /_/other/Second file \u{e9}.cs:8",
            "    at Sources.Program.Later(int) in /_/tests/profilees/pdb/Sources.cs:",
        ] {
            assert!(log.contains(frame), "{frame}: {log}");
        }
    }
}

#[test]
fn cpu_sampler_tells_the_lines_that_spend_the_time() {
    let source = fs::read_to_string(profilee("Spins").with_extension("cs")).unwrap();
    let line = |call: &str| {
        let line = source.lines().position(|line| line.trim() == call);
        format!("Spins.Program.Spin(int) Spins.cs:{}", line.unwrap() + 1)
    };
    for (_, folded) in output_of("cpu_sampler", "Spins", &[], &["1", "300"]) {
        let stacks: Vec<_> = folded.lines().collect();
        let is_below = |frame: &str, leaf: &str| {
            stacks.iter().any(|stack| {
                let mut frames = stack.split(';').skip_while(|name| *name != frame);
                frames.next().is_some() && frames.any(|name| name.starts_with(leaf))
            })
        };
        for (call, leaf) in [
            ("Hot<int>.Seventy();", "Spins.Program+Hot<int>.Seventy() "),
            ("Deep(30);", "Spins.Program.Deep(int) Spins.cs:"),
        ] {
            assert!(is_below(&line(call), leaf), "{call}: {folded}");
        }
    }
}
