//! The verbs that profile a program that they start.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use clr_profiler_tests::{Finished, Folder, Running, Runtime, profilee, runtimes};
use serde_json::Value;

use crate::command::{KILLED, clr, clr_on, kill_program, sample, stderr, stdout, text};

/// Runs a verb with the sample program, and returns the text of the results.
fn run(runtime: &Runtime, verb: &[&str], file: &str) -> (String, String) {
    let folder = Folder::new();
    let output = folder.path(file);
    let words = [verb, &["-o", output.to_str().unwrap()]].concat();
    let plain = runtime
        .launch(&sample(), &["exit=7"])
        .command()
        .unwrap()
        .output()
        .unwrap();
    let profiled = clr_on(runtime, &words, &sample(), &["exit=7"])
        .output()
        .unwrap();
    let told = stderr(&profiled);
    assert_eq!(profiled.status.code(), Some(7), "{verb:?}: {told}");
    assert_eq!(stdout(&profiled), stdout(&plain));
    assert!(told.contains(&format!("{}: wrote `", verb[0])), "{told}");
    (text(&folder, file), told)
}

#[test]
fn cpu() {
    for runtime in runtimes() {
        let (svg, told) = run(runtime, &["cpu"], "cpu.svg");
        let suspends = "cpu: the runtime is suspended for each sample: ";
        let interrupts = cfg!(target_os = "linux");
        assert_eq!(told.contains(suspends), !interrupts, "{told}");
        assert!(svg.contains("<svg") && svg.contains("Shop."), "{svg}");
        assert!(told.contains("open it in a browser"), "{told}");
        let (table, _) = run(runtime, &["cpu", "--interval", "500", "--wall"], "cpu.txt");
        assert!(
            table.contains("with callees") && table.contains("Shop."),
            "{table}"
        );
        let (stacks, _) = run(runtime, &["cpu", "--threads", "--wall"], "cpu.folded");
        let mut lines = stacks.lines();
        assert!(lines.all(|line| line.starts_with("[thread ")), "{stacks}");
        assert!(stacks.contains(";Shop.Program.Main(string[])"), "{stacks}");
    }
}

#[test]
fn gc() {
    for runtime in runtimes() {
        let (lines, _) = run(runtime, &["gc"], "gc.txt");
        assert!(lines.contains("largest heap"), "{lines}");
    }
}

#[test]
fn exceptions() {
    for runtime in runtimes() {
        let (lines, _) = run(runtime, &["exceptions"], "exceptions.txt");
        assert!(
            lines.contains("Exception") && lines.contains("caught in"),
            "{lines}"
        );
    }
}

#[test]
fn log() {
    for runtime in runtimes() {
        let (lines, _) = run(
            runtime,
            &["log", "--methods", "Shop.**", "--summary"],
            "log.txt",
        );
        assert!(lines.contains("[jit] Shop."), "{lines}");
        assert!(!lines.contains("[jit] System."), "{lines}");
    }
}

#[test]
fn calls() {
    for runtime in runtimes() {
        let (table, _) = run(runtime, &["calls", "--sort", "calls"], "calls.txt");
        assert!(table.contains("Shop."), "{table}");
    }
}

#[test]
fn alloc() {
    for runtime in runtimes() {
        let (table, _) = run(runtime, &["alloc"], "alloc.txt");
        assert!(table.contains("System.String"), "{table}");
    }
}

#[test]
fn heap() {
    for runtime in runtimes() {
        let (table, _) = run(runtime, &["heap"], "heap.txt");
        assert!(
            table.contains("retained  type") && table.contains("  string\n"),
            "{table}"
        );
    }
}

#[test]
fn trace() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let summary = folder.path("summary.txt");
        let words = [
            "trace",
            "--methods",
            "Shop.Store.*",
            "--arguments",
            "--budget=100", // Its three calls are counted.
            "--summary",
            summary.to_str().unwrap(),
            "--otlp",
            "http://127.0.0.1:9/v1/traces", // Nobody listens there.
        ];
        let (json, told) = run(runtime, &words, "trace.json");
        assert!(
            told.contains("open it at https://ui.perfetto.dev"),
            "{told}"
        );
        let lines = told.lines().filter(|line| line.contains("spans not sent"));
        assert_eq!(lines.count(), 1, "{told}");
        let trace: Value = serde_json::from_str(&json).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let sold = events
            .iter()
            .filter(|event| event["name"] == "Shop.Store.Sell(string, int)");
        assert_eq!(sold.count(), 3, "{json}");
        let is_name = |event: &&Value| event["name"] == "thread_name";
        let name = events.iter().find(is_name).unwrap();
        assert_eq!(name["args"]["name"], "main");
        let table = text(&folder, "summary.txt");
        assert!(
            table.is_empty() || table.contains("Shop.Store.Sell"),
            "{table}"
        );
    }
}

