//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

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
with 3 if it has found a fault, `verify` if a method was refused."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Shows where processor time goes: a flame graph, a table, or a file for speedscope
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
    /// Records the objects on the heap, and why they are alive
    Heap(Profile<Heap>),
    /// Records each call as a span, for Perfetto and OpenTelemetry
    Trace(Profile<Trace>),
    /// Gives methods exceptions, delays and results in a share of their calls
    Patch(Profile<Patch>),
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
    /// Write the results to this file
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

/// Places in source files.
#[derive(Debug, Args)]
pub(crate) struct Lines {
    /// Show files and lines of methods whose assemblies have a PDB
    #[arg(long)]
    pub(crate) lines: bool,
}

/// The format of stacks is that of the file's name.
#[derive(Debug, Args)]
#[command(after_help = "\
The ending of the output's name is the format: .svg is a flame graph for a browser, .json is for \
https://www.speedscope.app, .folded is a stack a line, anything else a table.

Examples:
  cargo clr cpu -- App.dll
  cargo clr cpu -p 4711 --duration 30 -o cpu.json")]
pub(crate) struct Cpu {
    /// The time between two samples in microseconds
    #[arg(long, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    pub(crate) interval: Option<u64>,
    /// Interrupt each thread by its own processor time instead of suspending the program, which is not biased (Linux)
    #[arg(long, conflicts_with = "wall")]
    pub(crate) interrupt: bool,
    /// Count the time of threads that wait, too
    #[arg(long)]
    pub(crate) wall: bool,
    /// Each stack begins with its thread
    #[arg(long)]
    pub(crate) threads: bool,
    #[command(flatten)]
    pub(crate) lines: Lines,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo clr gc -p 4711 --duration 60 -o gc.txt")]
pub(crate) struct Gc {
    /// Also the bytes of the objects that survive, for which concurrent collections are switched off
    #[arg(long, conflicts_with = "process")]
    pub(crate) survivors: bool,
    /// Write a JSON object a line
    #[arg(long)]
    pub(crate) lines_as_json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo clr exceptions --filter IOException -- App.dll")]
pub(crate) struct Exceptions {
    /// Only exceptions whose types contain this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// How many frames of a stack are written
    #[arg(long, value_name = "FRAMES")]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) lines: Lines,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo clr log --methods 'Shop.*::*' -o methods.txt -- App.dll")]
pub(crate) struct Log {
    #[command(flatten)]
    pub(crate) methods: Methods,
    #[command(flatten)]
    pub(crate) lines: Lines,
    /// A table of assemblies at the end
    #[arg(long)]
    pub(crate) summary: bool,
}

/// The one syntax of patterns.
#[derive(Debug, Args)]
pub(crate) struct Methods {
    /// Only methods that match these patterns, or those in a file: @FILE
    #[arg(long, value_name = "PATTERNS")]
    pub(crate) methods: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Needs the start of the program: a runtime grants hooks of calls only then.

Example:
  cargo clr calls --sort total -- App.dll")]
pub(crate) struct Calls {
    #[command(flatten)]
    pub(crate) methods: Methods,
    /// The column by which the table is ordered
    #[arg(long)]
    pub(crate) sort: Option<Sort>,
    /// Let the runtime inline methods, which are then not counted
    #[arg(long)]
    pub(crate) inline: bool,
    /// Count without a clock
    #[arg(long)]
    pub(crate) no_times: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Own,
    Total,
    Calls,
}

impl Sort {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Total => "total",
            Self::Calls => "calls",
        }
    }
}

impl ValueEnum for Sort {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Own, Self::Total, Self::Calls]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --sampled each object is counted, which needs the start of the program. With -p the runtime's \
own samples are counted, which .NET 5 and newer have.

Example:
  cargo clr alloc -p 4711 --duration 30 -o allocations.svg")]
pub(crate) struct Alloc {
    /// Count the runtime's own samples, one for each 100 kB
    #[arg(long)]
    pub(crate) sampled: bool,
    /// How much of each type survives collections
    #[arg(long, conflicts_with_all = ["sampled", "process"])]
    pub(crate) survival: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
An output with the ending .heapsnapshot is for the memory page of the developer tools of Chromium, \
anything else a table.

Example:
  cargo clr heap --after 5 -o heap.txt --path Shop.Cart -- App.dll")]
pub(crate) struct Heap {
    /// Show the path from a root to an object of this type, in a table
    #[arg(long, value_name = "TYPE")]
    pub(crate) path: Option<String>,
    /// Record after this time, instead of at the end
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    pub(crate) after: Option<Duration>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Open the output at https://ui.perfetto.dev or chrome://tracing. Asynchronous methods are spans until their tasks are complete.

Examples:
  cargo clr trace --methods 'Shop.**' -- App.dll
  cargo clr trace -p 4711 --duration 30 --otlp http://localhost:4318/v1/traces")]
pub(crate) struct Trace {
    #[command(flatten)]
    pub(crate) methods: Methods,
    /// Record `this` and the arguments of each call
    #[arg(long)]
    pub(crate) arguments: bool,
    /// Also write a table of calls and times by method, and the refusals, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Take no more calls beyond this size; 64 without this option
    #[arg(long, value_name = "MEGABYTES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) limit: Option<u64>,
    /// Send the spans to an OpenTelemetry collector, too: http://localhost:4318/v1/traces
    #[arg(long, value_name = "URL", value_parser = collector)]
    pub(crate) otlp: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A fault is a line of the file: `throw`, `delay` or `return` in a share of the calls of methods. The seed chooses the calls, so a \
program with one thread has the same faults in each run:

  seed 42
  throw System.TimeoutException \"no answer\" in 5 % of Shop.Gateway.Pay
  delay 200 ms in 1 % of Shop.Db.*
  return 0 in 10 % of Shop.Stock.Count

Examples:
  cargo clr patch --faults faults.txt -- App.dll
  cargo clr patch --faults faults.txt -p 4711 --duration 30")]
pub(crate) struct Patch {
    /// The file with the faults
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: PathBuf,
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

/// A URL of plain HTTP.
fn collector(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").unwrap_or_default();
    let host = host.split('/').next().unwrap_or_default();
    // The address may be `[::1]`.
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    match !name.is_empty() && is_port && !text.contains(char::is_whitespace) {
        true => Ok(text.to_owned()),
        false => {
            Err("write a URL of plain HTTP, such as http://localhost:4318/v1/traces".to_owned())
        }
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
    fn collectors_have_a_name_and_perhaps_a_port() {
        for text in [
            "http://a",
            "http://a:4318/v1/traces",
            "http://[::1]",
            "http://[::1]:80/",
        ] {
            assert_eq!(collector(text), Ok(text.to_owned()));
        }
        for text in [
            "a",
            "https://a",
            "http://",
            "http://:1",
            "http://a:b",
            "http://a:70000/",
            "http://a:/",
        ] {
            assert!(collector(text).is_err(), "{text}");
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
