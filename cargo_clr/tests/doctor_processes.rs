//! Running processes that `doctor` examines, with a runtime and without one.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clr_profiler_tests::{Folder, Running, Runtime, profilee, runtimes};

use crate::command::{clr, clr_on, stderr, stdout};
use crate::doctor::{LIBRARY, PATH, Variables, assert_fault, good, library};

fn examine(process: u32) -> String {
    let words = ["doctor", "--json", "-p", &process.to_string()];
    stdout(&clr(&words).output().unwrap())
}

/// A program that waits, with these variables.
fn waiting(runtime: &Runtime, variables: &[(&str, &str)]) -> Running {
    let launch = runtime.launch(&profilee("Hot"), &[]);
    let mut command = launch.command().unwrap();
    command.envs(variables.iter().copied());
    let mut program = Running::start(command);
    assert_eq!(program.line(), "ready");
    program
}

fn pairs(variables: &Variables) -> Vec<(&str, &str)> {
    let pairs = variables.iter();
    pairs.map(|(name, value)| (*name, value.as_str())).collect()
}

/// Programs that bring their runtime in their file are examined, too.
#[test]
fn running_processes() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let plain = waiting(runtime, &[]);
        // An attach is possible after each examination.
        for _ in 0..3 {
            let told = examine(plain.id());
            assert!(told.contains("one can be attached at"), "{told}");
            let endpoint = match cfg!(windows) {
                true => r"\\\\.\\pipe\\dotnet-diagnostic-",
                false => "/dotnet-diagnostic-",
            };
            assert!(told.contains(endpoint), "{told}");
        }

        let good = good(&folder.path("status"));
        let profiled = waiting(runtime, &pairs(&good));
        let told = examine(profiled.id());
        assert!(told.contains("has loaded"), "{told}");
        let listed = stdout(&clr(&["ps"]).output().unwrap());
        let row = listed
            .lines()
            .find(|line| line.contains(&format!("{} ", profiled.id())));
        assert!(
            row.is_some_and(|row| row.contains("clr_tools-")),
            "{listed}"
        );

        let late = folder.path(LIBRARY);
        let late = late.to_str().unwrap();
        let program = waiting(
            runtime,
            &[pairs(&good).as_slice(), &[(PATH, late)]].concat(),
        );
        assert_fault(&examine(program.id()), "missing-library");
        // The time of a start is known in whole seconds.
        std::thread::sleep(Duration::from_secs(3));
        fs::write(late, fs::read(library()).unwrap()).unwrap();
        let told = examine(program.id());
        assert_fault(&told, "not-loaded");
        assert!(
            told.contains("written after the start of the process"),
            "{told}"
        );

        if runtime.major >= 8 {
            let program = waiting(runtime, &[("DOTNET_EnableDiagnostics_IPC", "0")]);
            assert_fault(&examine(program.id()), "attach-switched-off");
        }
    }
}

/// The folder of the socket.
#[test]
#[cfg(target_os = "linux")]
fn temporary_folders_of_processes() {
    for runtime in runtimes() {
        // .NET Core 3.1 does not start without one, and a program in one file needs it for its parts.
        if runtime.major >= 5 && runtime.application().is_none() {
            let program = waiting(runtime, &[("TMPDIR", "/no/such/folder")]);
            assert_fault(&examine(program.id()), "no-temporary-folder");
        }
        let folder = Folder::new();
        let temporary = folder.path("temporary");
        fs::create_dir(&temporary).unwrap();
        let program = waiting(runtime, &[("TMPDIR", temporary.to_str().unwrap())]);
        let told = examine(program.id());
        assert!(told.contains("one can be attached at"), "{told}");
        for entry in fs::read_dir(&temporary).unwrap() {
            let _ = fs::remove_file(entry.unwrap().path());
        }
        assert_fault(&examine(program.id()), "no-socket");
    }
}

/// A program of the system, which waits for its input.
fn native() -> Command {
    if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/c", "pause"]);
        command
    } else {
        Command::new("cat")
    }
}

#[test]
fn processes_and_programs_without_a_runtime() {
    let mut command = native();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let told = examine(child.id());
    let _ = child.kill();
    let _ = child.wait();
    assert_fault(&told, "no-runtime");

    let native = match cfg!(windows) {
        true => r"C:\windows\system32\cmd.exe",
        false => "/bin/sleep",
    };
    for (program, part) in [
        (native, "without a .NET runtime"),
        ("/no/such/program", "no program"),
        ("Cargo.toml", "not a .NET program"),
    ] {
        let output = clr(&["doctor", "--", program]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stdout(&output).contains(part), "{}", stdout(&output));
    }
}

/// The proof does not wait for the end of the program, whether its runtime is a library or in its file.
#[test]
fn a_program_that_runs_for_long_is_ended() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let variables = good(&folder.path("status"));
        // It would take minutes.
        let program = profilee("Spins");
        let mut command = clr_on(runtime, &["doctor"], &program, &["1", "1000000"]);
        let begun = Instant::now();
        let output = command.envs(&variables).output().unwrap();
        let told = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{told}{}", stderr(&output));
        assert!(told.contains("has loaded"), "{told}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{told}");
    }
}
