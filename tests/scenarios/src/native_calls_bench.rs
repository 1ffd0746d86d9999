//! The cost of calls of native and of managed code.

use std::sync::OnceLock;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, NativeCall, ReentrancyGuard};
use scenario_support::{clsid, log};

/// Inserts a call of each kind into methods that the program then times.
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
    // SAFETY: the function returns its argument and does nothing else.
    unsafe { call.without_transition() }
}

#[profiler(clsid = clsid("TimesCalls"))]
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
