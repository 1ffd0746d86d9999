//! Programs of all features of C#, as a real compiler builds them, under each profiler that rewrites them:
//! they behave as before, and their exceptions come from the same lines.
//!
//! One profiler of three runs one program in one mode, chosen by its number and the seed; with `LANGUAGE_FULL` set, each
//! runs all programs in all modes.

mod oracle;

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use clr_profiler_tests::{
    Finished, Folder, Runtime, Scenario, profilee, runtimes, runtimes_where, seed_of,
};
use oracle::Same;

/// The programs in `profilees/language`, and the first runtime that supports each.
const PROGRAMS: [(&str, u32); 7] = [
    ("CoreDebug", 3),
    ("CoreRelease", 3),
    ("FrameworkDebug", 3),
    ("FrameworkRelease", 3),
    ("NetDebug", 8),
    ("NetRelease", 8),
    ("NetBare", 8),
];

/// How code is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mode {
    /// Not optimised: no method is inlined, and each frame has the line of the source.
    Exact,
    /// With the default settings.
    Default,
    Optimised,
    /// After many rounds, in which methods are compiled once more; profile-guided on runtimes that support it.
    Rounds,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Exact, Self::Default, Self::Optimised, Self::Rounds];

    fn apply(self, mut scenario: Scenario) -> Scenario {
        let variables: &[(&str, &str)] = match self {
            Self::Exact => &[("JITMinOpts", "1")],
            Self::Default => &[],
            Self::Optimised => &[("TieredCompilation", "0")],
            Self::Rounds => &[
                ("TieredPGO", "1"),
                ("TC_CallCountThreshold", "2"),
                ("TC_CallCountingDelayMs", "0"),
                ("TC_BackgroundWorkerTimeoutMs", "0"),
            ],
        };
        for (name, value) in variables {
            // .NET Core 3.1 knows the first name only.
            scenario = scenario.env(&format!("COMPlus_{name}"), value);
            scenario = scenario.env(&format!("DOTNET_{name}"), value);
        }
        match self {
            Self::Rounds => scenario.arg("30"),
            _ => scenario,
        }
    }
}

fn program(name: &str) -> Scenario {
    Scenario::at(profilee(&format!("language/{name}")))
}

/// How a profiler changes the IL of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ways {
    /// Before they are compiled.
    Rewrite,
    /// By ReJIT, which on .NET Core 3.1 may report the lines of another body.
    Rejit,
    /// Before they are compiled, and those of the framework as well, whose frames then change.
    Everything,
    /// Before they are compiled, and statements are split in the middle. The runtime's compiler has lines
    /// for whole statements only if it optimises, and another call may then be inlined.
    Cuts,
}

/// The parts of the output that stay the same under a profiler.
fn same(runtime: &Runtime, name: &str, mode: Mode, ways: Ways) -> Same {
    // Code of a debug build is never optimised. In others .NET Core 3.1 gives a `throw` the line of the
    // adjacent statement, even if the compiler does not optimise.
    let (is_debug, is_old) = (name.ends_with("Debug"), runtime.major < 8);
    let has_lines = is_debug && !(is_old && ways == Ways::Rejit);
    if ways == Ways::Cuts && !is_debug {
        return Same::OwnFrames;
    }
    if ways == Ways::Everything {
        return match has_lines || (mode == Mode::Exact && !is_old) {
            true => Same::OwnLines,
            false => Same::OwnFrames,
        };
    }
    match (has_lines, mode) {
        (true, Mode::Rounds) => Same::OwnLines,
        (true, _) => Same::Lines,
        (false, Mode::Rounds) => Same::OwnFrames,
        (false, _) if is_old => Same::Frames,
        (false, Mode::Exact) => Same::Lines,
        (false, Mode::Default | Mode::Optimised) => Same::Near,
    }
}

