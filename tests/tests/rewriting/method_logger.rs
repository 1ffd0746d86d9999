//! `method_logger`: the program calls the logger, and behaves as before.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Scenario, profilee, runtimes};

use super::{rewritten, sample};

const EXAMPLE: Example = Example("method_logger");

/// Checks that calls end in the reverse order of their beginnings, and returns them in the order of
/// their beginnings, with the text after the name.
fn calls(log: &str) -> Vec<(&str, Option<&str>)> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for line in log.lines() {
        let depth = (line.len() - line.trim_start().len()) / 2;
        match line.trim_start().split_at(2) {
            ("> ", call) => {
                assert_eq!(depth, open.len(), "{line}");
                let (name, argument) = match call.split_once("  [") {
                    Some((name, argument)) => (name, argument.strip_suffix(']')),
                    None => (call, None),
                };
                open.push(name);
                all.push((name, argument));
            }
            ("< ", name) => {
                let begun = open.pop().unwrap();
                assert!(
                    begun == name || begun.ends_with(&format!(" {name}")),
                    "{begun} {line}"
                );
                assert_eq!(depth, open.len(), "{line}");
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

#[test]
fn calls_are_logged_and_the_program_does_what_it_did() {
    for runtime in runtimes() {
        let (plain, logged) = sample(EXAMPLE, runtime, &["--methods", "Shop.Store.*"], &[]);
        println!("on {}:\n{}", runtime.name, logged.log);
        assert_eq!(logged.output(), plain.output());
        let calls = calls(&logged.log);
        let stock = calls
            .iter()
            .filter(|(name, _)| name.ends_with("Stock(string, long, int)"));
        let arguments: Vec<_> = stock.map(|(_, argument)| argument.unwrap()).collect();
        assert_eq!(arguments, ["apple", "pear", "plum"]);
        // The third one throws.
        let sell = calls
            .iter()
            .filter(|(name, _)| name.ends_with("Sell(string, int)"));
        let arguments: Vec<_> = sell.map(|(_, argument)| argument.unwrap()).collect();
        assert_eq!(arguments, ["apple", "plum", "pear"]);
    }
}

#[test]
fn calls_are_counted_in_an_added_type_and_timed_with_an_added_local() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let il = folder.path("il");
        let options = [
            "--count",
            "--time",
            "--il",
            il.to_str().unwrap(),
            "--methods",
            "Shop.Store.**; **(Shop.Store, **)",
        ];
        let (plain, logged) = sample(EXAMPLE, runtime, &options, &[]);
        println!("on {}", runtime.name);
        assert_eq!(logged.output(), plain.output());
        let calls = calls(&logged.log);
        assert!(calls.len() > 10, "{}", logged.log);
        for (number, (name, _)) in (1..).zip(&calls) {
            assert!(name.starts_with(&format!("#{number} Shop.")), "{name}");
        }
        let (lines, all) = rewritten(&logged.log);
        let took = lines.iter().filter(|line| line.contains(" took ")).count();
        assert_eq!(took, calls.len());
        let il = fs::read_to_string(il).unwrap();
        assert!(!il.contains("refused"), "{il}");
        let methods = il.lines().filter(|line| *line == "after:").count();
        assert!(methods >= 5, "{il}");
        assert_eq!(
            il.lines().filter(|line| *line == "before:").count(),
            methods
        );
        // Initialisers of modules are rewritten, too, and the method of the helper that writes.
        assert!(all >= methods as u64, "{}", logged.log);
        assert!(il.contains(".try ") && il.contains("finally"), "{il}");
    }
}

#[test]
fn exceptions_are_swallowed_where_that_is_wanted() {
    for runtime in runtimes() {
        let options = ["--swallow", "--methods", "Shop.Store.Sell"];
        let (plain, logged) = sample(EXAMPLE, runtime, &options, &[]);
        println!("on {}:\n{}", runtime.name, logged.log);
        assert!(plain.stdout.contains("refused: no pear left\n"));
        let expected = plain
            .stdout
            .replace("refused: no pear left", "sold 5 pear for 0.00");
        assert_eq!(logged.output(), (Some(0), &*expected, &*plain.stderr));
        let swallowed = "! Shop.Store.Sell(string, int) swallowed Shop.OutOfStockException";
        assert!(logged.log.contains(swallowed), "{}", logged.log);
        assert_eq!(calls(&logged.log).len(), 3);
    }
}

#[test]
fn other_programs_do_what_they_did() {
    for runtime in runtimes() {
        for (program, arguments) in [
            ("Rewrites", &[][..]),
            ("Basics", &[]),
            ("Behaviours", &["threads"]),
            ("Watched", &["fail", "return"]),
        ] {
            println!("{program} on {}", runtime.name);
            let folder = Folder::new();
            let (log, il) = (folder.path("log"), folder.path("il"));
            let options = [
                "--output",
                log.to_str().unwrap(),
                "--il",
                il.to_str().unwrap(),
            ];
            let path = profilee(program);
            let plain = Finished::of(EXAMPLE.plain(runtime, &path, arguments));
            let logged = Finished::of(EXAMPLE.command(runtime, &options, &path, arguments));
            let il = fs::read_to_string(il).unwrap();
            let (own, rest) = EXAMPLE.split(&logged.stderr);
            assert_eq!(
                (logged.status, &logged.stdout),
                (plain.status, &plain.stdout)
            );
            assert_eq!(rest, plain.stderr.lines().collect::<Vec<_>>(), "{il}");
            // One line has the number of refusals, and nothing else failed.
            let refused = il
                .lines()
                .filter(|line| line.starts_with("refused"))
                .count();
            match own[..] {
                [] => assert_eq!(refused, 0),
                [line] => assert!(line.starts_with(&format!("method_logger: {refused} refused"))),
                _ => panic!("{own:?}"),
            }
            assert!(!fs::read_to_string(log).unwrap().is_empty(), "{il}");
        }
    }
}

#[test]
fn without_the_helper_the_program_runs_as_it_is() {
    let runtime = runtimes()[0];
    let variables = [("METHOD_LOGGER_HELPER", "/nowhere/Logger.dll")];
    let (plain, logged) = sample(EXAMPLE, runtime, &[], &variables);
    assert_eq!(
        (logged.status.code(), &logged.stdout),
        (Some(0), &plain.stdout)
    );
    assert!(
        logged.stderr.contains("/nowhere/Logger.dll"),
        "{}",
        logged.stderr
    );
    assert_eq!(logged.log, "");
}

#[test]
fn calls_are_counted_where_types_can_be_added() {
    let folder = Folder::new();
    let il = folder.path("il");
    let calls = folder.path("calls");
    let scenario = Scenario::new("Dynamic")
        .library("method_logger")
        .profiler("35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF")
        .env("METHOD_LOGGER_OUTPUT", calls.to_str().unwrap())
        .env("METHOD_LOGGER_IL", il.to_str().unwrap())
        .env("METHOD_LOGGER_COUNT", "1");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.stdout, plain.stdout);
        assert_eq!(profiled.status, plain.status);
        // Before .NET 9, no metadata can be added to modules that the program builds: one method is refused.
        let refused = "method_logger: 1 refused: Sums.Add(int, int)";
        let stderr = &profiled.stderr;
        assert!(stderr.is_empty() || stderr.starts_with(refused), "{stderr}");
        let said = fs::read_to_string(&il).unwrap();
        assert!(said.contains("calls of Built are not counted: "), "{said}");
        let logged = fs::read_to_string(&calls).unwrap();
        assert!(logged.contains("> #1 Dynamic.Program.Main()"), "{logged}");
    });
}
