//! Calls: hooks, transitions, ReJIT, inlining, events, exceptions.

use clr_profiler_tests::Runtime;

use super::assertions::{Bytes, lines, of, optimized, program};
use super::cases::On;

pub(crate) fn arguments_in_hooks(runtime: &Runtime, _: On) {
    let scenario = optimized(program(&["arguments"], "ReadsArguments"));
    let lines = lines(&scenario, runtime, "");
    let simple = "enter Simple(I4(-123), R4(-4.3), \"the argument\")";
    assert!(lines.iter().any(|line| line == simple), "{lines:#?}");
    let mixed = Bytes::in_line(&lines, "enter TakeMixed");
    assert_eq!((mixed.len(), mixed.int(0), mixed.double(8)), (16, 1, 1.0));
    let large = Bytes::in_line(&lines, "enter TakeLarge");
    assert_eq!(large.len(), 64);
    for number in 0..4 {
        let values = (large.int(number * 16), large.double(number * 16 + 8));
        assert_eq!(values, (number as i32, number as f64));
    }
}

pub(crate) fn results_in_hooks(runtime: &Runtime, on: On) {
    let scenario = optimized(program(&["results"], "ReadsResults"));
    let lines = lines(&scenario, runtime, "");
    for line in [
        "leave Text \"the result\"",
        "leave TakeLarge I4(3)",
        "leave GiveDouble R8(13.0)",
    ] {
        assert!(
            lines.iter().any(|known| known == line),
            "{line}: {lines:#?}"
        );
    }
    if on != On::Passes {
        let refused = lines.iter().filter(|line| {
            line.starts_with("refused: Give") && line.contains("report other bytes")
        });
        assert_eq!(refused.count(), 8, "{lines:#?}");
        return;
    }
    let mixed = Bytes::in_line(&lines, "leave GiveMixed ");
    assert_eq!((mixed.len(), mixed.int(0), mixed.double(8)), (16, 4, 1.0));
    let integers = Bytes::in_line(&lines, "leave GiveIntegers ");
    assert_eq!((integers.int(0), integers.int(4)), (21, 256));
    for count in 2..=4 {
        let floats = Bytes::in_line(&lines, &format!("leave GiveFloats{count} "));
        let doubles = Bytes::in_line(&lines, &format!("leave GiveDoubles{count} "));
        assert_eq!((floats.len(), doubles.len()), (count * 4, count * 8));
        for number in 0..count {
            let expected = number as f64 + 1.0;
            let values = (
                f64::from(floats.float(number * 4)),
                doubles.double(number * 8),
            );
            assert_eq!(values, (expected, expected), "{lines:#?}");
        }
    }
}

/// The four transitions, with these names of the methods.
fn in_order(outward: &str, inward: &str) -> [String; 4] {
    [
        format!("out RuntimeTests.{outward} Call"),
        format!("in RuntimeTests.{inward} Call"),
        format!("out RuntimeTests.{inward} Return"),
        format!("in RuntimeTests.{outward} Return"),
    ]
}

pub(crate) fn hooks_and_transitions(runtime: &Runtime, _: On) {
    let scenario = of("RuntimeTestsNew", &["blittable"])
        .profiler("CountsTransitions")
        .env("TRANSITION_HOOKS", "1");
    let lines = lines(&scenario, runtime, "True\n");
    let (enters, transitions): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .partition(|line| line.starts_with("enter "));
    assert_eq!(
        transitions,
        in_order("Program.SearchBlittable", "Program.Compare")
    );
    assert_eq!(enters, ["enter Program.Compare"]);
}

pub(crate) fn transitions_of_a_function(runtime: &Runtime, _: On) {
    let scenario = of("RuntimeTestsNew", &["blittable"]).profiler("CountsTransitions");
    let lines = lines(&scenario, runtime, "True\n");
    assert_eq!(
        lines,
        in_order("Program.SearchBlittable", "Program.Compare")
    );
}

pub(crate) fn transitions_of_a_function_with_text(runtime: &Runtime, _: On) {
    let scenario = of("RuntimeTestsNew", &["text"]).profiler("CountsTransitions");
    let lines = lines(&scenario, runtime, "True\n");
    assert_eq!(lines, in_order("Program.SearchText", "Program.Compare"));
}

