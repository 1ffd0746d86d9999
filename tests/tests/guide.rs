//! The profilers of the guide behave as the guide says, on each runtime.

#![cfg(target_os = "linux")]

use std::cell::Cell;
use std::path::Path;
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
const ANNOUNCE: &str = "9C2E4D50-1F6B-4A7E-B3D8-6A5B4C3D2E0A";
const HELPER: &str = "2D7F9B31-8E4C-4A15-9D60-7C8B9A0F1E0B";
const SUMS: &str = "6B1A2C3D-4E5F-4061-8293-A4B5C6D7E81E";
const ANNOUNCER: &str = "6B0F7C6E-2B8C-4C53-9D0B-0B6C5F3C7A12";
const CALL_LOGGER: &str = "D0A4C1B7-3E52-4F86-9B1D-7C20E5A8F631";
const RESULT_LOGGER: &str = "D0A4C1B7-3E52-4F86-9B1D-7C20E5A8F632";
const GUARDS: &str = "D0A4C1B7-3E52-4F86-9B1D-7C20E5A8F633";
const PATCHER: &str = "0C4C0C0E-9F2C-4C9B-8F0E-6C7B4F0D5A26";
const MOCKS: &str = "0C4C0C0E-9F2C-4C9B-8F0E-6C7B4F0D5A23";
const LIMITER: &str = "0C4C0C0E-9F2C-4C9B-8F0E-6C7B4F0D5A27";
const SWITCH: &str = "6B1A2C3D-4E5F-4061-8293-A4B5C6D7E80C";

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
fn a_rewritten_method_says_so() {
    let scenario = scenario("Hello").profiler(ANNOUNCE);
    scenario.compare(|plain, profiled| {
        let expected = format!("enter Hello.Main()\n{}", plain.stdout);
        assert_eq!(profiled.output(), (plain.status.code(), &expected[..], ""));
    });
}

#[test]
fn a_method_that_was_added_is_called() {
    let scenario = scenario("Metadata").profiler(HELPER);
    scenario.compare(|plain, profiled| {
        assert_eq!(plain.output(), (Some(4), "32\n", ""));
        assert_eq!(profiled.output(), (Some(8), "32\n", ""));
    });
}

#[test]
fn rewritten_code_calls_rust() {
    watches(&scenario("Metadata").profiler(SUMS), |profiled| {
        says(profiled, "sum 4");
    });
}

/// The program of the examples, which the guide's profilers of methods are for.
fn sample() -> Scenario {
    let path = "../examples/support/samples/Sample.dll";
    Scenario::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).library("guide_profilers")
}

/// The lines of the program, and those of which this is true.
fn lines_and(profiled: &Finished, is_own: impl Fn(&str) -> bool) -> (Vec<&str>, Vec<&str>) {
    assert_eq!(profiled.stderr, "");
    profiled.stdout.lines().partition(|line| !is_own(line))
}

#[test]
fn calls_are_logged_by_another_assembly() {
    let helper = Path::new(env!("CARGO_MANIFEST_DIR")).join("profilees/helper/Helper.dll");
    let scenario = sample().env("LOGGER", helper.to_str().unwrap());
    scenario.profiler(CALL_LOGGER).compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
        let log: Vec<&str> = profiled.log.lines().collect();
        let sold = [
            "> Shop.Store.Sell(string, int)",
            "< Shop.Store.Sell(string, int)",
        ];
        // Two were sold, and one was out of stock: it has an end, too.
        let calls = log.windows(2).filter(|lines| lines[..] == sold);
        assert_eq!(calls.count(), 3, "{log:#?}");
        assert!(log.contains(&"> Shop.Store..ctor()"), "{log:#?}");
        assert!(log.iter().all(|line| line.contains(" Shop.Store.")));
    });
}

/// The patches in C# are those of `Guide.cs`, which is compiled.
#[test]
fn patches_in_csharp_change_the_sample() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chapter = std::fs::read_to_string(root.join("../docs/src/patches-in-csharp.md")).unwrap();
    let source = root.join("profilees/ManagedPatched/Guide.cs");
    let compiled = std::fs::read_to_string(source).unwrap();
    let blocks: Vec<&str> = chapter.split("```csharp\n").skip(1).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let block = block.split("\n```").next().unwrap();
        assert!(compiled.contains(block), "{block}");
    }
    let patches = root.join("profilees/ManagedPatched/Guide.dll");
    let scenario = sample().env("PATCHES", patches.to_str().unwrap());
    let patched = |profiler: &str, changes: &[(&str, &str)]| {
        scenario
            .clone()
            .profiler(profiler)
            .compare(|plain, profiled| {
                let lines = plain.stdout.lines().zip(profiled.stdout.lines());
                let lines: Vec<(&str, &str)> = lines.skip(1).take(3).collect();
                assert_eq!(lines, changes, "{}", profiled.stderr);
                assert_eq!(profiled.stderr, "");
            });
    };
    patched(
        PATCHER,
        &[
            ("sold 3 apple for 1.05", "sold 3 apple for 0.52"),
            ("sold 40 plum for 4.80", "sold 40 plum for 2.40"),
            ("refused: no pear left", "refused: no pear left"),
        ],
    );
    patched(
        LIMITER,
        &[
            ("sold 3 apple for 1.05", "sold 3 apple for 0.52"),
            ("sold 40 plum for 4.80", "sold 40 plum for 0.60"),
            ("refused: no pear left", "sold 5 pear for 0.00"),
        ],
    );
}

