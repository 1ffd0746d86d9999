//! Profilers that are attached to a running program, and that detach from it.

use std::fs;
#[cfg(unix)]
use std::{process::Command, time::Duration};

use clr_profiler::Hresult;
use clr_profiler_launcher::{Attach, Error};
use clr_profiler_tests::{Scenario, Started, has_line};

const WATCHES: &str = "Watches";
const WATCHES_ALLOCATIONS: &str = "WatchesAllocations";
const WALKS_OBJECTS: &str = "WalksObjects";
const DETACHES: &str = "Detaches";
const CANNOT_DETACH: &str = "CannotDetach";

fn waits() -> Scenario {
    Scenario::new("Waits")
}

/// The code with which the attach was refused.
fn refusal(answer: Result<(), Error>) -> Hresult {
    match answer {
        Err(Error::AttachRefused { hresult, .. }) => Hresult(hresult),
        other => panic!("{other:?}"),
    }
}

/// The profiler's sum of its data.
fn sum(data: &[u8]) -> u32 {
    data.iter().fold(0, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(*byte))
    })
}

#[test]
fn an_attached_profiler_gets_its_data_and_events() {
    // The room in one message next to the path of the library.
    let path = waits().profiler_library(WATCHES).path().to_owned();
    let units = path.to_str().unwrap().encode_utf16().count() + 1;
    let most = 65_535 - 20 - 4 - 16 - 4 - 2 * units - 4;
    let long: Vec<u8> = (0..most).map(|n| (n % 251) as u8).collect();
    for data in [&b""[..], b"\x07", &long] {
        waits().waiting_on_each_runtime(|_, mut program| {
            assert_eq!(program.ask("work 1"), "worked 111");
            program.attach(WATCHES, data).unwrap();
            let attached = format!("attached, {} bytes, {}", data.len(), sum(data));
            // `attach` does not return before this.
            let log = program.log();
            let mut lines = log.lines();
            assert_eq!(lines.next(), Some(&attached[..]));
            let complete = "complete, 2 modules or more, ";
            assert!(lines.any(|line| line.starts_with(complete)), "{log}");
            assert_eq!(program.ask("work 2"), "worked 222");
            let log = program.works_and_ends_well();
            assert!(has_line(&log, "compiling Waits.Program.Work2()"), "{log}");
            assert!(log.ends_with("\nshutdown\n"), "{log}");
            // Earlier events cannot be reported.
            assert!(!log.contains("Work1()"), "{log}");
        });
    }
}

#[test]
fn more_data_than_a_message_holds_is_refused() {
    let error = Attach::new(std::process::id())
        .profiler(waits().profiler_library(WATCHES))
        .client_data([0; 1 << 20])
        .send()
        .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, Error::ClientDataTooLong { .. }),
        "{error:?}"
    );
    assert!(
        text.starts_with("The 1048576 bytes of client data"),
        "{text}"
    );
}

#[test]
fn no_event_comes_before_the_start_is_over() {
    waits().waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("busy"), "busy");
        program.attach(WATCHES, b"early").unwrap();
        assert_eq!(program.ask("calm"), "calm");
        let log = program.works_and_ends_well();
        assert!(
            !has_line(&log, "a callback before the start was over"),
            "{log}"
        );
        assert!(log.contains("\ncomplete, "), "{log}");
    });
}

#[test]
fn events_that_an_attached_profiler_cannot_have_are_named() {
    waits().waiting_on_each_runtime(|_, program| {
        let answer = program.attach(WATCHES_ALLOCATIONS, b"");
        let text = answer.as_ref().unwrap_err().to_string();
        assert!(text.contains("such as object allocations"), "{text}");
        assert_eq!(
            refusal(answer),
            Hresult::CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER
        );
        let log = program.log();
        let reason = "cannot have MONITOR_OBJECT_ALLOCATED, ENABLE_OBJECT_ALLOCATED;";
        assert!(log.starts_with("clr_profiler: the profiler {"), "{log}");
        assert!(log.contains(reason), "{log}");
        // Another one can nevertheless be attached.
        program.attach(WATCHES, b"").unwrap();
        let log = program.works_and_ends_well();
        assert!(has_line(&log, "compiling Waits.Program.Work7()"), "{log}");
        assert!(!has_line(&log, "an allocation"), "{log}");
    });
}

