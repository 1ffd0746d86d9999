use clr_profiler_tests::Scenario;

use super::{Adds, Doubles, Failing, FailingToo};

/// The lines of the log with this word in them.
fn lines_with<'a>(log: &'a str, word: &str) -> Vec<&'a str> {
    log.lines().filter(|line| line.contains(word)).collect()
}

/// The answer of the program, which adds this to 110 times the number.
fn worked(number: u32, result: u32) -> String {
    format!("worked {}", 110 * number + result)
}

/// Runs the program under the composed profiler of this name.
fn composed(name: &str, how: &str) -> Scenario {
    Scenario::new("Waits").profiler(name).env("COMPOSE", how)
}

#[test]
fn each_alone_gives_its_own_result() {
    let alone = |scenario: Scenario, result: fn(u32) -> u32| {
        scenario.waiting_on_each_runtime(|_, mut program| {
            assert_eq!(program.ask("work 4"), worked(4, result(4)));
            program.ends_well();
        });
    };
    alone(Scenario::new("Waits").profiled_by::<Doubles>(), |n| n * 20);
    alone(Scenario::new("Waits").profiled_by::<Adds>(), |n| (n + 1) * 3);
}

#[test]
fn callbacks_and_il_pass_one_profiler_after_the_other() {
    composed("ComposedBoth", "").waiting_on_each_runtime(|_, mut program| {
        for n in [1, 3, 7] {
            assert_eq!(program.ask(&format!("work {n}")), worked(n, (n * 20 + 1) * 3));
        }
        let log = program.ends_well();
        let expected = [
            "tens started Work1",
            "doubles started Work1",
            "ones started Work1",
            "adds started Work1",
            "adds finished Work1",
            "doubles finished Work1",
        ];
        assert_eq!(lines_with(&log, "Work1"), expected, "{log}");
        let ends = ["adds shutdown", "ones shutdown", "doubles shutdown", "tens shutdown"];
        assert_eq!(lines_with(&log, "shutdown"), ends, "{log}");
        assert!(lines_with(&log, "failed").is_empty(), "{log}");
    });
    composed("ComposedReversed", "").waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("work 3"), worked(3, (3 + 1) * 3 * 20));
        let log = program.ends_well();
        assert!(lines_with(&log, "failed").is_empty(), "{log}");
    });
}

#[test]
fn each_has_its_own_events() {
    composed("ComposedBoth", "").waiting_on_each_runtime(|_, mut program| {
        program.ask("work 1");
        program.ask("work 2");
        program.ask("busy");
        program.ask("calm");
        let log = program.ends_well();
        let (before, after) = log.split_once("adds has set ").expect("it has set its events");
        assert!(before.contains("adds has a class"), "{log}");
        assert!(!log.contains("doubles has a class"), "{log}");
        let (events, after) = after.split_once('\n').expect("a line");
        assert!(!events.contains("CLASS_LOADS"), "{log}");
        assert!(events.contains("MONITOR_THREADS"), "{log}");
        // Those of its own, for which it has not asked anymore; threads are wanted by the other.
        assert!(!after.contains("adds has a class"), "{log}");
        assert!(after.contains("doubles has a thread"), "{log}");
    });
}

/// The log of a run in which one of three fails: the others do their work.
fn fails(how: &str) -> String {
    let mut last = String::new();
    let log = std::sync::Mutex::new(&mut last);
    composed("ComposedThree", how).waiting_on_each_runtime(|_, mut program| {
        for n in [1, 5, 6, 7] {
            let answer = program.ask(&format!("work {n}"));
            assert_eq!(answer, worked(n, (n * 20 + 1) * 3), "{}", program.log());
        }
        let text = program.ends_well();
        let others = lines_with(&text, "doubles: ").len() + lines_with(&text, "adds: ").len();
        assert_eq!(others, 0, "{text}");
        **log.lock().unwrap() = text;
    });
    last
}

const NAME: &str = "scenarios::composes::Failing";

#[test]
fn one_that_cannot_start_leaves_the_others_alone() {
    for (how, said) in [("error", "failed: no"), ("panic", "panicked: never")] {
        let log = fails(how);
        let failure = format!("initialize of the profiler `{NAME}` {said}");
        let line = "does not run, the others and the program do: ";
        assert!(
            log.contains(&format!("clr_profiler: the profiler `{NAME}` {line}{failure}")),
            "{log}"
        );
        assert!(log.contains(&format!("fails: {failure}")), "{log}");
        assert!(lines_with(&log, "of fails").is_empty(), "{log}");
    }
    let log = fails("cancel");
    assert!(lines_with(&log, "Failing").is_empty(), "{log}");
    let log = fails("start");
    let failure = format!(
        "initialize of the profiler `{NAME}` failed: the component `Unready`: not today [{NAME}]"
    );
    assert!(log.contains(&failure), "{log}");
    assert!(lines_with(&log, "unready has").len() <= 1, "{log}");
}

