//! A helper that cannot be called is not called: the program behaves as without a profiler, and
//! the profiler gets an error.

use std::fs;

use clr_profiler_tests::{Finished, Folder, Scenario, profilee};

use super::HelpsAll;

/// Makes all methods of the program call the helper.
fn all_methods(helper: &str, mode: &str) -> Scenario {
    Scenario::new("Helped")
        .profiled_by::<HelpsAll>()
        .env("HELPER", helper)
        .env("HELPED", mode)
}

fn helper() -> String {
    profilee("helper/Helper").to_str().unwrap().to_owned()
}

/// The number of methods that were refused for a reason, and of those that have called the helper.
fn counts(profiled: &Finished, reason: &str) -> (usize, usize) {
    let refused = profiled.log.lines().filter(|line| {
        line.starts_with("jit_compilation_started failed: ")
            && line.contains(" was not rewritten: ")
            && line.contains(reason)
    });
    let called = profiled.log.lines();
    let called = called.filter(|line| line.trim_start().starts_with("> Helped."));
    (refused.count(), called.count())
}

/// The program's output is its own, no method calls the helper, and the reason is reported for each.
fn assert_left_alone(scenario: &Scenario, reason: &str) {
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
        assert_eq!(profiled.status.code(), Some(5));
        let (refused, called) = counts(profiled, reason);
        assert!(refused >= 6, "{refused}: {}", profiled.log);
        assert_eq!(called, 0, "{}", profiled.log);
    });
}

#[test]
fn a_profiler_of_all_methods_gets_none_of_the_library() {
    all_methods(&helper(), "").compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
        let reason = "not instrumentable: the method loads a helper assembly, and must not call it";
        let (refused, called) = counts(profiled, reason);
        assert_eq!(refused, 1, "{}", profiled.log);
        assert!(called >= 10, "{}", profiled.log);
        let failures = profiled.log.lines().filter(|line| line.contains("failed"));
        assert_eq!(failures.count(), 1, "{}", profiled.log);
    });
}

#[test]
fn a_helper_that_was_not_loaded_is_not_referred_to() {
    let reason = "no code has loaded the helper assembly Helper yet";
    assert_left_alone(&all_methods(&helper(), "forgets"), reason);
}

#[test]
fn a_truncated_helper_is_not_called() {
    let folder = Folder::new();
    let whole = fs::read(helper()).unwrap();
    let cut = folder.path("Helper.dll");
    // Its metadata is complete.
    fs::write(&cut, &whole[..whole.len() - 0x300]).unwrap();
    let reason = "the runtime has not loaded the helper assembly Helper";
    assert_left_alone(&all_methods(cut.to_str().unwrap(), ""), reason);
}

#[test]
fn a_helper_for_a_newer_framework_is_not_called() {
    let newer = profilee("helper/newer/Helper");
    let reason = "the helper assembly Helper refers to the type [System.Runtime 99.0.0.0]System.Object, \
                  which the runtime has not found";
    assert_left_alone(&all_methods(newer.to_str().unwrap(), ""), reason);
}

#[test]
fn an_assembly_that_nobody_has_is_not_referred_to() {
    let reason = "no assembly Helpr is loaded, and the module does not refer to one";
    assert_left_alone(&all_methods(&helper(), "typo"), reason);
}