#[test]
fn unloads_before_the_attach_are_known() {
    for unloads in [false, true] {
        waits().waiting_on_each_runtime(|runtime, mut program| {
            // .NET 8 would crash in the first walk.
            let is_refused = unloads && runtime.major == 8;
            if unloads {
                assert_eq!(program.ask("unload"), "unloaded");
            }
            let answer = program.attach(WALKS_OBJECTS, b"");
            assert_eq!(answer.is_err(), is_refused, "{answer:?}");
            assert_eq!(program.ask("collect"), "collected");
            let log = program.works_and_ends_well();
            assert_eq!(log.contains("walked true"), !is_refused, "{log}");
            if !is_refused {
                assert!(has_line(&log, &format!("all code {}", !unloads)), "{log}");
            }
            let message = "this program has unloaded modules";
            assert_eq!(log.contains(message), is_refused, "{log}");
        });
    }
}

#[test]
fn every_flag_is_refused_to_an_attached_profiler_as_the_runtime_would() {
    let scenario = waits().env("COMPlus_gcConcurrent", "0");
    scenario.waiting_on_each_runtime(|_, program| {
        program.attach(WATCHES, b"flags").unwrap();
        let log = program.works_and_ends_well();
        let flags: Vec<&str> = log
            .lines()
            .filter(|line| line.starts_with("attaching "))
            .collect();
        assert_eq!(flags.len(), 1, "{log}");
        assert!(flags[0].starts_with("attaching refused: "), "{log}");
    });
}

#[test]
fn a_profiler_that_fails_to_start_leaves_the_program_alone() {
    waits().waiting_on_each_runtime(|_, program| {
        for (data, code, reason) in [
            (
                &b"fail"[..],
                Hresult::E_FAIL,
                "failed: the licence has run out",
            ),
            (b"panic", Hresult::E_FAIL, "panicked: no such luck (at "),
            (b"cancel", Hresult::CORPROF_E_PROFILER_CANCEL_ACTIVATION, ""),
        ] {
            let before = program.log().len();
            assert_eq!(refusal(program.attach(WATCHES, data)), code);
            let log = program.log();
            let new = &log[before..];
            let said = format!("initialize_for_attach {reason}");
            assert_eq!(new.contains(&said), !reason.is_empty(), "{new}");
        }
        // Its thread continues, and its calls are refused.
        program.until_logged("asked Ok(())");
        program.attach(WATCHES, b"").unwrap();
        let log = program.works_and_ends_well();
        assert!(has_line(&log, "compiling Waits.Program.Work7()"), "{log}");
    });
}

#[test]
fn a_second_profiler_is_refused() {
    waits()
        .profiler(WATCHES)
        .waiting_on_each_runtime(|_, program| {
            let answer = program.attach(DETACHES, b"");
            let text = answer.as_ref().unwrap_err().to_string();
            assert!(text.contains("a profiler is loaded already"), "{text}");
            assert_eq!(refusal(answer), Hresult::CORPROF_E_PROFILER_ALREADY_ACTIVE);
            let log = program.works_and_ends_well();
            assert!(log.starts_with("loaded at the start\n"), "{log}");
            assert!(has_line(&log, "compiling Waits.Program.Work7()"), "{log}");
        });
}

/// Has the profiler detach, from its first event to its last log line.
fn detach(program: &mut Started) {
    program.attach(DETACHES, b"").unwrap();
    assert_eq!(program.ask("work 1"), "worked 111");
    assert_eq!(program.ask("busy"), "busy");
    program.until_logged("dropped");
    assert_eq!(program.ask("calm"), "calm");
    program.until("both threads", |log| {
        log.lines()
            .filter(|line| line.starts_with("asked "))
            .count()
            == 2
    });
    let log = program.log();
    for (line, count) in [
        // In `initialize` it is too early.
        ("early Err(", 1),
        ("detach Ok(())", 1),
        ("again Err(", 1),
        ("detached, Err(", 1),
        ("dropped", 1),
        // The calls of the profiler's own threads were refused to the end, and did no harm.
        ("asked Ok(())", 2),
        ("at last Err(Rule {", 2),
    ] {
        let found = log.lines().filter(|logged| logged.starts_with(line));
        assert_eq!(found.count(), count, "{line}: {log}");
    }
    assert!(log.contains("hresult: CORPROF_E_PROFILER_NOT_YET_INITIALIZED"));
    assert!(log.contains("hresult: CORPROF_E_PROFILER_DETACHING"));
    assert!(log.find("\ndetached") < log.find("\ndropped"), "{log}");
    assert_ne!(is_loaded(program), Some(false));
}

