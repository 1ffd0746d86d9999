//! `return_inspector`: what methods return, whichever way it is looked at.

use clr_profiler_tests::{Example, runtimes};

use crate::sample;

const EXAMPLE: Example = Example("return_inspector");

/// What the bundled sample's methods return, as far as that is known.
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
        let (plain, inspected) = sample(EXAMPLE, runtime, &["--filter", "Shop."], &[]);
        println!(
            "on {}: {} results",
            runtime.name,
            inspected.log.lines().count()
        );
        assert_eq!(inspected.output(), plain.output());
        for line in RETURNED {
            assert!(inspected.logged(line), "{line}");
        }
        // A method that throws returns nothing, and one that is `void` never does.
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
        let filter = ["--filter", "Shop.Program."];
        let (plain, managed) = sample(EXAMPLE, runtime, &filter, &[]);
        let (_, native) = sample(EXAMPLE, runtime, &["--native", filter[0], filter[1]], &[]);
        println!("on {}", runtime.name);
        assert_eq!(native.output(), plain.output());
        assert!(native.log.lines().count() > 100_000);
        // Each result is shown in the same way, but for truth.
        let managed = managed
            .log
            .replace(" = True\n", " = true\n")
            .replace(" = False\n", " = false\n");
        let seen: std::collections::HashSet<&str> = native.log.lines().collect();
        let all: std::collections::HashSet<&str> = managed.lines().collect();
        let strangers: Vec<_> = seen.difference(&all).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
    }
}

#[test]
fn methods_of_the_core_library_are_inspected_too() {
    for runtime in runtimes() {
        let options = ["--native", "--framework", "--filter", "System.String."];
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
    let runtime = &runtimes()[0];
    let (plain, inspected) = sample(EXAMPLE, runtime, &["--framework"], &[]);
    assert_eq!(inspected.stdout, plain.stdout);
    assert!(
        inspected.stderr.contains("--framework needs --native"),
        "{}",
        inspected.stderr
    );
}
