//! The allocator of method bodies can be called where other calls may be made, if the runtime offers it.

use clr_profiler::prelude::*;
use clr_profiler_sys as sys;

use crate::answers::{Answer, Answers};
use crate::rows::MODULE;
use crate::stage::with_profiler;

/// Plays a profiler, and returns how often the allocator was called.
fn played<R>(work: impl FnOnce(&ProfilerInfo, &sys::ICorProfilerCallback11) -> R) -> (R, usize) {
    let answers = Answers::new("IMethodMalloc::Alloc", Answer::default());
    let outcome = with_profiler(&answers, work);
    (outcome, answers.seen(|seen| seen.calls))
}

#[test]
fn no_body_is_empty_or_larger_than_any() {
    let (refusals, calls) = played(|info, _| {
        let allocator = info.il_function_body_allocator(MODULE).unwrap();
        assert_eq!(allocator.alloc(1).unwrap(), [0]);
        let sizes = [0, (64 << 20) + 1, u32::MAX as usize, usize::MAX];
        sizes.map(|size| allocator.alloc(size).unwrap_err().to_string())
    });
    assert_eq!(calls, 1);
    for (refusal, size) in refusals.iter().zip(["0", "67108865", "4294967295", ""]) {
        let expected = format!("IMethodMalloc::Alloc: a method body cannot have {size}");
        assert!(refusal.starts_with(&expected), "{refusal}");
    }
}

#[test]
fn there_is_none_while_the_runtime_is_suspended() {
    let (refusal, calls) = played(|info, _| {
        let allocator = info.il_function_body_allocator(MODULE).unwrap();
        let outcome = info.with_suspended_runtime(|_| allocator.alloc(5).map(drop));
        outcome.unwrap_err().to_string()
    });
    assert_eq!(calls, 0);
    assert!(refusal.contains("suspended"), "{refusal}");
}

#[test]
fn there_is_none_after_the_shutdown() {
    let (refusal, calls) = played(|info, object| {
        let allocator = info.il_function_body_allocator(MODULE).unwrap();
        // SAFETY: the profiler was initialised, and the call takes nothing.
        assert_eq!(unsafe { object.Shutdown() }, sys::S_OK);
        allocator.alloc(5).unwrap_err().to_string()
    });
    assert_eq!(calls, 0);
    assert!(refusal.contains("has shut down"), "{refusal}");
}
