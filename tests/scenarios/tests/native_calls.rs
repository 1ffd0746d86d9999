//! Rewritten code calls functions of the profiler.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, Ordering};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;
use scenario_support::{clsid, log};

static COUNT: AtomicI64 = AtomicI64::new(0);

#[expect(clippy::too_many_arguments, reason = "to see that all of them arrive")]
fn mixed(a: i8, b: u16, c: i32, d: u64, e: f32, f: f64, g: isize, h: *const c_void) -> f64 {
    let integers = [
        (i64::from(a), 1),
        (i64::from(b), 3),
        (i64::from(c), 5),
        ((d >> 60) as i64, 7),
        (g as i64, 17),
        (h as i64, 19),
    ];
    let sum: i64 = integers.iter().map(|(value, weight)| value * weight).sum();
    sum as f64 + f64::from(e) * 11.0 + f * 13.0
}

fn small(value: i32) -> i8 {
    value as i8
}

fn panics(value: i32) -> i32 {
    assert!(value != 3, "no {value}");
    value * 10
}

extern "C" fn counted(by: i32) {
    COUNT.fetch_add(i64::from(by), Ordering::Relaxed);
}

/// Replaces the results of the program's methods by those of functions of this library, and
/// counts calls. `NATIVE_CALLS=quick`: without GC transition.
pub(crate) struct NativeCalls {
    quick: bool,
}

impl NativeCalls {
    #[allow(unsafe_code, reason = "calls without transition")]
    fn call(&self, call: NativeCall) -> NativeCall {
        if self.quick {
            // SAFETY: the functions calculate and count, nothing else.
            unsafe { call.without_transition() }
        } else {
            call
        }
    }
}

#[profiler(clsid = clsid("NativeCalls"))]
impl Profiler for NativeCalls {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mode = std::env::var_os("NATIVE_CALLS");
        Ok(Self {
            quick: mode.is_some_and(|mode| mode == "quick"),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "NativeCalls" {
            return Ok(());
        }
        let (call, arguments) = match method.name()?.as_str() {
            "Mixed" => (self.call(NativeCall::new(mixed)), 8),
            "Small" => (self.call(NativeCall::new(small)), 1),
            "Panics" => (NativeCall::new(panics), 1),
            "Count" => {
                let count = NativeCall::new(|| COUNT.load(Ordering::Relaxed));
                (self.call(count), 0)
            }
            "Counted" => {
                let call = self.call(NativeCall::raw(counted as extern "C" fn(i32)));
                method.rewrite(|body, cx| {
                    let mut code = Fragment::new();
                    code.ldarg(0).append(&cx.call_native(&call)?);
                    body.prologue(&code)?;
                    Ok(())
                })?;
                return Ok(());
            }
            _ => return Ok(()),
        };
        method.rewrite(|body, cx| {
            let call = cx.call_native(&call)?;
            let wrap = Wrap::new().replace_result(move |code, _, _| {
                for argument in 0..arguments {
                    code.ldarg(argument);
                }
                code.append(&call);
            });
            body.wrap(&wrap, &cx.shape()?)?;
            Ok(())
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::NativeCalls;

    fn native_calls(mode: &str) -> Scenario {
        Scenario::new("NativeCalls")
            .profiled_by::<NativeCalls>()
            .env("NATIVE_CALLS", mode)
    }

    const PLAIN: &str = "0.25\n1\n1\n1\n1\n-1\n";
    const FROM_RUST: &str = "196681.875\n44\n-2\n0\n40\n160000\n";

    #[test]
    fn results_and_counts_come_from_functions_of_the_profiler() {
        native_calls("plain").compare(|plain, profiled| {
            assert_eq!(plain.output(), (Some(6), PLAIN, ""));
            assert_eq!(
                profiled.output(),
                (Some(6), FROM_RUST, ""),
                "{}",
                profiled.log
            );
            // One panic, whose only effect on the program is a result of zero.
            assert_eq!(profiled.log.lines().count(), 1, "{}", profiled.log);
            assert!(
                profiled
                    .log
                    .starts_with("a native call panicked: no 3 (at "),
                "{}",
                profiled.log
            );
        });
    }

    #[test]
    fn calls_without_transition_do_the_same_where_the_runtime_knows_them() {
        native_calls("quick").on_each_runtime(|runtime, profiled| {
        if runtime.major >= 5 {
            assert_eq!(
                profiled.output(),
                (Some(6), FROM_RUST, ""),
                "{}",
                profiled.log
            );
            return;
        }
        let expected = PLAIN.replace("1\n1\n-1\n", "0\n40\n-1\n");
        assert_eq!(profiled.output(), (Some(6), &*expected, ""));
        let refused = "was not rewritten: a native call without transition needs .NET 5 or newer: \
                       call it with one";
        let lines = profiled.log.lines();
        assert_eq!(lines.filter(|line| line.ends_with(refused)).count(), 4);
    });
    }
}
