//! Sends [spans](crate::spans) to an OpenTelemetry collector: OTLP over plain HTTP, as protobuf.

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

use crate::report::{failures, lock, masks};
use crate::spans::{Outcome, Span, Spans};

/// The number of spans in a request.
const BATCH: usize = 512;
/// The limit for waiting requests, while the collector is slow or unreachable.
const WAITING: usize = 64;
/// The time limit of a request, in seconds.
const PATIENCE: u64 = 5;
/// How long the program's end waits for the last ones.
const LAST: Duration = Duration::from_secs(3);

/// Sends spans on its own thread.
///
/// A program whose collector is slow or unreachable is not delayed: 32,768 spans wait, more are lost, and counted. The name of
/// the service is `OTEL_SERVICE_NAME`, or the path of the program.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use clr_profiler_tools::otlp::Exporter;
/// use clr_profiler_tools::spans::Spans;
///
/// # fn main() -> std::io::Result<()> {
/// let spans = Arc::new(Spans::new());
/// let exporter = Exporter::start(&spans, "http://localhost:4318/v1/traces", "my_tracer")?;
/// exporter.add(&spans.take());
/// exporter.finish();
/// println!("{}", exporter.sent());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Exporter {
    queue: SyncSender<Job>,
    sent: Arc<Sent>,
}

#[derive(Debug)]
enum Job {
    Spans(Vec<Span>),
    /// Answered when all earlier jobs are done.
    Done(Sender<()>),
}

/// The numbers of sent and lost spans.
#[derive(Debug, Default)]
pub struct Sent {
    given: AtomicU64,
    sent: AtomicU64,
    lost: AtomicU64,
    /// How many of those that are missing are counted as failures.
    told: AtomicU64,
    problem: Mutex<Option<String>>,
}

impl Exporter {
    /// Starts the thread. `tool` is the name of the instrumentation scope.
    ///
    /// # Errors
    ///
    /// The URL is not one of plain HTTP, or the system refuses a thread.
    pub fn start(spans: &Arc<Spans>, url: &str, tool: &'static str) -> io::Result<Self> {
        if !is_url(url) {
            return Err(io::Error::other(format!(
                "`{url}` is not the URL of a collector, such as http://localhost:4318/v1/traces"
            )));
        }
        let (queue, jobs) = mpsc::sync_channel(WAITING);
        let sent = Arc::new(Sent::default());
        let run = {
            let (spans, sent) = (Arc::clone(spans), Arc::clone(&sent));
            let url = url.to_owned();
            move || run(&spans, &url, tool, &jobs, &sent)
        };
        masks::spawning(|| thread::Builder::new().name("otlp".to_owned()).spawn(run))?;
        Ok(Self { queue, sent })
    }

    /// Never waits: spans for which there is no room are lost, and counted.
    pub fn add(&self, spans: &[Span]) {
        let given = spans.len() as u64;
        self.sent.given.fetch_add(given, Ordering::Relaxed);
        for batch in spans.chunks(BATCH) {
            if self.queue.try_send(Job::Spans(batch.to_vec())).is_err() {
                self.sent.lost(batch.len(), "the collector is too slow");
            }
        }
    }

    /// Waits up to 3 seconds until all was sent. Spans that the collector did not get are one of the
    /// [`failures`], once.
    pub fn finish(&self) {
        let (done, waits) = mpsc::channel();
        if self.queue.try_send(Job::Done(done)).is_ok() {
            // The wait has a limit.
            let _ = waits.recv_timeout(LAST);
        }
        let missing = self.sent.missing();
        let told = self.sent.told.fetch_max(missing, Ordering::Relaxed);
        let problem = lock(&self.sent.problem).clone();
        failures::add_many(
            "spans not sent",
            missing.saturating_sub(told),
            problem.unwrap_or_else(|| "the collector does not answer".to_owned()),
        );
    }

    /// The numbers so far.
    #[must_use]
    pub fn sent(&self) -> &Sent {
        &self.sent
    }
}

/// Whether it is a URL of plain HTTP with a host.
fn is_url(url: &str) -> bool {
    url.strip_prefix("http://").is_some_and(|rest| {
        let host = rest.split('/').next().unwrap_or_default();
        !host.is_empty() && !host.starts_with(':') && !rest.contains(char::is_whitespace)
    })
}

impl Sent {
    /// The number of spans that the collector does not have.
    fn missing(&self) -> u64 {
        let sent = self.sent.load(Ordering::Relaxed);
        self.given.load(Ordering::Relaxed).saturating_sub(sent)
    }

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

fn run(all: &Spans, url: &str, tool: &str, jobs: &Receiver<Job>, sent: &Sent) {
    // The upper half of trace ids, so that those of other processes differ.
    let process = (all.epoch() ^ (u64::from(std::process::id()) << 48)).to_be_bytes();
    for job in jobs {
        match job {
            Job::Spans(spans) => match post(url, &request(all, tool, &spans, process)) {
                Ok(()) => drop(sent.sent.fetch_add(spans.len() as u64, Ordering::Relaxed)),
                Err(problem) => sent.lost(spans.len(), problem),
            },
            // The caller may not have waited.
            Job::Done(done) => drop(done.send(())),
        }
    }
}

fn post(url: &str, request: &ExportTraceServiceRequest) -> Result<(), String> {
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

fn request(all: &Spans, tool: &str, spans: &[Span], process: [u8; 8]) -> ExportTraceServiceRequest {
    let service = std::env::var("OTEL_SERVICE_NAME").ok();
    let service = service
        .or_else(|| std::env::args().next())
        .unwrap_or_default();
    let attributes = vec![
        text("service.name", service),
        number("process.pid", i64::from(std::process::id())),
    ];
    let scope = InstrumentationScope {
        name: tool.to_owned(),
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
                spans: spans
                    .iter()
                    .map(|span| message(all, span, process))
                    .collect(),
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }],
    }
}

fn message(all: &Spans, span: &Span, process: [u8; 8]) -> OtlpSpan {
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
        name: all.name(span.method),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: all.epoch() + span.start,
        end_time_unix_nano: all.epoch() + span.end,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_has_a_url_of_plain_http() {
        for url in ["http://localhost:4318/v1/traces", "http://[::1]:4318/"] {
            assert!(is_url(url), "{url}");
        }
        for url in [
            "https://localhost/v1/traces",
            "localhost:4318",
            "http://",
            "http:///x",
            "http://:1",
            "http://a b",
        ] {
            assert!(!is_url(url), "{url}");
        }
    }

    #[test]
    fn spans_are_sent_in_one_request_and_those_that_are_not_are_counted() {
        let spans = Arc::new(Spans::new());
        let method = spans.number("A.B()").unwrap();
        let id = spans.begin(method, 0, 0, "1\n".to_owned());
        spans.end(id, Outcome::Threw("A.E\nno".to_owned()), false);
        let ended = spans.take();
        let request = request(&spans, "tool", &ended, [7; 8]);
        let span = &request.resource_spans[0].scope_spans[0].spans[0];
        assert_eq!(span.name, "A.B()");
        assert_eq!(span.trace_id[..8], [7; 8]);
        assert_eq!(span.events.len(), 1);
        // Nobody listens there.
        let exporter = Exporter::start(&spans, "http://127.0.0.1:9/v1/traces", "tool").unwrap();
        exporter.add(&ended);
        exporter.finish();
        let sent = exporter.sent().to_string();
        assert!(
            sent.starts_with("0 spans were sent to the collector, 1 lost"),
            "{sent}"
        );
    }
}
