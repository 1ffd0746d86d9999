//! The life of profilers, and of assemblies, modules and types.

use clr_profiler_tests::{Runtime, Scenario};

use super::assertions::{all_right, attach, lines, optimized, plain, program};
use super::cases::On;
use super::server::Server;

pub(crate) fn a_profiler_by_the_diagnostics_server(runtime: &Runtime, _: On) {
    let server = Server::new();
    let scenario = plain(&["nothing"])
        .env("DOTNET_DiagnosticPorts", server.path().to_str().unwrap())
        .env("OVERWRITTEN", "before")
        .env("CLEARED", "before");
    let program = scenario.start(runtime);
    server.start_profiler(&scenario.profiler_library("ReadsEnvironment"));
    server.set_variable("OVERWRITTEN", Some("after"));
    server.set_variable("NEW", Some("set by the server"));
    server.set_variable("CLEARED", None);
    server.resume();
    let finished = program.finish();
    assert_eq!(
        finished.output(),
        (Some(100), "end of nothing\n", ""),
        "{}",
        finished.log
    );
    assert_eq!(
        all_right(&finished.log),
        [
            "OVERWRITTEN Some(\"after\")",
            "NEW Some(\"set by the server\")",
            "CLEARED None",
            "shutdown",
        ]
    );
}

fn count(log: &str, line: &str) -> usize {
    log.lines().filter(|known| known.starts_with(line)).count()
}

pub(crate) fn several_profilers_detach(runtime: &Runtime, _: On) {
    const NAME: &str = "DetachesAtException";
    let scenario = program(&["waits"], NAME).notification_profiler(NAME);
    let mut program = scenario.start(runtime);
    assert_eq!(program.line(), "ready");
    attach(program.id(), NAME, b"").unwrap();
    let log = program.log();
    assert_eq!(
        (count(&log, "loaded"), count(&log, "attached")),
        (2, 1),
        "{log}"
    );
    assert_eq!(program.ask("one"), "caught one");
    program.until("three drops", |log| count(log, "dropped ") == 3);
    assert_eq!(program.ask("another"), "caught another");
    assert_eq!(program.ask("end"), "end of waits");
    let finished = program.finish();
    assert_eq!(finished.status.code(), Some(100), "{}", finished.log);
    let log = all_right(&finished.log).join("\n");
    assert_eq!(
        (count(&log, "detach ()"), count(&log, "detached ")),
        (3, 3),
        "{log}"
    );
    assert!(log.contains("detached 3 after 3 exceptions"), "{log}");
}

pub(crate) fn a_released_profiler(runtime: &Runtime, _: On) {
    let mut program = plain(&["waits"]).start(runtime);
    assert_eq!(program.line(), "ready");
    attach(program.id(), "DetachesOnceAttached", b"").unwrap();
    program.until_logged("dropped");
    assert_eq!(program.ask("one"), "caught one");
    assert_eq!(program.ask("end"), "end of waits");
    let finished = program.finish();
    assert_eq!(finished.status.code(), Some(100), "{}", finished.log);
    assert_eq!(
        all_right(&finished.log),
        ["attached", "detach ()", "detached", "dropped"]
    );
}

pub(crate) fn unloaded_assemblies(runtime: &Runtime, on: On) {
    let unloaded = "unloaded True\n".repeat(3);
    let lines = lines(
        &program(&["contexts"], "AssemblyUnloads"),
        runtime,
        &unloaded,
    );
    let started = if on == On::Passes { 3 } else { 0 };
    assert_eq!(lines, [format!("unloads {started} 3")]);
}

pub(crate) fn loaded_modules(runtime: &Runtime, _: On) {
    let lines = lines(
        &program(&["dynamic"], "ModuleLoads"),
        runtime,
        "40\n41\n42\n",
    );
    let dynamic = lines
        .iter()
        .filter(|line| line.starts_with("dynamic "))
        .count();
    assert_eq!(dynamic, 3, "{lines:#?}");
    assert_eq!(lines[3..], ["modules true true", "assemblies true true"]);
}

pub(crate) fn loaded_types(runtime: &Runtime, _: On) {
    let lines = lines(
        &program(&["unload"], "ClassLoads"),
        runtime,
        "unloaded True\n",
    );
    assert_eq!(lines.len(), 7, "{lines:#?}");
    for line in &lines {
        assert!(line.ends_with(" [1, 1, 1, 1]"), "{lines:#?}");
    }
}

