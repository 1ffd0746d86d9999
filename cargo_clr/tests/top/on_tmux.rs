//! On tmux.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clr_profiler_tests::{Running, profilee, runtimes};

use crate::command::{library_folder, stderr, stdout};

/// A server of tmux with one window, which ends with this.
struct Terminal(String);

impl Terminal {
    fn start(command: &str) -> Option<Self> {
        let terminal = Self(format!(
            "clr-top-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let started = terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "150",
            "-y",
            "40",
            command,
        ])?;
        assert!(started.is_empty(), "{started}");
        Some(terminal)
    }

    /// `None` if there is no tmux.
    fn tmux(&self, words: &[&str]) -> Option<String> {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.0])
            .args(words)
            .env("TERM", "xterm-256color");
        match tmux.output() {
            Ok(output) => Some(stdout(&output) + &stderr(&output)),
            Err(error) => {
                eprintln!("NOT TESTED: there is no tmux: {error}");
                None
            }
        }
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).unwrap_or_default()
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Waits until the screen is so.
    fn wait(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "no {what}: {screen}"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// The names of the threads of a process.
fn threads(process: u32) -> BTreeSet<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"))
        .unwrap()
        .flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim().to_owned()).collect()
}

const OURS: [&str; 4] = ["cpu sampler", "sampler", "report", "session"];

#[test]
fn the_hot_method_is_on_the_screen_and_the_program_continues() {
    for runtime in runtimes() {
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        assert!(program.ask("run").starts_with("ran "));
        let process = program.id();
        let is_over = Arc::new(AtomicBool::new(false));
        let working = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    let result = program.ask("run");
                    assert!(result.starts_with("ran 93100300 "), "{result}");
                }
                program
            }
        });
        // The command ends, and its last line stays on the screen.
        let folder = library_folder();
        let command = format!(
            "CARGO_CLR_LIBRARY_FOLDER='{}' '{}' top {process} --period 0.5; echo \"ended with $?\"; sleep 1000",
            folder.display(),
            env!("CARGO_BIN_EXE_cargo-clr"),
        );
        let Some(terminal) = Terminal::start(&command) else {
            return;
        };
        let screen = terminal.wait("hot method", |screen| screen.contains("Hot.Program."));
        assert!(screen.contains("1 methods"), "{screen}");
        assert!(screen.contains("collections of generation 0:"), "{screen}");
        assert!(
            threads(process)
                .iter()
                .any(|name| OURS.contains(&name.as_str()))
        );
        terminal.press("2");
        // A method below its caller.
        terminal.wait("tree", |screen| screen.contains("  Hot.Program.Work()"));
        terminal.press("3");
        terminal.wait("threads", |screen| {
            screen.contains(&process.to_string()) && screen.contains(" id thread")
        });
        terminal.press("q");
        let screen = terminal.wait("end", |screen| screen.contains("ended with"));
        assert!(screen.contains("ended with 0"), "{screen}");
        assert!(screen.contains("top: left the process"), "{screen}");
        // The runtime detaches the profiler when no thread can be in it.
        let begun = Instant::now();
        while threads(process)
            .iter()
            .any(|name| OURS.contains(&name.as_str()))
        {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{:?}",
                threads(process)
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        is_over.store(true, Ordering::Relaxed);
        let mut program = working.join().unwrap();
        assert!(program.ask("run").starts_with("ran 93100300 "));
    }
}

/// A command that is killed cannot end the profiler, which then ends by itself.
#[test]
fn the_profiler_of_a_killed_command_ends() {
    let runtime = runtimes()[0];
    let launch = runtime.launch(&profilee("Hot"), &[]);
    let mut program = Running::start(launch.command().unwrap());
    assert_eq!(program.line(), "ready");
    let process = program.id();
    let command = format!(
        "CARGO_CLR_LIBRARY_FOLDER='{}' exec '{}' top {process}",
        library_folder().display(),
        env!("CARGO_BIN_EXE_cargo-clr"),
    );
    let Some(terminal) = Terminal::start(&command) else {
        return;
    };
    terminal.wait("message", |screen| {
        screen.contains("collections of generation 0:")
    });
    // SIGHUP would be noticed.
    let command = terminal.tmux(&["list-panes", "-F", "#{pane_pid}"]).unwrap();
    let killed = Command::new("kill")
        .args(["-KILL", command.trim()])
        .status();
    assert!(killed.unwrap().success());
    let begun = Instant::now();
    while threads(process)
        .iter()
        .any(|name| OURS.contains(&name.as_str()))
    {
        assert!(
            begun.elapsed() < Duration::from_secs(90),
            "{:?}",
            threads(process)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(program.ask("run").starts_with("ran "));
}
