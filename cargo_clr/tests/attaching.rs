//! The verbs in a running program.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Folder, Running, Runtime, profilee, runtimes, runtimes_where};

use crate::command::{clr, stderr, stdout, text};

/// The program works while the command profiles it. Returns the message of the command.
fn attached(runtime: &Runtime, verb: &[&str], output: &Path) -> (String, Option<i32>) {
    let (told, code, _) = watched(runtime, verb, "1", output);
    (told, code)
}

/// As `attached`, with the results of the program's work, the last one after the end of the command.
fn watched(
    runtime: &Runtime,
    verb: &[&str],
    seconds: &str,
    output: &Path,
) -> (String, Option<i32>, Vec<String>) {
    let launch = runtime.launch(&profilee("Hot"), &[]);
    let mut program = Running::start(launch.command().unwrap());
    assert_eq!(program.line(), "ready");
    assert!(program.ask("run").starts_with("ran "));
    let process = program.id().to_string();
    let words = [
        verb,
        &[
            "-p",
            &process,
            "--duration",
            seconds,
            "-o",
            output.to_str().unwrap(),
        ],
    ]
    .concat();
    let mut command = clr(&words);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let child = std::thread::spawn(move || child.wait_with_output().unwrap());
    let begun = Instant::now();
    let mut results = Vec::new();
    let result = |line: String| line.split(' ').nth(1).unwrap().to_owned();
    while !child.is_finished() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "it does not end"
        );
        results.push(result(program.ask("run")));
    }
    let told = child.join().unwrap();
    // The program continues. A call that had begun before the end is over by now.
    assert!(program.ask("run").starts_with("ran "));
    results.push(result(program.ask("run")));
    drop(program);
    (stderr(&told), told.status.code(), results)
}

#[test]
fn cpu() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (told, code) = attached(runtime, &["cpu"], &folder.path("cpu.txt"));
        assert_eq!(code, Some(0), "{told}");
        let table = text(&folder, "cpu.txt");
        assert!(table.contains("Hot.Program"), "{told}: {table}");
    }
}

#[test]
fn gc() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (told, code) = attached(runtime, &["gc"], &folder.path("gc.txt"));
        assert_eq!(code, Some(0), "{told}");
        assert!(text(&folder, "gc.txt").contains("largest heap"), "{told}");
    }
}

#[test]
fn exceptions() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (told, code) = attached(runtime, &["exceptions"], &folder.path("exceptions.txt"));
        assert_eq!(code, Some(0), "{told}");
    }
}

#[test]
fn log() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (told, code) = attached(runtime, &["log"], &folder.path("log.txt"));
        assert_eq!(code, Some(0), "{told}");
        assert!(!told.contains("stays loaded"), "{told}");
    }
}

#[test]
fn trace() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let words = [
            "trace",
            "--methods",
            "Hot.Program.Work",
            // Nobody listens there.
            "--otlp",
            "http://127.0.0.1:9/v1/traces",
        ];
        let (told, code, results) = watched(runtime, &words, "2", &folder.path("trace.json"));
        assert_eq!(code, Some(0), "{told}");
        assert!(
            results.iter().all(|result| result == "93100300"),
            "{results:?}"
        );
        assert!(
            told.contains("open it at https://ui.perfetto.dev"),
            "{told}"
        );
        let lines = told.lines().filter(|line| line.contains(" spans not sent"));
        assert_eq!(lines.count(), 1, "{told}");
        assert!(told.contains("stays loaded"), "{told}");
        let json: serde_json::Value = serde_json::from_str(&text(&folder, "trace.json")).unwrap();
        let rows = json["otherData"]["methods"].as_array().unwrap();
        let [row] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert_eq!(row["name"], "Hot.Program.Work()");
        let calls = row["calls"].as_u64().unwrap();
        // The first calls have the helper loaded, and compile the new IL.
        assert!(calls > 0 && calls < results.len() as u64 + 2, "{json}");
    }
}

#[test]
fn patch() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let faults = folder.path("faults.txt");
        std::fs::write(&faults, "return 0 in 100 % of Hot.Program.Own\n").unwrap();
        let words = ["patch", "--faults", faults.to_str().unwrap()];
        let (told, code, results) = watched(runtime, &words, "4", &folder.path("patch.txt"));
        assert_eq!(code, Some(0), "{told}");
        // All calls of a run have the fault, and after the end none.
        assert!(
            results.iter().any(|result| result == "50100300"),
            "{results:?}"
        );
        assert_eq!(results.last().unwrap(), "93100300", "{told}");
        assert!(told.contains(" calls of 1 methods"), "{told}");
        let table = text(&folder, "patch.txt");
        assert!(
            table.contains("return 0 in 100 % of Hot.Program.Own"),
            "{table}"
        );
    }
}

/// The runtime's own samples need .NET 5.
#[test]
fn alloc() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (told, code) = attached(runtime, &["alloc"], &folder.path("alloc.txt"));
        if runtime.major < 5 {
            assert_eq!(code, Some(1), "{told}");
            assert!(told.contains("needs .NET 5 or newer"), "{told}");
        } else {
            assert_eq!(code, Some(0), "{told}");
        }
    }
}

/// `ps` shows a program, and afterwards the library that was loaded into it.
#[test]
fn processes_are_listed() {
    for runtime in runtimes_where(|runtime| runtime.application().is_none()) {
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        program.ask("run");
        let process = program.id();
        let row = || {
            let output = clr(&["ps"]).output().unwrap();
            let lines = stdout(&output);
            let row = lines
                .lines()
                .find(|line| line.trim_start().starts_with(&format!("{process} ")));
            row.map(str::to_owned).unwrap_or_else(|| panic!("{lines}"))
        };
        let before = row();
        assert!(
            before.contains("Hot.dll") && before.contains("none"),
            "{before}"
        );
        assert!(before.contains(&runtime.version().to_string()), "{before}");
    }
}

#[test]
fn a_process_that_does_not_exist() {
    let folder = Folder::new();
    let file = folder.path("x");
    for verb in ["cpu", "gc"] {
        let words = [verb, "-p", "4194305", "-o", file.to_str().unwrap()];
        let output = clr(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("no process 4194305"),
            "{}",
            stderr(&output)
        );
    }
    let output = clr(&["doctor", "-p", "4194305"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}
