//! Programs with coverage, and the same programs without it.

use std::process::{Command, Output};

use clr_profiler_tests::{
    Folder, GENERATOR, Pinned, Runtime, configure_generator, fetched, profilee, runtimes,
    runtimes_where,
};

use crate::command::{clr, clr_on, stderr};
use crate::compiled::compile;

const SOURCE: &str = include_str!("Cost.cs");

/// How often the program repeats its work.
const ROUNDS: &str = "30";

/// Its name, the words of the command if there is one, and variables. One without a command is compared with those after it.
type Way<'a> = (&'a str, Option<&'a [&'a str]>, &'a [(&'a str, &'a str)]);

/// The milliseconds of all rounds and of the second half of them, and the greatest memory in kilobytes.
fn figures(stderr: &str) -> [f64; 3] {
    let line = stderr.lines().find_map(|line| line.strip_prefix("took "));
    let line = line.unwrap_or_else(|| panic!("{stderr}"));
    let numbers: Vec<f64> = line.split(' ').map(|text| text.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn least(runs: &[[f64; 3]]) -> [f64; 3] {
    let column = |at: usize| runs.iter().map(|run| run[at]).fold(f64::MAX, f64::min);
    [column(0), column(1), column(2)]
}

pub(super) fn computing(count: usize) {
    let Some(program) = compile("Cost", SOURCE, &["-optimize+"]) else {
        return;
    };
    println!("runtime  coverage          all rounds  second half  memory");
    for runtime in runtimes() {
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let measured = ["cover", "-o", lcov.to_str().unwrap()];
        let counted = [&measured[..], &["--counts"]].concat();
        let keeps = [("COVERAGE_KEEP_PROBES", "1")];
        let once = [
            ("DOTNET_TieredCompilation", "0"),
            ("COMPlus_TieredCompilation", "0"),
        ];
        let ways: [Way<'_>; 6] = [
            ("none", None, &[]),
            ("hits", Some(&measured), &[]),
            ("probes stay", Some(&measured), &keeps),
            ("counts", Some(&counted), &[]),
            ("once: none", None, &once),
            ("once: hits", Some(&measured), &once),
        ];
        let mut runs = vec![Vec::new(); ways.len()];
        for _ in 0..count {
            for ((_, words, variables), runs) in ways.iter().zip(&mut runs) {
                let mut command = match words {
                    None => runtime.launch(program.path(), &[ROUNDS]).command().unwrap(),
                    Some(words) => clr_on(runtime, words, program.path(), &[ROUNDS]),
                };
                command.envs(variables.iter().copied());
                runs.push(figures(&stderr(&command.output().unwrap())));
            }
        }
        let mut plain = least(&runs[0]);
        for ((name, words, _), runs) in ways.iter().zip(&runs) {
            if words.is_none() {
                plain = least(runs);
            }
            let [all, half, memory] = least(runs);
            println!(
                ".NET {:<3} {name:<14} {:>9.2} x {:>10.2} x {:>+7.1} MB",
                runtime.major,
                all / plain[0],
                half / plain[1],
                (memory - plain[2]) / 1024.0,
            );
        }
    }
}

/// A generator of C# code, which has a PDB, and the C# compiler, which has none.
pub(super) fn programs_of_others(runs: usize) {
    let on = |major: u32| runtimes_where(move |runtime: &Runtime| runtime.major == major);
    if let Some((runtime, generator)) = on(9).first().zip(fetched(&GENERATOR)) {
        let folder = Folder::new();
        let path = configure_generator(&folder, 1);
        let launch = runtime.launch(&generator, &["--standalone", path.to_str().unwrap()]);
        compare(
            "the generator",
            "AutoRest.CSharp!**",
            runs,
            launch.command().unwrap(),
        );
    }
    if let Some((runtime, compiler)) = on(8).first().zip(fetched(&Pinned::ROSLYN)) {
        let compiler = compiler.with_file_name("").display().to_string();
        let source = profilee("Compiler")
            .with_file_name("Small.cs")
            .display()
            .to_string();
        let launch = runtime.launch(&profilee("Compiler"), &[&compiler, &source]);
        let methods = "Microsoft.CodeAnalysis*!**";
        compare("the compiler", methods, runs, launch.command().unwrap());
        let mut at_load = launch.command().unwrap();
        at_load.env("COVERAGE_AT_LOAD", "1000000");
        compare("the compiler, all at load", methods, runs, at_load);
    }
}

fn compare(name: &str, methods: &str, runs: usize, mut command: Command) {
    command.env("DOTNET_PROCESSOR_COUNT", "1");
    let folder = Folder::new();
    let json = folder.path("cover.json");
    let words = ["cover", "--methods", methods, "-o", json.to_str().unwrap()];
    let (mut plain, mut covered) = (f64::MAX, f64::MAX);
    for _ in 0..runs {
        plain = plain.min(seconds(&command));
        covered = covered.min(covered_seconds(&words, &command));
    }
    println!(
        "{name}: {plain:.2} s, covered {covered:.2} s: {:.2} x",
        covered / plain
    );
}

/// The processor time of a command's children, in seconds.
fn seconds(command: &Command) -> f64 {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\"; times >&2", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    seconds_of(&with_variables(shell, command).output().unwrap())
}

/// That of a program under the command, without the time of the command itself.
fn covered_seconds(words: &[&str], command: &Command) -> f64 {
    let mut clr = clr(words);
    clr.args(["--", "sh", "-c", "\"$@\"; times >&2", "sh"]);
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

/// The sum of the second line of `times`: `0m1.25s 0m0.50s`.
fn seconds_of(output: &Output) -> f64 {
    let told = stderr(output);
    assert!(output.status.success(), "{told}");
    let mut lines = told.lines().skip_while(|line| !line.starts_with("0m"));
    let line = lines.nth(1).unwrap_or_else(|| panic!("{told}"));
    let parts = line.split(' ').map(|part| {
        let (minutes, seconds) = part.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    parts.sum()
}
