//! Profilers on a stand-in runtime.

#![cfg(all(
    feature = "stand_in",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::sync::{Mutex, PoisonError};

use clr_profiler::Hresult;
use clr_profiler::prelude::*;
use clr_profiler_test::stand_in::StandIn;

/// The failures that were reported to the profiler.
static FAILURES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Asks for names; panics for the function 0x99.
struct Names;

#[profiler(clsid = "5E1B7A40-3C2D-4F69-8A05-D7C9B1E2F363")]
impl Profiler for Names {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| {
            let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
            failures.push(failure.to_string());
        });
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        assert!(!format!("{function:?}").contains("99"), "as it was told to");
        info.function_info(function)?;
        Ok(())
    }
}

const GET_FUNCTION_INFO: &str = "ICorProfilerInfo::GetFunctionInfo";

fn failures() -> Vec<String> {
    std::mem::take(&mut FAILURES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// One test, because the failures are those of the process.
#[test]
fn a_profiler_survives_failing_calls_and_reports_them() {
    let profiler = StandIn::new().start::<Names>().unwrap();
    failures();
    assert_eq!(
        profiler.callback("JITCompilationStarted", &[0x51, 1]),
        Hresult::S_OK
    );
    assert_eq!(profiler.calls(GET_FUNCTION_INFO), 1);
    drop(profiler);

    let every_second = StandIn::new().fault(GET_FUNCTION_INFO, Hresult::E_FAIL, 2);
    let profiler = every_second.start::<Names>().unwrap();
    failures();
    let mut reported = Vec::new();
    for _ in 0..4 {
        assert_eq!(
            profiler.callback("JITCompilationStarted", &[0x51, 1]),
            Hresult::S_OK
        );
        reported.push(
            failures()
                .iter()
                .any(|it| it.contains(GET_FUNCTION_INFO) && it.contains("E_FAIL")),
        );
    }
    assert_eq!(reported, [false, true, false, true]);
    assert_eq!(profiler.calls(GET_FUNCTION_INFO), 4);
    drop(profiler);

    // No panic leaves a callback.
    let profiler = StandIn::new()
        .all_fail(Hresult::E_OUTOFMEMORY)
        .start::<Names>()
        .unwrap();
    failures();
    assert_eq!(
        profiler.callback("JITCompilationStarted", &[0x99, 1]),
        Hresult::S_OK
    );
    assert!(failures().concat().contains("as it was told to"));
    assert_eq!(
        profiler.callback("JITCompilationStarted", &[0x51, 1]),
        Hresult::S_OK
    );
    let failures = failures().concat();
    assert!(failures.contains("E_OUTOFMEMORY"), "{failures}");
    drop(profiler);

    // Without its events a profiler does not start.
    for method in [
        "ICorProfilerInfo::SetEventMask",
        "ICorProfilerInfo5::SetEventMask2",
    ] {
        let refused = StandIn::new()
            .fault(method, Hresult::E_ACCESSDENIED, 1)
            .start::<Names>();
        match refused {
            Err(hresult) => {
                assert_eq!(hresult, Hresult::E_ACCESSDENIED);
                return;
            }
            Ok(profiler) => assert_eq!(profiler.calls(method), 0),
        }
    }
    panic!("it has asked for its events by neither");
}

#[test]
#[should_panic(expected = "there is no native method ICorProfilerInfo::Nothing")]
fn a_fault_of_no_method() {
    let _ = StandIn::new().fault("ICorProfilerInfo::Nothing", Hresult::E_FAIL, 1);
}

#[test]
#[should_panic(expected = "ObjectAllocated passes a ObjectID, which is no number")]
fn objects_cannot_be_made_up() {
    let profiler = StandIn::new().start::<Names>().unwrap();
    profiler.callback("ObjectAllocated", &[0x81, 0x61]);
}
