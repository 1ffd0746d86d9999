//! Every kind of method.

use std::fs;

use clr_profiler_tests::{Finished, Folder, profilee, runtimes};

use super::trace::{EXAMPLE, Span, Trace, traced};

/// Methods with the numbers of their calls and of their failures.
const COUNTS: [(&str, usize, usize); 21] = [
    ("Traced.Program.Main(string[])", 1, 0),
    ("Traced.Plain.Outer(int)", 1, 0),
    ("Traced.Plain.Inner(int)", 2, 0),
    ("Traced.Plain.Throws(string)", 2, 2),
    ("Traced.Plain.Unwinds()", 1, 1),
    // One exception leaves its `try`, but not the method.
    ("Traced.Plain.Replaces()", 1, 0),
    ("Traced.Plain.Spans(System.Span<int>)", 1, 0),
    ("Traced.Plain.Overload(int)", 1, 0),
    ("Traced.Plain.Overload(string)", 1, 0),
    ("Traced.Plain.Overload(int, int)", 1, 0),
    ("Traced.Base..ctor(int)", 2, 0),
    ("Traced.Derived..cctor()", 1, 0),
    ("Traced.Derived..ctor(int)", 2, 1),
    ("Traced.Derived.Kept()", 1, 0),
    ("Traced.Point..ctor(int)", 1, 0),
    ("Traced.Point.Move(int)", 2, 0),
    ("Traced.Shelf<T>..ctor()", 2, 0),
    ("Traced.Shelf<T>.Put<U>(T, U)", 4, 0),
    ("Traced.Kinds.Numbers(int)", 1, 0),
    ("Traced.Asynchronous.Same()", 1, 0),
    ("Traced.Asynchronous.NoTask()", 1, 0),
];

#[test]
fn every_kind_of_method_has_its_spans() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let (trace, summary) = traced(
            runtime,
            &["--budget", "100", "--methods", "**", "--arguments"],
            &["work"],
        );
        for (name, calls, errors) in COUNTS {
            let spans = trace.of(name);
            let failed = spans.iter().filter(|span| span.exception.is_some());
            assert_eq!((spans.len(), failed.count()), (calls, errors), "{name}");
            let row = summary
                .lines()
                .find(|line| line.ends_with(&format!("  {name}")));
            let mut words = row.unwrap().split_whitespace();
            let mut number = || words.next().unwrap().parse::<usize>().unwrap();
            assert_eq!((number(), number()), (calls, errors), "{summary}");
        }
        let throws = trace.of("Traced.Plain.Throws(string)");
        let exceptions = throws.iter().map(|span| span.exception.as_deref());
        let expected = [Some("Traced.Failure: now"), Some("Traced.Failure: through")];
        assert!(exceptions.eq(expected));
        for (name, expected) in [
            ("Traced.Plain.Throws(string)", vec!["null", "\"now\""]),
            ("Traced.Plain.Outer(int)", vec!["null", "3"]),
            (
                "Traced.Plain.ByReference(int&, string&)",
                vec!["null", "5", "null"],
            ),
            ("Traced.Plain.Spans(System.Span<int>)", vec!["null", "null"]),
            (
                "Traced.Plain.Many(int, long, string, double, char, object)",
                vec!["null", "1", "2", "\"3\"", "4", "x", "null"],
            ),
            ("Traced.Point.Move(int)", vec!["Traced.Point", "4"]),
            (
                "Traced.Shelf<T>.Put<U>(T, U)",
                vec!["Traced.Shelf`1", "1", "\"a\""],
            ),
        ] {
            assert_eq!(trace.of(name)[0].arguments, expected, "{name}");
        }
        let unnoted = "Traced.Plain.Spans(System.Span<int>), argument 0";
        assert!(
            trace
                .reason("arguments", unnoted)
                .unwrap()
                .contains("restricted to the stack")
        );
        assert_eq!(trace.other["lost"], 0);
        assert_eq!(
            trace.other["refused"].as_array().unwrap().len(),
            0,
            "{}",
            trace.other
        );
        nested(&trace.spans);
    }
}

