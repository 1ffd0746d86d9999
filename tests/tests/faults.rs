//! Calls to the runtime fail while methods are rewritten: the program behaves as without a
//! profiler, and the reason is reported.
//!
//! Each call that a profiler makes is broken in turn. A sample of the faults occurs on the runtime of the test; with
//! `CORPUS=all` each one on one of the runtimes, and with `SCENARIO_FAULTS=all` on all of them.

use std::fs;

use clr_profiler_tests::{Folder, Runtime, Sample, Scenario, matrix, runtimes};
use stand_in::{NativeMethod, Recorded};

/// The calls of the profiler when nothing fails. Without reference counting and interface queries,
/// which can fail no more than a cast.
fn calls(scenario: &Scenario, runtime: &Runtime) -> Vec<(&'static NativeMethod, u64)> {
    let folder = Folder::new();
    let recorded_in = folder.path("recordings");
    fs::create_dir(&recorded_in).unwrap();
    scenario.clone().recorded_in(&recorded_in).run_on(runtime);
    let mut calls = Vec::new();
    for entry in fs::read_dir(&recorded_in).unwrap() {
        let recorded = Recorded::read(&entry.unwrap().path()).unwrap();
        for count in recorded.counts {
            let of_runtime = ["ICorProfilerInfo", "IMetaData", "IMethodMalloc"];
            let interface = count.method.interface;
            if of_runtime.iter().any(|name| interface.starts_with(name)) {
                calls.push((count.method, count.calls));
            }
        }
    }
    calls
}

/// The possible failures of a call: `E_OUTOFMEMORY` and `E_FAIL`, always and occasionally; signatures
/// that end too early.
fn faults(method: &NativeMethod) -> Vec<(&'static str, u32)> {
    if !method.returns_hresult() {
        return match method.facts.name {
            "Alloc" => vec![("null", 1), ("null", 3)],
            _ => vec![],
        };
    }
    let mut faults = vec![("8007000e", 1), ("80004005", 3)];
    let mut parameters = method.facts.parameters.iter();
    if parameters.any(|parameter| parameter.name.starts_with("pcbSig")) {
        faults.extend([("short", 1), ("short", 2)]);
    }
    faults
}

/// Without these, a body is nevertheless rewritten: they tell names of types for a log, whether the target of
/// a reference exists, the meaning of tokens of the original body, debuggers
/// where code has moved and which code is of an earlier body, and the library whether a module can be unloaded.
const DISPENSABLE: &[&str] = &[
    "ICorProfilerInfo2::GetClassIDInfo2",
    "ICorProfilerInfo3::EnumModules",
    "ICorProfilerInfo3::GetModuleInfo2",
    "ICorProfilerInfo9::GetNativeCodeStartAddresses",
    "ICorProfilerInfo::IsArrayClass",
    "ICorProfilerInfo::SetILInstrumentedCodeMap",
    "IMetaDataAssemblyImport::FindExportedTypeByName",
    "IMetaDataAssemblyImport::GetExportedTypeProps",
    "IMetaDataImport2::GetMethodSpecProps",
    "IMetaDataImport::EnumMembersWithName",
    "IMetaDataImport::FindTypeDefByName",
    "IMetaDataImport::GetFieldProps",
    "IMetaDataImport::GetMemberProps",
    "IMetaDataImport::GetMemberRefProps",
    "IMetaDataImport::GetNestedClassProps",
    "IMetaDataImport::GetSigFromToken",
    "IMetaDataImport::GetTypeRefProps",
    "IMetaDataImport::GetTypeSpecFromToken",
];

