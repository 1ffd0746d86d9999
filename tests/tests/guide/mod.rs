//! The profilers of the guide behave as the guide says, on each runtime.

#![cfg(target_os = "linux")]

mod rewriting;

use std::cell::Cell;
use std::{env, fs, process};

use clr_profiler_launcher::Attach;
use clr_profiler_tests::{Finished, Runtime, Scenario, runtimes};

const MY_PROFILER: &str = "7E3D2B60-52C1-4B0E-9C64-0B3A5D1F8E21";
const ALLOCATIONS: &str = "5B1C6C1E-8A0D-4E0E-9B8F-0C4A3D7E1B02";
const EXCEPTIONS: &str = "3A6E7C54-9B0C-4B62-8E1F-54D0C2A9F703";
const COLLECTIONS: &str = "3A6E7C54-9B0C-4B62-8E1F-54D0C2A9F704";
const CAREFUL: &str = "5F0C8E1B-2D3A-4B6C-9E7F-0A1B2C3D4E05";
const ONLY_SHOP: &str = "5F0C8E1B-2D3A-4B6C-9E7F-0A1B2C3D4E06";
const COUNTER: &str = "8D1E5F70-3B2C-4A6D-8C9E-1F2A3B4C5D07";
const SAMPLER: &str = "8D1E5F70-3B2C-4A6D-8C9E-1F2A3B4C5D0D";
const CALLS: &str = "2E8A4B6C-7D15-4F3E-A9B0-5C6D7E8F9011";
const BY_TYPE: &str = "2E8A4B6C-7D15-4F3E-A9B0-5C6D7E8F9012";
const TICKS: &str = "2E8A4B6C-7D15-4F3E-A9B0-5C6D7E8F9013";
const PASSES: &str = "2E8A4B6C-7D15-4F3E-A9B0-5C6D7E8F9014";
const TRACED: &str = "2E8A4B6C-7D15-4F3E-A9B0-5C6D7E8F9015";
const PIPES: &str = "2E8A4B6C-7D15-4F3E-A9B0-5C6D7E8F9016";
const HOTTEST: &str = "3A6E7C54-9B0C-4B62-8E1F-54D0C2A9F740";
const KEEPERS: &str = "3A6E7C54-9B0C-4B62-8E1F-54D0C2A9F741";
const LATE: &str = "4B7A9C10-6E5D-4F3B-A2C1-9D8E7F605108";
const MODULE_LOGGER: &str = "4B7A9C10-6E5D-4F3B-A2C1-9D8E7F605109";

fn scenario(program: &str) -> Scenario {
    Scenario::new(program).library("guide_profilers")
}

/// Runs the program without and with the profiler: it ends and prints as before, no callback has
/// failed, and this is true for the lines of the profiler.
fn watches(scenario: &Scenario, assert: impl Fn(&Finished)) {
    watches_where(scenario, |_| true, assert);
}

/// As [`watches`], on the runtimes for which something is true.
fn watches_where(
    scenario: &Scenario,
    is_wanted: impl Fn(&Runtime) -> bool,
    assert: impl Fn(&Finished),
) {
    scenario.on_each_runtime_where(is_wanted, |runtime, profiled| {
        let plain = &scenario.run_plain(runtime);
        let exit = |finished: &Finished| (finished.status.code(), finished.stdout.clone());
        assert_eq!(exit(profiled), exit(plain), "{}", profiled.stderr);
        assert!(!profiled.stderr.contains("failed"), "{}", profiled.stderr);
        assert_eq!(profiled.log, "");
        assert(profiled);
    });
}

/// Whether callbacks of exceptions are missing unless they are requested by name.
fn loses_exceptions(runtime: &Runtime) -> bool {
    matches!(runtime.major, 9 | 10)
}

fn says(finished: &Finished, line: &str) {
    let said = finished.stderr.lines().any(|said| said == line);
    assert!(said, "{line}: {}", finished.stderr);
}

#[test]
fn a_first_profiler() {
    watches(&scenario("Hello").profiler(MY_PROFILER), |profiled| {
        says(profiled, "[jit] Hello.Main()");
    });
}

#[test]
fn events_are_inferred_added_and_taken_away() {
    let scenario = scenario("Allocates").profiler(ALLOCATIONS);
    watches(&scenario, |profiled| {
        // A header, the type, the content.
        says(profiled, "24 bytes");
    });
    watches(&scenario.env("NO_ALLOCATIONS", "1"), |profiled| {
        assert_eq!(profiled.stderr, "");
    });
}

#[test]
fn objects_are_read() {
    let scenario = scenario("Basics").profiler(EXCEPTIONS);
    watches_where(
        &scenario,
        |runtime| !loses_exceptions(runtime),
        |profiled| {
            let of = |message: &str| {
                let mut lines = profiled.stderr.lines();
                lines.any(|line| line.starts_with("0x02") && line.ends_with(message))
            };
            assert!(of(": 1"), "{}", profiled.stderr);
        },
    );
}

