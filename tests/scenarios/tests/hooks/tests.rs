use std::collections::BTreeMap;

use clr_profiler_tests::{Finished, Runtime, Scenario, compiles_twice};

use super::{
    CountsCalls, HooksPanic, LooksAtValues, OwnsHooks, PairsCalls, SeesCalls, SeesValues,
    WrongHooks,
};

/// A number of the environment, which `.ci/full` sets higher.
fn number_of(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    }
}

/// How often each method was entered, left and ended by a tail call, by its name without parameters.
fn calls(finished: &Finished) -> BTreeMap<String, [u64; 3]> {
    let mut calls = BTreeMap::new();
    for line in finished.log.lines() {
        let counts: Vec<u64> = line
            .rsplit(' ')
            .take(3)
            .filter_map(|word| word.parse().ok())
            .collect();
        let [jumped, left, entered] = *counts.as_slice() else {
            panic!("{line}");
        };
        let name = line.split(['(', '<', ' ']).next().unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or_default().to_owned();
        let sum: &mut [u64; 3] = calls.entry(name).or_default();
        for (sum, count) in sum.iter_mut().zip([entered, left, jumped]) {
            *sum += count;
        }
    }
    calls
}

fn profiled(mode: &str, number: u64) -> Scenario {
    Scenario::new("Hooked")
        .arg(mode)
        .arg(&number.to_string())
        .profiled_by::<CountsCalls>()
        // Small enough for continuous garbage collections.
        .env("COMPlus_GCgen0size", "40000")
}

#[test]
fn a_million_calls_of_all_shapes_give_what_they_gave() {
    let number = number_of("HOOKED_CALLS", 1_000_000);
    for (variable, value) in [
        ("COMPlus_TieredCompilation", "0"),
        ("COMPlus_JITMinOpts", "1"),
    ] {
        let scenario = profiled("shapes", number).env(variable, value);
        scenario.compare(|without, with| {
            assert_eq!(without.output().0, Some(5), "{without:?}");
            assert_eq!(without.output(), with.output());
            let seen = calls(with);
            let mut all = 0;
            for line in with.stdout.lines().skip(1) {
                let (shape, count) = line.split_once(' ').expect("a name and a number");
                let count: u64 = count.parse().expect("a number");
                all += count;
                assert_eq!(seen[shape], [count, count, 0], "{shape}");
            }
            assert_eq!(all, number);
            let [entered, left, _] = seen["Area"];
            assert_eq!(entered, left);
            assert_eq!(entered, seen["S21"][0]);
        });
    }
}

/// The program's output and the counts, by the number of calls.
fn assert_counts(runtime: &Runtime, with: &Finished, number: u64) {
    let seen = calls(with);
    let of = |name: &str| seen.get(name).copied().unwrap_or_default();
    assert_eq!(of("CountDeep"), [number, number, 0], "{}", runtime.name);
    let threads = number / 16 * 16;
    assert_eq!(of("CountThreads"), [threads, threads, 0]);
    // A hundred of three hundred throw, each from four frames deep; every fifth is thrown again in
    // the `finally`, whether there was another exception or not.
    assert_eq!(of("CountThrows"), [1200, 800, 0]);
    assert_eq!(of("CountFinally"), [300, 240, 0]);
    assert_eq!(of("CountCatches"), [300, 300, 0]);
    assert_eq!(of("CountPasses"), [300, 160, 0]);
    assert_eq!(of("TailFew"), [1000, 0, 1000]);
    // If the other function's arguments do not fit, a helper of the runtime makes the jump: the
    // function returns. The helper of .NET Core 3.1 for Windows ends the function before.
    let many = match cfg!(windows) && runtime.major < 5 {
        true => [1000, 0, 1000],
        false => [1000, 1000, 0],
    };
    assert_eq!(of("TailMany"), many);
    assert_eq!(of("CountFew"), [1000, 1000, 0]);
    assert_eq!(of("CountMany"), [1000, 1000, 0]);
}

