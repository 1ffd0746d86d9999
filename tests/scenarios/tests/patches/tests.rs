use std::cell::RefCell;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Finished, Runtime, Scenario, Started, full_path};

use super::{Patches, PatchesSwitched};

const PATIENCE: Duration = Duration::from_secs(60);

/// The lines of the program without a profiler.
const PLAIN: &str = "\
price 21
greet hello you in shop
greet hello nobody in shop
greet 3014
opened 15
total 10
kinds True x -1 2 -3 4 5 -6 7 1.5 -2.5 8 9 -3
paint 1
fill 2 filled 7 4 4 any
move 11 2 18
wide 1 2 3 1.5 2
fails 0 System.InvalidOperationException: number 1 System.InvalidOperationException: number 2
escapes 0 System.ArgumentException: escaped
faulty 0 1 2
never System.NotImplementedException: The method or operation is not implemented.
depth 20
echo text 5 6
panics 1
mistaken 1
length 111 0
ordered 2
later 3
cost 2021.5
year now
file System.IO.DirectoryNotFoundException: Could not find a part of the path '/nowhere/settings.json'.
root 7
compare -1
";

/// Those that the patches change.
const VALUES: &[&str] = &[
    "price 25",
    "greet hello YOU in shop!",
    "greet hello all in shop!",
    "greet 15",
    "opened 114015",
    "total 77",
    "kinds False y -2 4 -6 8 10 -12 14 3 -5 16 18 -6",
    "paint 2",
    "fill 20 filled 7, 7 40 40 null",
    "move 111 -1 1221",
    "wide 2 2 9 4.5 6",
    "length 10 0",
    "cost 2022.5",
];

const NAMED: &[&str] = &["price 1024", "opened 0", "move 11 2 19"];

const ENDS: &[&str] = &[
    "greet hello you in mall",
    "greet hello nobody in mall",
    "fails 4000 4040 System.InvalidOperationException: number 2",
    "escapes 1 System.ArgumentException: escaped",
    "never 5",
    "depth 21020",
    "echo text 5 0",
    "ordered 24",
    "later 6",
];

const FRAMEWORK: &[&str] = &["year 2001-02-03Utc", "file contents of /nowhere/settings.json"];

const CALLS: &[&str] = &[
    "greet hello them in shop for 3",
    "greet skipped for 0",
    "greet 3023",
    "fill 6 FILLED 7 4 4 any",
    "move 11 2 514",
    "echo other 501 602",
    "year 2001-02-03Utc",
    "root 3",
];

fn patched(how: &str) -> Vec<Scenario> {
    let scenario = Scenario::new("Patched").profiled_by::<Patches>();
    scenario.env("PATCHED", how).in_modes()
}

/// A file, as the messages of exceptions name it.
fn named(file: &str) -> String {
    format!("'{}'", full_path(file))
}

/// The lines of the program with these in place of those that begin with the same word, in their order.
fn expected(changed: &[&str]) -> String {
    let word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let mut changed = changed.iter().copied().peekable();
    let mut lines = String::new();
    let mut all: Vec<&str> = Vec::new();
    for line in PLAIN.lines() {
        match changed.next_if(|next| word(next) == word(line)) {
            Some(next) => all.push(next),
            None => all.push(line),
        }
    }
    assert_eq!(changed.next(), None);
    for line in all {
        lines.push_str(line);
        lines.push('\n');
    }
    lines = lines.replace("'/nowhere/settings.json'", &named("/nowhere/settings.json"));
    lines + "wrong 0\n"
}

fn check(how: &str, changed: &[&str], more: impl Fn(&Runtime, &Finished)) {
    for scenario in patched(how) {
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            assert_eq!(profiled.status.code(), Some(6), "{name} {log}");
            assert_eq!(profiled.stdout, expected(changed), "{name} {log}");
            assert_eq!(profiled.stderr, "", "{name} {log}");
            assert!(log.contains("states 0\n"), "{name} {log}");
            more(runtime, profiled);
        });
    }
}

#[test]
fn without_patches_nothing_changes() {
    check("", &[], |_, profiled| assert_eq!(profiled.log, "states 0\n"));
}

#[test]
fn values_are_read_and_written() {
    check("values", VALUES, |_, profiled| {
        let log = &profiled.log;
        assert!(!log.contains("a patch ") && !log.contains("refused"), "{log}");
        let instrumented = log.lines().filter(|line| line.starts_with("instrumented "));
        assert_eq!(instrumented.count(), 12, "{log}");
    });
}

