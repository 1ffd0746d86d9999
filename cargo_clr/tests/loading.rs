//! The verbs that load a profiler of the user, and the verb that writes rules for one: `run`, `attach` and `rules`.

use std::fs;
use std::process::Stdio;

use clr_profiler_tests::{Folder, Running, Runtime, profilee, runtimes};

use crate::command::{clr, clr_on, sample, stderr, stdout, text};
use crate::doctor::{CLSID, library};

/// `MethodTracer`, of the library in the command.
const TRACER: &str = "{C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48}";

/// The output of the program without a profiler, and its exit code.
fn alone(runtime: &Runtime) -> (String, Option<i32>) {
    let launch = runtime.launch(&profilee("Hot"), &[]);
    let mut command = launch.command().unwrap();
    let output = command.stdin(Stdio::null()).output().unwrap();
    (stdout(&output), output.status.code())
}

/// `run` gives the program its profiler, its streams and its exit code.
#[test]
fn a_program_runs_under_a_profiler_of_the_user() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (status, methods) = (folder.path("status"), folder.path("methods.txt"));
        fs::write(&status, "").unwrap();
        let library = library().to_str().unwrap();
        let words = ["run", "--profiler", library, "--clsid", CLSID];
        let mut command = clr_on(runtime, &words, &profilee("Hot"), &[]);
        command
            .env("JIT_LOGGER_OUTPUT", &methods)
            .env("CLR_TOOL_STATUS", &status)
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_eq!(stderr(&output), "");
        let expected = alone(runtime);
        assert_eq!((stdout(&output), output.status.code()), expected);
        // The end of its input ends it.
        assert_eq!(expected.1, Some(3));
        assert!(text(&folder, "status").starts_with("started\n"));
        let methods = text(&folder, "methods.txt");
        assert!(methods.contains("Hot.Program.Main"), "{methods}");
    }
}

/// The mistake is said, and the program is not started.
#[test]
fn a_profiler_that_is_none_starts_nothing() {
    let folder = Folder::new();
    let empty = folder.path("empty.so");
    fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let library = library().to_str().unwrap();
    let other = "01234567-89AB-CDEF-0123-456789ABCDEF";
    for runtime in runtimes() {
        for (profiler, clsid, part, code) in [
            ("/no/such/library.so", CLSID, "There is no library", 2),
            (library, "JitLogger", "JitLogger", 2),
            (library, other, "no profiler with the CLSID", 1),
            (empty, CLSID, "empty.so", 1),
        ] {
            let words = ["run", "--profiler", profiler, "--clsid", clsid];
            let mut command = clr_on(runtime, &words, &sample(), &[]);
            let output = command.stdin(Stdio::null()).output().unwrap();
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(code), "{profiler}: {told}");
            assert!(told.contains(part), "{profiler}: {told}");
            assert_eq!(stdout(&output), "", "{profiler}");
        }
        let words = ["run", "--profiler", library];
        let mut command = clr_on(runtime, &words, &sample(), &[]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--clsid"), "{}", stderr(&output));
    }
}

/// `attach` passes its text to the profiler, and the program continues.
#[test]
fn a_profiler_of_the_user_is_attached() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        let methods = folder.path("methods.txt");
        let data = format!("JIT_LOGGER_OUTPUT={}", methods.display());
        let process = program.id().to_string();
        let library = library().to_str().unwrap();
        let words = |data: &'static str| {
            let named = ["--profiler", library, "--clsid", CLSID];
            [&["attach", &process], &named[..], &["--data", data]].concat()
        };
        let mut words_with_data = words("");
        words_with_data.pop();
        words_with_data.push(&data);
        let output = clr(&words_with_data).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
        assert_eq!(
            stderr(&output),
            format!("attach: `{library}` is loaded in the process {process}\n")
        );
        assert!(program.ask("run").starts_with("ran 93100300 "));

        // A runtime takes one.
        let output = clr(&words("")).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let told = stderr(&output);
        assert!(told.contains("CORPROF_E_PROFILER_ALREADY_ACTIVE"), "{told}");

        assert_eq!(program.ask("end"), "ending");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(3), "{}", finished.stderr);
        // Its work was compiled after the attach.
        let methods = text(&folder, "methods.txt");
        assert!(methods.contains("Hot.Program.Work"), "{methods}");
    }
}

#[test]
fn an_attach_is_told_in_json() {
    for runtime in runtimes() {
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        let process = program.id().to_string();
        let library = library().to_str().unwrap();
        let folder = Folder::new();
        let data = format!("JIT_LOGGER_OUTPUT={}", folder.path("log.txt").display());
        let named = ["--profiler", library, "--clsid", CLSID, "--data", &data];
        let words = [&["attach", "--json", &process], &named[..]].concat();
        let output = clr(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let told: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let expected =
            serde_json::json!({ "verb": "attach", "process": program.id(), "library": library });
        assert_eq!(told, expected);
    }
}

#[test]
fn an_attach_to_a_process_that_does_not_exist() {
    let library = library().to_str().unwrap();
    let words = ["attach", "4194305", "--profiler", library, "--clsid", CLSID];
    let output = clr(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(told.contains("no process 4194305"), "{told}");
}

const RULES: &str = "\
rules:
  - methods: Hot.Program.Work
    kind: client
    name: work of Hot
    attributes:
      hot.result: return
  - methods: Hot.Program.Own
    kind: internal
";

/// `rules` writes a file that the tracer reads in a program that `run` starts.
#[test]
fn checked_rules_are_those_of_the_tracer() {
    let folder = Folder::new();
    let (source, checked) = (folder.path("hot.yaml"), folder.path("hot.json"));
    fs::write(&source, RULES).unwrap();
    let source = source.to_str().unwrap();
    let output = clr(&["rules", source]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "2 rules are without mistakes\n");
    let words = ["rules", source, "-o", checked.to_str().unwrap()];
    let output = clr(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((stdout(&output), stderr(&output)), Default::default());

    for runtime in runtimes() {
        let trace = folder.path("trace.json");
        let _ = fs::remove_file(&trace);
        let library = library().to_str().unwrap();
        let words = ["run", "--profiler", library, "--clsid", TRACER];
        let mut command = clr_on(runtime, &words, &profilee("Hot"), &[]);
        command
            .env("METHOD_TRACER_RULES", &checked)
            .env("METHOD_TRACER_OUTPUT", &trace);
        let mut program = Running::start(command);
        assert_eq!(program.line(), "ready");
        assert!(program.ask("run").starts_with("ran 93100300 "));
        assert_eq!(program.ask("end"), "ending");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(3), "{}", finished.stderr);
        let trace = text(&folder, "trace.json");
        assert!(trace.contains("work of Hot"), "{}", finished.stderr);
        assert!(trace.contains("hot.result"), "{}", finished.stderr);
    }
}

/// A mistake has its line and column, and nothing is written.
#[test]
fn mistakes_in_rules() {
    let folder = Folder::new();
    let (source, checked) = (folder.path("hot.yaml"), folder.path("hot.json"));
    fs::write(&source, RULES.replace("return", "this.")).unwrap();
    let name = source.to_str().unwrap();
    let words = ["rules", name, "-o", checked.to_str().unwrap()];
    let output = clr(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(
        told.contains(&format!("{name}:6:")) && told.contains("the name of a member is missing"),
        "{told}"
    );
    assert!(!checked.exists());

    let output = clr(&["rules", "/no/such.yaml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(told.contains("`/no/such.yaml` cannot be read"), "{told}");
    assert_eq!(clr(&["rules"]).output().unwrap().status.code(), Some(2));
}
