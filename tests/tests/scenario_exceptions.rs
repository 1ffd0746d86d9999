//! What a profiler is told of exceptions, in order.

use clr_profiler_tests::Scenario;

#[test]
fn exceptions_are_searched_unwound_and_caught_in_order() {
    let scenario = Scenario::new("Throws").profiler("Exceptions");
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
                // The processor throws this one; the `finally` of `Again` then runs unremarked, since
                // nothing is thrown through it.
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

#[test]
fn exceptions_are_traced_without_callbacks() {
    let scenario = Scenario::new("Throws").profiler("TracesExceptions");
    scenario.on_each_runtime_where(
        |runtime| runtime.major > 3,
        |runtime, profiled| {
            let plain = scenario.run_plain(runtime);
            assert_eq!(profiled.output(), plain.output());
            let lines: Vec<&str> = profiled.log.lines().collect();
            let mut expected = vec![
                "thrown System.InvalidOperationException first COR_E_INVALIDOPERATION (0x80131509)",
                "filter Throws.Program.Inner()",
                "FilterEnds",
                "finally Throws.Program.Inner()",
                "FinallyEnds",
                "catch Throws.Program.Inner()",
                "catch Throws.Program.Middle()",
                "thrown System.ArgumentException replaced E_INVALIDARG (0x80070057)",
                "catch Throws.Program.Outer()",
                "CatchEnds",
                "thrown System.DivideByZeroException Attempted to divide by zero. 0x80020012",
                "filter Throws.Program.Filtered(int)",
                "FilterEnds",
                "catch Throws.Program.Filtered(int)",
                "CatchEnds",
            ];
            if runtime.major < 9 {
                // `throw;` in the catch block of `Inner`.
                expected.insert(6, expected[0]);
            }
            assert_eq!(lines, expected);
        },
    );
}

#[test]
fn runtimes_that_lose_exceptions_are_not_asked_for_them() {
    let scenario = Scenario::new("Throws").profiler("HearsOfExceptions");
    scenario.on_each_runtime(|runtime, profiled| {
        let (failures, lines): (Vec<&str>, Vec<&str>) = profiled
            .log
            .lines()
            .partition(|line| line.contains("no callback of exceptions will come"));
        if runtime.major >= 9 {
            assert_eq!(lines, ["shutdown"]);
            // To the hook, and to whoever reads diagnostics.
            assert_eq!(failures.len(), 2, "{failures:?}");
            assert!(failures[0].contains("`ExceptionEvents`"), "{failures:?}");
        } else {
            assert!(failures.is_empty(), "{failures:?}");
            assert_eq!(
                lines,
                [["thrown true"; 4].as_slice(), &["shutdown"]].concat()
            );
        }
    });
}
