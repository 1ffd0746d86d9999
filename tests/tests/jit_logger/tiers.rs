//! `[jit]` and `[tier-up]` agree with the runtime's actions.

use std::collections::HashSet;
use std::fs;

use clr_profiler_tests::{Finished, Runtime, profilee, runtimes, runtimes_where};

use super::example::{Folder, behaviour, command, lines};

fn kind_and_name(line: &str) -> (&str, &str) {
    line.split_once("] ").unwrap()
}

#[test]
fn hot_methods_are_compiled_again() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let finished = behaviour(runtime, &["hot"]);
        // One of the program, and one of the framework that was precompiled.
        let own = "Behaviours.Program.Word(int)";
        let first = finished.log.find(&format!("[jit] {own}\n")).unwrap();
        let again = finished.log.find(&format!("[tier-up] {own}\n")).unwrap();
        assert!(first < again);
        let precompiled = "System.String.Trim()";
        assert!(finished.logged(&format!("[tier-up] {precompiled}")));
        assert!(!finished.logged(&format!("[jit] {precompiled}")));
    }
}

/// With these variables of the runtime.
fn hot(runtime: &Runtime, variables: &[(&str, &str)]) -> String {
    let folder = Folder::new();
    let file = folder.path("log");
    let options = ["--output", file.to_str().unwrap()];
    let mut command = command(runtime, &options, &profilee("Behaviours"), &["hot"]);
    command.envs(variables.iter().copied());
    let finished = Finished::of(command);
    assert_eq!(finished.stdout, "words 300\n", "{}", finished.stderr);
    fs::read_to_string(file).unwrap()
}

#[test]
fn without_precompiled_code_each_tier_up_follows_a_jit() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let log = hot(
            runtime,
            &[("DOTNET_ReadyToRun", "0"), ("COMPlus_ReadyToRun", "0")],
        );
        let mut seen = HashSet::new();
        let mut again = 0;
        for line in lines(&log) {
            match kind_and_name(line) {
                // Several functions can have one name: those of shared generic code.
                ("[jit", name) => _ = seen.insert(name),
                ("[tier-up", name) => {
                    assert!(seen.contains(name), "{name} has no earlier code:\n{log}");
                    again += 1;
                }
                _ => {}
            }
        }
        assert!(again > 5, "{log}");
    }
}

#[test]
fn without_tiers_there_is_no_tier_up() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let variables = [
            ("DOTNET_TieredCompilation", "0"),
            ("COMPlus_TieredCompilation", "0"),
        ];
        let log = hot(runtime, &variables);
        assert!(!log.contains("[tier-up]"), "{log}");
        assert!(
            log.contains("[jit] Behaviours.Program.Word(int)\n"),
            "{log}"
        );
    }
}

/// The compiler of .NET 8 and newer can list its compilations with their tiers.
#[test]
fn the_compiler_agrees() {
    for runtime in runtimes_where(|runtime| runtime.major >= 8) {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let list = folder.path("list");
        let log = hot(
            runtime,
            &[
                ("DOTNET_JitStdOutFile", list.to_str().unwrap()),
                ("DOTNET_JitDisasmSummary", "1"),
            ],
        );
        let list = fs::read_to_string(list).unwrap();
        assert_eq!(lines(&log).len(), list.lines().count(), "{log}\n{list}");
        let count = |text: &str, line: &str| text.lines().filter(|l| l.contains(line)).count();
        // The first code of a method is one line of both; each further one is a tier-up.
        assert_eq!(count(&log, "[jit] Behaviours.Program.Word("), 1);
        assert_eq!(
            count(&log, "[tier-up] Behaviours.Program.Word("),
            count(&list, "Behaviours.Program:Word(") - 1
        );
        for (name, listed) in [
            ("System.String.Trim()", "System.String:Trim()"),
            (
                "StringBuilder.Append(string)",
                "StringBuilder:Append(System.String)",
            ),
        ] {
            assert_eq!(
                count(&log, name),
                count(&list, listed),
                "{name}:\n{log}\n{list}"
            );
            assert_eq!(count(&list, &format!("{listed} [Tier0")), 0, "precompiled");
        }
    }
}