#[test]
fn collections_are_counted() {
    watches(&scenario("Allocates").profiler(COLLECTIONS), |profiled| {
        let count = profiled.stderr.trim().strip_suffix(" collections");
        let count: u32 = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        assert!(count >= 3, "{}", profiled.stderr);
    });
}

#[test]
fn hooks_and_exceptions_pair() {
    let scenario = scenario("Hooked").arg("counts").arg("16000");
    watches(&scenario.profiler(CALLS), |profiled| {
        for line in [
            "Hooked.Program.CountDeep(int): 16000 = 16000 + 0",
            "Hooked.Program.CountThreads(int): 16000 = 16000 + 0",
            "Hooked.Program.CountThrows(int, int): 1200 = 800 + 400",
            "Hooked.Program.CountFinally(int): 300 = 240 + 60",
            "Hooked.Program.CountCatches(int): 300 = 300 + 0",
        ] {
            says(profiled, line);
        }
    });
}

#[test]
fn objects_are_added_up_by_type() {
    watches(&scenario("Allocates").profiler(BY_TYPE), |profiled| {
        says(profiled, "Allocates.Small: 111 objects, 2664 bytes");
        says(profiled, "Allocates.Tracked: 1 objects, 24 bytes");
    });
}

#[test]
fn ticks_come_where_the_runtime_has_them() {
    scenario("Allocates")
        .profiler(TICKS)
        .on_each_runtime(|runtime, profiled| {
            assert_eq!(profiled.status.code(), Some(9));
            match runtime.major < 5 {
                true => assert!(
                    profiled.log.contains("needs ICorProfilerInfo12"),
                    "{profiled:?}"
                ),
                // Five arrays of 160,000 bytes each.
                false => {
                    let lines = profiled.stderr.lines();
                    let ticks = lines.filter(|line| line.ends_with("then a Allocates.Item[]"));
                    assert!(ticks.count() >= 4, "{}", profiled.stderr);
                }
            }
        });
}

#[test]
fn collections_come_through_a_session() {
    let scenario = scenario("Allocates").profiler(PIPES);
    watches_where(
        &scenario,
        |runtime| runtime.major > 4,
        |profiled| {
            let mut lines = profiled.stderr.lines();
            assert!(
                lines.all(|line| line.starts_with("collection ")),
                "{profiled:?}"
            );
            assert!(profiled.stderr.lines().count() >= 3, "{profiled:?}");
        },
    );
    watches_where(
        &scenario,
        |runtime| runtime.major < 5,
        |profiled| assert_eq!(profiled.stderr, ""),
    );
}

#[test]
fn exceptions_pass_twice() {
    let scenario = scenario("Watched").arg("fail");
    let scenario = scenario.profiler(PASSES);
    watches_where(
        &scenario,
        |runtime| !loses_exceptions(runtime),
        |profiled| {
            let lines: Vec<&str> = profiled.stderr.lines().collect();
            let thrown = "thrown Watched.Failure<int>";
            let start = lines.iter().position(|line| *line == thrown);
            let start = start.expect("it is thrown");
            let through = "leaves Watched.Failures.Through(int)";
            assert_eq!(
                lines[start..][..8],
                [
                    thrown,
                    "will be caught in Watched.Failures.Run()",
                    through,
                    through,
                    through,
                    through,
                    "leaves Watched.Failures.Run()",
                    "caught in Watched.Failures.Run()",
                ]
            );
        },
    );
}

#[test]
fn a_start_that_fails_is_told_and_one_that_does_not_is_not() {
    let log = env::temp_dir().join(format!("clr_profiler-guide-{}", process::id()));
    let careful = scenario("Hello").profiler(CAREFUL);
    let works = careful.clone().env("CAREFUL_LOG", log.to_str().unwrap());
    watches(&works, |profiled| {
        assert_eq!(profiled.stderr, "");
        let modules = fs::read_to_string(&log).unwrap();
        assert!(
            modules.lines().any(|line| line.ends_with("Hello.dll")),
            "{modules}"
        );
        fs::remove_file(&log).unwrap();
    });
    careful.compare(|plain, profiled| {
        assert_eq!(profiled.stdout, plain.stdout);
        let told = "careful: initialize failed: environment variable not found\n";
        assert_eq!(profiled.stderr, told);
        let diagnostics = "does not run, the program does: initialize failed: ";
        assert!(profiled.log.contains(diagnostics), "{}", profiled.log);
    });
}

#[test]
fn a_profiler_declines_a_process() {
    let scenario = scenario("Basics").profiler(ONLY_SHOP);
    watches(&scenario, |profiled| {
        assert_eq!(profiled.stderr, "to stderr\n");
    });
}

