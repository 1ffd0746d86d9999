//! Collections, and the objects of the heap.

use std::thread;

use clr_profiler_tests::Runtime;

use super::assertions::{all_right, attach, lines, program};
use super::cases::On;

pub(crate) fn collections_begin_and_end(runtime: &Runtime, _: On) {
    let lines = lines(&program(&["collect"], "BasicCollections"), runtime, "");
    assert_eq!(lines[0], "events EventMask(HIGH_BASIC_GC)");
    // Generations 0 to 2, the heap of large objects and that of pinned ones.
    let generations = if runtime.major < 5 { 4 } else { 5 };
    assert_eq!(lines[1], format!("generations {generations}"));
    let gen1 = lines[2].strip_prefix("gen1 ").unwrap();
    let sizes: Vec<usize> = gen1.split(' ').map(|size| size.parse().unwrap()).collect();
    if runtime.major < 5 {
        // Before the first collection; newer runtimes have regions, which are of one size.
        assert!(sizes.iter().all(|size| *size <= 0x18), "{sizes:?}");
    }
    assert_eq!(lines[3..], ["collections true"]);
}

pub(crate) fn objects_have_generations(runtime: &Runtime, on: On) {
    let lines = lines(&program(&["collect"], "CollectedObjects"), runtime, "");
    let pinned = on == On::Passes;
    let found = format!("pinned objects {pinned}, pinned roots {pinned}");
    assert_eq!(lines, ["collections true", &found]);
}

pub(crate) fn large_and_pinned_allocations(runtime: &Runtime, on: On) {
    let lines = lines(&program(&["allocate"], "LargeAllocations"), runtime, "");
    let pinned = on == On::Passes;
    assert_eq!(lines, [format!("large true, pinned {pinned}")]);
}

pub(crate) fn objects_that_are_never_collected(runtime: &Runtime, on: On) {
    let scenario = program(&["literals"], "NeverCollected");
    if on != On::Passes {
        let finished = scenario.run_on(runtime);
        assert_eq!(finished.stdout, "end of literals\n");
        let refused = "EnumerateNonGCObjects needs ICorProfilerInfo14";
        assert!(finished.log.contains(refused), "{}", finished.log);
        let last = finished.log.lines().last();
        assert_eq!(last, Some("collections true, never collected false"));
        return;
    }
    let lines = lines(&scenario, runtime, "");
    assert_eq!(lines, ["collections true, never collected true"]);
}

pub(crate) fn collections_without_counts_by_class(runtime: &Runtime, _: On) {
    let scenario = program(&["collect"], "SkipsClasses");
    let lines = lines(&scenario, runtime, "");
    // The flag is accepted, and has no effect.
    assert_eq!(
        lines,
        ["mask 0x210", "collections true", "counts by class true"]
    );
}

pub(crate) fn counts_by_class_while_a_profiler_declines(runtime: &Runtime, _: On) {
    let mut program = program(&["classes"], "AllocatedClasses").start(runtime);
    assert_eq!(program.line(), "ready");
    assert_eq!(program.ask("before"), "allocated before");
    let process = program.id();
    let attaching = thread::spawn(move || attach(process, "DeclinesAttach", &[1]));
    assert_eq!(program.ask("during"), "allocated during");
    attaching.join().unwrap().unwrap();
    program.until_logged("declined");
    assert_eq!(program.ask("after"), "allocated after");
    assert_eq!(program.ask("end"), "end of classes");
    let finished = program.finish();
    assert_eq!(finished.status.code(), Some(100), "{}", finished.log);
    assert_eq!(
        all_right(&finished.log),
        [
            "attached with [1]",
            "declined",
            "counted 60000, arrays true"
        ]
    );
}

/// A walk that finds one object of the class of which there is one; or why there is none.
fn walk(runtime: &Runtime, on: On, how: &str, walks: usize) {
    let collecting = if how == "collecting" { "TRUE" } else { "FALSE" };
    let scenario = program(&["heap", how], "HeapWalk").env("MONITOR_COLLECTIONS", collecting);
    let lines = lines(&scenario, runtime, "");
    assert_eq!(lines.len(), walks, "{lines:#?}");
    for line in &lines {
        if on == On::Passes {
            assert_eq!(line, "objects true, custom 1");
        } else {
            let refused = match how {
                "suspended" => "SuspendRuntime failed with CORPROF_E_UNSUPPORTED_CALL_SEQUENCE",
                _ => "EnumerateGCHeapObjects needs ICorProfilerInfo15",
            };
            assert!(line.contains(refused), "{line}");
        }
    }
}

pub(crate) fn a_walk_of_the_heap(runtime: &Runtime, on: On) {
    walk(runtime, on, "at once", 1);
}

pub(crate) fn a_walk_within_a_suspension(runtime: &Runtime, on: On) {
    walk(runtime, on, "suspended", 1);
}

pub(crate) fn walks_that_compete_with_collections(runtime: &Runtime, on: On) {
    walk(runtime, on, "collecting", 5);
}

pub(crate) fn objects_of_handles(runtime: &Runtime, on: On) {
    let scenario = program(&["handles"], "HeldObjects");
    if on != On::Passes {
        let finished = scenario.run_on(runtime);
        assert_eq!(finished.stdout, "end of handles\n");
        let refused = finished.log.lines().filter(|line| {
            line.starts_with("refused: ") && line.contains("CreateHandle needs ICorProfilerInfo13")
        });
        assert_eq!(refused.count(), 3, "{}", finished.log);
        return;
    }
    let lines = lines(&scenario, runtime, "");
    assert_eq!(
        lines,
        [
            "after 1: weak false, strong true, pinned true, at its address true",
            "after 2: weak false, strong true, pinned true, at its address true",
            "after 3: weak false, strong false, pinned false, at its address false",
            "induced 3",
        ]
    );
}
