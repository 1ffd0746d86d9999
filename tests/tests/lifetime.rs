//! Callbacks within callbacks, and callbacks at the end of the process.

use clr_profiler_tests::Scenario;

#[test]
fn callbacks_come_within_callbacks() {
    let scenario = Scenario::new("Basics").profiler("Nests");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let nested = "nested: S_OK (0x00000000), 1 argument";
        assert!(
            profiled.log.starts_with(&format!("{nested}\n")),
            "{}",
            profiled.log
        );
        assert!(profiled.log.ends_with("loaded true\n"), "{}", profiled.log);
    });
}

#[test]
fn nothing_reaches_the_profiler_after_its_shutdown() {
    let scenario = Scenario::new("Exits").profiler("SaysLate");
    // Each run ends at another moment.
    for _ in 0..5 {
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            assert_eq!(profiled.output(), (Some(3), "leaving\n", ""));
            let late = profiled
                .log
                .lines()
                .filter(|line| line.starts_with("late"))
                .count();
            // At most one on each of the four threads: those in a callback at that very moment.
            assert!(late <= 4, "{}", profiled.log);
            assert!(
                profiled
                    .log
                    .starts_with("asked during shutdown: Ok(true)\n")
            );
            assert!(
                profiled.log.lines().any(|line| line == "ended"),
                "{}",
                profiled.log
            );
        });
    }
}
