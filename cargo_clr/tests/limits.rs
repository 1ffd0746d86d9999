//! Systems that refuse the timers of the sampler: the tool says so, samples in another way, and does not change the program.

use std::process::Command;

use clr_profiler_tests::{Folder, runtimes};

use crate::command::{clr_on, sample, stderr, stdout, text};

/// Replaces itself by a program for which the kernel refuses `timer_create`, as containers can be set up to do.
const WITHOUT_TIMERS: &str = r"
import ctypes, os, struct, sys
TIMER_CREATE, REFUSED, ALLOWED = 222, 0x00050000 | 1, 0x7fff0000
code = [(0x20, 0, 0, 0), (0x15, 0, 1, TIMER_CREATE), (0x06, 0, 0, REFUSED), (0x06, 0, 0, ALLOWED)]
rules = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(code), ctypes.addressof(rules)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, program, 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
";

/// The command, started by another one.
fn within(wrapper: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(wrapper[0]);
    outer.args(&wrapper[1..]);
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

fn falls_back(wrapper: &[&str], reason: &str, refuses_signals: bool) {
    for runtime in runtimes() {
        let folder = Folder::new();
        let output = folder.path("cpu.txt");
        let words = ["cpu", "-o", output.to_str().unwrap()];
        let plain = runtime
            .launch(&sample(), &["exit=7"])
            .command()
            .unwrap()
            .output();
        let command = clr_on(runtime, &words, &sample(), &["exit=7"]);
        let profiled = within(wrapper, &command).output().unwrap();
        let told = stderr(&profiled);
        assert_eq!(profiled.status.code(), Some(7), "{told}");
        assert_eq!(stdout(&profiled), stdout(&plain.unwrap()), "{told}");
        let sentence = "cpu: the runtime is suspended for each sample: ";
        let line = told.lines().find(|line| line.starts_with(sentence));
        assert!(line.is_some_and(|line| line.contains(reason)), "{told}");
        let is_sampled = text(&folder, "cpu.txt").contains("with callees");
        if refuses_signals && runtime.major < 5 {
            // A suspension would end the program.
            assert!(told.contains("SuspendRuntime was not called"), "{told}");
            assert!(told.contains("raise the limit"), "{told}");
        } else {
            assert!(is_sampled, "{told}");
        }
    }
}

#[test]
fn a_limit_of_pending_signals() {
    falls_back(
        &["prlimit", "--sigpending=0:0"],
        "the system refuses timers of processor time: Resource temporarily unavailable",
        true,
    );
}

#[test]
fn a_container_without_timers() {
    falls_back(
        &["python3", "-c", WITHOUT_TIMERS],
        "the system refuses timers of processor time: Operation not permitted",
        false,
    );
}
