//! The callbacks about exceptions, in order.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Writes a line for each callback about an exception.
pub(crate) struct Exceptions;

fn line(
    info: &ProfilerInfo,
    what: &str,
    function: FunctionId,
    clause_expected: bool,
) -> Result<()> {
    let name = info.method(function)?.full_name()?;
    if !clause_expected {
        log::line(format_args!("{what} {name}"));
        return Ok(());
    }
    // The clause is part of the code of its function.
    match info.notified_exception_clause_info()? {
        Some(clause) => {
            let inside = info.function_from_ip(clause.program_counter)? == function;
            let has_frame = clause.frame_pointer != 0;
            log::line(format_args!(
                "{what} {name} {:?} {inside} {has_frame}",
                clause.kind
            ));
        }
        None => log::line(format_args!("{what} {name} without a clause")),
    }
    Ok(())
}

fn type_of(info: &ProfilerInfo, object: ObjectId<'_>) -> Result<String> {
    let facts = info.class_id_info2(info.class_from_object(object)?)?;
    let module = facts.module.ok_or_else(|| Error::other("no module"))?;
    Ok(info
        .module_metadata(module)?
        .type_def_props(facts.token)?
        .name)
}

#[profiler(clsid = clsid("Exceptions"))]
impl Profiler for Exceptions {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        Ok(Self)
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        log::line(format_args!("thrown {}", type_of(info, thrown)?));
        Ok(())
    }

    fn exception_search_function_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        line(info, "search", f, false)
    }

    fn exception_search_function_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("search leave");
        Ok(())
    }

    fn exception_search_filter_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        line(info, "filter", f, true)
    }

    fn exception_search_filter_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("filter leave");
        Ok(())
    }

    fn exception_search_catcher_found(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        line(info, "found", f, false)
    }

    fn exception_unwind_function_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        line(info, "unwind", f, false)
    }

    fn exception_unwind_function_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("unwind leave");
        Ok(())
    }

    fn exception_unwind_finally_enter(&self, info: &ProfilerInfo, f: FunctionId) -> Result<()> {
        line(info, "finally", f, true)
    }

    fn exception_unwind_finally_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("finally leave");
        Ok(())
    }

    fn exception_catcher_enter(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        thrown: ObjectId<'_>,
    ) -> Result<()> {
        let thrown = type_of(info, thrown)?;
        line(info, &format!("catch {thrown}"), function, true)
    }

    fn exception_catcher_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("catch leave");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Exceptions;

    #[test]
    fn exceptions_are_searched_unwound_and_caught_in_order() {
        let scenario = Scenario::new("Throws").profiled_by::<Exceptions>();
        scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(
            plain.output(),
            (
                Some(4),
                " filter finally inner middle outer replaced\n filter caught end\n",
                ""
            )
        );
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(
            lines,
            [
                // The filter of `Inner` refuses, the clause around it takes the exception.
                "thrown System.InvalidOperationException",
                "search Throws.Program.Throw()",
                "search leave",
                "search Throws.Program.Inner()",
                "filter Throws.Program.Inner() Filter true true",
                "filter leave",
                "found Throws.Program.Inner()",
                "search leave",
                "unwind Throws.Program.Throw()",
                "unwind leave",
                "unwind Throws.Program.Inner()",
                "finally Throws.Program.Inner() Finally true true",
                "finally leave",
                // A catch block that throws is never left, and neither is the frame's unwinding.
                "catch System.InvalidOperationException Throws.Program.Inner() Catch true true",
                "thrown System.InvalidOperationException",
                "search Throws.Program.Inner()",
                "search leave",
                "search Throws.Program.Middle()",
                "found Throws.Program.Middle()",
                "search leave",
                "unwind Throws.Program.Inner()",
                "unwind leave",
                "unwind Throws.Program.Middle()",
                "catch System.InvalidOperationException Throws.Program.Middle() Catch true true",
                "thrown System.ArgumentException",
                "search Throws.Program.Middle()",
                "search leave",
                "search Throws.Program.Outer()",
                "found Throws.Program.Outer()",
                "search leave",
                "unwind Throws.Program.Middle()",
                "unwind leave",
                "unwind Throws.Program.Outer()",
                "catch System.ArgumentException Throws.Program.Outer() Catch true true",
                "catch leave",
                // The processor throws this one; the `finally` of `Again` then runs without callbacks, because
                // no exception passes through it.
                "thrown System.DivideByZeroException",
                "search Throws.Program.Filtered(int)",
                "filter Throws.Program.Filtered(int) Filter true true",
                "filter leave",
                "found Throws.Program.Filtered(int)",
                "search leave",
                "unwind Throws.Program.Filtered(int)",
                "catch System.DivideByZeroException Throws.Program.Filtered(int) Catch true true",
                "catch leave",
            ]
        );
    });
    }
}
