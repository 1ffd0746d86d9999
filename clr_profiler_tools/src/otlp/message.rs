//! Spans as messages of the protocol.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as Message, Status};

use super::context::TraceContexts;
use super::options::Options;
use crate::conventions;
use crate::spans::{Outcome, Span, Spans};

/// The bit of `flags` which says that the trace is sampled.
const SAMPLED: u32 = 1;

/// The messages of an exporter.
#[derive(Debug)]
pub(super) struct Messages {
    resource: Resource,
    scope: InstrumentationScope,
    /// The names of the methods, by number.
    methods: Vec<String>,
}

impl Messages {
    pub(super) fn new(options: &Options, tool: &str) -> Self {
        let resource = options
            .resource
            .iter()
            .map(|(name, value)| text(name, value));
        let process = number("process.pid", i64::from(std::process::id()));
        Self {
            resource: Resource {
                attributes: resource.chain([process]).collect(),
                ..Resource::default()
            },
            scope: InstrumentationScope {
                name: tool.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..InstrumentationScope::default()
            },
            methods: Vec::new(),
        }
    }

    pub(super) fn request(&self, spans: Vec<Message>) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(self.resource.clone()),
                scope_spans: vec![ScopeSpans {
                    scope: Some(self.scope.clone()),
                    spans,
                    ..ScopeSpans::default()
                }],
                ..ResourceSpans::default()
            }],
        }
    }

    pub(super) fn span(&mut self, all: &Spans, contexts: &TraceContexts, span: &Span) -> Message {
        let details = span.details.as_deref();
        let named = details.and_then(|details| details.name.clone());
        let name = named.unwrap_or_else(|| self.method(all, span.method));
        let kind = details.map_or(SpanKind::Internal, |details| kind(details.kind));
        let place = contexts.place(span);
        let mut attributes = vec![number("thread.id", i64::from(span.thread))];
        attributes.extend(values(all, span));
        if details.is_some() {
            let method = self.method(all, span.method);
            let method = method.split('(').next().unwrap_or_default();
            attributes.push(text("code.function.name", method));
        }
        let said = details.iter().flat_map(|details| &details.attributes);
        attributes.extend(said.map(|(name, value)| attribute(name, any(value))));
        let parent = place.parent.map(|parent| parent.bytes().to_vec());
        let mut message = Message {
            trace_id: place.trace.bytes().to_vec(),
            span_id: place.span.bytes().to_vec(),
            parent_span_id: parent.unwrap_or_default(),
            trace_state: place.state,
            flags: SAMPLED,
            name,
            kind: kind.into(),
            start_time_unix_nano: all.epoch() + span.start,
            end_time_unix_nano: all.epoch() + span.end,
            attributes,
            ..Message::default()
        };
        let failed = |words: &str| Status {
            message: words.to_owned(),
            code: StatusCode::Error.into(),
        };
        match &span.outcome {
            Outcome::Open | Outcome::Returned => {}
            Outcome::Cancelled => message.status = Some(failed("cancelled")),
            Outcome::Threw(what) => {
                let (class, words) = what.split_once('\n').unwrap_or((what, ""));
                message.status = Some(failed(words));
                message.events = vec![Event {
                    time_unix_nano: message.end_time_unix_nano,
                    name: "exception".to_owned(),
                    attributes: vec![
                        text("exception.type", class),
                        text("exception.message", words),
                    ],
                    ..Event::default()
                }];
            }
        }
        if let Some((code, words)) = details.and_then(|details| details.status.as_ref()) {
            message.status = match code {
                conventions::Status::Unset => None,
                conventions::Status::Ok => Some(Status {
                    code: StatusCode::Ok.into(),
                    ..Status::default()
                }),
                conventions::Status::Error => Some(failed(words)),
            };
        }
        message
    }

    fn method(&mut self, all: &Spans, number: u32) -> String {
        while self.methods.len() <= number as usize {
            let name = all.name(self.methods.len() as u32);
            // It may get its name later.
            if name.is_empty() {
                return name;
            }
            self.methods.push(name);
        }
        self.methods[number as usize].clone()
    }
}

/// The arguments and the result, of calls for which they were recorded.
fn values(all: &Spans, span: &Span) -> Vec<KeyValue> {
    let mut values = Vec::new();
    if !span.arguments.is_empty() {
        let names = all.argument_names(span.method).unwrap_or_default();
        for (number, line) in span.arguments.split('\n').enumerate() {
            match names.get(number) {
                // A static method has none.
                Some(name) if name == "this" && line == "null" => {}
                Some(name) => values.push(text(&format!("argument.{name}"), line)),
                None => values.push(text(&format!("argument.{number}"), line)),
            }
        }
    }
    if !span.result.is_empty() {
        values.push(text("result", &span.result));
    }
    values
}

fn kind(of: conventions::SpanKind) -> SpanKind {
    match of {
        conventions::SpanKind::Internal => SpanKind::Internal,
        conventions::SpanKind::Server => SpanKind::Server,
        conventions::SpanKind::Client => SpanKind::Client,
        conventions::SpanKind::Producer => SpanKind::Producer,
        conventions::SpanKind::Consumer => SpanKind::Consumer,
    }
}

fn any(value: &conventions::Value) -> Value {
    match value {
        conventions::Value::Null => Value::StringValue(String::new()),
        conventions::Value::Bool(is) => Value::BoolValue(*is),
        conventions::Value::Int(number) => Value::IntValue(*number),
        conventions::Value::Float(number) => Value::DoubleValue(*number),
        conventions::Value::Text(text) | conventions::Value::Named(_, text) => {
            Value::StringValue(text.clone())
        }
        conventions::Value::List(all) => Value::ArrayValue(ArrayValue {
            values: all
                .iter()
                .map(|one| AnyValue {
                    value: Some(any(one)),
                })
                .collect(),
        }),
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}
