//! What is allocated, on which heap, and where collections leave it.

use clr_profiler_tests::Scenario;

const PROFILER: &str = "Allocations";

#[test]
fn objects_are_counted_and_followed_through_collections() {
    let scenario = Scenario::new("Allocates").profiler(PROFILER);
    scenario.on_each_runtime(|runtime, profiled| {
        let log = &profiled.log;
        let output = (Some(9), "pinned True\nalive True\n", "");
        assert_eq!(profiled.output(), output, "{log}");
        let mut counts = vec![
            "3 Allocates.Item[] Gen0 large false",
            "5 Allocates.Item[] LargeObjectHeap large true",
        ];
        if runtime.major >= 5 {
            counts.push("2 Allocates.Item[] PinnedObjectHeap large false");
        }
        counts.extend([
            "111 Allocates.Small Gen0 large false",
            "1 Allocates.Tracked Gen0 large false",
            // The collector counts what is on the ordinary heap.
            "by class 3 Allocates.Item[]",
            "by class 111 Allocates.Small",
            "by class 1 Allocates.Tracked",
            "found true",
        ]);
        // To older runtimes a compacting collection is none that was asked for.
        let asked = if runtime.major >= 9 {
            "Induced"
        } else {
            "Other"
        };
        let collections = [
            format!("{asked} Some(0) large false"),
            "then tracked in [Gen1]".to_owned(),
            "found true".to_owned(),
            format!("{asked} Some(1) large false"),
            "then tracked in [Gen2]".to_owned(),
            "found true".to_owned(),
            format!("{asked} Some(2) large true"),
        ];
        let end = [
            "found true",
            "Induced Some(2) large true",
            "then tracked in [Gen2]",
            "forced Ok(())",
            "found true",
            "handle made: [\"made\"]",
            "handle freed: [\"made\", \"freed\"]",
            "moved true, known 4",
        ];
        let mut lines: Vec<&str> = log.lines().collect();
        let expected: Vec<&str> = counts
            .into_iter()
            .chain(collections.iter().map(String::as_str))
            .chain(end)
            .collect();
        // The third collection may have brought the object back to a younger generation.
        let third = expected.len() - end.len();
        assert!(lines.len() > third, "{log}");
        let after_third = lines.remove(third);
        assert!(after_third.starts_with("then tracked in [Gen"), "{log}");
        assert!(!after_third.contains(','), "{log}");
        assert_eq!(lines, expected);
    });
}

#[test]
fn allocations_of_one_heap_come_alone() {
    let large = "5 Allocates.Item[] LargeObjectHeap large true";
    let pinned = "2 Allocates.Item[] PinnedObjectHeap large false";
    for (heaps, expected) in [
        ("large", &[large][..]),
        // Runtimes look at that flag only where another one brings the callback.
        ("pinned", &[]),
        ("large and pinned", &[large, pinned]),
    ] {
        let scenario = Scenario::new("Allocates")
            .profiler(PROFILER)
            .env("SCENARIO_HEAP", heaps);
        scenario.on_each_runtime(|runtime, profiled| {
            assert_eq!(profiled.status.code(), Some(9), "{}", profiled.stderr);
            let counts: Vec<&str> = profiled
                .log
                .lines()
                .filter(|line| line.contains("Allocates."))
                .collect();
            let mut expected = expected.to_vec();
            expected.retain(|line| *line != pinned || runtime.major >= 5);
            assert_eq!(counts, expected, "{heaps}");
        });
    }
}
