//! Arguments and results in the trace and at a collector.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use clr_profiler_tests::{Finished, Folder, Runtime, profilee, runtimes};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span as Message;

use super::collector::Collector;
use super::trace::{EXAMPLE, Span, Trace};

const ALL: &[&str] = &["--budget", "100", "--methods", "Silent!Silent.Calls.*"];
const REDACTED: &str = "[redacted]";

/// Runs `Silent` with these options, and checks that no code of the program has run for the tracer.
fn run(runtime: &Runtime, options: &[&str]) -> Trace {
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let program = profilee("Silent");
    let options = [ALL, options, &["--output", file.to_str().unwrap()]].concat();
    let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[]));
    let finished = Finished::of(EXAMPLE.command(runtime, &options, &program, &[]));
    assert!(plain.stdout.ends_with("worked\n"), "{plain:?}");
    assert_eq!(finished.output(), plain.output(), "{finished:?}");
    Trace::parse(&fs::read_to_string(file).unwrap())
}

/// The arguments without `this`, and the result.
fn values(span: &Span) -> (Vec<&str>, Option<&str>) {
    let arguments = span.arguments.iter().skip(1).map(String::as_str);
    (arguments.collect(), span.result.as_deref())
}

#[test]
fn values_are_recorded_without_code_of_the_program() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let trace = run(runtime, &["--arguments", "--results"]);
        let long = format!("\"{}...\"", "x".repeat(48));
        let list = "System.Collections.Generic.List`1";
        for (method, expected) in [
            (
                "Same(Silent.Talker)",
                vec![
                    (vec!["Silent.Talker"], Some("Silent.Talker")),
                    (vec!["null"], Some("null")),
                ],
            ),
            (
                "Struct(Silent.Pair, System.Nullable<Silent.Pair>)",
                vec![(vec!["Silent.Pair", "Silent.Pair"], Some("Silent.Pair"))],
            ),
            (
                "Numbers(double, float, nint, nuint)",
                vec![(vec!["-1.5", "2.5", "-3", "4"], Some("-1.5"))],
            ),
            (
                "List(System.Collections.Generic.IEnumerable<int>, Silent.Talker[])",
                vec![(vec!["Silent.Talker", "Silent.Talker[]"], Some(list))],
            ),
            ("Fails(string)", vec![(vec!["\"no\""], None)]),
            (
                "Text(string, char)",
                vec![
                    (
                        vec!["\"first\\nsecond\r\\nthird\"", "\\n"],
                        Some("\"first\\nsecond\r\\nthird\""),
                    ),
                    (vec![&long, "\r"], Some(&long)),
                ],
            ),
            (
                "Log(string, string, string)",
                vec![(vec!["\"ann\"", "\"s3same\"", "\"Bearer abc\""], None)],
            ),
            (
                "Reference(int[])",
                vec![(vec!["System.Int32[]"], Some("5"))],
            ),
            // A result that cannot leave the stack.
            ("Numbers(int[])", vec![(vec!["System.Int32[]"], None)]),
            (
                "Generic<T>(T)",
                vec![
                    (vec!["Silent.Talker"], Some("Silent.Talker")),
                    (vec!["9"], Some("9")),
                ],
            ),
            (
                "Later(string)",
                vec![(vec!["\"card 4711\""], Some("\"card 4711\""))],
            ),
            ("Completed()", vec![(vec![], Some("7"))]),
            ("Nothing()", vec![(vec![], None)]),
            ("Value()", vec![(vec![], Some("8"))]),
            ("Once()", vec![(vec![], Some("\"once\""))]),
            (
                "LaterValue(Silent.Talker)",
                vec![(vec!["Silent.Talker"], Some("Silent.Talker"))],
            ),
            ("FailsLater()", vec![(vec![], None)]),
        ] {
            let spans = trace.of(&format!("Silent.Calls.{method}"));
            let found: Vec<_> = spans.iter().map(|span| values(span)).collect();
            assert_eq!(found, expected, "{method}");
        }
        let failed = trace.of("Silent.Calls.FailsLater()")[0]
            .exception
            .as_deref();
        assert_eq!(failed, Some("Silent.Failure: later"));
        let many = trace.of("Silent.Calls.Many(string, string, string, string, string, string)")[0];
        assert_eq!(many.arguments.last().unwrap(), "...");
        assert!(many.arguments.concat().len() < 300, "{many:?}");
        let reason = trace.reason("arguments", "Silent.Calls.Numbers(int[]), result");
        assert!(
            reason.unwrap().contains("restricted to the stack"),
            "{reason:?}"
        );
        // Nothing is recorded without a request.
        let trace = run(runtime, &[]);
        for span in &trace.spans {
            assert!(
                span.arguments.is_empty() && span.result.is_none(),
                "{span:?}"
            );
        }
        // Nor the one with the other.
        let trace = run(runtime, &["--results"]);
        let same = trace.of("Silent.Calls.Same(Silent.Talker)")[0];
        assert!(
            same.arguments.is_empty() && same.result.is_some(),
            "{same:?}"
        );
    }
}

/// The attributes of a call that are texts.
fn texts(span: &Message) -> HashMap<&str, &str> {
    let texts = span.attributes.iter().filter_map(|attribute| {
        match attribute.value.as_ref()?.value.as_ref()? {
            Value::StringValue(text) => Some((attribute.key.as_str(), text.as_str())),
            _ => None,
        }
    });
    texts.collect()
}

#[test]
fn redacted_values_are_nowhere() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let collector = Collector::start(Duration::ZERO);
        let redact = "*PASSWORD*; bearer *; *4711*";
        let options = [
            "--arguments",
            "--results",
            "--redact",
            redact,
            "--otlp",
            &collector.url,
        ];
        let trace = run(runtime, &options);
        let log = trace.of("Silent.Calls.Log(string, string, string)")[0];
        assert_eq!(values(log).0, ["\"ann\"", REDACTED, REDACTED]);
        // By the name of the method.
        let password = trace.of("Silent.Calls.Password(int)")[0];
        assert_eq!(values(password), (vec!["3"], Some(REDACTED)));
        let later = trace.of("Silent.Calls.Later(string)")[0];
        assert_eq!(values(later), (vec![REDACTED], Some(REDACTED)));
        let mut spans: HashMap<String, Message> = HashMap::new();
        for (_, request) in collector.requests() {
            let scopes = request
                .resource_spans
                .into_iter()
                .flat_map(|of| of.scope_spans);
            for span in scopes.flat_map(|scope| scope.spans) {
                for secret in ["s3same", "letmein", "Bearer", "card"] {
                    assert!(!format!("{span:?}").contains(secret), "{span:?}");
                }
                spans.insert(span.name.clone(), span);
            }
        }
        assert_eq!(
            texts(&spans["Silent.Calls.Log(string, string, string)"]),
            HashMap::from([
                ("argument.user", "\"ann\""),
                ("argument.password", REDACTED),
                ("argument.note", REDACTED)
            ])
        );
        let expected = HashMap::from([("argument.number", "3"), ("result", REDACTED)]);
        assert_eq!(texts(&spans["Silent.Calls.Password(int)"]), expected);
        assert_eq!(
            texts(&spans["Silent.Calls.Value()"]),
            HashMap::from([("result", "8")])
        );
    }
}
