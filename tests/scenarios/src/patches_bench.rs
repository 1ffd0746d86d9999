//! The cost of patches: methods that are alike except for their patches.

use std::hint::black_box;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::patches::{Call, Counter, Patch, Recorder};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;
use scenario_support::{clsid, log};

/// Patches the methods of `PatchedCalls`, each as its name says.
pub(crate) struct TimesPatches;

/// That with which patches are compared. It has the parameters and the result of the functions that patched methods call.
extern "C" fn nothing(_: i64, _: *mut u64) -> i64 {
    0
}

fn of(method: &str) -> Patch {
    Patch::method(format!("PatchedCalls!PatchedCalls.Timed.{method}").as_str())
}

/// Adds a number of calls of nothing to a method.
fn with_calls(all: Instrumentation, method: &str, count: usize) -> Instrumentation {
    let pattern = format!("PatchedCalls!PatchedCalls.Timed.{method}");
    all.edit(pattern.as_str(), move |body, cx| {
        let nothing = nothing as extern "C" fn(i64, *mut u64) -> i64;
        let call = cx.call_native(&NativeCall::raw(nothing))?;
        let mut code = Fragment::new();
        for _ in 0..count {
            code.ldc_i8(0).ldc_i4(0).conv_u().append(&call).pop();
        }
        body.prologue(&code)?;
        Ok(())
    })
}

fn does_nothing(_: &mut Call<'_>) -> Result<()> {
    Ok(())
}

#[profiler(clsid = clsid("TimesPatches"))]
impl Profiler for TimesPatches {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut all = with_calls(Instrumentation::new(), "Empty", 1);
        all = with_calls(all, "EmptyTwice", 2);
        all = all
            .patch(of("Before").before(does_nothing))
            .patch(of("Around").before(does_nothing).after(does_nothing))
            .patch(of("Unpassed").values([]).before(does_nothing))
            .patch(
                of("AroundUnpassed")
                    .values([])
                    .before(does_nothing)
                    .after(does_nothing),
            )
            .patch(of("OnlyNumber").values(["value"]).before(|call| {
                black_box(call.get::<i32>("value")?);
                Ok(())
            }))
            .patch(of("Get").before(|call| {
                black_box(call.get::<i32>("value")?);
                Ok(())
            }))
            .patch(of("Set").before(|call| {
                let value = black_box(9_999);
                call.set("value", value)
            }))
            .patch(of("GetSet").before(|call| {
                let value: i32 = call.get("value")?;
                call.set("value", black_box(value))
            }))
            .patch(of("Text").before(|call| {
                black_box(call.get::<String>("text")?);
                Ok(())
            }))
            .patch(
                of("Keep")
                    .before(|call| {
                        call.keep(black_box(7_u64));
                        Ok(())
                    })
                    .after(|call| {
                        black_box(call.kept::<u64>());
                        Ok(())
                    }),
            )
            .patch(of("Count").count(&Counter::new()))
            .patch(of("Record").record("value", &Recorder::new()));
        setup.attach(all)?;
        Ok(Self)
    }
}
