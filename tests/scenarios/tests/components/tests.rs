use clr_profiler_tests::{Runtime, Sample, Scenario, name_of, runtimes_where};

use super::{Composed, Conflicts, OwnsRejit, Pairs};

/// The lines of the log with this word in them.
fn lines_with<'a>(log: &'a str, word: &str) -> Vec<&'a str> {
    log.lines().filter(|line| line.contains(word)).collect()
}

#[test]
fn each_gets_callbacks_and_il_in_its_order_and_panics_alone() {
    Scenario::new("Waits")
        .profiled_by::<Composed>()
        .waiting_on_each_runtime(|_, mut program| {
            // 100 * n + 10 * n, and of the method: (n * 10 + 3) * 2.
            assert_eq!(program.ask("work 1"), "worked 136");
            // ReJIT adds 100 to the result of the others, as soon as their code was compiled.
            let mut answer = program.ask("work 2");
            for _ in 0..1000 {
                if answer == "worked 366" {
                    break;
                }
                assert_eq!(answer, "worked 266");
                std::thread::sleep(std::time::Duration::from_millis(10));
                answer = program.ask("work 2");
            }
            assert_eq!(answer, "worked 366");
            for n in 3..=5 {
                let work = 100 * n + 10 * n + (n * 10 + 3) * 2;
                assert_eq!(program.ask(&format!("work {n}")), format!("worked {work}"));
            }
            let log = program.ends_well();
            let expected = [
                "first started Work1",
                "second started Work1",
                "Work1 panicked",
                "profiler started Work1",
                "profiler finished Work1",
                "second finished Work1",
                "first finished Work1",
            ];
            let lines: Vec<&str> = lines_with(&log, "Work1")
                .into_iter()
                .map(|line| match line.contains("panicked: no Work1") {
                    true => "Work1 panicked",
                    false => line,
                })
                .collect();
            assert_eq!(lines, expected, "{log}");
            assert_eq!(
                lines_with(&log, "start").first(),
                Some(&"first start"),
                "{log}"
            );
            let ends = ["profiler shutdown", "second shutdown", "first shutdown"];
            assert_eq!(lines_with(&log, "shutdown"), ends, "{log}");
            // Two panics, and the second one was the last.
            let panics = lines_with(&log, "panicked");
            assert_eq!(panics.len(), 2, "{log}");
            let said = "jit_compilation_started of the component `Panics` panicked: no Work";
            assert!(panics.iter().all(|line| line.starts_with(said)), "{log}");
            let last = "(too many panics: the component gets no more callbacks)";
            assert!(
                !panics[0].ends_with(last) && panics[1].ends_with(last),
                "{log}"
            );
            assert!(lines_with(&log, "failed").is_empty(), "{log}");
        });
}

#[test]
fn one_refusal_counts() {
    let scenario = Scenario::new("Inlines")
        .profiled_by::<Composed>()
        // Only optimised code is inlined.
        .env("COMPlus_TieredCompilation", "0");
    scenario.compare(|_, profiled| {
        let kept = "CallsFree,! Kept,! CallsBoth,Kept,!\n";
        assert_eq!(profiled.stdout, kept.repeat(2), "{}", profiled.log);
        assert!(
            profiled.logged("compiled a refused function"),
            "{}",
            profiled.log
        );
    });
}

/// Checks the message about a conflict; the program runs as if there were no profiler.
fn conflict(conflict: &str, expected: impl Fn(&Runtime, &str) -> bool) {
    let scenario = Scenario::new("Hello")
        .profiled_by::<Conflicts>()
        .env("CONFLICT", conflict);
    scenario.on_each_runtime(|runtime, profiled| {
        let plain = scenario.run_plain(runtime);
        assert_eq!(plain.output(), profiled.output(), "{}", profiled.log);
        assert!(
            expected(runtime, &profiled.log),
            "{}: {}",
            runtime.name,
            profiled.log
        );
    });
}

