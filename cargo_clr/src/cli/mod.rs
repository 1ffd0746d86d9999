//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::cover::{Cover, CoverMerge};

mod tools;

pub(crate) use tools::{
    Alloc, Calls, Cpu, Exceptions, Format, Gc, Heap, Locks, Log, Methods, Patch, Stacks, Trace,
};

/// Profiles .NET programs, and says why a profiler was not loaded.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-clr",
    bin_name = "cargo clr",
    version,
    about,
    after_help = "\
Examples:
  cargo clr cpu -- bin/Release/net8.0/App.dll first second
  cargo clr cpu -p 4711 --duration 30 -o cpu.svg
  cargo clr doctor -p 4711

Exit codes: that of the program, if it was started; otherwise 0 for success, 1 for a failure, 2 for a \
wrong command line. A program that a signal ends gives 128 and the number of the signal. `doctor` ends \
with 3 if it has found a fault, `verify` if a method was refused, `cover` if a threshold was missed."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Shows where processor time goes: a flame graph, a table, or a file for pprof and other viewers
    Cpu(Profile<Cpu>),
    /// Writes a line for each garbage collection
    Gc(Profile<Gc>),
    /// Writes each exception with its stack and its catch block
    Exceptions(Profile<Exceptions>),
    /// Writes each method that is compiled
    Log(Profile<Log>),
    /// Counts and times the calls of methods
    Calls(Profile<Calls>),
    /// Shows which types are allocated, and where
    Alloc(Profile<Alloc>),
    /// Shows where threads wait for locks, for how long, and for which threads
    Locks(Profile<Locks>),
    /// Records the objects on the heap, and why they are alive
    Heap(Profile<Heap>),
    /// Records each call as a span, for Perfetto and OpenTelemetry
    Trace(Box<Profile<Trace>>),
    /// Checks rules for spans, and writes them in the form that the tracer reads
    Rules(Rules),
    /// Changes methods: patches in C#, or exceptions, delays and results in a share of their calls
    Patch(Profile<Patch>),
    /// Shows the hot methods, threads, allocations, collections and exceptions of a running program, live
    Top(Top),
    /// Measures which lines and branches run: lcov, Cobertura, JSON, HTML
    Cover(Box<Profile<Cover>>),
    /// Adds up the coverage of several runs
    CoverMerge(CoverMerge),
    /// Starts a program under a profiler of yours
    Run(Run),
    /// Loads a profiler of yours into a running program
    Attach(AttachTo),
    /// Lists the processes with a .NET runtime
    Ps(Ps),
    /// Says why a profiler is not loaded, and what to do
    Doctor(Doctor),
    /// Wraps each method of an application without running it, and says which ones are refused
    Verify(Verify),
    /// Makes the crate of a new profiler
    New(New),
    /// Writes the completions of the command line for a shell
    Completions(Completions),
    /// Writes the manual pages
    Man(Man),
    /// Asks a library for a profiler, in a process of its own
    #[command(name = "__load", hide = true)]
    Load { library: PathBuf, clsid: String },
}

/// A verb that profiles: its own options, and those of all.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("required").required(true).args(["process", "program"])))]
pub(crate) struct Profile<Options: Args> {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(flatten)]
    pub(crate) subject: Subject,
}

/// What to profile, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct Subject {
    /// End after this time, such as 30, 1.5 or 200ms; with -p it is 10 s without this option
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Write the results to this file; without this option to one in the current folder, which the last line names
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: Json,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// A process or a program.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// A running process, instead of a program to start
    #[arg(
        short = 'p',
        long = "pid",
        value_name = "PID",
        conflicts_with = "program"
    )]
    pub(crate) process: Option<u32>,
    #[command(flatten)]
    pub(crate) program: Program,
}

/// A program to start.
#[derive(Debug, Args)]
pub(crate) struct Program {
    /// The program: an assembly (App.dll) or a native .NET executable, and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) program: Vec<OsString>,
}

/// For machines.
#[derive(Debug, Args)]
pub(crate) struct Json {
    /// Print the outcome as JSON to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Keys: 1 to 5 or Tab choose a table, the arrows and Page Up and Down scroll, t orders methods by their time with callees, s shows \
the sums since the beginning, p pauses, q leaves. The program continues without a profiler.

Example:
  cargo clr top 4711")]
pub(crate) struct Top {
    /// The process
    #[arg(value_name = "PID")]
    pub(crate) process: u32,
    /// The time between two updates
    #[arg(long, value_name = "SECONDS", value_parser = duration, default_value = "1")]
    pub(crate) period: Duration,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("required").required(true).args(["program"])))]