pub(crate) fn transitions_of_a_delegate(runtime: &Runtime, _: On) {
    let scenario = program(&["transitions", "blittable"], "CountsTransitions");
    let lines = lines(&scenario, runtime, "True\n");
    let (outward, inward) = ("Transitions.SearchBlittable", "Transitions+Compare.Invoke");
    assert_eq!(lines, in_order(outward, inward));
}

pub(crate) fn transitions_of_a_delegate_with_text(runtime: &Runtime, _: On) {
    let scenario = program(&["transitions", "text"], "CountsTransitions");
    let lines = lines(&scenario, runtime, "True\n");
    let (outward, inward) = ("Transitions.SearchText", "Transitions+Compare.Invoke");
    assert_eq!(lines, in_order(outward, inward));
}

pub(crate) fn code_of_two_worlds(runtime: &Runtime, _: On) {
    unreachable!("no program of the kind runs on {}", runtime.name);
}

pub(crate) fn a_method_and_its_inliners(runtime: &Runtime, _: On) {
    let scenario = optimized(program(&["rejit"], "RejitsInliners"));
    let stdout = "original original original\n\
                  rejitted rejitted rejitted\n\
                  original original original\n";
    let lines = lines(&scenario, runtime, stdout);
    let last: Vec<_> = lines.iter().rev().take(2).rev().collect();
    assert_eq!(
        last,
        [
            "inliners {\"RuntimeTests.Inlined.First\", \"RuntimeTests.Inlined.Say\", \
             \"RuntimeTests.Inlined.Second\"}",
            "rejitted true true"
        ]
    );
}

pub(crate) fn inlining_allowed_and_blocked(runtime: &Runtime, _: On) {
    let scenario = optimized(program(&["inlining"], "InlineesEntered"));
    let lines = lines(&scenario, runtime, "");
    assert_eq!(
        lines,
        [
            "Inlinee in Blocks",
            "asked RuntimeTests.Inlined.Allows true",
            "asked RuntimeTests.Inlined.Blocks false",
            "asked RuntimeTests.Inlined.Silent true",
        ]
    );
}

pub(crate) fn events_written(runtime: &Runtime, on: On) {
    let lines = lines(&program(&["write"], "WritesEvents"), runtime, "");
    if on != On::Passes {
        let refused =
            "refused: ICorProfilerInfo14::EventPipeCreateProvider2 needs ICorProfilerInfo14";
        assert!(lines[0].starts_with(refused), "{lines:#?}");
        return;
    }
    let kinds = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 16];
    let parameters = kinds.iter().enumerate();
    let parameters = parameters.map(|(number, kind)| format!(" parameter {number}: {kind}"));
    assert_eq!(
        lines,
        [
            "enabled true, any 0xf00000000000, all 0x0, level 5",
            &format!("described AllTypes{}", parameters.collect::<String>()),
            "described Array numbers: [9]",
            "enabled false, any 0xf00000000000, all 0x0, level 5",
            "delivered [1, 1, 10, 10000]",
        ]
    );
}

pub(crate) fn events_read(runtime: &Runtime, on: On) {
    let lines = lines(&program(&["read"], "ReadsEvents"), runtime, "");
    if on != On::Passes {
        let refused = "refused: ICorProfilerInfo12::EventPipeStartSession needs ICorProfilerInfo12";
        assert!(lines[0].starts_with(refused), "{lines:#?}");
        return;
    }
    assert_eq!(
        lines,
        [
            "created RuntimeTests-Source",
            "Number number: 9 = Some(12), 0 left",
            "Arrays letter: 4 numbers: [9] text: 18 = Some(100) true Some(\"a text\"), 0 left",
            "Pairs source: 18 name: 18 pairs: [{ Key: 18 Value: 18 }] = Some(\"the source\") \
             Some(\"the event\") Some(1) Some(\"the key\") Some(\"the value\"), 0 left",
            "events 3",
        ]
    );
}

pub(crate) fn exceptions_in_order(runtime: &Runtime, _: On) {
    let lines = lines(&program(&["throw"], "ExceptionSequence"), runtime, "");
    let (throw, catch) = ("RuntimeTests.Throws.Throw", "RuntimeTests.Throws.Catch");
    assert_eq!(
        lines,
        [
            "thrown",
            &format!("search {throw}"),
            "searched",
            &format!("search {catch}"),
            &format!("filter {catch}"),
            "filtered",
            &format!("found {catch}"),
            "searched",
            &format!("unwind {throw}"),
            "unwound",
            &format!("unwind {catch}"),
            &format!("catch {catch}"),
            "caught",
        ]
    );
}