#[test]
fn values_are_passed_by_name() {
    check("named", NAMED, |_, profiled| {
        let log = &profiled.log;
        assert!(!log.contains("a patch "), "{log}");
        assert!(log.contains("it has no value `nothing`; it has `"), "{log}");
    });
}

#[test]
fn exceptions_states_and_failures_end_as_described() {
    // Runtimes word it differently.
    const MISSING: &str = "'System.NoSuchException'";
    for scenario in patched("ends") {
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            let lines = profiled.stdout.lines();
            let (faulty, others): (Vec<_>, Vec<_>) =
                lines.partition(|line| line.starts_with("faulty "));
            let expected = expected(ENDS);
            let expected = expected.lines().filter(|line| !line.starts_with("faulty "));
            assert_eq!(others, expected.collect::<Vec<_>>(), "{name} {log}");
            let [faulty] = faulty[..] else {
                panic!("{faulty:?}")
            };
            let start = "faulty 0 System.TimeoutException: no answer System.TypeLoadException: ";
            assert!(faulty.starts_with(start), "{name} {faulty}");
            assert!(faulty.contains(MISSING), "{name} {faulty}");
            assert!(log.contains("states 0\n"), "{name} {log}");
            let panicked = "a patch panicked: in a call of Patched.Store.Panics(int): on purpose";
            let failed = "a patch failed: in a call of Patched.Store.Mistaken(int): \
                          Patched.Store.Mistaken(int) has no value `numbre`; it has `number`, `result`";
            for text in [panicked, failed] {
                assert_eq!(log.matches(text).count(), 301, "{name} {log}");
            }
            assert!(log.contains("its type has no field `missing`"), "{name} {log}");
        });
    }
}

/// Called by the program, by .NET itself, by delegates and by reflection.
#[test]
fn methods_of_the_framework_are_mocked_for_all_callers() {
    const EXPECTED: &str = "\
times 2001 2001 2001 2001 2001
files contents of /nowhere/a, contents of /nowhere/a, contents of /nowhere/a, contents of /nowhere/a
";
    let scenario = Scenario::new("CorePatched").profiled_by::<Patches>();
    for scenario in scenario.env("PATCHED", "framework").in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            assert!(profiled.stdout.starts_with(EXPECTED), "{name} {} {log}", profiled.stdout);
            assert!(profiled.stdout.ends_with("wrong 0\n"), "{name} {} {log}", profiled.stdout);
            assert_eq!(profiled.stderr, "", "{name} {log}");
            let ways = "ways method instrumented System.DateTime.get_UtcNow()";
            assert!(profiled.logged(ways), "{name} {log}");
        });
    }
}

#[test]
fn fields_of_base_types_are_read_and_written() {
    let scenario = Scenario::new("ManagedPatched").profiled_by::<Patches>();
    for scenario in scenario.env("PATCHED", "inherited").in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            let stdout = &profiled.stdout;
            assert!(stdout.contains("\ninherits secret!839both1 14\n"), "{name} {stdout} {log}");
            assert!(stdout.ends_with("\nwrong 0\n"), "{name} {stdout} {log}");
            assert_eq!(profiled.stderr, "", "{name} {log}");
            let refused = "the field hidden is static, and private in ManagedPatched.Base";
            assert!(log.contains(refused), "{name} {log}");
            assert!(!log.contains("a patch failed"), "{name} {log}");
        });
    }
}

#[test]
fn methods_of_the_framework_are_mocked() {
    check("framework", FRAMEWORK, |_, profiled| {
        let log = &profiled.log;
        assert!(log.contains("instrumented System.DateTime.get_UtcNow()"), "{log}");
        assert!(!log.contains("a patch "), "{log}");
    });
}

#[test]
fn calls_are_patched_without_their_methods() {
    for how in ["calls", "calls at load"] {
        for scenario in patched(how) {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                let expected = expected(CALLS);
                let mut expected = expected.replace(&named("/nowhere/settings.json"), &named("/nobody/knows"));
                // When the program's module is loaded, a host has not loaded the assembly through which it refers
                // to `DateTime`: its value is not passed, and the closure's error is reported. In an application the
                // startup hook, which runs before the program, has loaded that assembly.
                let is_passed = how == "calls" || runtime.application().is_some();
                if !is_passed {
                    expected = expected.replace("year 2001-02-03Utc", "year now");
                }
                assert_eq!(profiled.stdout, expected, "{name} {log}");
                // The last call of `ReadAllText` has thrown, so its state waits for the next one.
                assert!(log.contains("states 1\n"), "{name} {log}");
                let reported = log.matches("a patch failed").count();
                let about_date = "a patch failed: in a call of System.DateTime.get_UtcNow: `result`, of the \
                                  type System.DateTime: values of this type are not passed";
                assert_eq!(log.matches(about_date).count(), reported, "{name} {log}");
                assert_eq!(reported == 0, is_passed, "{name} {log}");
            });
        }
    }
}

