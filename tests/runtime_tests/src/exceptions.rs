//! The callbacks about an exception, in order.

use clr_profiler::prelude::*;

use crate::common::{clsid, log, method_name, report_failures};

/// Logs each callback about exceptions in methods of the program.
pub(crate) struct ExceptionSequence;

fn of(info: &ProfilerInfo, callback: &str, function: FunctionId) -> Result<()> {
    log::line(format_args!("{callback} {}", method_name(info, function)?));
    Ok(())
}

#[profiler(clsid = clsid("ExceptionSequence"))]
impl Profiler for ExceptionSequence {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        // By name: otherwise they are omitted on runtimes that lose exceptions on other threads.
        setup.add_events(EventMask::MONITOR_EXCEPTIONS | EventMask::DISABLE_INLINING);
        Ok(Self)
    }

    fn exception_thrown(&self, _: &ProfilerInfo, _: ObjectId<'_>) -> Result<()> {
        log::line("thrown");
        Ok(())
    }

    fn exception_search_function_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        of(info, "search", f)
    }

    fn exception_search_function_leave(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("searched");
        Ok(())
    }

    fn exception_search_filter_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        of(info, "filter", f)
    }

    fn exception_search_filter_leave(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("filtered");
        Ok(())
    }

    fn exception_search_catcher_found(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        of(info, "found", f)
    }

    fn exception_unwind_function_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        of(info, "unwind", f)
    }

    fn exception_unwind_function_leave(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("unwound");
        Ok(())
    }

    fn exception_unwind_finally_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        of(info, "finally", f)
    }

    fn exception_unwind_finally_leave(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("finally left");
        Ok(())
    }

    fn exception_catcher_enter(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _: ObjectId<'_>,
    ) -> Result<()> {
        of(info, "catch", function)
    }

    fn exception_catcher_leave(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("caught");
        Ok(())
    }
}