/// The program is `Mocked.cs`, which is compiled.
#[test]
fn mocks_replace_methods_of_the_framework_and_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chapter = std::fs::read_to_string(root.join("../docs/src/mocks.md")).unwrap();
    let compiled = std::fs::read_to_string(root.join("profilees/Mocked.cs")).unwrap();
    let block = chapter.split("```csharp\n").nth(1).unwrap();
    let block = block.split("\n```").next().unwrap();
    assert!(compiled.contains(block), "{block}");
    let line = "Ada in test: 12, paid True, 2001-02-03";
    assert_eq!(chapter.matches(line).count(), 2);
    for tiered in ["0", "1"] {
        let mocked = scenario("Mocked").profiler(MOCKS);
        let mocked = mocked.env("COMPlus_TieredCompilation", tiered);
        mocked.compare(|plain, profiled| {
            assert_ne!(plain.status.code(), Some(0));
            let line = format!("{line}\n");
            assert_eq!(profiled.output(), (Some(0), &*line, ""));
        });
    }
}

#[test]
fn results_of_all_types_are_logged() {
    sample().profiler(RESULT_LOGGER).compare(|plain, profiled| {
        let (lines, results) = lines_and(profiled, |line| line.starts_with("[result] "));
        assert_eq!(lines, plain.stdout.lines().collect::<Vec<_>>());
        assert_eq!(profiled.status, plain.status);
        let is_logged = |start: &str, value: &str| {
            let line = |line: &&&str| {
                line.strip_prefix("[result] ")
                    .is_some_and(|it| it.starts_with(start) && it.ends_with(&format!(": {value}")))
            };
            assert!(
                results.iter().find(line).is_some(),
                "{start}: {value} in {results:#?}"
            );
        };
        // A struct, a string, a boolean; a type parameter that is a number, a struct, a string; a number; an
        // iterator's enumerable.
        is_logged("Shop.Store.Sell(string, int)", "1.05");
        is_logged("Shop.Program.TrySell(", "sold 3 apple for 1.05");
        is_logged("Shop.Shelf", "True");
        is_logged("Shop.Tools.Pick.Largest", "40");
        is_logged("Shop.Tools.Pick.Largest", "0.50");
        is_logged("Shop.Tools.Pick.Largest", "plum");
        is_logged("Shop.Store+Journal", "2");
        is_logged("Shop.Store.Inventory()", "Shop.Store+<Inventory>d__10");
        is_logged("Shop.Program.Main(string[])", "0");
    });
}

#[test]
fn catch_and_finally_are_configured() {
    let guards = "catch Shop.OutOfStockException Shop.Store.Sell\nfinally Shop.Program.TrySell";
    let scenario = sample().env("GUARDS", guards).profiler(GUARDS);
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.status, plain.status);
        let is_own = |line: &str| line == "[left]" || line.starts_with("   at ");
        let (lines, own) = lines_and(profiled, is_own);
        assert_eq!(own.iter().filter(|line| **line == "[left]").count(), 3);
        // The sale that fails has a result.
        let expected = plain.stdout.replace(
            "refused: no pear left",
            "Shop.OutOfStockException: no pear left\nsold 5 pear for 0.00",
        );
        assert_ne!(expected, plain.stdout);
        assert_eq!(lines, expected.lines().collect::<Vec<_>>());
    });
    let wrong = sample()
        .env("GUARDS", "try Shop.Store.Sell")
        .profiler(GUARDS);
    wrong.on_each_runtime(|_, profiled| {
        let message = "`try Shop.Store.Sell` is neither catch nor finally";
        assert!(profiled.stderr.contains(message), "{}", profiled.stderr);
    });
}

#[test]
fn the_methods_of_a_class_are_announced() {
    sample().profiler(ANNOUNCER).compare(|plain, profiled| {
        assert_eq!(profiled.status.code(), plain.status.code(), "{profiled:?}");
        assert_eq!(profiled.stderr, plain.stderr);
        let (announced, others): (Vec<_>, Vec<_>) = profiled
            .stdout
            .lines()
            .partition(|line| line.starts_with("Shop.Store."));
        assert_eq!(others, plain.stdout.lines().collect::<Vec<_>>());
        assert!(
            announced.contains(&"Shop.Store.Sell(string, int)"),
            "{announced:?}"
        );
    });
}

#[test]
fn a_method_that_runs_is_changed() {
    let scenario = scenario("Waits")
        .profiler(SWITCH)
        .env("SWITCH_METHOD", "Waits.Program.Work7()");
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "ready");
        let changed = (0..10_000).any(|_| program.ask("work 7") == "worked 778");
        let finished = program.finish();
        assert!(changed, "{}", finished.stderr);
        assert_eq!(
            (finished.status.code(), &finished.stderr[..]),
            (Some(5), "")
        );
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
