use std::cell::Cell;

use clr_profiler::info::SuspendedRuntime;
use clr_profiler::prelude::*;

thread_local! {
    static KEPT: Cell<Option<&'static SuspendedRuntime<'static>>> = const { Cell::new(None) };
}

fn kept(info: &ProfilerInfo) -> Result<()> {
    info.with_suspended_runtime(|suspended| {
        KEPT.set(Some(suspended));
        Ok(())
    })
}

fn returned(info: &ProfilerInfo) -> Result<()> {
    let suspended = info.with_suspended_runtime(|suspended| Ok(suspended))?;
    suspended.threads()?;
    Ok(())
}

fn main() {}