/// A run of a program without a profiler.
fn plain(runtime: &Runtime, name: &'static str, mode: Mode) -> Arc<Finished> {
    type Runs = HashMap<(String, &'static str, Mode), Arc<OnceLock<Arc<Finished>>>>;
    static RUNS: Mutex<Option<Runs>> = Mutex::new(None);
    let run = {
        let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (runtime.name.clone(), name, mode);
        Arc::clone(runs.get_or_insert_default().entry(key).or_default())
    };
    let finished = run.get_or_init(|| {
        let finished = mode.apply(program(name)).run_plain(runtime);
        assert_eq!(finished.status.code(), Some(42), "{finished:?}");
        assert_eq!(finished.stderr, "");
        Arc::new(finished)
    });
    Arc::clone(finished)
}

/// The chosen combinations of program and mode.
fn cells(runtime: &Runtime, profiler: usize, ways: Ways) -> Vec<(&'static str, Mode)> {
    let programs = PROGRAMS.iter().filter(|(_, first)| *first <= runtime.major);
    let all: Vec<_> = programs
        .flat_map(|(name, _)| Mode::ALL.map(|mode| (*name, mode)))
        .collect();
    if std::env::var_os("LANGUAGE_FULL").is_some() {
        return all;
    }
    // Compiling the whole framework takes long.
    if ways == Ways::Everything && runtime.major != 8 {
        return Vec::new();
    }
    let seed = seed_of("language");
    if seed % 3 != profiler % 3 {
        return Vec::new();
    }
    // Neither divides the number of cells: programs and modes take turns.
    let chosen = (seed / 3 + 5 * profiler + 3 * runtime.major as usize) % all.len();
    vec![all[chosen]]
}

/// Runs programs under a profiler, for which `prepare` gets them and an empty folder. `done` checks
/// its results.
fn unnoticed(
    profiler: usize,
    ways: Ways,
    prepare: impl Fn(Scenario, &Folder, &str) -> Scenario,
    done: impl Fn(&str, &Folder, &Finished),
) {
    let mut problems = Vec::new();
    for runtime in runtimes_where(|runtime| !cells(runtime, profiler, ways).is_empty()) {
        for (name, mode) in cells(runtime, profiler, ways) {
            let what = format!("{name} {mode:?} on {}", runtime.name);
            println!("{what}");
            let plain_run = plain(runtime, name, mode);
            let exact = plain(runtime, name, Mode::Exact);
            let folder = Folder::new();
            let scenario = prepare(mode.apply(program(name)), &folder, name);
            let profiled = scenario.run_on(runtime);
            match oracle::unnoticed(
                &plain_run,
                &profiled,
                &exact,
                same(runtime, name, mode, ways),
            ) {
                Ok(()) => done(&what, &folder, &profiled),
                Err(problem) => problems.push(format!("{what}: {problem}\n{}", profiled.log)),
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

/// A profiler of the examples, whose output and other variables are files in the folder.
fn example(
    scenario: Scenario,
    folder: &Folder,
    name: &str,
    clsid: &str,
    files: &[&str],
) -> Scenario {
    let prefix = name.to_uppercase();
    files
        .iter()
        .fold(scenario.library(name).profiler(clsid), |scenario, file| {
            let path = folder.path(file);
            scenario.env(&format!("{prefix}_{file}"), path.to_str().unwrap())
        })
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap_or_default()
}

/// At least `least` lines of a file contain this.
fn least(what: &str, text: &str, part: &str, least: usize) {
    let count = text.lines().filter(|line| line.contains(part)).count();
    println!("{what}: {count} of `{part}`");
    assert!(count >= least, "{what}: {count} of `{part}` in\n{text}");
}

fn method_logger(number: usize, options: &[&str]) {
    unnoticed(
        number,
        Ways::Rewrite,
        |scenario, folder, _| {
            let clsid = "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF";
            let files = ["OUTPUT", "IL"];
            let scenario = example(scenario, folder, "method_logger", clsid, &files);
            options.iter().fold(scenario, |scenario, option| {
                scenario.env(&format!("METHOD_LOGGER_{option}"), "1")
            })
        },
        |what, folder, _| {
            let il = read(folder, "IL");
            assert!(
                !il.contains("refused: ") && !il.contains("failed: "),
                "{il}"
            );
            least(what, &read(folder, "OUTPUT"), "> ", 300);
        },
    );
}

#[test]
fn calls_are_logged() {
    method_logger(0, &[]);
}

#[test]
fn calls_are_logged_counted_and_timed() {
    method_logger(1, &["COUNT", "TIME"]);
}

fn return_inspector(number: usize, options: &[&str]) {
    unnoticed(
        number,
        Ways::Rewrite,
        |scenario, folder, _| {
            let clsid = "A8656E35-9A04-449E-B8EA-C9B8FBA40D52";
            let scenario = example(scenario, folder, "return_inspector", clsid, &["OUTPUT"]);
            options.iter().fold(scenario, |scenario, option| {
                scenario.env(&format!("RETURN_INSPECTOR_{option}"), "1")
            })
        },
        |what, folder, _| least(what, &read(folder, "OUTPUT"), " = ", 100),
    );
}

#[test]
fn results_are_inspected() {
    return_inspector(2, &[]);
}

#[test]
fn results_are_inspected_by_native_code() {
    return_inspector(3, &["NATIVE"]);
}

fn method_tracer(number: usize, config: &str) {
    unnoticed(
        number,
        Ways::Rewrite,
        |scenario, folder, _| {
            fs::write(folder.path("CONFIG"), config).unwrap();
            let clsid = "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48";
            let files = ["OUTPUT", "SUMMARY", "CONFIG"];
            let scenario = example(scenario, folder, "method_tracer", clsid, &files);
            scenario
                .env("METHOD_TRACER_ARGUMENTS", "1")
                .env("METHOD_TRACER_BUDGET", "100")
        },
        |what, folder, _| least(what, &read(folder, "SUMMARY"), "  Language.", 40),
    );
}

#[test]
fn calls_are_traced() {
    method_tracer(4, "*!Language.*\n");
}

#[test]
fn calls_of_what_the_compiler_makes_are_traced() {
    method_tracer(5, "*!Language.*\n*!*<*\n");
}

/// A profiler of the scenarios that gives methods new IL by ReJIT. Mapping offsets has no effect there, as the guide says.
#[test]
fn rejit_of_net_core_3_1_has_other_lines() {
    let (name, mode) = ("CoreDebug", Mode::Default);
    for runtime in runtimes_where(|runtime| runtime.major == 3) {
        let scenario = program(name).env("SHAPES_ASSEMBLIES", name);
        let profiled = scenario.profiler("RejitsShapes").run_on(runtime);
        let plain = plain(runtime, name, mode);
        let check = |same| oracle::unnoticed(&plain, &profiled, &plain, same);
        assert_eq!(check(Same::Frames), Ok(()));
        assert!(check(Same::Lines).is_err());
    }
}

#[test]
fn calls_are_counted_and_timed_by_patches() {
    unnoticed(
        6,
        Ways::Rewrite,
        |scenario, folder, _| {
            let clsid = "7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46";
            example(scenario, folder, "hot_patch", clsid, &["OUTPUT", "CONTROL"])
        },
        |what, folder, _| {
            let results = read(folder, "OUTPUT");
            assert!(
                !results.contains("  failed  ") && !results.contains("  refused  "),
                "{results}"
            );
            least(what, &results, "  instrumented  ", 30);
        },
    );
}

/// A profiler of the scenarios that rewrites all methods of the program, and logs their number.
fn scenario(number: usize, ways: Ways, clsid: &str, told: &str, number_of: u64) {
    let done = |what: &str, profiled: &Finished| {
        let log = &profiled.log;
        let mut numbers = log.lines().filter_map(|line| line.strip_prefix(told));
        let found: Option<u64> = numbers.find_map(|number| number.parse().ok());
        println!("{what}: {told}{found:?}");
        assert!(found.is_some_and(|found| found >= number_of), "{log}");
    };
    unnoticed(
        number,
        ways,
        |scenario, _, name| {
            let helper = profilee("helper/Helper");
            scenario
                .env("SHAPES_ASSEMBLIES", &format!("{name} Library"))
                .env("SHAPES_HELPER", helper.to_str().unwrap())
                .env("SHAPES_LEAST", &number_of.to_string())
                .profiler(clsid)
        },
        |what, _, profiled| done(what, profiled),
    );
}

#[test]
fn methods_call_a_helper() {
    scenario(7, Ways::Rewrite, "LogsShapes", "rewritten ", 150);
}

#[test]
fn results_are_boxed() {
    scenario(8, Ways::Rewrite, "InspectsShapes", "rewritten ", 150);
}

#[test]
fn methods_are_wrapped() {
    scenario(9, Ways::Rewrite, "WrapsShapes", "rewritten ", 150);
}

/// The map of the offsets preserves the lines.
#[test]
fn lines_are_others_without_a_map() {
    let (name, mode) = ("CoreDebug", Mode::Default);
    for runtime in runtimes() {
        let scenario = program(name).env("SHAPES_ASSEMBLIES", name);
        let scenario = scenario.profiler("WrapsShapes");
        let plain = plain(runtime, name, mode);
        let check = |profiled: &Finished, same| oracle::unnoticed(&plain, profiled, &plain, same);
        assert_eq!(check(&scenario.run_on(runtime), Same::Lines), Ok(()));
        let unmapped = scenario.env("SHAPES_UNMAPPED", "1").run_on(runtime);
        assert_eq!(check(&unmapped, Same::Frames), Ok(()));
        assert!(check(&unmapped, Same::Lines).is_err());
    }
}

#[test]
fn methods_are_wrapped_and_unwrapped_by_rejit() {
    scenario(10, Ways::Rejit, "RejitsShapes", "rewritten ", 100);
}

/// Edits at random, some in each method.
fn scrambled(number: usize, ways: Ways) {
    unnoticed(
        number,
        ways,
        |scenario, _, name| {
            let scenario = scenario
                .env("SCRAMBLE", name)
                .env("SEED", "1")
                .profiler("Scrambles");
            match ways {
                Ways::Cuts => scenario,
                _ => scenario.env("SCRAMBLE_LINES", "1"),
            }
        },
        |what, _, profiled| {
            let log = &profiled.log;
            let rewritten = log.lines().filter(|line| line.starts_with("rewritten "));
            let rewritten = rewritten.count();
            println!("{what}: {rewritten} rewritten");
            assert!(rewritten >= 100, "{log}");
            let edits = log.lines().find_map(|line| line.strip_prefix("edits "));
            let edits: usize = edits.unwrap().parse().unwrap();
            assert!(edits >= 4 * rewritten, "{edits}\n{log}");
        },
    );
}

#[test]
fn methods_are_scrambled() {
    scrambled(11, Ways::Rewrite);
}

#[test]
fn methods_are_scrambled_and_cut() {
    scrambled(13, Ways::Cuts);
}

#[test]
fn everything_is_wrapped() {
    let clsid = "Everything";
    scenario(12, Ways::Everything, clsid, "wrapped ", 300);
}
