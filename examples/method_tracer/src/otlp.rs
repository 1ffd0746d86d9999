//! Spans for an OpenTelemetry collector: OTLP over HTTP, as protobuf.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as OtlpSpan, Status};
use prost::Message;

use crate::spans::{self, Outcome, Span};
use report::lock;

/// The number of spans in a request.
const BATCH: usize = 512;
/// The limit for waiting requests, while the collector is slow or unreachable.
const WAITING: usize = 64;
/// The time limit of a request, in seconds.
const PATIENCE: u64 = 5;
/// How long the program's end waits for the last ones.
const LAST: Duration = Duration::from_secs(3);

/// Sends spans on its own thread.
#[derive(Debug)]
pub(crate) struct Exporter {
    queue: SyncSender<Job>,
    sent: Arc<Sent>,
}

enum Job {
    Spans(Vec<Span>),
    /// Answered when all earlier jobs are done.
    Done(Sender<()>),
}

/// The numbers of sent and lost spans.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    given: AtomicU64,
    sent: AtomicU64,
    lost: AtomicU64,
    problem: Mutex<Option<String>>,
}

impl Exporter {
    pub(crate) fn start(url: String) -> io::Result<Self> {
        let (queue, jobs) = mpsc::sync_channel(WAITING);
        let sent = Arc::new(Sent::default());
        thread::Builder::new().name("otlp".to_owned()).spawn({
            let sent = Arc::clone(&sent);
            move || run(&url, &jobs, &sent)
        })?;
        Ok(Self { queue, sent })
    }

    /// Never waits: spans for which there is no room are lost, and counted.
    pub(crate) fn add(&self, spans: &[Span]) {
        let given = spans.len() as u64;
        self.sent.given.fetch_add(given, Ordering::Relaxed);
        for batch in spans.chunks(BATCH) {
            if self.queue.try_send(Job::Spans(batch.to_vec())).is_err() {
                self.sent.lost(batch.len(), "the collector is too slow");
            }
        }
    }

    /// Waits until all was sent, up to a time limit.
    pub(crate) fn flush(&self) {
        let (done, waits) = mpsc::channel();
        if self.queue.try_send(Job::Done(done)).is_ok() {
            // The wait has a limit.
            let _ = waits.recv_timeout(LAST);
        }
    }

    pub(crate) fn sent(&self) -> &Sent {
        &self.sent
    }
}

impl Sent {
    fn lost(&self, count: usize, problem: impl ToString) {
        self.lost.fetch_add(count as u64, Ordering::Relaxed);
        lock(&self.problem).get_or_insert_with(|| problem.to_string());
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [&self.given, &self.sent, &self.lost];
        let [given, sent, lost] = all.map(|count| count.load(Ordering::Relaxed));
        let waiting = given.saturating_sub(sent + lost);
        write!(
            f,
            "{sent} spans were sent to the collector, {lost} lost, {waiting} not sent yet"
        )?;
        match &*lock(&self.problem) {
            Some(problem) => write!(f, ": {problem}"),
            None => Ok(()),
        }
    }
}

fn run(url: &str, jobs: &Receiver<Job>, sent: &Sent) {
    // The upper half of trace ids, so that those of other processes differ.
    let process = (spans::epoch() ^ (u64::from(std::process::id()) << 48)).to_be_bytes();
    for job in jobs {
        match job {
            Job::Spans(spans) => match post(url, request(&spans, process)) {
                Ok(()) => drop(sent.sent.fetch_add(spans.len() as u64, Ordering::Relaxed)),
                Err(problem) => sent.lost(spans.len(), problem),
            },
            // The caller may not have waited.
            Job::Done(done) => drop(done.send(())),
        }
    }
}

fn post(url: &str, request: ExportTraceServiceRequest) -> Result<(), String> {
    let answer = minreq::post(url)
        .with_header("Content-Type", "application/x-protobuf")
        .with_timeout(PATIENCE)
        .with_body(request.encode_to_vec())
        .send();
    match answer {
        Ok(answer) if (200..300).contains(&answer.status_code) => Ok(()),
        Ok(answer) => Err(format!("the collector answers {}", answer.status_code)),
        Err(error) => Err(format!("{url}: {error}")),
    }
}

fn request(spans: &[Span], process: [u8; 8]) -> ExportTraceServiceRequest {
    let service = std::env::var("OTEL_SERVICE_NAME").ok();
    let service = service
        .or_else(|| std::env::args().next())
        .unwrap_or_default();
    let attributes = vec![
        text("service.name", service),
        number("process.pid", i64::from(std::process::id())),
    ];
    let scope = InstrumentationScope {
        name: "method_tracer".to_owned(),
        ..InstrumentationScope::default()
    };
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource {
                attributes,
                ..Resource::default()
            }),
            scope_spans: vec![ScopeSpans {
                scope: Some(scope),
                spans: spans.iter().map(|span| message(span, process)).collect(),
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }],
    }
}

fn message(span: &Span, process: [u8; 8]) -> OtlpSpan {
    let parent = match span.parent {
        0 => Vec::new(),
        parent => parent.to_be_bytes().to_vec(),
    };
    let mut attributes = vec![number("thread.id", i64::from(span.thread))];
    let arguments = span.arguments.lines().enumerate();
    attributes.extend(arguments.map(|(i, line)| text(&format!("argument.{i}"), line.to_owned())));
    let mut message = OtlpSpan {
        trace_id: [process, span.trace.to_be_bytes()].concat(),
        span_id: span.id.to_be_bytes().to_vec(),
        parent_span_id: parent,
        name: spans::name(span.method),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: spans::epoch() + span.start,
        end_time_unix_nano: spans::epoch() + span.end,
        attributes,
        ..OtlpSpan::default()
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
                    text("exception.type", class.to_owned()),
                    text("exception.message", words.to_owned()),
                ],
                ..Event::default()
            }];
        }
    }
    message
}

fn text(key: &str, value: String) -> KeyValue {
    attribute(key, Value::StringValue(value))
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
