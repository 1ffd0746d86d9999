//! The guide's profilers that change methods.

use std::path::Path;

use clr_profiler_tests::{Finished, Scenario, runtimes};

use super::{says, scenario, watches};

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

/// The patches in C# are those of `Guide.cs` and `Targets.cs`, which are compiled.
#[test]
fn patches_in_csharp_change_the_sample() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chapter = std::fs::read_to_string(root.join("../docs/src/patches-in-csharp.md")).unwrap();
    let compiled = ["Guide", "Targets"].map(|name| {
        let source = root.join(format!("profilees/ManagedPatched/{name}.cs"));
        std::fs::read_to_string(source).unwrap()
    });
    let blocks: Vec<&str> = chapter.split("```csharp\n").skip(1).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let block = block.split("\n```").next().unwrap();
        assert!(compiled.iter().any(|one| one.contains(block)), "{block}");
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