#[command(after_help = "\
Without --profiler cargo builds the library of the package in the current folder.

Examples:
  cargo clr run -- App.dll first second
  cargo clr run --profiler libmine.so --clsid DF63A541-5A33-4611-8829-F4E495985EE3 -- App.dll")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) profiler: Profiler,
    #[command(flatten)]
    pub(crate) program: Program,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --profiler cargo builds the library of the package in the current folder.

Example:
  cargo clr attach 4711 --data 'sample every 10 ms'")]
pub(crate) struct AttachTo {
    /// The process
    #[arg(value_name = "PID")]
    pub(crate) process: u32,
    #[command(flatten)]
    pub(crate) profiler: Profiler,
    /// The data that the profiler gets
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) data: String,
    /// How long the runtime may take
    #[arg(long, value_name = "SECONDS", value_parser = duration, default_value = "30")]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
pub(crate) struct Profiler {
    /// The library of the profiler
    #[arg(long, value_name = "LIBRARY", requires = "clsid")]
    pub(crate) profiler: Option<PathBuf>,
    /// The class id of the profiler in the library
    #[arg(long, value_name = "GUID", value_parser = clsid)]
    pub(crate) clsid: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo clr completions bash > ~/.local/share/bash-completion/completions/cargo-clr")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo clr man | man -l -
  cargo clr man --folder ~/.local/share/man/man1 && man cargo-clr-cpu")]
pub(crate) struct Man {
    /// Write the page of the command, and one of each verb, to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo clr ps
  cargo clr ps --json")]
pub(crate) struct Ps {
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
With a program, it is started with the environment of this command, and ended as soon as its runtime \
has loaded the profiler or continues without one. Exit code 3 says that there is a fault.

Examples:
  cargo clr doctor -p 4711
  cargo clr doctor -- App.dll")]
pub(crate) struct Doctor {
    /// Examine the environment of this command with the files of an image or container, below this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["process", "program"])]
    pub(crate) container_root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: Json,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cargo clr new my_profiler && cd my_profiler && cargo clr run -- tests/Sample.dll"
)]
pub(crate) struct New {
    /// The folder, whose name is that of the crate
    #[arg(value_name = "NAME")]
    pub(crate) path: PathBuf,
    /// A checkout of clr_profiler to depend on, instead of the published crates
    #[arg(long, value_name = "FOLDER")]
    pub(crate) checkout: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo clr verify bin/Release/net8.0/publish")]
pub(crate) struct Verify {
    /// A folder with assemblies, or an assembly
    #[arg(value_name = "APP-FOLDER")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The files are our own ones, or those of OpenTelemetry .NET with `no_code`. `trace --rules` does the same; the form that this verb \
writes is for METHOD_TRACER_RULES, where the environment alone starts the tracer.

Examples:
  cargo clr rules shop.yaml
  cargo clr rules shop.yaml -o rules.json")]
pub(crate) struct Rules {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Write the checked rules to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Reads `30`, `1.5`, `30s` or `200ms`.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if (0.01..=1e6).contains(&(number * unit)) => {
            Ok(Duration::from_secs_f64(number * unit))
        }
        _ => Err(
            "write a number of seconds from 0.01 to 1000000, such as 30, 1.5 or 200ms".to_owned(),
        ),
    }
}

fn clsid(text: &str) -> Result<String, String> {
    match text.parse::<clr_profiler_launcher::Clsid>() {
        Ok(clsid) => Ok(clsid.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_each_verb_has_an_example() {
        for verb in Cli::command().get_subcommands() {
            let help = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let example = format!("  cargo clr {}", verb.get_name());
            assert!(
                verb.is_hide_set() || help.contains(&example),
                "{}: {help}",
                verb.get_name()
            );
            assert!(
                verb.is_hide_set() || verb.get_about().is_some(),
                "{}",
                verb.get_name()
            );
        }
    }

    #[test]
    fn times_have_units() {
        for (text, milliseconds) in [("30", 30_000), ("1.5s", 1500), ("200ms", 200), ("0.01", 10)] {
            assert_eq!(
                duration(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        for text in ["", "abc", "0", "-1", "1h", "nan", "inf", "1e9"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
