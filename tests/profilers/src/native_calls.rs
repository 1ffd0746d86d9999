//! Code of the program calls functions of the profiler.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;

use crate::log;

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

/// Replaces the results of the program's methods by what functions of this library return, and
/// counts calls. `NATIVE_CALLS=quick`: without transition.
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

#[profiler(clsid = crate::clsid("NativeCalls"))]
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

/// Puts a call of each kind into methods that the program then times.
pub(crate) struct TimesCalls {
    helper: OnceLock<HelperAssembly>,
    guard: ReentrancyGuard,
}

fn same(value: i32) -> i32 {
    value
}

extern "C" fn same_raw(value: i32) -> i32 {
    value
}

#[allow(unsafe_code, reason = "calls without transition")]
fn quick(call: NativeCall) -> NativeCall {
    // SAFETY: what it calls returns its argument.
    unsafe { call.without_transition() }
}

#[profiler(clsid = crate::clsid("TimesCalls"))]
impl Profiler for TimesCalls {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self {
            helper: OnceLock::new(),
            guard: ReentrancyGuard::new()?,
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        if info.module_info(module)?.name.ends_with("NativeCalls.dll") {
            let path = std::env::var_os("HELPER").ok_or_else(|| Error::other("no HELPER"))?;
            let helper = HelperAssembly::open(path)?;
            helper.load_into(info, module)?;
            let _ = self.helper.set(helper);
        }
        Ok(())
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
        let raw = NativeCall::raw(same_raw as extern "C" fn(i32) -> i32);
        let call = match method.name()?.as_str() {
            "Managed" | "Bit" | "Field" => None,
            "Guarded" => Some(NativeCall::new(same)),
            "Raw" => Some(raw),
            "GuardedQuick" => Some(quick(NativeCall::new(same))),
            "RawQuick" => Some(quick(raw)),
            _ => return Ok(()),
        };
        let nothing = MethodSymbol::new("[Helper]Logger", "Nothing", "int (int)");
        let inside = FieldSymbol::new("[Helper]Logger", "Inside", "int");
        method.rewrite(|body, cx| {
            let helper = self.helper.get().ok_or_else(|| Error::other("no helper"))?;
            cx.refer_to(helper)?;
            let code = match (&call, cx.props().name.as_str()) {
                (Some(call), _) => {
                    let mut code = Fragment::new();
                    code.ldarg(0).append(&cx.call_native(call)?).pop();
                    code
                }
                (None, "Managed") => {
                    let mut code = Fragment::new();
                    code.ldarg(0).call(&nothing).pop();
                    code
                }
                (None, name) => {
                    let guard = match name {
                        "Field" => ReentrancyGuard::in_field(inside),
                        _ => self.guard.clone(),
                    };
                    cx.guarded(body, &guard, |code| {
                        code.nop();
                    })?
                }
            };
            body.prologue(&code)?;
            Ok(())
        })?;
        Ok(())
    }
}
