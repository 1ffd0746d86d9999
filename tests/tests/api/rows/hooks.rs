//! Hooks, and the calls within them.

#![allow(deprecated, reason = "all hooks are set")]

use clr_profiler::hooks::{ArgumentBuffer, EltInfo, FunctionIDOrClientID, Hooked};
use clr_profiler::prelude::*;

use super::{FUNCTION, rows};

// The contents of a frame are not visible.
rows! { ROWS: Info;
    "ICorProfilerInfo::SetEnterLeaveFunctionHooks" => |info| first(info);
    "ICorProfilerInfo2::SetEnterLeaveFunctionHooks2" => |info| second(info);
    "ICorProfilerInfo3::SetEnterLeaveFunctionHooks3" => |info| third(info);
    "ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo" => |info| third_with_info(info);
    "ICorProfilerInfo::SetFunctionIDMapper" => |info| info.set_function_id_mapper(|_| Hooked::No);
    "ICorProfilerInfo3::SetFunctionIDMapper2" => |info| info.set_function_id_mapper2(|_| Hooked::No);
    "ICorProfilerInfo3::GetFunctionEnter3Info" hides ["pFrameInfo"] => |info| enter(info);
    "ICorProfilerInfo3::GetFunctionLeave3Info" hides ["pFrameInfo"] => |info| leave(info);
    "ICorProfilerInfo3::GetFunctionTailcall3Info" hides ["pFrameInfo"] => |info| tailcall(info);
}

unsafe extern "system" fn hook1(_: usize) {}
unsafe extern "system" fn hook3(_: FunctionIDOrClientID) {}
unsafe extern "system" fn hook3_with_info(_: FunctionIDOrClientID, _: usize) {}

fn first(info: &ProfilerInfo) -> Result<()> {
    // SAFETY: the fake runtime never calls it.
    unsafe { info.set_enter_leave_function_hooks(Some(hook1), None, None) }
}

fn second(info: &ProfilerInfo) -> Result<()> {
    // SAFETY: there is no function to call.
    unsafe { info.set_enter_leave_function_hooks2(None, None, None) }
}

fn third(info: &ProfilerInfo) -> Result<()> {
    // SAFETY: the fake runtime never calls it.
    unsafe { info.set_enter_leave_function_hooks3(Some(hook3), None, None) }
}

fn third_with_info(info: &ProfilerInfo) -> Result<()> {
    // SAFETY: the fake runtime never calls it.
    unsafe { info.set_enter_leave_function_hooks3_with_info(Some(hook3_with_info), None, None) }
}

fn enter(info: &ProfilerInfo) -> Result<String> {
    let mut buffer = ArgumentBuffer::new();
    // SAFETY: the fake runtime ignores the arguments.
    let info = unsafe { info.function_enter3_info(FUNCTION, EltInfo::from_raw(1), &mut buffer) }?;
    Ok(format!("{info:?}"))
}

fn leave(info: &ProfilerInfo) -> Result<String> {
    // SAFETY: the fake runtime ignores the arguments.
    let info = unsafe { info.function_leave3_info(FUNCTION, EltInfo::from_raw(1)) }?;
    Ok(format!("{info:?}"))
}

fn tailcall(info: &ProfilerInfo) -> Result<String> {
    // SAFETY: the fake runtime ignores the arguments.
    let frame = unsafe { info.function_tailcall3_info(FUNCTION, EltInfo::from_raw(1)) }?;
    Ok(format!("{frame:?}"))
}