#[test]
fn each_call_is_counted_once() {
    let number = number_of("HOOKED_COUNTS", 1_000_000);
    let scenario = profiled("counts", number).env("COMPlus_TieredCompilation", "0");
    scenario.compare(|without, with| {
        assert_eq!(without.output().0, Some(5), "{without:?}");
        assert_eq!(without.output(), with.output());
    });
    scenario.on_each_runtime(|runtime, with| assert_counts(runtime, with, number));
}

#[test]
fn a_panic_ends_the_hooks_and_nothing_else() {
    let scenario = Scenario::new("Hooked")
        .arg("panics")
        .arg("1000")
        .profiled_by::<HooksPanic>();
    scenario.on_each_runtime(|_, profiled| {
        assert_eq!(profiled.output(), (Some(5), "counted 1000\n", ""));
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(
            lines,
            [
                "the filter failed",
                "0",
                "not this function",
                "0",
                "a hook panicked, and no hook is called anymore: the tenth call",
                "10",
            ]
        );
    });
}

#[test]
fn what_cannot_be_is_refused() {
    let scenario = Scenario::new("Hello").profiled_by::<WrongHooks>();
    scenario.on_each_runtime(|_, profiled| {
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("there are hooks already"), "{}", lines[0]);
        assert!(lines[1].contains("does not run"), "{}", lines[1]);
        assert!(lines[1].contains("ENABLE_FRAME_INFO"), "{}", lines[1]);
    });
}

#[test]
fn hooks_of_setup_keep_their_mapper() {
    for hooks in ["with_info", "fast"] {
        let scenario = Scenario::new("Calls")
            .profiled_by::<OwnsHooks>()
            .env("SCENARIO_HOOKS", hooks)
            .env("COMPlus_TieredCompilation", "0");
        scenario.compare(|plain, profiled| {
            assert_eq!(
                profiled.output(),
                plain.output(),
                "{hooks} {}",
                profiled.log
            );
            let lines: Vec<&str> = profiled.log.lines().collect();
            let (calls, refused) = lines.split_last().expect("it logs its records");
            assert_eq!(refused.len(), 7, "{lines:?}");
            for line in refused {
                assert!(line.contains("`Setup` has set the hooks"), "{hooks} {line}");
            }
            let calls = calls.strip_prefix("calls ").expect(calls);
            assert!(calls.parse::<u32>().expect(calls) > 1000, "{lines:?}");
        });
    }
}

#[test]
fn hooks_of_setup_are_refused_after_others() {
    for hooks in ["mapper", "mapper2", "native"] {
        let scenario = Scenario::new("Calls")
            .profiled_by::<OwnsHooks>()
            .env("SCENARIO_HOOKS", hooks);
        scenario.compare(|plain, profiled| {
            assert_eq!(
                profiled.output(),
                plain.output(),
                "{hooks} {}",
                profiled.log
            );
            for line in profiled.log.lines() {
                assert!(
                    line.contains("hooks or a mapper were set on `ProfilerInfo`"),
                    "{hooks} {line}"
                );
            }
            assert!(!profiled.log.is_empty(), "{hooks}");
        });
    }
}

#[test]
fn beginnings_and_ends_pair() {
    let scenario = profiled("counts", 100_000)
        .profiled_by::<PairsCalls>()
        .env("COMPlus_TieredCompilation", "0");
    scenario.compare(|without, with| {
        assert_eq!(without.output(), with.output());
        let seen = calls(with);
        // Only innermost calls ended; `Main` calls `Counts`, which calls `CountDeep` a
        // thousand deep.
        assert_eq!(seen["unpaired"][1..], [0, 1002]);
        for (name, expected) in [
            ("Main", [1, 1, 0]),
            ("CountDeep", [100_000, 100_000, 0]),
            ("CountThreads", [100_000, 100_000, 0]),
            ("CountThrows", [1200, 800, 400]),
            ("CountFinally", [300, 240, 60]),
            ("CountPasses", [300, 160, 140]),
            ("CountCatches", [300, 300, 0]),
            ("TailFew", [1000, 1000, 0]),
            ("TailMany", [1000, 1000, 0]),
        ] {
            assert_eq!(seen[name], expected, "{name}");
        }
    });
}