/// Whether the library of the profilers is in the program's memory; `None` where the system has no file that tells.
fn is_loaded(program: &Started) -> Option<bool> {
    cfg!(target_os = "linux").then(|| {
        let maps = fs::read_to_string(format!("/proc/{}/maps", program.id())).unwrap();
        maps.contains("libscenarios")
    })
}

#[test]
fn the_library_stays_when_the_profiler_goes() {
    waits().waiting_on_each_runtime(|_, program| {
        assert_ne!(is_loaded(&program), Some(true));
        assert_eq!(
            refusal(program.attach(WATCHES, b"cancel")),
            Hresult::CORPROF_E_PROFILER_CANCEL_ACTIVATION
        );
        // The runtime unloads it; but threads of the profiler might still run its code.
        assert_ne!(is_loaded(&program), Some(false));
        program.works_and_ends_well();
    });
}

#[test]
fn a_profiler_detaches_and_another_attaches() {
    waits().waiting_on_each_runtime(|_, mut program| {
        detach(&mut program);
        program.attach(WATCHES, b"again").unwrap();
        let log = program.works_and_ends_well();
        assert!(has_line(&log, "compiling Waits.Program.Work7()"), "{log}");
    });
}

#[test]
fn the_same_profiler_attaches_and_detaches_again_and_again() {
    waits().waiting_on_each_runtime(|_, mut program| {
        for _ in 0..3 {
            program.attach(DETACHES, b"").unwrap();
            let dropped = |log: &str| log.lines().filter(|l| *l == "dropped").count();
            let before = dropped(&program.log());
            for _ in 0..3 {
                assert_eq!(program.ask("work 1"), "worked 111");
            }
            program.until("another drop", |log| dropped(log) > before);
        }
        program.works_and_ends_well();
    });
}

#[test]
fn a_profiler_that_was_loaded_at_the_start_detaches_too() {
    waits()
        .profiler(DETACHES)
        .waiting_on_each_runtime(|_, mut program| {
            for _ in 0..3 {
                assert_eq!(program.ask("work 1"), "worked 111");
            }
            program.until_logged("dropped");
            let log = program.works_and_ends_well();
            assert!(has_line(&log, "detach Ok(())"), "{log}");
        });
}

#[test]
fn detaching_is_refused_after_what_cannot_be_undone() {
    for (immutable, code) in [
        ("1", "CORPROF_E_IMMUTABLE_FLAGS_SET"),
        ("", "CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT"),
    ] {
        let mut scenario = waits().profiler(CANNOT_DETACH);
        if !immutable.is_empty() {
            scenario = scenario.env("SCENARIO_IMMUTABLE", immutable);
        }
        scenario.waiting_on_each_runtime(|_, mut program| {
            assert_eq!(program.ask("work 0"), "worked 0");
            let log = program.works_and_ends_well();
            assert!(
                log.contains(&format!("RequestProfilerDetach failed with {code} (0x")),
                "{log}"
            );
            assert!(has_line(&log, "still there"), "{log}");
        });
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_stands_still_is_given_up() {
    waits().waiting_on_each_runtime(|_, program| {
        signal("-STOP", program.id());
        let error = Attach::new(program.id())
            .profiler(waits().profiler_library(WATCHES))
            .timeout(Duration::from_millis(200))
            .send()
            .unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{error:?}");
        signal("-CONT", program.id());
        // The request was nevertheless handled.
        program.until("the attached profiler", |log| log.contains("complete, "));
        program.works_and_ends_well();
    });
}

#[cfg(unix)]
fn signal(signal: &str, process: u32) {
    let status = Command::new("kill")
        .args([signal, &process.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}
