//! Handles keep objects, or do not.

use clr_profiler_tests::Scenario;

#[test]
fn handles_keep_what_they_say() {
    let scenario = Scenario::new("Handles").profiler("Handles");
    scenario.on_each_runtime(|runtime, profiled| {
        // After nobody holds the three any more, after the handles were looked at, and after they
        // were destroyed.
        if runtime.major < 7 {
            let stdout = "collected 3\ncollected 3\ncollected 3\n";
            assert_eq!(profiled.output(), (Some(12), stdout, ""));
            for line in profiled.log.lines() {
                assert!(
                    line.contains("CreateHandle needs ICorProfilerInfo13"),
                    "{line}"
                );
            }
            return;
        }
        let stdout = "collected 1\ncollected 1\ncollected 3\n";
        assert_eq!(
            profiled.output(),
            (Some(12), stdout, ""),
            "{}",
            profiled.log
        );
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(
            lines,
            [
                "Weak nothing",
                "Strong Some(I4(2))",
                "Pinned Some(I4(3)), stayed true"
            ]
        );
    });
}
