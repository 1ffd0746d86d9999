//! The spans that two processes have sent to one collector.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;

use super::collector::Collector;
use super::otlp::text;

/// The longest start of a server under a profiler on a busy machine.
pub(super) const START: Duration = Duration::from_secs(120);
/// The methods of requests of `HttpClient`, and of those that ASP.NET Core answers.
pub(super) const SEND: &str = "System.Net.Http.SocketsHttpHandler.SendAsync";
pub(super) const RECEIVE: &str =
    "Microsoft.AspNetCore.Hosting.HostingApplication.ProcessRequestAsync";

/// An id as headers have it.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The method of a span: that of a rule has a name of its own.
fn method(span: &Span) -> &str {
    let attribute = span
        .attributes
        .iter()
        .find(|attribute| attribute.key == "code.function.name");
    match attribute.and_then(|found| found.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(name)) => name,
        _ => span.name.split('(').next().unwrap(),
    }
}

/// A value as text, those of a list with commas.
fn shown(value: &AnyValue) -> String {
    match value.value.as_ref().unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::ArrayValue(all) => all.values.iter().map(shown).collect::<Vec<_>>().join(","),
        other => panic!("{other:?}"),
    }
}

/// The attributes of a span, as texts.
pub(super) fn attributes(span: &Span) -> HashMap<&str, String> {
    let all = span.attributes.iter();
    all.map(|one| (&*one.key, shown(one.value.as_ref().unwrap())))
        .collect()
}

/// The spans of both processes, by their services.
pub(super) struct Both(pub(super) HashMap<Vec<u8>, (String, Span)>);

impl Both {
    pub(super) fn of(collector: &Collector) -> Self {
        let mut all = HashMap::new();
        for (_, request) in collector.requests() {
            for resource in request.resource_spans {
                let service =
                    text(&resource.resource.unwrap().attributes, "service.name").to_owned();
                for span in resource
                    .scope_spans
                    .into_iter()
                    .flat_map(|scope| scope.spans)
                {
                    let id = span.span_id.clone();
                    let known = all.insert(id, (service.clone(), span));
                    assert!(known.is_none(), "{known:?}");
                }
            }
        }
        Self(all)
    }

    /// The spans of a method in a service, the oldest first.
    pub(super) fn named(&self, service: &str, name: &str) -> Vec<&Span> {
        let all = self
            .0
            .values()
            .filter(|(of, span)| of == service && method(span) == name);
        let mut all: Vec<&Span> = all.map(|(_, span)| span).collect();
        all.sort_by_key(|span| span.start_time_unix_nano);
        all
    }

    pub(super) fn parent(&self, span: &Span) -> Option<&Span> {
        self.0.get(&span.parent_span_id).map(|(_, parent)| parent)
    }

    /// The names from a span up to the first one of its trace.
    pub(super) fn path(&self, span: &Span) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = Some(self.0.get(&span.span_id).unwrap()).map(|(_, span)| span);
        while let Some(span) = at {
            path.push(method(span));
            let parent = self.parent(span);
            assert!(
                parent.is_none_or(|parent| parent.trace_id == span.trace_id),
                "{span:?}"
            );
            at = parent;
        }
        path
    }
}
