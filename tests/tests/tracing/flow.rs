//! Spans across threads and awaits: their ends, and their parents.

use clr_profiler_tests::runtimes;

use super::trace::{Span, Trace, traced};

/// The delay of `Task.Delay` in each of the methods, minus a tolerance for clocks.
const DELAY: f64 = 28.0;

#[test]
fn asynchronous_methods_end_with_their_tasks() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let (trace, _) = traced(
            runtime,
            &["--budget", "100", "--methods", "**", "--arguments"],
            &["work"],
        );
        let mut deferred = 0;
        for method in ["OfTask", "OfTaskOf", "OfValueTask", "OfValueTaskOf"] {
            let name = format!("Traced.Asynchronous.{method}(Traced.Asynchronous+End)");
            let spans = trace.of(&name);
            // In the order of the program's enumeration of the ends.
            let [now, later, fail_now, fail_later, cancel_later] = spans[..5] else {
                panic!("{spans:?}");
            };
            let ended = |span: &Span, exception: Option<&str>, is_cancelled: bool| {
                assert_eq!(span.exception.as_deref(), exception, "{span:?}");
                assert_eq!(span.is_cancelled, is_cancelled, "{span:?}");
                assert!(!span.is_unfinished, "{span:?}");
            };
            ended(now, None, false);
            ended(later, None, false);
            ended(fail_now, Some("Traced.Failure: FailNow"), false);
            ended(fail_later, Some("Traced.Failure: FailLater"), false);
            ended(cancel_later, None, true);
            assert!(!now.is_async, "{now:?}");
            for span in [later, fail_later, cancel_later] {
                assert!(span.took() > DELAY, "{span:?}");
                // On a busy machine a task may be over before its method returns.
                deferred += usize::from(span.is_async);
            }
        }
        assert!(deferred > 0);
        let same = trace.of("Traced.Asynchronous.Same()")[0];
        assert!(same.is_async && same.exception.is_none());
        let from_source = trace.of("Traced.Asynchronous.FromSource(Traced.Manual)");
        assert!(from_source[0].took() > DELAY, "{from_source:?}");
        assert_eq!(
            from_source[1].exception.as_deref(),
            Some("Traced.Failure: a source")
        );
        for (name, reason) in [
            ("Traced.Kinds.Numbers(int)", "iterator"),
            ("Traced.Asynchronous.Custom()", "awaitable"),
            (
                "Traced.Asynchronous.Void(System.Threading.Tasks.TaskCompletionSource<int>)",
                "async void",
            ),
        ] {
            let told = trace.reason("up_to_return", name);
            assert!(
                told.is_some_and(|told| told.contains(reason)),
                "{name}: {told:?}"
            );
        }
        assert_eq!(trace.other["up_to_return"].as_array().unwrap().len(), 3);
    }
}

/// The names of the methods above a span, the outermost last.
fn above<'a>(trace: &'a Trace, mut span: &'a Span) -> Vec<&'a str> {
    let mut names = Vec::new();
    while span.parent != 0 {
        span = trace.get(span.parent);
        names.push(span.name.as_str());
    }
    names
}

#[test]
fn spans_belong_to_what_has_called_them() {
    const RUN: [&str; 3] = [
        "Traced.Flow.Top()",
        "Traced.Flow.Run()",
        "Traced.Program.Main(string[])",
    ];
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let (trace, _) = traced(
            runtime,
            &["--budget", "100", "--methods", "**", "--arguments"],
            &["work"],
        );
        let leaves = trace.of("Traced.Flow.Leaf(string)");
        assert_eq!(leaves.len(), 6);
        let main = trace.of("Traced.Program.Main(string[])")[0].thread;
        for leaf in leaves {
            let (between, elsewhere): (&[&str], bool) = match leaf.arguments[1].as_str() {
                "\"before\"" => (&[], false),
                "\"middle\"" => (&["Traced.Flow.Middle()"], true),
                "\"after\"" | "\"thread\"" => (&[], true),
                "\"side 1\"" | "\"side 2\"" => (&["Traced.Flow.Side(int)"], true),
                other => panic!("{other}"),
            };
            // A host of the program may be above.
            let above = above(&trace, leaf);
            assert!(above.starts_with(&[between, &RUN].concat()), "{above:?}");
            assert_eq!(leaf.thread != main, elsewhere, "{leaf:?}");
        }
        let [top, middle] = ["Top", "Middle"].map(|name| {
            let spans = trace.of(&format!("Traced.Flow.{name}()"));
            (spans[0].start, spans[0].end)
        });
        assert!(top.0 <= middle.0 && middle.1 <= top.1, "{top:?} {middle:?}");
        let outer = trace.of("Traced.Plain.Outer(int)")[0];
        for inner in trace.of("Traced.Plain.Inner(int)") {
            assert_eq!(inner.parent, outer.id);
            assert!(outer.start <= inner.start && inner.end <= outer.end);
        }
    }
}
