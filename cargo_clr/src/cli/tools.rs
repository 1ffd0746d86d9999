//! The options of the verbs with a profiler of the command.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::duration;

/// Places in source files.
#[derive(Debug, Args)]
pub(crate) struct Lines {
    /// Show files and lines of methods whose assemblies have a PDB
    #[arg(long)]
    pub(crate) lines: bool,
}

/// How stacks are written.
#[derive(Debug, Args)]
pub(crate) struct Stacks {
    /// The format, instead of that of the ending: .svg, .pb.gz (pprof), .firefox.json, .json (speedscope), .otlp, .folded, or
    /// a table
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

/// A format of stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A flame graph for a browser, .svg
    Svg,
    /// For `go tool pprof` and all that reads its files, .pb.gz or .pprof
    Pprof,
    /// For profiler.firefox.com, .firefox.json
    Firefox,
    /// For www.speedscope.app, .json
    Speedscope,
    /// A request of OpenTelemetry's profiles, .otlp
    Otlp,
    /// A stack a line, .folded
    Folded,
    /// Sums for each method, any other ending
    Table,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The ending of the output's name is the format, unless --format names one: .svg is a flame graph for a browser, .pb.gz or .pprof is \
for `go tool pprof`, .firefox.json for https://profiler.firefox.com, .json for https://www.speedscope.app, .otlp is a request of \
OpenTelemetry's profiles, .folded is a stack a line, anything else a table. `calls`, `alloc`, `locks` and `exceptions` have the \
same formats.

Examples:
  cargo clr cpu -- App.dll
  cargo clr cpu -p 4711 --duration 30 -o cpu.pb.gz")]
pub(crate) struct Cpu {
    /// The time between two samples in microseconds; 4000 by default, 1000 with --suspend
    #[arg(long, value_name = "MICROSECONDS", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    pub(crate) interval: Option<u64>,
    /// Suspend the program for each sample, as on other platforms than Linux x64: own time is biased
    #[arg(long)]
    pub(crate) suspend: bool,
    /// Count the time of threads that wait, too
    #[arg(long)]
    pub(crate) wall: bool,
    /// Each stack begins with its thread
    #[arg(long)]
    pub(crate) threads: bool,
    #[command(flatten)]
    pub(crate) lines: Lines,
    #[command(flatten)]
    pub(crate) stacks: Stacks,
}

#[derive(Debug, Args)]
#[command(after_help = "\
With --triggers each line is followed by the stack of the thread that has triggered the collection, and the end has a table of methods. \
An output with an ending of stacks has these stacks alone, with the pauses as their weights: .svg, .pb.gz and so on, as for `cpu`.

Examples:
  cargo clr gc -p 4711 --duration 60 -o gc.txt
  cargo clr gc --triggers -- App.dll
  cargo clr gc -o pauses.svg -- App.dll")]
pub(crate) struct Gc {
    /// Also the code that triggers each collection (.NET 5 and newer)
    #[arg(long)]
    pub(crate) triggers: bool,
    /// Also the bytes of the objects that survive, for which concurrent collections are switched off
    #[arg(long, conflicts_with = "process")]
    pub(crate) survivors: bool,
    /// Write a JSON object a line
    #[arg(long, conflicts_with = "format")]
    pub(crate) lines_as_json: bool,
    #[command(flatten)]
    pub(crate) stacks: Stacks,
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
    #[command(flatten)]
    pub(crate) stacks: Stacks,
}

#[derive(Debug, Args)]
#[command(after_help = "\
With --perf-map, `perf report` and `samply` show the names of methods. With --jitdump, so do they for code that takes the place of \
other code, and for precompiled code: `perf record -k mono`, then `perf inject --jit -i perf.data -o named.data`.

Examples:
  cargo clr log --methods 'Shop.*::*' -o methods.txt -- App.dll
  perf record -k mono -g cargo clr log --jitdump . -- App.dll")]
pub(crate) struct Log {
    #[command(flatten)]
    pub(crate) methods: Methods,
    #[command(flatten)]
    pub(crate) lines: Lines,
    /// A table of assemblies at the end
    #[arg(long)]
    pub(crate) summary: bool,
    /// Also write the addresses and names of all compiled code to /tmp/perf-PID.map, for perf (Linux)
    #[arg(long)]
    pub(crate) perf_map: bool,
    /// Also write all compiled code with its names to jit-PID.dump in this folder, for `perf inject` (Linux)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) jitdump: Option<PathBuf>,
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
    #[command(flatten)]
    pub(crate) stacks: Stacks,
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
    #[command(flatten)]
    pub(crate) stacks: Stacks,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Locks are those of `lock` in C#, of Monitor, and of System.Threading.Lock. Needs .NET 5 or newer; .NET 8 and newer tell which \
thread had the lock.

Examples:
  cargo clr locks -- App.dll
  cargo clr locks -p 4711 --duration 30 -o locks.svg")]
pub(crate) struct Locks {
    #[command(flatten)]
    pub(crate) lines: Lines,
    #[command(flatten)]
    pub(crate) stacks: Stacks,
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
    /// Record the texts of strings, up to this length, or to 128; the program waits for longer then
    #[arg(long, value_name = "LENGTH", num_args = 0..=1, require_equals = true, default_missing_value = "128",
        value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) strings: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Open the output at https://ui.perfetto.dev. Asynchronous methods are spans until their tasks are complete.

Examples:
  cargo clr trace --methods 'Shop.**' -- App.dll
  cargo clr trace --rules shop.yaml --conventions all -- App.dll
  cargo clr trace -p 4711 --duration 30 --otlp http://localhost:4318/v1/traces")]
pub(crate) struct Trace {
    #[command(flatten)]
    pub(crate) methods: Methods,
    /// Have spans say what the rules in this file say, in YAML; without --methods, only their methods have spans. May be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Whether spans of HTTP, databases and gRPC follow the conventions of OpenTelemetry; without this option, they do if there is a
    /// collector
    #[arg(long, value_name = "all|none", value_parser = ["all", "none"])]
    pub(crate) conventions: Option<String>,
    /// Record `this` and the arguments of each call
    #[arg(long)]
    pub(crate) arguments: bool,
    /// Record the result of each call; of a task, when it has completed
    #[arg(long)]
    pub(crate) results: bool,
    /// Have each enumeration of an iterator or async iterator be a span, too
    #[arg(long)]
    pub(crate) iterators: bool,
    /// Redact arguments and results whose name or text matches one of these patterns: '*password*; *token*; bearer *'
    #[arg(long, value_name = "PATTERNS")]
    pub(crate) redact: Option<String>,
    /// Also write a table of calls and times by method, and the refusals, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Also sample processor time to this file, each sample with its span: pprof (.pb.gz) has the labels trace_id and span_id, .otlp has
    /// links (Linux x64)
    #[arg(long, value_name = "FILE")]
    pub(crate) cpu_profile: Option<PathBuf>,
    /// The same with the time in which threads wait, too
    #[arg(long, value_name = "FILE", conflicts_with = "cpu_profile")]
    pub(crate) wall_profile: Option<PathBuf>,
    /// The same with waits for locks, by the runtime's own tracing (.NET 5 and newer)
    #[arg(long, value_name = "FILE")]
    pub(crate) locks_profile: Option<PathBuf>,
    /// The same with allocated bytes, estimated from the runtime's samples (.NET 5 and newer)
    #[arg(long, value_name = "FILE")]
    pub(crate) alloc_profile: Option<PathBuf>,
    /// The same with exceptions (.NET 5 and newer)
    #[arg(long, value_name = "FILE")]
    pub(crate) exceptions_profile: Option<PathBuf>,
    /// The same with the pauses of garbage collections, by the code that triggers them (.NET 5 and newer)
    #[arg(long, value_name = "FILE")]
    pub(crate) gc_profile: Option<PathBuf>,
    /// The size of the trace and of the file with the calls before: the oldest are dropped; 200 without this option
    #[arg(long, value_name = "MEGABYTES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) max_size: Option<u64>,
    /// The part of the CPU time that tracing may take, 5 without this option: methods that are called too often are only counted; 100
    /// for no limit
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) budget: Option<u64>,
    /// Send the spans to this OpenTelemetry collector, too, instead of that of OTEL_EXPORTER_OTLP_ENDPOINT
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

Patches in C# are the classes of an assembly with Harmony's attributes. Those of methods of .NET are at their calls in the \
program, or, with --all-callers, in the methods themselves.

Examples:
  cargo clr patch --faults faults.txt -- App.dll
  cargo clr patch --faults faults.txt -p 4711 --duration 30
  cargo clr patch --patches Patches.dll --all-callers -- App.dll")]
pub(crate) struct Patch {
    /// The file with the faults
    #[arg(long, value_name = "FILE", required_unless_present = "patches")]
    pub(crate) faults: Option<PathBuf>,
    /// An assembly with patches in C#; several are applied together
    #[arg(long, value_name = "FILE")]
    pub(crate) patches: Vec<PathBuf>,
    /// Change the methods of .NET that patches name, for all callers, instead of their calls in the program
    #[arg(long, requires = "patches")]
    pub(crate) all_callers: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