/// The program's own result says how many calls had a fault.
#[test]
fn patch() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (faults, output) = (folder.path("faults.txt"), folder.path("patch.txt"));
        let line = "return 0 in 50 % of Hot.Program.Own";
        fs::write(&faults, format!("seed 7\n{line}\n")).unwrap();
        let [given, file] = [&faults, &output].map(|path| path.to_str().unwrap());
        let words = ["patch", "--faults", given, "-o", file];
        let once = || {
            let command = clr_on(runtime, &words, &profilee("Hot"), &[]);
            let finished = Finished::with_input(command, b"run\nend\n");
            let told = finished.stderr;
            assert_eq!(finished.status.code(), Some(3), "{told}");
            assert!(told.contains("patch: wrote `"), "{told}");
            let counts = told
                .lines()
                .find_map(|line| line.strip_prefix("patch: ")?.split_once(" faults in "));
            let (hits, of) = counts.unwrap_or_else(|| panic!("{told}"));
            assert_eq!(
                of, "100000 calls of 1 method; 1 method patched, for all callers",
                "{told}"
            );
            let hits: i64 = hits.parse().unwrap();
            assert!((49_000..51_000).contains(&hits), "{told}");
            let expected = format!("ran {} in ", 93_100_300 - 430 * hits);
            assert!(finished.stdout.contains(&expected), "{}", finished.stdout);
            let table = fs::read_to_string(&output).unwrap();
            assert!(
                table.contains(&format!("{hits}  {line}\n")) && table.contains("instrumented"),
                "{table}"
            );
            hits
        };
        assert_eq!(once(), once());
    }
}

/// Also those of a method with a loop, which keeps its IL.
#[test]
fn faults_end_with_the_duration() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (faults, output) = (folder.path("faults.txt"), folder.path("patch.txt"));
        fs::write(&faults, "return 7 in 100 % of Hot.Program.Work").unwrap();
        let [given, file] = [&faults, &output].map(|path| path.to_str().unwrap());
        let words = ["patch", "--duration", "1", "--faults", given, "-o", file];
        let mut command = clr_on(runtime, &words, &profilee("Hot"), &[]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut results = BTreeSet::new();
        let deadline = Instant::now() + Duration::from_secs(60);
        while !results.contains("93100300") && Instant::now() < deadline {
            stdin.write_all(b"run\n").unwrap();
            let ran = lines
                .by_ref()
                .map(Result::unwrap)
                .find(|line| line.starts_with("ran "));
            let ran = ran.expect("the program answers");
            results.insert(ran.split(' ').nth(1).unwrap().to_owned());
            thread::sleep(Duration::from_millis(20));
        }
        stdin.write_all(b"end\n").unwrap();
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(3));
        let results: Vec<&str> = results.iter().map(String::as_str).collect();
        assert_eq!(results, ["7", "93100300"], "on {}", runtime.name);
    }
}

/// At the calls in the program, or for all callers: the line says which.
#[test]
fn patches_in_csharp_are_applied() {
    let patches = profilee("ManagedPatched/Core");
    for runtime in runtimes() {
        let folder = Folder::new();
        let output = folder.path("patch.txt");
        let [given, file] = [&patches, &output].map(|path| path.to_str().unwrap());
        for (words, times, said) in [
            (
                &["patch", "--patches", given, "-o", file][..],
                "times 2001 now now now now",
                " patched, in ",
            ),
            (
                &["patch", "--patches", given, "--all-callers", "-o", file],
                "times 2001 2001 2001 2001 2001",
                "patch: 3 methods patched, for all callers, ",
            ),
        ] {
            let command = clr_on(runtime, words, &profilee("CorePatched"), &[]);
            let finished = Finished::of(command);
            let told = finished.stderr;
            assert_eq!(finished.status.code(), Some(6), "{told}");
            let lines: Vec<&str> = finished.stdout.lines().collect();
            assert_eq!(lines.first(), Some(&times), "{words:?} {told}");
            assert_eq!(lines.last(), Some(&"wrong 0"), "{words:?} {told}");
            assert!(told.contains(said), "{words:?} {told}");
            let table = fs::read_to_string(&output).unwrap();
            let is_by_address = table.contains("System.DateTime.get_UtcNow() (by addresses)\n");
            assert_eq!(is_by_address, words.contains(&"--all-callers"), "{table}");
        }
    }
}

