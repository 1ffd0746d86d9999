//! `return_inspector`: the results of methods, by both ways of inspection.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, profilee, runtimes};

use super::{rewritten, sample};

const EXAMPLE: Example = Example("return_inspector");

/// The results of the bundled sample's methods, as far as they are known.
const RETURNED: [&str; 6] = [
    r#"Shop.Program.TrySell(Shop.Store, string, int) = "sold 3 apple for 1.05""#,
    "Shop.Money.op_Multiply(Shop.Money, int) = Shop.Money { cents: 480 }",
    "Shop.Store.Sell(string, int) = Shop.Money { cents: 105 }",
    r#"Shop.Program.TrySell(Shop.Store, string, int) = "refused: no pear left""#,
    "Shop.Shelf<TKey, TValue>.TryTake(TKey, TValue&) = True",
    r#"Shop.Money.ToString() = "4.80""#,
];

#[test]
fn results_of_every_kind_are_shown() {
    for runtime in runtimes() {
        // Two methods are called 100,000 times each.
        let (plain, inspected) = sample(EXAMPLE, runtime, &["--methods", "Shop.**"], &[]);
        println!(
            "on {}: {} results",
            runtime.name,
            inspected.log.lines().count()
        );
        assert_eq!(inspected.output(), plain.output());
        for line in RETURNED {
            assert!(inspected.logged(line), "{line}");
        }
        // A method that throws has no result, and neither has one that is `void`.
        let sold = inspected
            .log
            .lines()
            .filter(|line| line.starts_with("Shop.Store.Sell("));
        assert_eq!(sold.count(), 2);
        assert!(!inspected.log.contains("Shop.Store.Stock("));
    }
}

#[test]
fn rust_sees_the_same_primitives_and_strings() {
    for runtime in runtimes() {
        let filter = ["--methods", "Shop.Program.*"];
        let (plain, managed) = sample(EXAMPLE, runtime, &filter, &[]);
        let (_, native) = sample(EXAMPLE, runtime, &["--native", filter[0], filter[1]], &[]);
        println!("on {}", runtime.name);
        assert_eq!(native.output(), plain.output());
        assert!(native.log.lines().count() > 100_000);
        // Both ways show each result alike, except for `bool`.
        let (seen, number) = rewritten(&native.log);
        assert!(number > 2, "{number}");
        let managed = managed
            .log
            .replace(" = True\n", " = true\n")
            .replace(" = False\n", " = false\n");
        let seen: std::collections::HashSet<&str> = seen.into_iter().collect();
        let all: std::collections::HashSet<&str> = managed.lines().collect();
        let strangers: Vec<_> = seen.difference(&all).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
    }
}

#[test]
fn values_of_all_shapes_are_shown_and_come_back() {
    let program = profilee("Values");
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[]));
        assert_eq!(plain.status.code(), Some(9));
        for mode in [None, Some("--native")] {
            let folder = Folder::new();
            let file = folder.path("results");
            let mut options = vec!["--output", file.to_str().unwrap()];
            options.extend(mode);
            let inspected = Finished::of(EXAMPLE.command(runtime, &options, &program, &[]));
            assert_eq!(
                inspected.status, plain.status,
                "{mode:?}: {}",
                inspected.stderr
            );
            assert_eq!(inspected.stdout, plain.stdout, "{mode:?}");
            if mode.is_none() {
                let results = fs::read_to_string(&file).unwrap();
                for line in [
                    "Values.Program.Reference(nint&) = 11",
                    "Values.Instance.Pointer(Values.DP16, float) = Values.DP16 { A: 7.5 B: 5 }",
                ] {
                    assert!(results.lines().any(|shown| shown == line), "{line}");
                }
            }
        }
    }
}

#[test]
fn methods_of_the_core_library_are_inspected_too() {
    for runtime in runtimes() {
        let options = ["--native", "--framework", "--methods", "System.String.*"];
        let (plain, inspected) = sample(EXAMPLE, runtime, &options, &[]);
        println!(
            "on {}: {} results",
            runtime.name,
            inspected.log.lines().count()
        );
        assert_eq!(inspected.output(), plain.output());
        // Precompiled in the core library, and called by the program.
        let concat = inspected
            .log
            .lines()
            .filter(|line| line.starts_with("System.String.Concat("));
        let whole = concat.filter(|line| line.contains("= \"sold 3 apple"));
        assert!(whole.count() > 0, "{}", inspected.log);
    }
}

#[test]
fn what_cannot_be_is_said() {
    let runtime = runtimes()[0];
    let (plain, inspected) = sample(EXAMPLE, runtime, &["--framework"], &[]);
    assert_eq!(inspected.stdout, plain.stdout);
    assert!(
        inspected.stderr.contains("--framework needs --native"),
        "{}",
        inspected.stderr
    );
}