#[test]
fn arguments_and_returned_values_have_their_types() {
    let scenario = Scenario::new("Calls")
        .profiled_by::<SeesValues>()
        .env("COMPlus_TieredCompilation", "0");
    scenario.on_each_runtime(|runtime, profiled| {
        assert_eq!(profiled.output().0, Some(5));
        let mut lines: Vec<String> = profiled.log.lines().map(without_padding).collect();
        if compiles_twice(runtime) {
            lines.retain(|line| !is_of_constructor(line));
        }
        // Before .NET 5 runtimes show bytes other than those of a returned structure, unless they are for Windows.
        let is_refused = runtime.major < 5 && !cfg!(windows);
        let made = lines.iter().find(|line| line.starts_with("leave Made"));
        let made = made.expect("it returns").clone();
        assert_eq!(made.contains("was not called"), is_refused, "{made}");
        let made = if is_refused {
            made
        } else {
            "leave Made [6, 0, 0, 0, _, _, _, _, 7, 0, 0, 0, 0, 0, 0, 0]".to_owned()
        };
        assert_eq!(
            lines,
            [
                "refused [true, true]",
                "enter Main()",
                "enter Mixed(Bool(true), I4(-7), I8(1099511627776), \"text\", \
                 [3, 0, 0, 0, _, _, _, _, 252, 255, 255, 255, 255, 255, 255, 255])",
                "leave Mixed I8(1099511627772)",
                "enter Counter.From(object, U1(250))",
                "leave Counter.From I4(255)",
                "enter Factorial(I4(4))",
                "enter Factorial(I4(3))",
                "enter Factorial(I4(2))",
                "enter Factorial(I4(1))",
                "leave Factorial I4(1)",
                "leave Factorial I4(2)",
                "leave Factorial I4(6)",
                "leave Factorial I4(24)",
                "enter Made(I4(6), I8(7))",
                &made,
                "enter Half(R8(5.0))",
                "leave Half R8(2.5)",
                "enter Show<System.__Canon>(\"a\")",
                "leave Show<System.__Canon> \"Stringa\"",
                "enter Show<int>(I4(1))",
                "leave Show<int> \"Int321\"",
                // It throws: it is not left by a return.
                "enter Throws(I4(9))",
                "enter Last(I4(10))",
                "tailcall Last",
                "reported",
                "enter Product(I4(10), I4(11))",
                "leave Product I4(110)",
                "leave Main I4(5)",
            ]
        );
    });
}

#[test]
fn values_of_all_shapes_come_back() {
    let scenario = Scenario::new("Values")
        .profiled_by::<LooksAtValues>()
        .env("COMPlus_TieredCompilation", "0");
    scenario.compare(|plain, profiled| {
        assert_eq!(plain.output().0, Some(9));
        assert_eq!(profiled.output(), plain.output());
    });
    let looks = scenario.env("SCENARIO_LOOKS", "1");
    looks.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let count = |start| {
            let lines = profiled.log.lines();
            lines.filter(|line| line.starts_with(start)).count()
        };
        let calls = [count("enter Program.Pass("), count("leave Program.Pass ")];
        assert_eq!(calls, [78, 78]);
        for line in ARGUMENTS {
            assert!(profiled.logged(line), "{line} not in {}", profiled.log);
        }
    });
}

