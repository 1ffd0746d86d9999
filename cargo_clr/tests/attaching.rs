//! The verbs in a running program.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clr_profiler_launcher::{Attach, ProfilerLibrary};
use clr_profiler_tests::{Folder, Running, Runtime, profilee, runtimes, runtimes_where};

use crate::command::{clr, stderr, stdout, text};
use crate::doctor::library;

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

/// Its names for perf are for Linux.
#[test]
fn log() {
    for runtime in runtimes() {
        let folder = Folder::new();
        if !cfg!(target_os = "linux") {
            let (told, code) = attached(runtime, &["log"], &folder.path("log.txt"));
            assert_eq!(code, Some(0), "{told}");
            assert!(!told.contains("stays loaded"), "{told}");
            continue;
        }
        let words = ["log", "--perf-map"];
        let (told, code) = attached(runtime, &words, &folder.path("log.txt"));
        assert_eq!(code, Some(0), "{told}");
        assert!(!told.contains("stays loaded"), "{told}");
        let map = told.split('`').find(|part| part.starts_with("/tmp/perf-"));
        let map = map.unwrap_or_else(|| panic!("{told}"));
        let names = std::fs::read_to_string(map).unwrap();
        std::fs::remove_file(map).unwrap();
        // Compiled before.
        assert!(names.contains(" Hot.Program.Work()\n"), "{names}");
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
        // On a busy machine, the methods are found after a while.
        let (told, code, results) = watched(runtime, &words, "5", &folder.path("trace.json"));
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

/// An attached tracer has given the method its IL by ReJIT, so that it has to ask for the original IL itself.
#[test]
fn a_traced_method_that_is_called_too_often_gets_its_code_back() {
    /// The calls of the method in a run of the program.
    const CALLS: u64 = 100_000;
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let words = ["trace", "--methods", "Hot.Program.Own"];
        // Its code is replaced some 4 seconds after the attach.
        let (told, code, results) = watched(runtime, &words, "14", &folder.path("trace.json"));
        assert_eq!(code, Some(0), "{told}");
        assert!(
            results.iter().all(|result| result == "93100300"),
            "{results:?}"
        );
        let json: serde_json::Value = serde_json::from_str(&text(&folder, "trace.json")).unwrap();
        let other = &json["otherData"];
        let row = &other["methods"][0];
        assert_eq!(row["name"], "Hot.Program.Own()", "{other}");
        assert_eq!(
            other["counted_until"][0]["name"], "Hot.Program.Own()",
            "{other}"
        );
        let (counted, all) = (row["calls"].as_u64().unwrap(), CALLS * results.len() as u64);
        println!("{counted} of {all} calls");
        assert!(counted > CALLS && counted < all / 2, "{counted} of {all}");
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
        assert!(told.contains(" calls of 1 method"), "{told}");
        let table = text(&folder, "patch.txt");
        assert!(
            table.contains("return 0 in 100 % of Hot.Program.Own"),
            "{table}"
        );
    }
}

/// A tool that changes methods stays loaded. Those that only watch are loaded next to it, where the runtime can do that.
#[test]
fn tools_are_attached_next_to_one_that_stays() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        let process = program.id().to_string();
        // The program works until the command has ended.
        let mut attach = |verb: &[&str], file: &str| {
            let output = folder.path(file);
            let output = output.to_str().unwrap();
            let limits = ["-p", &process, "--duration", "500ms", "-o", output];
            let mut command = clr(&[verb, &limits].concat());
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped());
            let child = child.spawn().unwrap();
            let child = std::thread::spawn(move || child.wait_with_output().unwrap());
            while !child.is_finished() {
                assert!(program.ask("run").starts_with("ran "));
            }
            let told = child.join().unwrap();
            (stderr(&told), told.status.code())
        };
        let trace = ["trace", "--methods", "Hot.Program.Work"];
        let (told, code) = attach(&trace, "trace.json");
        assert_eq!(code, Some(0), "{told}");
        assert!(
            told.contains("no runtime lets go of a profiler that has changed methods"),
            "{told}"
        );
        for verb in ["cpu", "gc", "exceptions", "log", "alloc", "locks"] {
            let file = format!("{verb}.txt");
            let (told, code) = attach(&[verb], &file);
            if runtime.major < 5 {
                assert_eq!(code, Some(1), "{told}");
                for part in [
                    "has a profiler already: `",
                    "an earlier or a running verb",
                    ".NET Core 3.1 takes one",
                    "`cargo clr ",
                ] {
                    assert!(told.contains(part), "{part}: {told}");
                }
            } else {
                assert_eq!(code, Some(0), "{verb}: {told}");
                assert!(told.contains(&format!("{verb}: wrote `")), "{told}");
                assert!(!told.contains("stays loaded"), "{told}");
            }
        }
        if runtime.major >= 5 {
            let table = text(&folder, "cpu.txt");
            assert!(table.contains("with callees"), "{table}");
        }
        let (told, code) = attach(&trace, "again.json");
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("one profiler that changes methods"), "{told}");
    }
}

/// The runtime refuses a detach until it has started the tool, which takes longer than the tool's time here. Those with a
/// session of the runtime's tracing take longest.
#[test]
fn a_tool_whose_time_is_over_before_its_start_leaves() {
    let tools = [
        ("E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68", "ALLOC_PROFILER", 5),
        (
            "282F8859-F66D-4168-A257-F3B6BF218ABF",
            "EXCEPTION_LOGGER",
            3,
        ),
    ];
    for runtime in runtimes() {
        for (clsid, tool, _) in tools.iter().filter(|(.., since)| runtime.major >= *since) {
            let folder = Folder::new();
            let launch = runtime.launch(&profilee("Hot"), &[]);
            let mut program = Running::start(launch.command().unwrap());
            assert_eq!(program.line(), "ready");
            let (status, output) = (folder.path("status"), folder.path("output"));
            std::fs::write(&status, "").unwrap();
            let settings = format!(
                "{tool}_OUTPUT={}\0CLR_TOOL_STATUS={}\0{tool}_SAMPLED=1\0CLR_TOOL_DURATION=0\0",
                output.display(),
                status.display(),
            );
            let library = ProfilerLibrary::new(library(), *clsid).unwrap();
            let mut attach = Attach::new(program.id());
            attach
                .profiler(library)
                .client_data(settings)
                .send()
                .unwrap();
            let begun = Instant::now();
            let told = loop {
                assert!(program.ask("run").starts_with("ran 93100300 "));
                let told = text(&folder, "status");
                if told.contains("ended") || begun.elapsed() > Duration::from_secs(60) {
                    break told;
                }
            };
            assert!(told.ends_with("ended, detaches\n"), "{tool}: {told}");
        }
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
