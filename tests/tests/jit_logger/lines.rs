//! The content of the log: names, the filter and the summary.

use std::collections::HashMap;

use clr_profiler_tests::{Finished, runtimes};
use examples_support::samples;

use super::example::{behaviour, command, lines};

#[test]
fn names_are_full() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = Finished::of(command(runtime, &[], &samples::sample(), &[]));
        // Shared code is shown with the names of the parameters, from .NET 10 on with a placeholder for all.
        let [key, value, entry] = match runtime.major {
            ..10 => ["TKey", "TValue", "TEntry"],
            _ => ["System.__Canon"; 3],
        };
        for line in [
            "[jit] Shop.Program.Main(string[])",
            "[jit] Shop.Store.Sell(string, int)",
            "[jit] Shop.Store..ctor()",
            "[jit] Shop.Store+Item..ctor(string, Shop.Money, int)",
            "[jit] Shop.Store+Journal<Shop.Money>.Write(Shop.Money)",
            &format!("[jit] Shop.Store+Journal<{entry}>.Write({entry})"),
            &format!("[jit] Shop.Shelf<{key}, {value}>.TryTake({key}, {value}&)"),
            "[jit] Shop.Tools.Pick.Largest<int>(int[])",
            "[jit] Shop.Tools.Pick.Largest<Shop.Money>(Shop.Money[])",
            "[jit] Shop.Tools.Pick.Largest<System.__Canon>(System.__Canon[])",
            "[jit] Shop.Program+<>c__DisplayClass6_0.<Main>b__0(string, Shop.Money)",
            "[jit] System.Collections.Generic.List<Shop.Money>.Add(Shop.Money)",
            "[dynamic] DiscountBy20",
        ] {
            let found = finished.stderr.lines().any(|logged| logged == line);
            assert!(found, "{line} is not in\n{}", finished.stderr);
        }
        if runtime.major >= 8 {
            // Earlier ones inline them into Main.
            let swap = "[jit] Shop.Tools.Pick.Swap<int>(int&, int&)";
            assert!(finished.stderr.lines().any(|logged| logged == swap));
        }
    }
}

#[test]
fn patterns_select_methods() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        for (pattern, part) in [
            ("Shop.Store.*", "Shop.Store."),
            ("**(Shop.Money[])", "(Shop.Money[])"),
        ] {
            let options = ["--methods", pattern, "--summary"];
            let all = Finished::of(command(runtime, &[], &samples::sample(), &[])).stderr;
            let some = Finished::of(command(runtime, &options, &samples::sample(), &[])).stderr;
            let expected: Vec<_> = lines(&all)
                .into_iter()
                .filter(|line| line.contains(part))
                .collect();
            assert!(!expected.is_empty() && expected.len() < lines(&all).len());
            assert_eq!(lines(&some), expected);
            assert_adds_up(&some);
        }
        let options = ["--methods=No.Such.Method", "--summary"];
        let none = Finished::of(command(runtime, &options, &samples::sample(), &[])).stderr;
        assert_eq!(lines(&none).len(), 0);
        let told = "jit_logger: 1 matched nothing: the pattern `No.Such.Method`\n";
        assert!(none.contains(told), "{none}");
        assert_adds_up(&none);
    }
}

/// The rows of the summary that ends the log: methods, milliseconds, assembly.
fn summary(log: &str) -> Vec<(usize, f64, &str)> {
    log.lines()
        .skip_while(|line| *line != " methods        time  assembly")
        .skip(1)
        .take_while(|row| !row.starts_with("jit_logger: "))
        .map(|row| {
            let (methods, rest) = row.trim_start().split_once("  ").unwrap();
            let (time, assembly) = rest.split_once(" ms  ").unwrap();
            (
                methods.parse().unwrap(),
                time.trim().parse().unwrap(),
                assembly,
            )
        })
        .collect()
}

/// Asserts that the rows add up to the last one, and that to the lines.
#[track_caller]
fn assert_adds_up(log: &str) {
    let rows = summary(log);
    let ((all, time, name), rows) = rows.split_last().unwrap();
    assert_eq!((*name, *all), ("all", lines(log).len()), "{log}");
    assert_eq!(rows.iter().map(|row| row.0).sum::<usize>(), *all, "{log}");
    let sum: f64 = rows.iter().map(|row| row.1).sum();
    // Each is rounded to a tenth.
    assert!((sum - time).abs() < 0.1 * rows.len() as f64 + 0.1, "{log}");
    assert!(rows.is_sorted_by(|row, next| row.0 >= next.0), "{log}");
}

#[test]
fn the_summary_counts_the_lines() {
    for runtime in runtimes() {
        for mode in ["echo", "threads", "huge", "invalid", "hot"] {
            println!("{mode} on {}", runtime.name);
            let finished = behaviour(runtime, &[mode]);
            assert_adds_up(&finished.log);
            let rows = summary(&finished.log);
            assert!(
                rows.iter().any(|row| row.2 == "Behaviours" && row.1 > 0.0),
                "{}",
                finished.log
            );
            assert!(!finished.log.contains('?'), "{}", finished.log);
        }
        let finished = behaviour(runtime, &["huge"]);
        assert!(
            summary(&finished.log).contains(&(1, 0.0, "Made"))
                || summary(&finished.log)
                    .iter()
                    .any(|row| row.2 == "Made" && row.0 == 1)
        );
    }
}

#[test]
fn lines_of_many_threads_are_whole() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = behaviour(runtime, &["threads"]);
        assert_eq!(finished.stdout, "sum 480\n");
        // Names are truncated where they nest deeply, so some are equal: these are those of 16 threads.
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for line in lines(&finished.log) {
            if line.contains("Levels<") {
                assert!(
                    line.starts_with("[jit] Behaviours.Levels<Behaviours."),
                    "{line}"
                );
                *counts.entry(line).or_default() += 1;
            }
        }
        assert_eq!(counts.values().sum::<usize>(), 16 * 32);
        for thread in ["A0", "A9", "B0", "B5"] {
            let own = format!("Behaviours.{thread}");
            for method in [
                format!("[jit] Behaviours.Levels<{own}>.Run()"),
                format!("[jit] Behaviours.Levels<{own}>.Down<{own}>(int)"),
                format!("[jit] Behaviours.Levels<{own}>.Down<Behaviours.Wrap<{own}>>(int)"),
            ] {
                assert_eq!(counts.get(&*method), Some(&1), "{method}");
            }
        }
        // Nothing but lines, and the summary between its head and the line of the overhead.
        let table = summary(&finished.log).len() + 2;
        let all = finished.log.lines().count();
        assert_eq!(lines(&finished.log).len() + table, all);
    }
}

#[test]
fn huge_names_are_whole() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = behaviour(runtime, &["huge"]);
        assert_eq!(finished.stdout, "made 3\n");
        let type_name = "T".repeat(1000);
        let parameters = vec![&*type_name; 250].join(", ");
        let line = format!("[jit] {type_name}.{}({parameters})", "m".repeat(1000));
        assert!(finished.logged(&line));
    }
}

#[test]
fn code_that_is_refused_is_logged() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = behaviour(runtime, &["invalid"]);
        let refused = "refused InvalidProgramException\n";
        assert_eq!(finished.stdout, refused.repeat(2));
        assert!(finished.logged("[jit] Refused.NothingToReturn()"));
        assert!(finished.logged("[dynamic] NothingToReturnEither"));
    }
}