#[test]
fn one_that_fails_later_is_disabled_alone() {
    let log = fails("panics");
    let panics = lines_with(&log, "fails: jit_compilation_started of the profiler");
    assert_eq!(panics.len(), 2, "{log}");
    let last = format!("(too many panics: the profiler gets no more callbacks) [{NAME}]");
    assert!(!panics[0].ends_with(&last) && panics[1].ends_with(&last), "{log}");
    // Its component continues.
    assert!(log.contains("of fails started Work7"), "{log}");
    let log = fails("errors");
    assert_eq!(lines_with(&log, "fails: jit").len(), 4, "{log}");
}

#[test]
fn a_detach_of_one_names_all() {
    let log = fails("detach");
    let names = "`scenarios::composes::Doubles` and `scenarios::composes::Failing` and \
                 `scenarios::composes::Adds`";
    let said = format!("{names} run as one profiler, and would all be detached");
    assert!(log.contains(&said), "{log}");
}

#[test]
fn what_has_one_owner_names_both_profilers() {
    let log = fails("rejit");
    let said = "the component `Rejit`: `get_rejit_parameters` has one owner, and the component \
                `Rejit` of the profiler `scenarios::composes::Doubles` has it already";
    let failure = format!("initialize of the profiler `{NAME}` failed: {said}");
    assert!(log.contains(&failure), "{log}");
    let log = fails("hooks");
    let said = "there are hooks already, those of the profiler `scenarios::composes::Doubles`";
    assert!(log.contains(said) && log.contains(NAME), "{log}");
}

#[test]
fn none_runs_if_none_can_start() {
    let program = Scenario::new("Hello").env("COMPOSE", "error");
    for alone in [
        program.clone().profiled_by::<Failing>(),
        program.profiled_by::<FailingToo>(),
    ] {
        alone.compare(|plain, profiled| {
            assert_eq!(plain.output(), profiled.output(), "{}", profiled.log);
            assert!(profiled.log.contains("initialize failed: no"), "{}", profiled.log);
        });
    }
    for how in ["error", "cancel"] {
        let scenario = Scenario::new("Hello").profiler("ComposedTwo").env("COMPOSE", how);
        scenario.on_each_runtime(|runtime, profiled| {
            let plain = scenario.run_plain(runtime);
            assert_eq!(plain.output(), profiled.output(), "{}", profiled.log);
            let said = "none of the profilers that are composed could start";
            assert_eq!(profiled.log.contains(said), how == "error", "{}", profiled.log);
        });
    }
}

/// Both profilers, attached with this data to a program that has called one method.
fn attached(data: &[u8], test: impl Fn(clr_profiler_tests::Started)) {
    Scenario::new("Waits").waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("work 1"), worked(1, 1));
        program.attach("ComposedBoth", data).unwrap();
        test(program);
    });
}

#[test]
fn both_are_attached_to_a_running_program() {
    attached(b"both", |mut program| {
        // Compiled before.
        assert_eq!(program.ask("work 1"), worked(1, 1));
        for n in [3, 7] {
            assert_eq!(program.ask(&format!("work {n}")), worked(n, (n * 20 + 1) * 3));
        }
        let log = program.ends_well();
        let got = ["doubles got both", "adds got both"];
        assert_eq!(lines_with(&log, " got "), got, "{log}");
        let ends = ["adds shutdown", "ones shutdown", "doubles shutdown", "tens shutdown"];
        assert_eq!(lines_with(&log, "shutdown"), ends, "{log}");
        assert!(lines_with(&log, "failed").is_empty(), "{log}");
    });
}

#[test]
fn one_that_cannot_be_attached_leaves_the_other_alone() {
    // Hooks must be set when the program starts.
    attached(b"hooks", |mut program| {
        assert_eq!(program.ask("work 3"), worked(3, (3 + 1) * 3));
        let log = program.ends_well();
        let failed = lines_with(&log, "failed");
        let is_of_doubles = |line: &&str| line.contains("Doubles` failed: ");
        assert!(!failed.is_empty() && failed.iter().all(is_of_doubles), "{log}");
        assert!(log.contains("cannot have MONITOR_ENTERLEAVE") && log.contains("\ndoubles: "), "{log}");
    });
}
