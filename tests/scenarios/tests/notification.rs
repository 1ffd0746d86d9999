//! Several profilers in one process: a main one, and notification profilers.
//!
//! All of them are in one library. .NET Core 3.1 has no notification profilers.

use clr_profiler::Hresult;
use clr_profiler_launcher::Error;
use clr_profiler_tests::{Runtime, Scenario};

const NULL: &str = "Null";
const WATCHES: &str = "Watches";
const FIRST: &str = "Notified";
const SECOND: &str = "NotifiedToo";

/// The result of a notification profiler that tries to set IL.
const REFUSED: &str = "Err(Call { call: \"ICorProfilerInfo::SetILFunctionBody\", hresult: E_INVALIDARG (0x80070057) })";

/// Runs the program on each runtime and passes on the log; the program behaves as
/// without a profiler.
fn on_each_runtime(scenario: &Scenario, assert: impl Fn(&Runtime, &str)) {
    scenario.waiting_on_each_runtime(|runtime, mut program| {
        assert_eq!(program.ask("work 0"), "worked 0");
        assert(runtime, &program.ends_well());
    });
}

/// The lines of one profiler.
fn lines_of<'log>(log: &'log str, who: &str) -> Vec<&'log str> {
    let lines = log.lines();
    lines
        .filter_map(|line| line.strip_prefix(who)?.strip_prefix(' '))
        .collect()
}

/// All lines of a notification profiler that was loaded as one.
fn all_of_it() -> [String; 4] {
    [
        "loaded".to_owned(),
        "compiling Waits.Program.Work0()".to_owned(),
        format!("replaces {REFUSED}"),
        "shutdown".to_owned(),
    ]
}

#[test]
fn a_main_profiler_and_two_next_to_it() {
    let scenario = Scenario::new("Waits")
        .profiler(WATCHES)
        .notification_profiler(FIRST)
        .notification_profiler(SECOND);
    on_each_runtime(&scenario, |runtime, log| {
        assert!(log.starts_with("loaded at the start\n"), "{log}");
        assert!(log.contains("\ncompiling Waits.Program.Work0()\n"), "{log}");
        assert!(log.contains("\nshutdown\n"), "{log}");
        for who in ["first", "second"] {
            match runtime.major {
                3 => assert_eq!(lines_of(log, who), [""; 0]),
                _ => assert_eq!(lines_of(log, who), all_of_it()),
            }
        }
    });
}

#[test]
fn as_many_as_there_is_room_for() {
    let scenario = (0..32).fold(Scenario::new("Waits").profiler(NULL), |scenario, n| {
        scenario.notification_profiler(if n == 16 { SECOND } else { FIRST })
    });
    on_each_runtime(&scenario, |runtime, log| {
        let (first, second) = (lines_of(log, "first"), lines_of(log, "second"));
        match runtime.major {
            3 => assert_eq!(log, ""),
            _ => assert_eq!((first.len(), second.len()), (31 * 4, 4), "{log}"),
        }
    });
}

#[test]
fn a_notification_profiler_alone() {
    let scenario = Scenario::new("Waits").notification_profiler(FIRST);
    on_each_runtime(&scenario, |runtime, log| match runtime.major {
        3 => assert_eq!(log, ""),
        _ => assert_eq!(lines_of(log, "first"), all_of_it()),
    });
}

#[test]
fn a_profiler_that_does_not_say_that_it_is_one() {
    const TOLD: &str = "does not run together with a main profiler\n";
    // It becomes the main profiler ...
    let scenario = Scenario::new("Waits").notification_profiler(WATCHES);
    on_each_runtime(&scenario, |runtime, log| match runtime.major {
        3 => assert_eq!(log, ""),
        _ => assert!(
            log.contains(&format!("{TOLD}loaded at the start\n")),
            "{log}"
        ),
    });
    // ... if there is none.
    on_each_runtime(&scenario.profiler(NULL), |runtime, log| {
        match runtime.major {
            3 => assert_eq!(log, ""),
            _ => assert!(log.ends_with(TOLD), "{log}"),
        }
    });
}

#[test]
fn a_notification_profiler_named_as_the_main_one() {
    let scenario = Scenario::new("Waits").profiler(FIRST);
    on_each_runtime(&scenario, |runtime, log| {
        // It nevertheless is one, with restricted rights: if the runtime implements that.
        let mut expected = all_of_it();
        if runtime.major == 3 {
            expected[2] = "replaces Ok(())".to_owned();
        }
        assert_eq!(lines_of(log, "first"), expected);
    });
}

#[test]
fn events_that_a_notification_profiler_cannot_have_are_named() {
    let scenario = Scenario::new("Waits")
        .env("SCENARIO_NOTIFIED", "rejit")
        .profiler(WATCHES)
        .notification_profiler(FIRST);
    on_each_runtime(&scenario, |runtime, log| {
        // The main one continues.
        assert!(log.contains("\ncompiling Waits.Program.Work0()\n"), "{log}");
        if runtime.major > 3 {
            assert_eq!(lines_of(log, "first"), ["loaded"]);
            let reason = "a notification profiler cannot have ENABLE_REJIT;";
            assert!(log.contains(reason), "{log}");
        }
    });
}

#[test]
fn every_flag_is_refused_as_the_runtime_would() {
    let scenario = Scenario::new("Waits")
        .env("SCENARIO_NOTIFIED", "flags")
        .env("COMPlus_gcConcurrent", "0")
        .notification_profiler(FIRST);
    on_each_runtime(&scenario, |runtime, log| {
        // A line for each difference, and one for the refusal.
        let lines = lines_of(log, "notified");
        match lines[..] {
            [] if runtime.major == 3 => {}
            [refused] => {
                assert!(refused.contains(" MONITOR_ENTERLEAVE "), "{refused}");
                assert!(refused.contains(" ENABLE_REJIT "), "{refused}");
            }
            _ => panic!("{log}"),
        }
    });
}

#[test]
fn a_notification_profiler_is_attached_next_to_a_main_one() {
    let scenario = Scenario::new("Waits").profiler(WATCHES);
    scenario.waiting_on_each_runtime(|runtime, mut program| {
        match (runtime.major, program.attach(FIRST, b"")) {
            (3, Err(Error::AttachRefused { hresult, .. })) => {
                assert_eq!(Hresult(hresult), Hresult::CORPROF_E_PROFILER_ALREADY_ACTIVE);
            }
            (3, other) => panic!("{other:?}"),
            (_, answer) => answer.unwrap(),
        }
        assert_eq!(program.ask("work 0"), "worked 0");
        assert_eq!(program.ask("end"), "ending");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(5), "{}", finished.log);
        if runtime.major > 3 {
            assert_eq!(lines_of(&finished.log, "first"), all_of_it());
        }
    });
}