/// An exception that the program does not catch ends it, without the end of the tool.
#[test]
fn a_patched_program_that_crashes_has_its_line() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (faults, output) = (folder.path("faults.txt"), folder.path("patch.txt"));
        let line = "throw System.TimeoutException \"no answer\" in 100 % of Hot.Program.Own";
        fs::write(&faults, line).unwrap();
        let [given, file] = [&faults, &output].map(|path| path.to_str().unwrap());
        let words = ["patch", "--faults", given, "-o", file];
        let command = clr_on(runtime, &words, &profilee("Hot"), &[]);
        let finished = Finished::with_input(command, b"run\nend\n");
        let told = finished.stderr;
        // On Windows, the code of the runtime's own exceptions.
        let crashed = match cfg!(windows) {
            true => 0xE043_4352_u32 as i32,
            false => 128 + 6,
        };
        assert_eq!(finished.status.code(), Some(crashed), "{told}");
        assert!(
            told.contains("System.TimeoutException: no answer"),
            "{told}"
        );
        let counts = told
            .lines()
            .filter(|line| line.starts_with("patch: ") && line.contains(" fault"));
        assert_eq!(counts.count(), 1, "{told}");
    }
}

#[test]
fn a_trace_without_a_call_says_so() {
    for runtime in runtimes() {
        for (method, is_called) in [("get_Cents", false), ("ToString", true)] {
            let folder = Folder::new();
            let method = format!("Shop.Money.{method}");
            let file = folder.path("trace.json");
            let words = ["trace", "--methods", &method, "-o", file.to_str().unwrap()];
            let told = stderr(&clr_on(runtime, &words, &sample(), &[]).output().unwrap());
            let is_told = told.contains("no call of a traced method was recorded");
            assert_eq!(is_told, !is_called, "{method}: {told}");
        }
    }
}

/// Of assemblies of .NET, which `trace` and `patch` change only by their names.
#[test]
fn patterns_without_the_assembly_are_said() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (faults, output) = (folder.path("faults.txt"), folder.path("results"));
        fs::write(&faults, "delay 1 ms in 1 % of System.Console.WriteLine\n").unwrap();
        let [given, file] = [&faults, &output].map(|path| path.to_str().unwrap());
        for words in [
            ["trace", "--methods", "System.Console.WriteLine", "-o", file],
            ["patch", "--faults", given, "-o", file],
        ] {
            let told = stderr(&clr_on(runtime, &words, &sample(), &[]).output().unwrap());
            let hint = "need their names, `ASSEMBLY!System.Console.WriteLine`";
            assert!(told.contains(hint), "{words:?}: {told}");
        }
    }
}

#[test]
fn a_result_that_a_method_cannot_have_is_said() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (faults, output) = (folder.path("faults.txt"), folder.path("patch.txt"));
        let [given, file] = [&faults, &output].map(|path| path.to_str().unwrap());
        let words = ["patch", "--faults", given, "-o", file];
        fs::write(&faults, "return 0 in 100 % of Shop.Store.Inventory\n").unwrap();
        let told = stderr(&clr_on(runtime, &words, &sample(), &[]).output().unwrap());
        assert!(told.contains("it cannot be `0`"), "{told}");
        assert!(told.contains("patch: 0 faults in 1 call of"), "{told}");
    }
}

#[test]
fn patches_that_match_nothing_are_said() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (faults, output) = (folder.path("faults.txt"), folder.path("patch.txt"));
        let [given, file] = [&faults, &output].map(|path| path.to_str().unwrap());
        let words = ["patch", "--faults", given, "-o", file];
        for (pattern, hint) in [
            ("Hot.Program.Nobody", "no type that it names was loaded"),
            ("Shop.Store.Sel", "Shop.Store has .ctor, Inventory, "),
        ] {
            fs::write(&faults, format!("delay 1 ms in 1 % of {pattern}\n")).unwrap();
            let told = stderr(&clr_on(runtime, &words, &sample(), &[]).output().unwrap());
            let expected = format!(
                "patch: 0 faults in 0 calls of 0 methods; `{pattern}` has matched nothing: {hint}"
            );
            assert!(told.contains(&expected), "{told}");
        }
    }
}