pub(crate) fn optimisation_switched(runtime: &Runtime, on: On) {
    let scenario = optimized(program(&["optimization"], "SwitchesOptimization"));
    let tiers = if on == On::Passes {
        [2, 1, 2, 2, 2]
    } else {
        [2; 5]
    };
    let tiers: String = tiers.iter().map(|tier| format!("tier {tier}\n")).collect();
    let lines = lines(&scenario, runtime, &tiers);
    if on != On::Passes {
        let refused = lines.iter().filter(|line| line.starts_with("refused: "));
        for line in refused.clone() {
            assert!(
                line.contains("DISABLE_OPTIMIZATIONS") || line.contains("DISABLE_INLINING"),
                "{lines:#?}"
            );
        }
        assert_eq!(refused.count(), 2, "{lines:#?}");
        return;
    }
    assert_eq!(
        lines,
        [
            "compiling",
            "inlining",
            "switched to 1",
            "compiling",
            "switched to 0",
            "compiling",
            "inlining",
            "switched to 2",
            "compiling",
            "switched to 0",
            "compiling",
            "inlining",
        ]
    );
}

pub(crate) fn scopes_of_files(runtime: &Runtime, _: On) {
    let lines = lines(
        &program(&["dynamic"], "OpensScopes"),
        runtime,
        "40\n41\n42\n",
    );
    // The dynamic modules have no file, and neither have the parts of an application of one file.
    assert_eq!(lines, ["opened true, without a file true"]);
}

pub(crate) fn addresses_of_statics(runtime: &Runtime, on: On) {
    let unloaded = "unloaded True\n".repeat(3);
    if on != On::Passes {
        let finished = program(&["statics"], "StaticAddresses").run_on(runtime);
        let stdout = format!("{unloaded}end of statics\n");
        assert_eq!(
            finished.output(),
            (Some(100), &*stdout, ""),
            "{}",
            finished.log
        );
        let lines: Vec<&str> = finished.log.lines().collect();
        let refused = lines.iter().position(|line| {
            line.starts_with("refused: ")
                && line.contains("depends on a module that can be unloaded")
        });
        assert!(refused.is_some(), "{lines:#?}");
        // .NET 8 also crashes in its next collections, so that their events are given up.
        let failed = lines.iter().filter(|line| line.starts_with("FAILED"));
        let others = failed.filter(|line| !line.contains("no callback that needs `MONITOR_GC`"));
        assert_eq!(others.count(), 0, "{lines:#?}");
        let last = "addresses true, collectible false, not collectible true";
        assert_eq!(lines.last(), Some(&last), "{lines:#?}");
        return;
    }
    let lines = lines(
        &program(&["statics"], "StaticAddresses"),
        runtime,
        &unloaded,
    );
    assert_eq!(
        lines,
        ["addresses true, collectible true, not collectible true"]
    );
}

pub(crate) fn threads_of_suspensions(runtime: &Runtime, _: On) {
    let lines = lines(&program(&["collect"], "ThreadsOfSuspensions"), runtime, "");
    assert_eq!(lines, ["collections true", "enumerated true"]);
}

/// A case of the asynchronous methods.
fn asynchronous(case: &str, profiler: &str) -> Scenario {
    program(&["async", case], profiler).env("DOTNET_RuntimeAsync", "1")
}

pub(crate) fn asynchronous_code(runtime: &Runtime, _: On) {
    let scenario = optimized(asynchronous("exceptions", "AsyncApis"));
    let lines = lines(&scenario, runtime, "100\n");
    assert_eq!(
        lines,
        [
            "caught",
            "compilation finished",
            "compilation started",
            "found by address",
            "mapped",
            "searched or unwound",
            "thrown",
        ]
    );
}

pub(crate) fn asynchronous_types(runtime: &Runtime, _: On) {
    let lines = lines(&asynchronous("types", "AsyncTypes"), runtime, "496\n");
    // No call is refused, because each type has metadata.
    assert_eq!(
        lines,
        ["a continuation with metadata loaded", "collections"]
    );
}

pub(crate) fn asynchronous_calls(runtime: &Runtime, _: On) {
    let scenario = optimized(asynchronous("calls", "AsyncCalls"));
    let finished = scenario.run_on(runtime);
    assert_eq!(
        finished.output(),
        (Some(100), "32\nend of async\n", ""),
        "{}",
        finished.log
    );
    let lines: Vec<&str> = finished.log.lines().collect();
    // Enters are those that the runtime's test asserts; leaves are only those of calls that complete.
    let expected = ["Nothing [3, 1]", "Real [3, 1]", "Whole [25, 5]"];
    assert_eq!(lines[lines.len() - 3..], expected);
}