#[test]
fn a_thread_of_its_own_prints() {
    let scenario = scenario("Basics")
        .profiler(COUNTER)
        // No precompiled code is used.
        .env("COMPlus_ReadyToRun", "0")
        .env("DOTNET_ReadyToRun", "0");
    watches(&scenario, |profiled| {
        says(profiled, "System.Private.CoreLib: 100");
    });
}

#[test]
fn stacks_are_sampled() {
    let scenario = scenario("Waits").profiler(SAMPLER);
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "ready");
        // It waits for a line.
        program.until_told(" < System.Console.ReadLine() < Waits.Program.Main()");
        assert_eq!(program.ask("work 3"), "worked 333");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(5), "{}", finished.stderr);
    }
}

#[test]
fn what_runs_most_is_sampled_most() {
    // The start of a program is sampled, too, and takes longer on a busy machine: then the program runs for longer,
    // in which the start is a smaller share. Without the start it is 0.7.
    let mut runs = [("320", 0.4), ("1280", 0.5), ("5120", 0.6)].into_iter();
    let is_most = runs.any(|(rounds, least)| share_of_hottest(rounds) > least);
    assert!(is_most, "however long the program runs");
}

/// The share of the function that runs most in the samples of a program of so many rounds, where it is least.
fn share_of_hottest(rounds: &str) -> f64 {
    let scenario = scenario("Spins").profiler(HOTTEST).arg("1").arg(rounds);
    let least = Cell::new(1.0_f64);
    watches(&scenario, |profiled| {
        let words = &profiled.stderr;
        println!("{rounds} rounds: {words}");
        let counts = words
            .strip_prefix("Spins.Program+Hot<int>.Seventy(): ")
            .and_then(|counts| counts.trim().split_once(" of "));
        // Another one, or none: it was not sampled most.
        let (own, all) = counts.unwrap_or(("0", "1"));
        let [own, all] = [own, all].map(|count| count.parse::<u32>().unwrap());
        assert!(own <= all, "{words}");
        least.set(least.get().min(f64::from(own) / f64::from(all)));
    });
    least.get()
}

#[test]
fn what_keeps_most_of_a_heap_is_told() {
    let scenario = scenario("Graph").profiler(KEEPERS).arg("wait").arg("20000");
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "built");
        // The contents of static fields keep the pairs, of 56 bytes at least. It waits for a line, so there will be such
        // a graph; earlier ones are of a program that starts.
        program.until_line("graph of the whole heap", |line| {
            let total = line.strip_prefix("object[]: ");
            let bytes = total.and_then(|total| total.split_once(" objects keep "));
            let bytes = bytes.and_then(|(_, bytes)| bytes.strip_suffix(" bytes"));
            bytes.is_some_and(|bytes| bytes.parse::<u64>().is_ok_and(|bytes| bytes > 20_000 * 56))
        });
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    }
}

#[test]
fn attached_it_catches_up() {
    let scenario = scenario("Waits");
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "ready");
        Attach::new(program.id())
            .profiler(scenario.profiler_library(LATE))
            .client_data("Work")
            .send()
            .unwrap();
        assert_eq!(program.ask("work 7"), "worked 777");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(5));
        let mut lines = finished.stderr.lines();
        let found =
            lines.any(|line| line.starts_with("there already: ") && line.ends_with("Waits.dll"));
        assert!(found, "{}", finished.stderr);
        assert!(!finished.stderr.contains("failed"), "{}", finished.stderr);
    }
}

#[test]
fn next_to_another_profiler() {
    let scenario = scenario("Waits")
        .profiler(MY_PROFILER)
        .notification_profiler(MODULE_LOGGER);
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = scenario.start(runtime).finish();
        says(&finished, "[jit] Waits.Program.Main()");
        let mut lines = finished.stderr.lines();
        let is_logged = lines.any(|line| line.ends_with("Waits.dll"));
        assert_eq!(is_logged, runtime.major >= 5, "{}", finished.stderr);
    }
}

#[test]
fn exceptions_that_a_runtime_would_lose_are_not_asked_for() {
    let scenario = scenario("Watched").arg("fail").profiler(PASSES);
    scenario.on_each_runtime_where(loses_exceptions, |_, profiled| {
        assert_eq!(profiled.stdout, "worked\n");
        let mut lines = profiled.stderr.lines();
        let said = lines.next().unwrap_or_default();
        assert!(
            said.contains("no callback of exceptions will be called"),
            "{said}"
        );
        assert_eq!(lines.next(), None);
    });
}

#[test]
fn exceptions_are_traced() {
    let scenario = scenario("Watched").arg("fail").profiler(TRACED);
    watches_where(
        &scenario,
        |runtime| runtime.major > 4,
        |profiled| {
            let lines: Vec<&str> = profiled.stderr.lines().collect();
            let thrown = "thrown Watched.Failure`1[System.Int32]: through frames";
            let start = lines.iter().position(|line| *line == thrown);
            let start = start.expect("it is thrown");
            assert_eq!(lines[start + 1], "caught in Watched.Failures.Run()");
        },
    );
}