#[test]
fn faults_happen_in_their_share_of_the_calls() {
    const FAULTS: &str = "seed 3
        throw System.TimeoutException \"no answer\" in 100 % of Patched.Store.Faulty
        return \"nothing\" in 100 % of Patched.Store.Greet
        return -7 in 100 % of Patched.Store.Paint
        delay 1 ms in 1 % of Patched.Store.Depth
        return 5 in 50 % of Patched.Store.Mistaken
        return 5 in 100 % of Patched.Store.Kinds";
    const NO_ANSWER: &str = "System.TimeoutException: no answer";
    for scenario in patched("") {
        let faulty = scenario.env("FAULTS", FAULTS);
        let wrong = RefCell::new(Vec::new());
        faulty.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            let stdout = &profiled.stdout;
            for line in [
                format!("faulty {NO_ANSWER} {NO_ANSWER} {NO_ANSWER}"),
                "greet nothing".to_owned(),
                "paint -7".to_owned(),
                "depth 20".to_owned(),
                "kinds True x -1 2 -3 4 5 -6 7 1.5 -2.5 8 9 -3".to_owned(),
            ] {
                assert!(stdout.contains(&format!("{line}\n")), "{name} {line} {stdout}");
            }
            // The result of `Kinds` is a string.
            let refused = "`result`, of the type string: it cannot be `5`";
            assert!(log.contains(refused), "{name} {log}");
            wrong.borrow_mut().push(stdout.lines().last().unwrap_or_default().to_owned());
        });
        // The same calls in each run; in about half of the calls another result than in the first one.
        let mut wrong = wrong.into_inner();
        wrong.dedup();
        let [wrong] = &wrong[..] else {
            panic!("{wrong:?}");
        };
        let wrong: u32 = wrong.strip_prefix("wrong ").unwrap().parse().unwrap();
        assert!((100..200).contains(&wrong), "{wrong}");
    }
}

/// Asks for the work of a method until its result is this one.
fn until_worked(program: &mut Started, number: u32, result: &str) {
    let deadline = Instant::now() + PATIENCE;
    let (ask, expected) = (format!("work {number}"), format!("worked {result}"));
    while program.ask(&ask) != expected {
        assert!(Instant::now() < deadline, "{expected}: {}", program.log());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn patches_are_switched_while_threads_run_the_methods() {
    let scenario = Scenario::new("Waits").profiled_by::<PatchesSwitched>();
    for scenario in scenario.in_modes() {
        scenario.waiting_on_each_runtime(|_, mut program| {
            assert_eq!(program.ask("work 1"), "worked 1111");
            assert_eq!(program.ask("busy"), "busy");
            // Compiled for the first time, `Work5` switches the patches off, and `Work6` on.
            program.ask("work 5");
            until_worked(&mut program, 1, "111");
            // First compiled while they are off.
            assert_eq!(program.ask("work 2"), "worked 222");
            program.ask("work 6");
            until_worked(&mut program, 1, "1111");
            until_worked(&mut program, 2, "1222");
            assert_eq!(program.ask("calm"), "calm");
            let log = program.ends_well();
            assert_eq!(log, "");
        });
    }
}

#[test]
fn an_attached_profiler_patches_methods() {
    for scenario in Scenario::new("Waits").in_modes() {
        scenario.waiting_on_each_runtime(|_, mut program| {
            assert_eq!(program.ask("work 1"), "worked 111");
            let profiler = clr_profiler_tests::name_of::<PatchesSwitched>();
            program.attach(profiler, b"").unwrap();
            until_worked(&mut program, 1, "1111");
            // Of a method that was never compiled before.
            until_worked(&mut program, 2, "1222");
            program.ask("work 5");
            until_worked(&mut program, 1, "111");
            program.ask("work 6");
            until_worked(&mut program, 1, "1111");
            assert_eq!(program.ends_well(), "");
        });
    }
}
