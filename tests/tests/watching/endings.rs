//! Ways in which a program ends, with results after each.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Example, Finished, Folder, Running, Runtime, Sample, profilee, runtimes};

/// How `Watched` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ending {
    /// `Main` returns.
    Return,
    /// `Environment.Exit`.
    Exit,
    /// An uncaught exception.
    Unhandled,
    /// `Environment.FailFast`.
    FailFast,
    /// A stack overflow.
    Overflow,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-C, which the program handles itself.
    Cancel,
    /// `kill`.
    Terminate,
    /// `kill -HUP` under `nohup`; then `Main` returns.
    Ignored,
    /// `kill -KILL`.
    Kill,
    /// `Main` returns after a child has reported the signals that it blocks and ignores.
    Child,
}

impl Ending {
    const ALL: [Self; 8] = [
        Self::Return,
        Self::Exit,
        Self::Unhandled,
        Self::FailFast,
        Self::Overflow,
        Self::Interrupt,
        Self::Terminate,
        Self::Kill,
    ];

    /// The reactions of programs to signals, which all examples treat alike: tested with two of them.
    const OF_SIGNALS: [Self; 3] = [Self::Cancel, Self::Ignored, Self::Child];

    fn argument(self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::Exit => "exit",
            Self::Unhandled => "unhandled",
            Self::FailFast => "failfast",
            Self::Overflow => "overflow",
            Self::Cancel => "cancel",
            Self::Interrupt | Self::Terminate | Self::Ignored | Self::Kill => "wait",
            Self::Child => "child",
        }
    }

    fn signal(self) -> Option<&'static str> {
        match self {
            Self::Interrupt | Self::Cancel => Some("-INT"),
            Self::Terminate => Some("-TERM"),
            Self::Ignored => Some("-HUP"),
            Self::Kill => Some("-KILL"),
            _ => None,
        }
    }

    /// Whether a profiler can write something at such an end of the program.
    pub(crate) fn is_seen(self, runtime: &Runtime) -> bool {
        match self {
            // From then on, the runtime removes its signal handlers before it aborts.
            Self::Unhandled | Self::FailFast | Self::Overflow => runtime.major < 5,
            Self::Kill => false,
            _ => true,
        }
    }
}

/// The examples that only append to their results: the others replace them whole.
const APPEND: [&str; 5] = [
    "exception_logger",
    "gc_monitor",
    "jit_logger",
    "method_logger",
    "return_inspector",
];

/// Runs a work of `Watched` to a sample of its ends, on each runtime: `check` gets the results, empty
/// if there is no file. The program itself behaves as without a profiler.
pub(crate) fn endings(
    example: Example,
    options: &[&str],
    work: &str,
    check: impl Fn(&Runtime, Ending, &str),
) {
    for runtime in runtimes() {
        let of_signals = match example.0 {
            "gc_monitor" | "heap_snapshot" => &Ending::OF_SIGNALS[..],
            _ => &[],
        };
        let all = Ending::ALL.iter().chain(of_signals).copied().enumerate();
        let sample = Sample::one_of(3);
        for (_, ending) in all.filter(|(number, _)| sample.has(*number)) {
            println!("{} {ending:?} on {}", example.0, runtime.name);
            let folder = Folder::new();
            let file = folder.path("results");
            let mut all = options.to_vec();
            all.extend(["--output", file.to_str().unwrap()]);
            let words = [work, ending.argument()];
            let program = profilee("Watched");
            let plain = plain(example, runtime, &words, ending);
            // Written once a second: the leftovers of such an end are known after the first write.
            let is_due = matches!(ending, Ending::Kill | Ending::Overflow)
                && !APPEND.contains(&example.0)
                && example.0 != "heap_snapshot";
            let awaited = is_due.then_some(file.as_path());
            let watched = end(
                example.command(runtime, &all, &program, &words),
                ending,
                awaited,
            );
            assert_eq!(watched.status, plain.status, "{watched:?}");
            assert_eq!(watched.stdout, plain.stdout);
            // The runtime prints the whole overflown stack, which may contain frames of the profiler.
            if ending != Ending::Overflow {
                let stderr = own_lines(example, &watched.stderr);
                assert_eq!(stderr, own_lines(example, &plain.stderr));
            }
            assert!(plain.stdout.starts_with("worked\n"), "{plain:?}");
            let results = fs::read_to_string(&file).ok();
            if !APPEND.contains(&example.0) {
                assert_ne!(results.as_deref(), Some(""), "it appears when it is whole");
            }
            check(runtime, ending, results.as_deref().unwrap_or_default());
            let mut files = folder.listing();
            if !ending.is_seen(runtime) {
                // It may have been killed during a write.
                files.retain(|(path, _)| path.extension().is_none_or(|end| end != "part"));
            }
            assert_eq!(files.len(), usize::from(results.is_some()), "{files:?}");
        }
    }
}

/// The program without a profiler, once for all examples.
fn plain(example: Example, runtime: &Runtime, words: &[&str], ending: Ending) -> Finished {
    type Key = (String, String, Ending);
    static KNOWN: LazyLock<Mutex<HashMap<Key, Finished>>> = LazyLock::new(Mutex::default);
    let key = (runtime.name.clone(), words[0].to_owned(), ending);
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(&key) {
        return known.clone();
    }
    drop(known);
    let plain = end(
        example.plain(runtime, &profilee("Watched"), words),
        ending,
        None,
    );
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(key).or_insert(plain).clone()
}

/// The program's lines, and those of stack traces without the framework's methods: which of these
/// appear depends on inlining, and so on the profiler.
fn own_lines(example: Example, stderr: &str) -> Vec<&str> {
    let (_, mut lines) = example.split(stderr);
    lines.retain(|line| !line.starts_with("   at System."));
    lines
}

fn end(mut command: Command, ending: Ending, awaited: Option<&Path>) -> Finished {
    // A shell that starts the tests in the background lets them ignore SIGINT, and their children.
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            if ending == Ending::Ignored {
                libc::signal(libc::SIGHUP, libc::SIG_IGN);
            }
            Ok(())
        });
    }
    let mut running = Running::start(command);
    if ending.signal().is_some() || awaited.is_some() {
        while running.line() != "waiting" {}
    }
    let begun = Instant::now();
    while let Some(file) = awaited
        && !file.exists()
    {
        assert!(begun.elapsed() < Duration::from_secs(60), "no results");
        thread::sleep(Duration::from_millis(10));
    }
    if let Some(signal) = ending.signal() {
        let id = running.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }
    match ending {
        Ending::Interrupt | Ending::Cancel | Ending::Terminate | Ending::Kill => running.wait(),
        _ => running.finish(),
    }
}
