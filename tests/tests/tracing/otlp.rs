//! Spans that are sent to a collector.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clr_profiler_tests::runtimes;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use super::collector::Collector;
use super::trace::{Traced, traced_in};

pub(crate) fn text<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|found| found.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn a_collector_gets_the_spans_of_the_trace() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let began = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_nanos() as u64;
        let collector = Collector::start(Duration::ZERO);
        let options = ["--arguments", "--otlp", &collector.url];
        let variables = [
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b"),
            (
                "OTEL_RESOURCE_ATTRIBUTES",
                "service.name=other,deployment.environment=test",
            ),
            ("OTEL_SERVICE_NAME", "shop"),
        ];
        let Traced { trace, summary, .. } = traced_in(runtime, &options, &["work"], &variables);
        let mut spans: HashMap<u64, Span> = HashMap::new();
        for (head, request) in collector.requests() {
            for line in ["content-encoding: gzip", "api-key: a b"] {
                assert!(head.contains(&line.to_owned()), "{head:?}");
            }
            for resource in request.resource_spans {
                let attributes = resource.resource.unwrap().attributes;
                assert_eq!(text(&attributes, "service.name"), "shop");
                assert_eq!(text(&attributes, "deployment.environment"), "test");
                for span in resource
                    .scope_spans
                    .into_iter()
                    .flat_map(|scope| scope.spans)
                {
                    let id = u64::from_be_bytes(span.span_id.as_slice().try_into().unwrap());
                    assert!(spans.insert(id, span).is_none(), "{id} came twice");
                }
            }
        }
        // The ids of a process are consecutive, from a random one.
        let ended = trace.spans.iter().filter(|span| !span.is_unfinished);
        let ended: Vec<_> = ended.collect();
        let first = ended.iter().map(|span| span.id).min().unwrap();
        let base = spans.keys().min().unwrap() - first;
        assert_eq!(spans.len(), ended.len());
        assert!(
            summary.contains(&format!("{} spans were sent", spans.len())),
            "{summary}"
        );
        for expected in ended {
            let span = &spans[&(base + expected.id)];
            assert_eq!(span.name, expected.name);
            assert_eq!(span.trace_id.len(), 16);
            let took = (span.end_time_unix_nano - span.start_time_unix_nano) as f64 / 1e6;
            assert!(
                (took - expected.took()).abs() < 0.001,
                "{span:?} {expected:?}"
            );
            assert!(span.start_time_unix_nano > began);
            match expected.parent {
                0 => assert!(span.parent_span_id.is_empty()),
                parent => {
                    let parent = base + parent;
                    assert_eq!(span.parent_span_id, parent.to_be_bytes());
                    if let Some(parent) = spans.get(&parent) {
                        assert_eq!(span.trace_id, parent.trace_id);
                    }
                }
            }
            let is_error = span
                .status
                .as_ref()
                .is_some_and(|s| s.code() == StatusCode::Error);
            assert_eq!(
                is_error,
                expected.exception.is_some() || expected.is_cancelled
            );
            if let Some(exception) = &expected.exception {
                let [event] = &span.events[..] else {
                    panic!("{span:?}");
                };
                let [class, message] =
                    ["exception.type", "exception.message"].map(|key| text(&event.attributes, key));
                assert_eq!(format!("{class}: {message}"), *exception);
            }
        }
    }
}
