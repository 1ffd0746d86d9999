//! What a profiler is told of exceptions, in order.

use clr_profiler_tests::Scenario;

#[test]
fn exceptions_are_searched_unwound_and_caught_in_order() {
    let scenario = Scenario::new("Throws").profiler("C0DE0000-0000-4000-8000-000000000083");
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