/// The time is over before the program ends: the results are complete then.
#[test]
fn a_time_limit_ends_the_tool_and_not_the_program() {
    for runtime in runtimes() {
        let (table, told) = run(
            runtime,
            &["cpu", "--wall", "--duration", "150ms"],
            "cpu.txt",
        );
        assert!(table.contains("with callees"), "{table}");
        assert!(!told.contains("without notice"), "{told}");
    }
}

#[test]
fn the_outcome_as_json() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("gc.txt");
        let words = ["gc", "--json", "-o", file.to_str().unwrap()];
        let output = clr_on(runtime, &words, &sample(), &[]).output().unwrap();
        let told = stdout(&output);
        let json = told.lines().last().unwrap();
        for part in [
            "\"verb\":\"gc\"",
            "\"started\":true",
            "\"complete\":true",
            "\"error\":null",
        ] {
            assert!(json.contains(part), "{json}");
        }
    }
}

/// Of any profiler.
const CLSID: &str = "DF63A541-5A33-4611-8829-F4E495985EE3";

/// A mistake on the command line ends the command before the program starts.
#[test]
fn mistakes_are_found_before_the_program_starts() {
    let folder = Folder::new();
    let program = sample();
    fs::create_dir(folder.path("folder")).unwrap();
    fs::write(folder.path("file"), "").unwrap();
    fs::write(folder.path("faults"), "\nfrobnicate\n").unwrap();
    fs::write(folder.path("calls"), "delay 1 ms in 1 % of A::B\n").unwrap();
    fs::write(folder.path("patterns"), "A.B\n C/D.E\n").unwrap();
    fs::write(folder.path("rules.yaml"), "rules:\n  - methods: A.B(\n").unwrap();
    let before = folder.listing();
    let program = program.to_str().unwrap();
    let elsewhere = match cfg!(target_os = "linux") {
        // Nobody can write there, not even root.
        true => (
            &["gc", "-o", "/proc/self/gc.txt", "--", program][..],
            "cannot be written to `/proc/self/gc.txt`",
        ),
        false => (
            &["log", "--perf-map", "--", program][..],
            "Names for perf are for Linux",
        ),
    };
    let container = match cfg!(target_os = "linux") {
        true => "/no/folder",
        false => "are examined on Linux alone",
    };
    for (words, part) in [
        (
            &["cpu", "--interval", "abc", "--", program][..],
            "--interval",
        ),
        (&["cpu", "--interval", "1", "--", program], "100..=10000000"),
        (&["cpu"], "PROGRAM"),
        (&["cpu", "-p", "1", "--", program], "cannot be used with"),
        (&["cpu", "--duration", "0", "--", program], "0.01"),
        (&["calls", "--sort", "name", "--", program], "own"),
        (&["calls", "-p", "1"], "at its start"),
        (&["heap", "-p", "1"], "at its start"),
        (&["heap", "--path", "X", "--", program], "--path"),
        (
            &["log", "--methods", "@/no/file", "--", program],
            "/no/file",
        ),
        (
            &["gc", "-o", "/no/folder/gc.txt", "--", program],
            "/no/folder",
        ),
        (&["log", "--methods", "A::B", "--", program], "A::B"),
        (
            &["trace", "--otlp", "https://localhost/", "--", program],
            "plain HTTP",
        ),
        (&["trace", "--max-size", "0", "--", program], "1..=1000000"),
        (
            &["trace", "--summary", "/no/folder/x", "--", program],
            "/no/folder",
        ),
        (
            &["trace", "--rules", "rules.yaml", "--", program],
            "rules.yaml:2:18: ",
        ),
        (&["rules", "rules.yaml"], "rules.yaml:2:18: "),
        (&["rules", "/no/file"], "/no/file"),
        (&["patch", "--", program], "--faults"),
        (
            &["patch", "--faults", "/no/file", "--", program],
            "/no/file",
        ),
        (&["patch", "--faults", "folder", "--", program], "folder"),
        (&["patch", "--patches", "file", "--", program], "file"),
        (
            &[
                "patch",
                "--faults",
                "faults",
                "--all-callers",
                "--",
                program,
            ],
            "--patches",
        ),
        (
            &["patch", "--faults", "faults", "--", program],
            "faults:2:1: `frobnicate` is no fault",
        ),
        (
            &["patch", "--faults", "calls", "--", program],
            "calls:1:23: nested types",
        ),
        (&["patch", "--faults", "file", "--", program], "file:1:1: "),
        (
            &["calls", "--methods", "@patterns", "--", program],
            "patterns:2:3: nested types",
        ),
        (&["gc", "-o", "folder", "--", program], "is a folder"),
        (&["gc", "-o", "folder/", "--", program], "is a folder"),
        (&["gc", "-o", "file/x.txt", "--", program], "no folder"),
        (
            &["trace", "--summary", "folder", "--", program],
            "is a folder",
        ),
        (
            &["trace", "--summary", "x", "-o", "x", "--", program],
            "two files",
        ),
        (
            &["trace", "--otlp", "http://a:99999/", "--", program],
            "plain HTTP",
        ),
        (&["exceptions", "--depth", "abc", "--", program], "--depth"),
        (&["heap", "--after", "abc", "--", program], "--after"),
        (&["gc", "--", "/no/App.dll"], "/no/App.dll"),
        (&["gc", "--", "folder"], "folder"),
        (&["attach", "1", "--timeout", "abc"], "--timeout"),
        (&["verify", "/no/folder"], "/no/folder"),
        (&["doctor", "--container-root", "/no/folder"], container),
        (&["new", "x", "--checkout", "/no/folder"], "/no/folder"),
        (
            &["run", "--profiler", "x.so", "--clsid", CLSID, "--", program],
            "no library `x.so`",
        ),
        (&["frobnicate"], "unrecognized"),
        (&["run", "--profiler", "x.so", "--", program], "--clsid"),
        (
            &["run", "--profiler", "x.so", "--clsid", "y", "--", program],
            "not a CLSID",
        ),
        elsewhere,
    ] {
        let output = clr(words).current_dir(folder.path("")).output().unwrap();
        // Paths of Windows have other separators.
        let told = stderr(&output).replace('\\', "/");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains(part), "{words:?}: {told}");
        assert_eq!(stdout(&output), "", "{words:?}");
    }
    // Neither results nor a try of them.
    assert_eq!(folder.listing(), before);
}

