//! The table of the faults.

use clr_profiler_tests::{Example, Runtime};

use super::run::Kept;

/// A fault.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The arguments of `Watched`, or of the program that the fault names.
    pub(super) words: &'static [&'static str],
    pub(super) kind: Kind,
}

/// How it is brought about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// By the program itself.
    Program,
    /// By the program `Forks`.
    Forks,
    /// By the least number of descriptors with which the program runs alone, and two more.
    Descriptors,
    /// By the size that files may have.
    FileSize(u64),
    /// By a disk for the results.
    Disk(Disk),
    /// The results go into a pipe that is read slowly.
    SlowPipe,
    /// The results go to a path that nobody can write.
    Unwritable,
    /// The folder of the results is removed while the program waits.
    FolderGoes,
    /// A signal while the program waits.
    Signal(&'static str),
    /// SIGHUP for a program that ignores it.
    Nohup,
    /// An environment variable with the prefix of the runtime.
    Setting(&'static str, &'static str),
    /// The clocks of a machine that has run for 30 years.
    OldMachine,
    /// The wall clock jumps by hours, back and forth, and the other clocks by seconds.
    JumpingClock,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Disk {
    /// It has no room from the beginning.
    Full,
    /// It is full at some moments, and not at the end.
    Fills,
    /// It becomes read-only at some moment.
    ReadOnly,
}

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "as few descriptors as the program alone, and two",
        &["mixed", "return"],
        Kind::Descriptors,
    ),
    fault(
        "files of at most 6 kB (RLIMIT_FSIZE)",
        &["mixed", "return"],
        Kind::FileSize(6_144),
    ),
    fault("a full disk", &["mixed", "wait"], Kind::Disk(Disk::Full)),
    fault(
        "a disk that is full at times",
        &["mixed", "wait"],
        Kind::Disk(Disk::Fills),
    ),
    fault(
        "a disk that becomes read-only",
        &["mixed", "wait"],
        Kind::Disk(Disk::ReadOnly),
    ),
    fault("a slow pipe", &["mixed", "wait"], Kind::SlowPipe),
    fault(
        "a folder that cannot be written",
        &["mixed", "return"],
        Kind::Unwritable,
    ),
    fault(
        "a folder that is removed",
        &["mixed", "wait"],
        Kind::FolderGoes,
    ),
    fault("SIGINT", &["mixed", "wait"], Kind::Signal("-INT")),
    fault("SIGTERM", &["mixed", "wait"], Kind::Signal("-TERM")),
    fault("SIGHUP", &["mixed", "wait"], Kind::Signal("-HUP")),
    fault("SIGKILL", &["mixed", "wait"], Kind::Signal("-KILL")),
    fault("SIGHUP under nohup", &["mixed", "wait"], Kind::Nohup),
    fault(
        "Console.CancelKeyPress",
        &["mixed", "cancel"],
        Kind::Signal("-INT"),
    ),
    fault(
        "PosixSignalRegistration",
        &["mixed", "posix"],
        Kind::Signal("-TERM"),
    ),
    fault(
        "Environment.FailFast",
        &["mixed", "failfast"],
        Kind::Program,
    ),
    fault(
        "an unhandled exception",
        &["mixed", "unhandled"],
        Kind::Program,
    ),
    fault("a stack overflow", &["mixed", "overflow"], Kind::Program),
    fault("a child process", &["mixed", "child"], Kind::Program),
    fault("a fork", &["exec"], Kind::Forks),
    fault(
        "5,000 threads at once",
        &["crowd", "return", "5000"],
        Kind::Program,
    ),
    fault(
        "a starved thread pool",
        &["starved", "return"],
        Kind::Program,
    ),
    fault(
        "OutOfMemoryException (GCHeapHardLimit)",
        &["exhausted", "return"],
        Kind::Setting("GCHeapHardLimit", "C800000"),
    ),
    fault(
        "the clocks of 30 years (a time namespace)",
        &["mixed", "return"],
        Kind::OldMachine,
    ),
    fault("clocks that jump", &["mixed", "wait"], Kind::JumpingClock),
];

/// The examples that load an assembly into the program.
const HAVE_HELPERS: [&str; 3] = ["method_logger", "method_tracer", "return_inspector"];

const fn fault(name: &'static str, words: &'static [&'static str], kind: Kind) -> Fault {
    Fault { name, words, kind }
}

impl Fault {
    /// Whether the runtime can have it.
    pub(super) fn is_on(&self, runtime: &Runtime) -> bool {
        !self.words.contains(&"posix") || runtime.major >= 6
    }

    /// The setting of the runtime without which the program crashes: a limit that SECURITY.md names.
    pub(super) fn setting(
        &self,
        example: Example,
        runtime: &Runtime,
    ) -> Option<(&'static str, &'static str)> {
        // With hooks no precompiled code is used, so the child of the fork compiles the code that calls `exec`. From
        // .NET 7 on, it writes that to the memory of its parent's code, unless code is mapped once only.
        let is_limit =
            self.kind == Kind::Forks && example.0 == "call_counter" && runtime.major >= 7;
        is_limit.then_some(("DOTNET_EnableWriteXorExecute", "0"))
    }

    /// The results that have to be there.
    pub(super) fn kept(&self, example: Example, runtime: &Runtime) -> Kept {
        let is_periodic = example.0 != "heap_snapshot";
        let is_abrupt = self.words.contains(&"failfast")
            || self.words.contains(&"unhandled")
            || self.words.contains(&"overflow");
        match self.kind {
            Kind::Signal("-KILL") if is_periodic => Kept::All,
            Kind::Signal("-KILL") => Kept::UpToPeriod,
            Kind::Program if is_abrupt && runtime.major < 5 && is_periodic => Kept::All,
            Kind::Program if is_abrupt => Kept::UpToPeriod,
            // Their helper assembly has the two descriptors: none may be left for a write.
            Kind::Descriptors if HAVE_HELPERS.contains(&example.0) => Kept::Said,
            Kind::FileSize(_) | Kind::Unwritable => Kept::Said,
            Kind::FolderGoes | Kind::Disk(_) => Kept::Said,
            _ => Kept::All,
        }
    }
}