/// Runs the program once for each fault; `log` reads the profiler's messages outside of the scenario's log.
fn each_fault(scenario: &Scenario, is_wanted: impl Fn(&str) -> bool, log: impl Fn() -> String) {
    let of_all = std::env::var_os("SCENARIO_FAULTS").is_some_and(|wanted| wanted == "all");
    let sample = Sample::one_of(if of_all { 1 } else { 16 });
    let mut chosen = runtimes();
    if sample.is_whole() {
        chosen = matrix().iter().collect();
    }
    let (mut runs, mut reported, mut untold) = (0, 0, Vec::new());
    for (number, runtime) in chosen.iter().enumerate() {
        let plain = scenario.run_plain(runtime);
        let calls = calls(scenario, runtime);
        log();
        let wanted = calls
            .into_iter()
            .filter(|(method, _)| is_wanted(&method.name()));
        let possible = wanted.flat_map(|(method, count)| {
            let faults = faults(method).into_iter();
            let occur = faults.filter(move |(_, period)| u64::from(*period) <= count);
            occur.map(|(fault, period)| (method.name(), fault, period))
        });
        for (index, (name, fault, period)) in possible.enumerate() {
            let turn = match sample.is_whole() {
                true => index % chosen.len() == number,
                false => sample.has(index),
            };
            if !(of_all || turn) {
                continue;
            }
            let finished = scenario.clone().fault(&name, fault, period).run_on(runtime);
            let log = format!("{}{}{}", finished.log, finished.stderr, log());
            let broken = format!("{name}={fault}@{period} on {}", runtime.name);
            assert_eq!(finished.stdout, plain.stdout, "{broken}: {log}");
            // An example counts its failures at the end; the program writes nothing there.
            let mut told = finished.stderr.lines();
            let is_count = |line: &str| line.starts_with("method_logger: ");
            assert!(told.all(is_count), "{broken}: {}", finished.stderr);
            assert_eq!(finished.status, plain.status, "{broken}: {log}");
            assert!(!log.contains("panicked"), "{broken}: {log}");
            if fault == "8007000e" && !DISPENSABLE.contains(&&*name) {
                match log.contains(&format!("{name} failed with E_OUTOFMEMORY")) {
                    true => reported += 1,
                    false => untold.push(broken),
                }
            }
            runs += 1;
        }
    }
    println!("{runs} runs, {reported} with a reason");
    assert!(untold.is_empty(), "without a reason: {untold:#?}");
    let (least, reasons) = if sample.is_whole() { (50, 15) } else { (2, 0) };
    assert!(runs > least && reported >= reasons, "{runs} {reported}");
}

/// With the metadata of the runtime, of which the library otherwise needs little.
fn native(scenario: Scenario) -> Scenario {
    scenario.env("CLR_PROFILER_METADATA", "native")
}

#[test]
fn the_runtime_is_not_asked_about_rows_of_a_modules_own_metadata() {
    let scenario = Scenario::new("Basics").profiler("HashesMetadata");
    let of_methods = |scenario: &Scenario, runtime: &Runtime| -> u64 {
        let all = calls(scenario, runtime).into_iter();
        let calls = all.filter(|(method, _)| method.facts.name == "GetMethodProps");
        calls.map(|(_, count)| count).sum()
    };
    for runtime in clr_profiler_tests::runtimes() {
        let own = of_methods(&scenario, runtime);
        let native = of_methods(&native(scenario.clone()), runtime);
        // Once for the row after the last one of each module.
        assert!((1..100).contains(&own) && native > 20_000, "{own} {native}");
    }
}

#[test]
fn wrapping_methods() {
    let scenario = native(Scenario::new("Rewrites").profiler("WrapsAll"));
    each_fault(&scenario, |_| true, String::new);
}

#[test]
fn logging_calls_with_all_options() {
    let folder = Folder::new();
    let il = folder.path("il");
    let scenario = native(Scenario::new("Rewrites"))
        .library("method_logger")
        .env(
            "METHOD_LOGGER_OUTPUT",
            folder.path("calls").to_str().unwrap(),
        )
        .env("METHOD_LOGGER_IL", il.to_str().unwrap())
        .env("METHOD_LOGGER_TIME", "1")
        .env("METHOD_LOGGER_COUNT", "1")
        .profiler("35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF");
    // A module to which an initialiser was added cannot run without its body, which is set last.
    // No runtime refuses a body for which it had memory.
    let is_wanted = |name: &str| name != "ICorProfilerInfo::SetILFunctionBody";
    each_fault(&scenario, is_wanted, || {
        let said = fs::read_to_string(&il).unwrap_or_default();
        let _ = fs::remove_file(&il);
        said
    });
}
