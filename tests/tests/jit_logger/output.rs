//! The destinations of the lines, and failures to write them.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use clr_profiler_tests::{Finished, Runtime, Scenario, profilee, runtimes};
use examples_support::samples;

use super::example::{Folder, command, lines, plain};

fn echo(runtime: &Runtime, options: &[&str]) -> Command {
    command(runtime, options, &profilee("Behaviours"), &["echo", "x"])
}

const OUT: &str = "argument <x>\n";
const MAIN: &str = "[jit] Behaviours.Program.Main(string[])";

#[test]
fn programs_that_the_program_starts_add_their_lines() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("log");
        let options = ["--output", file.to_str().unwrap(), "--summary"];
        let program = profilee("Behaviours");
        let plain = Finished::of(plain(runtime, &program, &["child"]));
        assert_eq!(plain.stdout, "argument <child>\nchild ended with 5\n");
        // The second run replaces the output of the first.
        for _ in 0..2 {
            let profiled = Finished::of(command(runtime, &options, &program, &["child"]));
            assert_eq!(profiled.output(), plain.output());
            let log = fs::read_to_string(&file).unwrap();
            let count = |line: &str| log.lines().filter(|logged| *logged == line).count();
            assert_eq!(count(MAIN), 2, "{log}");
            assert_eq!(count(" methods        time  assembly"), 2, "{log}");
            // The child's lines and summary are between those of its parent.
            let place = |line: &str| log.find(line).unwrap();
            let ended = place("[jit] Behaviours.Program.AfterChild(int)");
            let places = [
                place("[jit] Behaviours.Program.Child()"),
                place("[jit] Behaviours.Program.Echo(string[])"),
                place(" methods "),
                ended,
            ];
            assert!(places.is_sorted(), "{log}");
            assert!(
                log.lines()
                    .all(|line| line.starts_with(['[', ' ']) || line.starts_with("overhead: ")),
                "{log}"
            );
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_the_start() {
    let folder = Folder::new();
    let closed = folder.path("closed");
    fs::write(&closed, "kept").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o444)).unwrap();
    let is_root = File::options().append(true).open(&closed).is_ok();
    let runtime = runtimes()[0];
    for (path, reason) in [
        (folder.path("no/file"), "No such file or directory"),
        (folder.path(""), "Is a directory"),
        (closed.join("file"), "Not a directory"),
        (closed, "Permission denied"),
    ] {
        if is_root && reason == "Permission denied" {
            println!("NOT TESTED: root may write everything");
            continue;
        }
        let before = folder.listing();
        let finished = Finished::of(echo(runtime, &["--output", path.to_str().unwrap()]));
        assert_eq!((finished.status.code(), &*finished.stdout), (Some(1), ""));
        let start = format!(
            "jit_logger: error: Cannot write `{}`: {reason}",
            path.display()
        );
        assert!(finished.stderr.starts_with(&start), "{}", finished.stderr);
        assert_eq!(folder.listing(), before);
    }
}

#[test]
fn what_is_wrong_elsewhere_leaves_an_old_log_alone() {
    let folder = Folder::new();
    let file = folder.path("log");
    fs::write(&file, "of another day").unwrap();
    let runtime = runtimes()[0];
    let options = ["--output", file.to_str().unwrap()];
    let mut command = echo(runtime, &options);
    command.env("DOTNET_EnableDiagnostics", "0");
    assert_eq!(Finished::of(command).status.code(), Some(1));
    assert_eq!(fs::read_to_string(file).unwrap(), "of another day");
}

/// Only by the variables, as without the example's executable.
#[test]
fn a_profiler_that_cannot_start_says_so_and_the_program_runs() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        for (name, value, reason) in [
            (
                "JIT_LOGGER_OUTPUT",
                "/no/such/folder/log",
                "initialize failed: cannot write `/no/such/folder/log`: No such file",
            ),
            (
                "JIT_LOGGER_OUTPUT",
                "",
                "initialize failed: cannot write ``",
            ),
        ] {
            let mut command = echo(runtime, &[]);
            command.env(name, value);
            let finished = Finished::of(command);
            assert_eq!((finished.status.code(), &*finished.stdout), (Some(5), OUT));
            let (diagnosis, rest) = finished.stderr.split_once('\n').unwrap();
            let start = "clr_profiler: the profiler {df63a541-5a33-4611-8829-f4e495985ee3} does \
                         not run, the program does: ";
            assert!(
                diagnosis.starts_with(&format!("{start}{reason}")),
                "{diagnosis}"
            );
            assert_eq!(rest, "to stderr\n");
        }
    }
}

/// Failures of other profilers, with the diagnosis on stderr as the launcher sets it.
#[test]
fn failing_and_panicking_initialize_are_told_on_stderr() {
    for (profiler, reason) in [
        ("FailsToStart", "initialize failed: the licence has run out"),
        ("PanicsAtStart", "initialize panicked: no such luck (at "),
    ] {
        Scenario::new("Basics")
            .profiler(profiler)
            .env("CLR_PROFILER_DIAGNOSTICS", "stderr")
            .compare(|plain, profiled| {
                assert_eq!(profiled.status, plain.status);
                assert_eq!(profiled.stdout, plain.stdout);
                let (diagnosis, rest) = profiled.stderr.split_once('\n').unwrap();
                assert!(diagnosis.starts_with("clr_profiler: ") && diagnosis.contains(reason));
                assert_eq!(rest, plain.stderr);
            });
    }
}

#[test]
fn a_full_disk_is_told_once() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = Finished::of(echo(runtime, &["--output", "/dev/full", "--summary"]));
        assert_eq!((finished.status.code(), &*finished.stdout), (Some(5), OUT));
        let (program, own) = finished.stderr.split_once('\n').unwrap();
        assert_eq!(program, "to stderr");
        let count = own.strip_prefix("jit_logger: ").unwrap();
        let (_, reason) = count.split_once(' ').unwrap();
        assert_eq!(
            reason,
            "not written, the first: cannot write `/dev/full`: No space left on device (os error \
             28)\n"
        );
    }
}

/// Stderr that is full, closed, or a pipe without a reader.
#[test]
fn lines_that_nobody_can_read_do_not_hurt() {
    let sample = samples::sample();
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let plain = Finished::of(plain(runtime, &sample, &["exit=3"]));
        let profiled = || command(runtime, &["--summary"], &sample, &["exit=3"]);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (reader, unread) = std::io::pipe().unwrap();
        drop(reader);
        for stderr in [Stdio::from(full), Stdio::from(unread)] {
            let mut command = profiled();
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            let output = command.stderr(stderr).spawn().unwrap().wait_with_output();
            let output = output.unwrap();
            assert_eq!(output.status, plain.status);
            assert_eq!(String::from_utf8_lossy(&output.stdout), plain.stdout);
        }
        let profiled = profiled();
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" 2>&-", "sh"]);
        shell.arg(profiled.get_program()).args(profiled.get_args());
        shell.envs(
            profiled
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        assert_eq!(Finished::of(shell).output(), plain.output());
    }
}

#[test]
fn a_pipe_is_an_output_too() {
    let runtime = runtimes()[0];
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    let finished = Finished::of(echo(runtime, &["--output", pipe.to_str().unwrap()]));
    assert_eq!((finished.status.code(), &*finished.stdout), (Some(5), OUT));
    let log = reader.join().unwrap();
    assert!(lines(&log).contains(&MAIN), "{log}");
}
