//! The thread that sends.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_proto::tonic::trace::v1::Span as Message;
use prost::Message as _;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};

use super::context::TraceContexts;
use super::message::Messages;
use super::options::Options;
use super::queue::{Pause, Queue};
use super::sent::Sent;
use crate::spans::{Span, Spans};

/// The size of a request before compression, unless a single span is larger.
const REQUEST: usize = 1 << 20;
/// The most that is read of an answer.
const ANSWER: u64 = 64 << 10;
/// The longest pause that a collector may ask for.
const LONGEST: Duration = Duration::from_secs(600);

/// Whether a collector has taken a request.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// But for this number of spans, with its reason.
    Taken(u64, String),
    /// It would refuse the same request again.
    Refused(String),
    /// It may take the request later; it may have said when.
    Later(Option<Duration>, String),
}

pub(super) struct Worker {
    spans: Arc<Spans>,
    contexts: Arc<TraceContexts>,
    queue: Arc<Queue>,
    sent: Arc<Sent>,
    messages: Messages,
    options: Options,
    agent: Agent,
    random: RandomState,
    /// The number of requests since the last one that was answered, and when the first of them was sent.
    failures: u32,
    failing_since: Instant,
    /// No request is sent before, and whether the collector has asked for that.
    not_before: (Instant, bool),
}

impl Worker {
    pub(super) fn new(
        spans: &Arc<Spans>,
        contexts: &Arc<TraceContexts>,
        queue: &Arc<Queue>,
        sent: &Arc<Sent>,
        options: Options,
        tool: &str,
    ) -> Self {
        let agent = Agent::config_builder()
            .timeout_global(Some(options.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(ANSWER as usize)
            // The proxy of the program is not for the profiler.
            .proxy(None)
            .user_agent(concat!("clr_profiler/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            spans: Arc::clone(spans),
            contexts: Arc::clone(contexts),
            queue: Arc::clone(queue),
            sent: Arc::clone(sent),
            messages: Messages::new(&options, tool),
            options,
            agent: agent.into(),
            random: RandomState::new(),
            failures: 0,
            failing_since: Instant::now(),
            not_before: (Instant::now(), false),
        }
    }

    /// Sends batches until the exporter is dropped.
    pub(super) fn run(mut self) {
        while let Some(batch) = self.queue.take() {
            self.send_all(&batch);
        }
    }

    fn send_all(&mut self, batch: &[Span]) {
        let mut part = Vec::new();
        let mut bytes = 0;
        for span in batch {
            let message = self.messages.span(&self.spans, &self.contexts, span);
            let length = message.encoded_len();
            if bytes + length > REQUEST && !part.is_empty() {
                self.send(std::mem::take(&mut part));
                bytes = 0;
            }
            bytes += length;
            part.push(message);
        }
        self.send(part);
    }

    /// Sends a request, again if need be.
    fn send(&mut self, messages: Vec<Message>) {
        let count = messages.len();
        let body = self.body(messages);
        loop {
            let (until, is_asked_for) = self.not_before;
            if self.queue.pause(until, is_asked_for) == Pause::Closed {
                break;
            }
            match self.post(&body) {
                Answer::Taken(refused, reason) => {
                    self.failures = 0;
                    let refused = refused.min(count as u64);
                    let taken = count as u64 - refused;
                    self.sent.sent.fetch_add(taken, Ordering::Relaxed);
                    if refused > 0 {
                        self.sent
                            .lose(refused, || format!("the collector refuses them: {reason}"));
                    }
                    break;
                }
                Answer::Refused(reason) => {
                    self.failures = 0;
                    self.sent.lose(count as u64, || reason);
                    break;
                }
                Answer::Later(after, reason) => {
                    if self.failures == 0 {
                        self.failing_since = Instant::now();
                    }
                    let pause = after.unwrap_or_else(|| self.pause());
                    self.failures += 1;
                    self.not_before = (Instant::now() + pause.min(LONGEST), after.is_some());
                    self.queue.end_flushes();
                    self.sent.fail(&reason);
                    if self.failing_since.elapsed() + pause > self.options.retry.give_up {
                        self.sent.lose(count as u64, || reason);
                        break;
                    }
                }
            }
        }
        self.queue.settle(count);
    }

    fn body(&self, messages: Vec<Message>) -> Vec<u8> {
        let plain = self.messages.request(messages).encode_to_vec();
        if !self.options.is_compressed {
            return plain;
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let written = encoder.write_all(&plain);
        // A vector can be written.
        written.and_then(|()| encoder.finish()).unwrap_or_default()
    }

    fn post(&self, body: &[u8]) -> Answer {
        let mut request = self
            .agent
            .post(&self.options.url)
            .content_type("application/x-protobuf");
        if self.options.is_compressed {
            request = request.header("content-encoding", "gzip");
        }
        for (name, value) in &self.options.headers {
            request = request.header(name, value);
        }
        let mut answer = match request.send(body) {
            Ok(answer) => answer,
            Err(error) => return Answer::Later(None, format!("{}: {error}", self.options.url)),
        };
        let status = answer.status();
        let header = |name| {
            answer
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let after = header(RETRY_AFTER).and_then(|after| after.trim().parse().ok());
        let is_text = header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
        // Also of an error: the connection is used again.
        let content = answer.body_mut().with_config().limit(ANSWER).read_to_vec();
        match status {
            status if status.is_success() => match content {
                Ok(content) if content.is_empty() || is_text => Answer::Taken(0, String::new()),
                Ok(content) => partial(&content),
                Err(error) => Answer::Refused(format!("the collector's answer: {error}")),
            },
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                let after = after.map(Duration::from_secs);
                Answer::Later(after, format!("the collector answers {status}"))
            }
            status => Answer::Refused(format!("the collector answers {status}")),
        }
    }

    /// The pause before the next try: twice as long after each one, and from half to all of that at random, so that many
    /// programs do not come at the same time.
    fn pause(&self) -> Duration {
        let retry = self.options.retry;
        let all = retry
            .first
            .saturating_mul(1 << self.failures.min(16))
            .min(retry.longest);
        let random = self.random.hash_one(Instant::now()) as f64 / u64::MAX as f64;
        all.mul_f64(0.5 + random / 2.0)
    }
}

/// The number of refused spans in an answer.
fn partial(content: &[u8]) -> Answer {
    match ExportTraceServiceResponse::decode(content) {
        Ok(answer) => {
            let partial = answer.partial_success.unwrap_or_default();
            let refused = u64::try_from(partial.rejected_spans).unwrap_or_default();
            Answer::Taken(refused, partial.error_message)
        }
        Err(_) => Answer::Refused("the answer is not one of a collector".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;

    use super::*;

    #[test]
    fn an_answer_says_what_was_taken() {
        assert_eq!(partial(b""), Answer::Taken(0, String::new()));
        let answer = ExportTraceServiceResponse {
            partial_success: Some(ExportTracePartialSuccess {
                rejected_spans: 3,
                error_message: "too old".to_owned(),
            }),
        };
        assert_eq!(
            partial(&answer.encode_to_vec()),
            Answer::Taken(3, "too old".to_owned())
        );
        assert!(matches!(partial(b"<html>no</html>"), Answer::Refused(_)));
    }
}