/// Some calls of `Values` that pass more than one structure, address and floating-point number.
const ARGUMENTS: [&str; 5] = [
    "enter Program.Pass(I4(3), [7, 0, 0, 0, 0, 0, 192, 63], R4(1.5), [7, 0, 0, 0, 0, 0, 192, 63], R8(-2.5), I8(8589934592), [7, 0, 0, 0, 0, 0, 192, 63])",
    "enter Instance.Float(object, R4(1.5), I4(2), R8(3.25))",
    "enter Instance.Struct(object, R4(1.5), [6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 64], R8(3.25))",
    "enter Instance.Pointer(object, [0, 0, 0, 0, 0, 0, 248, 63, 5, 0, 0, 0, 0, 0, 0, 0], R4(3.5))",
    "enter Program.Floats(R4(1.0), R8(2.0), R4(3.0), R8(4.0), R4(5.0), R8(6.0), R4(7.0), R8(8.0), R4(9.5), R8(10.5))",
];

/// Whether a line is of the constructor of `Calls`, which is inlined unless its caller is compiled twice.
fn is_of_constructor(line: &str) -> bool {
    line.split(' ').nth(1).is_some_and(|name| name.starts_with("Counter..ctor"))
}

/// A line without the four padding bytes of a structure of 32 and 64 bits.
fn without_padding(line: &str) -> String {
    let Some((start, rest)) = line
        .split_once('[')
        .filter(|_| line.contains("255]") || line.contains("[6,"))
    else {
        return line.to_owned();
    };
    let bytes: Vec<&str> = rest.split(", ").collect();
    let shown: Vec<&str> = bytes
        .iter()
        .enumerate()
        .map(|(index, byte)| if (4..8).contains(&index) { "_" } else { byte })
        .collect();
    format!("{start}[{}", shown.join(", "))
}

#[test]
fn hooks_see_calls_arguments_and_returned_values() {
    let scenario = Scenario::new("Calls")
        .profiled_by::<SeesCalls>()
        // Only optimised code has tail calls.
        .env("COMPlus_TieredCompilation", "0");
    scenario.on_each_runtime(|runtime, profiled| {
        assert_eq!(
            profiled.output(),
            (
                Some(5),
                "sum 497500\nmixed 1099511627772\ncounter 255\nfactorial 24\nmade 6 7\nhalf True\n\
                 generic StringaInt321\ncaught\nlast 110\n",
                ""
            )
        );
        let mut lines: Vec<&str> = profiled.log.lines().collect();
        if compiles_twice(runtime) {
            lines.retain(|line| !is_of_constructor(line));
        }
        // .NET Core 3.1 does not show the second register of a returned structure; on Windows it is in memory.
        let made = if runtime.major < 5 && !cfg!(windows) {
            "(6, 0)"
        } else {
            "(6, 7)"
        };
        assert_eq!(
            lines,
            [
                "Add entered 1000 499500, left 1000 497500",
                "enter Main []",
                "enter Mixed [1:1, 4:-7, 8:1099511627776, reference true, (3, -4)]",
                "leave Mixed 8:1099511627772",
                "enter Counter.From [reference true, 1:250]",
                "leave Counter.From 4:255",
                "enter Factorial [4:4]",
                "enter Factorial [4:3]",
                "enter Factorial [4:2]",
                "enter Factorial [4:1]",
                "leave Factorial 4:1",
                "leave Factorial 4:2",
                "leave Factorial 4:6",
                "leave Factorial 4:24",
                "enter Made [4:6, 8:7]",
                &format!("leave Made {made}"),
                "enter Half [5]",
                "leave Half 2.5",
                // Only the enter hook knows the instantiation of shared code.
                "enter Show<System.__Canon> of System.String [reference true]",
                "leave Show<System.__Canon> of System.__Canon reference true",
                "enter Show<int> of System.Int32 [4:1]",
                "leave Show<int> of System.Int32 reference true",
                // It throws: it is not left by a return.
                "enter Throws [4:9]",
                "enter Last [4:10]",
                "tailcall Last",
                "enter Product [4:10, 4:11]",
                "leave Product 4:110",
                "leave Main 4:5",
            ]
        );
    });
}
