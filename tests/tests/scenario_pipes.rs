//! Events of the program, of the runtime and of the profiler come back as they were raised.

use clr_profiler_tests::Scenario;

#[test]
fn events_come_back_as_they_were_raised() {
    let scenario = Scenario::new("Pipes").profiler("Pipes");
    scenario.on_each_runtime(|runtime, profiled| {
        let log = &profiled.log;
        if runtime.major < 5 {
            let stdout = "enabled False\nlate False\nlate False\nenabled False\n";
            assert_eq!(profiled.output(), (Some(11), stdout, ""));
            assert!(log.contains("needs ICorProfilerInfo12"), "{log}");
            return;
        }
        let stdout = "enabled True\nlate False\nlate True\nenabled False\n";
        assert_eq!(profiled.output(), (Some(11), stdout, ""), "{log}");
        let mut expected = vec![
            "created Scenario-Managed",
            "created Scenario-Native",
            // What was written before is not there; neither is what has another keyword or a finer
            // level.
            "wanted true 3 2 0",
            "started",
            "event Scenario-Native 9 6 ((-77) (true) (223) (-3) (250) (-300) (60000) (4000000000) \
             true true (0.25) (-0.125) true (\"ä𝄞\") (2) (7) (8)) 0 left, described as Some(9) \
             Some(\"Kinds\") Some(2) Some(6) Some(3), activity Some(true) Some(true), thread false, \
             stack false",
            "ICorProfilerInfo12::EventPipeStartSession failed with E_INVALIDARG (0x80070057): an id \
             or a token that this runtime does not know, or flags that do not go together",
            // The source itself puts bits beside its keyword 2: the sessions that it knows.
            "event Scenario-Managed 5 3 (Some(2) Some(\"in tïme\") Some(1.5)) 0 left, described as \
             Some(5) Some(\"Happened\") Some(263882790666242) Some(3) Some(3), activity Some(false) \
             None, thread false, stack false",
            // A provider that is there already is not turned on; the next of that name is.
            "created Scenario-Late",
            "added",
            "created Scenario-Late",
            "added",
            "event Scenario-Late 1 0 (Some(1099511627776)) 0 left, described as Some(1) \
             Some(\"Came\") Some(263882790666240) Some(0) Some(4), activity Some(false) None, thread \
             false, stack false",
            // Of all generations, asked for by the program.
            "collection true Some(2) Some(1)",
            "wanted false 3 2 0",
            "stopped",
        ];
        // Older runtimes tell providers nothing.
        expected.retain(|line| runtime.major >= 8 || !line.starts_with("wanted"));
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines, expected);
    });
}
