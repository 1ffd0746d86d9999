//! Methods that are decided about when they are compiled, and those that wait.

use super::{METHODS, OFF, all_are_changed, expected, lines, switched, with};

#[test]
fn methods_of_a_whole_module_are_decided_about_when_they_are_compiled() {
    for tiered in ["0", "1"] {
        switched("late", tiered).on_each_runtime(|_, profiled| {
            let log = &profiled.log;
            all_are_changed(profiled);
            // Nothing is known of the others.
            assert!(log.contains(" 0 not compiled, "), "{log}");
            let unchanged = with(log, "unchanged     ");
            assert!(unchanged.contains("Switched!Switched.Program.Time()"), "{log}");
        });
    }
}

#[test]
fn a_deferred_method_is_changed_with_its_next_tier() {
    for how in ["deferred", "late, deferred"] {
        changes_with_its_next_tier(how);
    }
}

fn changes_with_its_next_tier(how: &str) {
    let scenario = switched(how, "1").env("COMPlus_TC_CallCountingDelayMs", "0");
    scenario.on_each_runtime(|_, profiled| {
        let (lines, log) = (lines(profiled), &profiled.log);
        // Of the core library, the precompiled code runs at first.
        assert_eq!(lines[0], format!("at first: {OFF}"), "{log}");
        for line in ["wrong 0", "late 1041"] {
            assert!(lines.contains(&line), "{lines:?}{log}");
        }
        let in_table = with(log, "instrumented  ");
        assert_eq!(in_table.into_iter().collect::<Vec<_>>(), METHODS, "{log}");
        // The instances of `Get` have their tiers one after the other.
        for kind in [0, 1, 4, 5] {
            let start = format!("kind {kind} ");
            let seen = lines.iter().find(|line| line.starts_with(&start));
            assert!(seen.unwrap().ends_with(" True"), "{lines:?}{log}");
        }
        assert!(!log.contains("failed "), "{log}");
    });
}

#[test]
fn a_deferred_method_that_is_compiled_once_keeps_its_il() {
    switched("deferred", "0").on_each_runtime(|_, profiled| {
        let log = &profiled.log;
        let expected = expected([OFF; 6], "True False", ["1041"; 2]);
        assert_eq!(lines(profiled), expected, "{log}");
        let deferred = with(log, "deferred      ");
        assert!(deferred.contains(METHODS[2]), "{log}");
        let is_first = METHODS[0];
        assert!(with(log, "instrumented  ").contains(is_first), "{log}");
        assert!(log.contains(" are deferred\n"), "{log}");
    });
}
