//! Programs behave the same under the example.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clr_profiler_tests::{Finished, profilee, runtimes};
use examples_support::{Pinned, runtime, samples};

use super::example::{Folder, behaviour, command, lines, plain};

#[test]
fn arguments_streams_and_exit_code_are_the_programs() {
    let program = profilee("Behaviours");
    let arguments = ["echo", "two words", "größe ∑", "", "--summary", "--", "*"];
    let input = "first line\nsecond line, größer\nno end of line".as_bytes();
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("the log");
        let options = ["--output", file.to_str().unwrap()];
        let plain = Finished::with_input(plain(runtime, &program, &arguments), input);
        let profiled =
            Finished::with_input(command(runtime, &options, &program, &arguments), input);
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(plain.status.code(), Some(5));
        let expected = "argument <two words>\nargument <größe ∑>\nargument <>\n\
                        argument <--summary>\nargument <-->\nargument <*>\n\
                        first line\nsecond line, größer\nno end of line";
        assert_eq!(plain.stdout, expected);
        assert_eq!(plain.stderr, "to stderr\n");

        // Without --output the lines are on stderr, between those of the program.
        let profiled = Finished::with_input(command(runtime, &[], &program, &arguments), input);
        assert_eq!(profiled.stdout, expected);
        assert_eq!(profiled.status, plain.status);
        let (logged, own): (Vec<_>, Vec<_>) = profiled
            .stderr
            .lines()
            .partition(|line| line.starts_with('['));
        assert_eq!(own, ["to stderr"]);
        assert!(logged.contains(&"[jit] Behaviours.Program.Echo(string[])"));
        assert_eq!(logged, lines(&fs::read_to_string(file).unwrap()));
    }
}

#[test]
fn the_sample_runs_as_it_does_without() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let arguments = ["exit=7", "two words"];
        let plain = Finished::of(plain(runtime, &samples::sample(), &arguments));
        let profiled = Finished::of(command(runtime, &[], &samples::sample(), &arguments));
        assert_eq!(profiled.stdout, plain.stdout);
        assert!(plain.stdout.contains("arguments: two words\n"));
        assert_eq!(profiled.status.code(), Some(7));
        assert_eq!(plain.status.code(), Some(7));
        if runtime.major < 10 {
            // Nothing after the options: the sample without arguments.
            let mut command = command(runtime, &[], &samples::sample(), &[]);
            let mut alone = Command::new(command.get_program());
            alone.envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
            command.current_dir("/");
            assert_eq!(Finished::of(alone).stdout, Finished::of(command).stdout);
        }
    }
}

#[test]
fn a_single_file_application_is_started_by_its_name() {
    let application = match runtime::fetch(&Pinned::NET_10) {
        Ok(application) => application,
        Err(error) if std::env::var_os("CI").is_none() => {
            println!("SKIPPED, as there is no single-file application: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let start = |mut command: Command| {
        command
            .arg("version")
            .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        Finished::of(command)
    };
    let mut example = Command::new(super::example::executable());
    example
        .args(["--methods", "MzLibBridge.**"])
        .arg(&application);
    let (plain, profiled) = (start(Command::new(&application)), start(example));
    assert!(plain.stdout.contains("10.0.13"), "{}", plain.stdout);
    assert_eq!(profiled.stdout, plain.stdout);
    assert_eq!(profiled.status, plain.status);
    let main = "[jit] MzLibBridge.Program.Main(string[])";
    assert!(
        profiled.stderr.lines().any(|line| line == main),
        "{}",
        profiled.stderr
    );
}

#[test]
fn an_exception_that_nobody_catches_ends_the_program_as_ever() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let program = profilee("Behaviours");
        let plain = Finished::of(plain(runtime, &program, &["throw"]));
        let profiled = behaviour(runtime, &["throw"]);
        assert_eq!(plain.status.signal(), Some(6), "SIGABRT: a shell says 134");
        assert_eq!(profiled.status, plain.status);
        assert_eq!(profiled.stdout, plain.stdout);
        assert_eq!(profiled.stderr, plain.stderr);
        assert!(plain.stderr.contains("nobody catches this"));
        assert!(profiled.logged("[jit] Behaviours.Program.Main(string[])"));
    }
}

/// Starts a program that waits, sends it a signal when it does, and returns its exit status.
fn signalled(mut command: Command, signal: &str) -> ExitStatus {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // A shell that starts the tests in the background lets them ignore SIGINT, and their children.
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "waiting\n");
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the signal {signal} did not reach the program");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn signals_reach_the_program() {
    let program = profilee("Behaviours");
    for runtime in runtimes() {
        for signal in ["-TERM", "-INT", "-KILL"] {
            println!("{signal} on {}", runtime.name);
            let folder = Folder::new();
            let file = folder.path("log");
            let options = ["--summary", "--output", file.to_str().unwrap()];
            let plain = signalled(plain(runtime, &program, &["wait"]), signal);
            let profiled = signalled(command(runtime, &options, &program, &["wait"]), signal);
            assert_eq!(profiled, plain);
            assert!(!plain.success());
            let log = fs::read_to_string(file).unwrap();
            let main = "[jit] Behaviours.Program.Main(string[])";
            assert!(log.lines().any(|line| line == main), "{log}");
            if signal == "-KILL" {
                assert_eq!(plain.signal(), Some(9));
                assert_eq!(log.lines().count(), lines(&log).len(), "no summary: {log}");
            }
        }
    }
}