#[test]
fn what_has_one_owner_names_both() {
    conflict("rejit", |_, log| {
        log.starts_with(
            "rejit: the component `Rejit`: `get_rejit_parameters` has one owner, and the component \
             `Rejit` has it already\n",
        )
    });
    conflict("hooks", |_, log| {
        log.starts_with(
            "hooks: the component `Hooking`: Setup::hooks was not called: there are hooks already, \
             those of the profiler; a process has one set of them\n",
        )
    });
    conflict("hooks after", |_, log| {
        log.starts_with(
            "hooks after: Setup::hooks was not called: there are hooks already, those of the \
             component `Hooking`; a process has one set of them\n",
        )
    });
    let scenario = Scenario::new("Hello").profiled_by::<OwnsRejit>();
    scenario.compare(|_, profiled| {
        let said = "rejit: the component `Rejit`: `get_rejit_parameters` has one owner, and the \
                    profiler has it already";
        assert!(profiled.logged(said), "{}", profiled.log);
    });
}

#[test]
fn events_that_cannot_be_had_name_the_component() {
    conflict("removed", |_, log| {
        log.contains(
            "initialize failed: the component `Rejit`: it needs ENABLE_REJIT, which \
             `Setup::remove_events` took away",
        )
    });
    conflict("unknown", |runtime, log| {
        let unknown = "unknown: the component `AllocationTicks`: HIGH_MONITOR_EVENT_PIPE needs \
                       ICorProfilerInfo12 (.NET 5 or newer); this runtime offers ICorProfilerInfo11\n";
        let said = match runtime.major {
            3 => unknown,
            _ => "unknown: attached\n",
        };
        log.starts_with(said)
    });
    conflict("start", |_, log| {
        log.contains("initialize failed: the component `Unready`: not today")
    });
}

#[test]
fn an_attached_component_has_what_can_be_had_then() {
    let scenario = Scenario::new("Waits").env("CONFLICT", "allocations");
    scenario.waiting_on_each_runtime(|_, program| {
        let attached = program.attach(name_of::<Conflicts>(), b"");
        let error = attached.unwrap_err().to_string();
        assert!(error.contains("0x8013136F"), "{error}");
        let log = program.ends_well();
        let said = "allocations: the component `Allocations`: ";
        let line = lines_with(&log, said)[0];
        assert!(
            line.contains("cannot have") && line.contains("ENABLE_OBJECT_ALLOCATED"),
            "{log}"
        );
    });
}

/// The result of each for a program that does its work `*` times.
const GIVES: [(&str, &str); 7] = [
    ("rejit", "rejit Compiled"),
    ("heap", "heap Some(true)"),
    ("sampler", "sampler true Ok(())"),
    ("hooks", "hooks *"),
    ("unwinding", "unwinding *"),
    ("exceptions", "exceptions *"),
    ("ticks", "ticks true"),
];

#[test]
fn each_pair_gives_what_each_gives_alone() {
    let together = |pair: &[(&str, &str)]| {
        let names: Vec<&str> = pair.iter().map(|(name, _)| *name).collect();
        let scenario = Scenario::new("Waits")
            .profiled_by::<Pairs>()
            .env("PAIR", &names.join(","));
        let has_pipes = names
            .iter()
            .any(|name| ["exceptions", "ticks"].contains(name));
        // .NET Core 3.1 has no event pipes for profilers.
        for runtime in runtimes_where(|runtime| runtime.major != 3 || !has_pipes) {
            let mut program = scenario.start(runtime);
            assert_eq!(program.line(), "ready");
            let mut times = 1;
            // Until its rejitted IL is effective, if it gets any.
            loop {
                times += 1;
                match (&*program.ask("work 1"), names.contains(&"rejit")) {
                    ("worked 111", true) => assert!(times < 20_000, "{}", runtime.name),
                    ("worked 111", false) | ("worked 112", true) if times > 100 => break,
                    ("worked 111", false) | ("worked 112", true) => {}
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(program.ask("work 7"), "worked 777");
            let log = program.ends_well();
            let mut given: Vec<&str> = log.lines().collect();
            let times = times.to_string();
            let expected = pair.iter().map(|(_, gives)| gives.replace('*', &times));
            let mut expected: Vec<String> = expected.collect();
            given.sort_unstable();
            expected.sort_unstable();
            assert_eq!(given, expected, "{names:?} on {}", runtime.name);
        }
    };
    let sample = Sample::one_of(4);
    let mut runs = 0..;
    for (number, one) in GIVES.iter().enumerate() {
        if sample.has(runs.next().unwrap()) {
            together(&[*one]);
        }
        for other in &GIVES[number + 1..] {
            if sample.has(runs.next().unwrap()) {
                together(&[*one, *other]);
            }
        }
    }
}
