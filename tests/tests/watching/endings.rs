//! Ways in which a program ends, after each of which the results are there.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clr_profiler_tests::{Example, Finished, Folder, Running, Runtime, profilee, runtimes};

/// How `Watched` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// `Main` returns.
    Return,
    /// `Environment.Exit`.
    Exit,
    /// An exception that nobody catches.
    Unhandled,
    /// `Environment.FailFast`.
    FailFast,
    /// Ctrl-C.
    Interrupt,
    /// `kill`.
    Terminate,
    /// `kill -KILL`.
    Kill,
}

impl Ending {
    const ALL: [Self; 7] = [
        Self::Return,
        Self::Exit,
        Self::Unhandled,
        Self::FailFast,
        Self::Interrupt,
        Self::Terminate,
        Self::Kill,
    ];

    fn argument(self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::Exit => "exit",
            Self::Unhandled => "unhandled",
            Self::FailFast => "failfast",
            Self::Interrupt | Self::Terminate | Self::Kill => "wait",
        }
    }

    fn signal(self) -> Option<&'static str> {
        match self {
            Self::Interrupt => Some("-INT"),
            Self::Terminate => Some("-TERM"),
            Self::Kill => Some("-KILL"),
            Self::Return | Self::Exit | Self::Unhandled | Self::FailFast => None,
        }
    }

    /// Whether a profiler can write something when the program ends so.
    pub(crate) fn is_seen(self, runtime: &Runtime) -> bool {
        match self {
            Self::Return | Self::Exit | Self::Interrupt | Self::Terminate => true,
            // From then on, the runtime takes its signal handlers away before it aborts.
            Self::Unhandled | Self::FailFast => runtime.major < 5,
            Self::Kill => false,
        }
    }
}

/// Runs a work of `Watched` to each of its ends, on each runtime: `check` gets the results. What
/// the program itself does is as it is without a profiler.
pub(crate) fn endings(
    example: Example,
    options: &[&str],
    work: &str,
    check: impl Fn(&Runtime, Ending, &str),
) {
    for runtime in runtimes() {
        for ending in Ending::ALL {
            println!("{ending:?} on {}", runtime.name);
            let folder = Folder::new();
            let file = folder.path("results");
            let mut all = options.to_vec();
            all.extend(["--output", file.to_str().unwrap()]);
            let words = [work, ending.argument()];
            let program = profilee("Watched");
            let plain = end(example.plain(runtime, &program, &words), ending);
            let watched = end(example.command(runtime, &all, &program, &words), ending);
            assert_eq!(watched.status, plain.status);
            assert_eq!(watched.stdout, plain.stdout);
            assert_eq!(own_frames(&watched.stderr), own_frames(&plain.stderr));
            assert!(plain.stdout.starts_with("worked\n"), "{plain:?}");
            check(runtime, ending, &fs::read_to_string(file).unwrap());
            assert_eq!(folder.listing().len(), 1, "only the results stay");
        }
    }
}

/// The lines of a stack trace without the framework's methods: which of those are there depends on
/// what the compiler inlines, and so on the profiler.
fn own_frames(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines();
    lines
        .filter(|line| !line.starts_with("   at System."))
        .collect()
}

fn end(mut command: Command, ending: Ending) -> Finished {
    // A shell that starts the tests in the background lets them ignore SIGINT, and what they start.
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut running = Running::start(command);
    if let Some(signal) = ending.signal() {
        while running.line() != "waiting" {}
        let id = running.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        running.wait()
    } else {
        running.finish()
    }
}