/// Asserts that calls on each thread are nested or disjoint.
fn nested(spans: &[Span]) {
    let calls: Vec<_> = spans.iter().filter(|span| !span.is_async).collect();
    for one in &calls {
        for other in &calls {
            let overlap = one.thread == other.thread
                && one.start < other.start
                && other.start < one.end
                && one.end < other.end;
            assert!(!overlap, "{one:?} and {other:?}");
        }
    }
}

#[test]
fn patterns_say_which() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let config = folder.path("methods.conf");
        let lines = "# some\nTraced!Traced.Plain.Overload(*)\n- **.Overload(string)\n\
                     Tra*!**.Point.*\nSystem.Private.CoreLib!System.String.Concat\n";
        fs::write(&config, lines).unwrap();
        let config = format!("@{}", config.display());
        let options = ["--budget", "100", "--methods", &config];
        let (trace, summary) = traced(runtime, &options, &["work"]);
        let mut names: Vec<_> = trace.spans.iter().map(|span| span.name.as_str()).collect();
        names.dedup();
        let expected = [
            "Traced.Plain.Overload(int)",
            "Traced.Point..ctor(int)",
            "Traced.Point.Move(int)",
        ];
        assert_eq!(names, expected);
        assert!(
            trace
                .spans
                .iter()
                .all(|span| span.arguments.is_empty() && span.parent == 0)
        );
        // The core library cannot call a helper.
        let reason = trace.reason("refused", "System.Private.CoreLib");
        assert!(
            reason.is_some_and(|reason| reason.contains("core library")),
            "{reason:?}"
        );
        let (_, refused) = summary.split_once("not traced:\n").unwrap();
        let refused: Vec<&str> = refused
            .lines()
            .take_while(|line| !line.is_empty())
            .collect();
        let is_named = |line: &&str| line.starts_with("  System.Private.CoreLib: ");
        assert!(refused.iter().any(is_named), "{summary}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_told_and_the_program_runs() {
    let runtime = runtimes()[0];
    let folder = Folder::new();
    let config = folder.path("methods.conf");
    fs::write(&config, "Traced::Plain.Overload\n").unwrap();
    let output = folder.path("trace.json");
    let options = [
        "--budget",
        "100",
        "--methods",
        &format!("@{}", config.display()),
        "--output",
        output.to_str().unwrap(),
    ];
    let command = EXAMPLE.command(runtime, &options, &profilee("Traced"), &["work"]);
    let finished = Finished::of(command);
    assert!(finished.stdout.ends_with("worked\n"), "{finished:?}");
    let told = "methods.conf: line 1, column 7: nested types are written with";
    assert!(finished.stderr.contains(told), "{finished:?}");
}

#[test]
fn no_call_is_lost_without_being_counted() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let config = folder.path("methods.conf");
        fs::write(&config, "Traced!Traced.Calls.Work").unwrap();
        let output = folder.path("trace.json");
        let options = [
            "--budget",
            "100",
            "--methods",
            &format!("@{}", config.display()),
            "--output",
            output.to_str().unwrap(),
        ];
        let command = EXAMPLE.command(runtime, &options, &profilee("Traced"), &["calls", "8000"]);
        let finished = Finished::of(command);
        assert!(finished.status.success(), "{finished:?}");
        let trace = Trace::parse(&fs::read_to_string(output).unwrap());
        let row = &trace.other["methods"][0];
        let lost = trace.other["lost"].as_u64().unwrap();
        println!("on {}: {lost} lost", runtime.name);
        assert_eq!((&row["calls"], &row["errors"]), (&40_000.into(), &0.into()));
        assert_eq!(
            trace.of("Traced.Calls.Work(int)").len() as u64 + lost,
            40_000
        );
    }
}