/// The results of a run that was killed are not taken for those of the next one.
#[test]
fn old_results_are_removed() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("gc.txt");
        fs::write(&file, "old").unwrap();
        let words = ["gc", "-o", file.to_str().unwrap()];
        let mut command = clr_on(runtime, &words, &sample(), &[]);
        // The runtime ignores the profiler on .NET Core 3.1 only.
        command.env("DOTNET_EnableDiagnostics", "0");
        let output = command.output().unwrap();
        let told = stderr(&output);
        // The launcher refuses it before the program starts, and before anything is removed.
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        let output = clr_on(runtime, &words, &sample(), &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!fs::read_to_string(&file).unwrap().contains("old"));
    }
}

/// A program that is killed leaves the results of the last write, or none, but not those of an earlier run.
#[test]
fn a_killed_run_leaves_no_old_results() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("cpu.txt");
        fs::write(&file, "old").unwrap();
        let words = ["cpu", "-o", file.to_str().unwrap()];
        let command = clr_on(runtime, &words, &profilee("Hot"), &[]);
        let mut program = Running::start(command);
        assert_eq!(program.line(), "ready");
        kill_program(program.id());
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(KILLED), "{}", finished.stderr);
        let left = fs::read_to_string(&file).unwrap_or_default();
        assert!(!left.contains("old"), "{left}");
        let told = finished.stderr;
        assert!(
            told.contains("cpu: nothing was written") || told.contains("ended without notice"),
            "{told}"
        );
    }
}

/// `cargo-clr VERB` is `cargo clr VERB`.
#[test]
fn without_cargo() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-clr"));
    let output = command.args(["ps", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with('['));
    let output = clr(&["--help"]).output().unwrap();
    assert!(
        stdout(&output).contains("cargo clr cpu"),
        "{}",
        stdout(&output)
    );
}
