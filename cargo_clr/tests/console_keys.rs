//! Ctrl-C on a console of Windows, under the verbs that start programs.
//!
//! A console sends the key to all of its processes. So each case is a process with a console of its own: this program
//! again, which runs [`on_a_console_of_its_own`] alone. Wine 8 refuses to press Ctrl-Break: error 6, for an invalid handle.

use std::env;
use std::fs;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;

use clr_profiler_tests::{Finished, Folder, Running, profilee, runtimes};
use serde_json::{Value, json};
use windows_sys::Win32::System::Console::{
    CTRL_C_EVENT, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler,
};
use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;
use windows_sys::core::BOOL;

use crate::command::{clr_on, text};
use crate::doctor::{CLSID, library};

/// The variables with the command line for the process on the console, and with the file for its outcome.
const WORDS: &str = "CONSOLE_KEYS_WORDS";
const OUTCOME: &str = "CONSOLE_KEYS_OUTCOME";

/// The outcome of a program for which the key was pressed.
#[derive(Debug, PartialEq, Eq)]
struct Pressed {
    code: Option<i64>,
    /// Without the duration of its work, which differs in each run.
    stdout: Vec<String>,
    stderr: String,
}

/// Runs `Hot` by this command on a console, and presses the key after its first work.
fn pressed(command: &Command) -> Pressed {
    let folder = Folder::new();
    let outcome = folder.path("outcome.json");
    let mut words = vec![command.get_program()];
    words.extend(command.get_args());
    let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
    let mut on_console = Command::new(env::current_exe().unwrap());
    on_console
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("console_keys::on_a_console_of_its_own")
        .env(WORDS, json!(words).to_string())
        .env(OUTCOME, &outcome)
        .creation_flags(CREATE_NO_WINDOW);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => on_console.env(name, value),
            None => on_console.env_remove(name),
        };
    }
    let finished = Finished::of(on_console);
    assert!(finished.status.success(), "{finished:?}");
    let outcome: Value = serde_json::from_slice(&fs::read(&outcome).unwrap()).unwrap();
    let stdout = outcome["stdout"].as_str().unwrap().lines();
    let without_time = |line: &str| line.split(" in ").next().unwrap_or_default().to_owned();
    Pressed {
        code: outcome["code"].as_i64(),
        stdout: stdout.map(without_time).collect(),
        stderr: outcome["stderr"].as_str().unwrap().to_owned(),
    }
}

/// Keeps this process when the key is pressed.
unsafe extern "system" fn stay(_event: u32) -> BOOL {
    1
}

#[test]
#[ignore = "is the process on a console that the other tests start"]
fn on_a_console_of_its_own() {
    let words: Vec<String> = serde_json::from_str(&env::var(WORDS).unwrap()).unwrap();
    // The program inherits whether Ctrl-C is ignored, but no handlers.
    // SAFETY: null is allowed, and the handler is a function of this program.
    let is_ready = unsafe { SetConsoleCtrlHandler(None, 0) & SetConsoleCtrlHandler(Some(stay), 1) };
    assert_ne!(is_ready, 0, "{}", std::io::Error::last_os_error());
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env_remove(WORDS)
        .env_remove(OUTCOME);
    let mut program = Running::start(command);
    assert_eq!(program.line(), "ready");
    assert!(program.ask("run").starts_with("ran 93100300 "));
    // SAFETY: no pointer is passed.
    let sent = unsafe { GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) };
    assert_ne!(sent, 0, "{}", std::io::Error::last_os_error());
    // Its input stays open: only the key ends it.
    let finished = program.wait();
    let outcome = json!({
        "code": finished.status.code(), "stdout": finished.stdout, "stderr": finished.stderr,
    });
    fs::write(env::var_os(OUTCOME).unwrap(), outcome.to_string()).unwrap();
}

/// Presses the key for `Hot` alone and under these words of the command, and checks the results that this has written.
fn compared(
    words: &dyn Fn(&Path) -> Vec<String>,
    variable: Option<&str>,
    check: fn(&str, &Pressed),
) {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("results");
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let plain = pressed(&launch.command().unwrap());
        // Windows ends a program with the code 0xC000013A, Wine with 0; by itself it ends with 3.
        assert_ne!(plain.code, Some(3), "{}: {plain:?}", runtime.name);
        assert_eq!(plain.stdout, ["ready", "ran 93100300"]);
        let words = words(&file);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = clr_on(runtime, &words, &profilee("Hot"), &[]);
        if let Some(variable) = variable {
            command.env(variable, &file);
        }
        let profiled = pressed(&command);
        assert_eq!(profiled.code, plain.code, "{}: {profiled:?}", runtime.name);
        assert_eq!(profiled.stdout, plain.stdout);
        check(&text(&folder, "results"), &profiled);
    }
}

#[test]
fn ctrl_c_under_run_ends_the_program_and_leaves_the_results() {
    let words = |_: &Path| {
        let library = library().to_str().unwrap();
        ["run", "--profiler", library, "--clsid", CLSID]
            .map(str::to_owned)
            .to_vec()
    };
    compared(&words, Some("JIT_LOGGER_OUTPUT"), |results, pressed| {
        assert!(
            results.contains("[jit] Hot.Program.Own()"),
            "{results}{pressed:?}"
        );
    });
}

#[test]
fn ctrl_c_under_trace_ends_the_program_and_leaves_the_results() {
    let words = |file: &Path| {
        let file = file.to_str().unwrap();
        ["trace", "--methods", "Hot.Program.Work", "-o", file]
            .map(str::to_owned)
            .to_vec()
    };
    compared(&words, None, |results, pressed| {
        assert!(pressed.stderr.contains("trace: wrote `"), "{pressed:?}");
        let trace: Value = serde_json::from_str(results).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let works = events
            .iter()
            .filter(|event| event["name"] == "Hot.Program.Work()");
        assert_eq!(works.count(), 1, "{results}");
    });
}
