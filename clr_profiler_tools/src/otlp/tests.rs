//! An exporter and collectors that fail in all ways.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;

use super::options::Retry;
use super::*;
use crate::spans::Outcome;

/// A collector that gives these answers, one to each request, and then closes each connection.
struct Collector {
    url: String,
    requests: Receiver<(Vec<String>, ExportTraceServiceRequest)>,
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

impl Collector {
    fn start<const N: usize>(answers: [&'static str; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let (send, requests) = mpsc::channel();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                if let Some(request) = receive(&stream) {
                    let _ = send.send(request);
                }
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, requests }
    }

    fn spans(&self) -> Vec<usize> {
        let requests = self.requests.try_iter();
        let count = |(_, request): (_, ExportTraceServiceRequest)| {
            request.resource_spans[0].scope_spans[0].spans.len()
        };
        requests.map(count).collect()
    }
}

fn receive(stream: &TcpStream) -> Option<(Vec<String>, ExportTraceServiceRequest)> {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => head.push(line.to_ascii_lowercase()),
        }
    }
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    if head.contains(&"content-encoding: gzip".to_owned()) {
        let mut plain = Vec::new();
        GzDecoder::new(&*body).read_to_end(&mut plain).ok()?;
        body = plain;
    }
    Some((head, ExportTraceServiceRequest::decode(&*body).ok()?))
}

fn options(url: &str) -> Options {
    let mut options = Options::from_environment(Some(url)).unwrap().unwrap();
    options.timeout = Duration::from_millis(400);
    options.delay = Duration::from_millis(10);
    options.retry = Retry {
        first: Duration::from_millis(20),
        longest: Duration::from_millis(100),
        give_up: Duration::from_secs(2),
    };
    options
}

/// An exporter that gets this number of spans with arguments of this length.
fn exporter(options: Options, count: usize, argument: usize) -> Exporter {
    let spans = Arc::new(Spans::new());
    let exporter = Exporter::start(&spans, options, "tool").unwrap();
    let method = spans.number("A.B()").unwrap();
    for _ in 0..count {
        let id = spans.begin(method, 0, 0, "x".repeat(argument));
        spans.end(id, Outcome::Threw("A.E\nno".to_owned()), false);
    }
    exporter.add(&spans.take());
    exporter
}

/// Waits until no span waits.
fn settled(exporter: &Exporter) -> String {
    let begun = Instant::now();
    loop {
        let sent = exporter.sent().to_string();
        if sent.contains(" 0 not sent yet") {
            return sent;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{sent}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_request_has_the_resource_and_the_headers() {
    let collector = Collector::start([GOOD]);
    let mut options = options(&collector.url);
    options.is_compressed = true;
    options.headers = vec![("api-key".parse().unwrap(), "a b".parse().unwrap())];
    options.resource = vec![("service.name".to_owned(), "shop".to_owned())];
    let exporter = exporter(options, 3, 5);
    exporter.finish();
    assert_eq!(
        exporter.sent().to_string(),
        "3 spans were sent to the collector, 0 lost, 0 not sent yet"
    );
    let (head, request) = collector.requests.recv().unwrap();
    assert_eq!(head[0], "post /v1/traces http/1.1");
    for line in [
        "content-type: application/x-protobuf",
        "api-key: a b",
        "content-encoding: gzip",
    ] {
        assert!(head.contains(&line.to_owned()), "{head:?}");
    }
    let resource = &request.resource_spans[0];
    let names = resource.resource.as_ref().unwrap().attributes.iter();
    let names: Vec<&str> = names.map(|attribute| &*attribute.key).collect();
    assert_eq!(names, ["service.name", "process.pid"]);
    let scope = &resource.scope_spans[0];
    assert_eq!(
        (scope.spans.len(), &*scope.scope.as_ref().unwrap().name),
        (3, "tool")
    );
    let span = &scope.spans[0];
    assert_eq!((&*span.name, span.kind()), ("A.B()", SpanKind::Internal));
    assert_eq!(
        (span.trace_id.len(), span.span_id.len(), span.events.len()),
        (16, 8, 1)
    );
    assert_ne!(span.trace_id, scope.spans[1].trace_id);
}

#[test]
fn a_request_is_repeated_until_it_is_taken() {
    let collector = Collector::start([
        "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy",
        "HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 502 Bad\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        // Closed without an answer, and an answer of another kind of server.
        "",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 504 Late\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        GOOD,
    ]);
    let mut options = options(&collector.url);
    options.retry.give_up = Duration::from_secs(10);
    let begun = Instant::now();
    let exporter = exporter(options, 5, 0);
    let sent = settled(&exporter);
    assert!(sent.starts_with("5 spans were sent"), "{sent}");
    // As the second answer asks.
    assert!(
        begun.elapsed() >= Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(collector.spans(), [5; 7]);
}

#[test]
fn a_request_that_the_collector_refuses_is_not_repeated() {
    for (answer, part) in [
        (
            "HTTP/1.1 400 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
            "answers 400",
        ),
        (
            "HTTP/1.1 307 There\r\nLocation: /x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "answers 307",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<html></html>",
            "not one of a collector",
        ),
    ] {
        let collector = Collector::start([answer, GOOD]);
        let exporter = exporter(options(&collector.url), 2, 0);
        let sent = settled(&exporter);
        assert!(
            sent.starts_with("0 spans were sent to the collector, 2 lost"),
            "{sent}"
        );
        assert!(sent.contains(part), "{sent}");
        assert_eq!(collector.spans(), [2]);
    }
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    let collector = Collector::start([json]);
    let exporter = exporter(options(&collector.url), 2, 0);
    assert!(settled(&exporter).starts_with("2 spans were sent"));
}

#[test]
fn large_spans_are_sent_in_several_requests() {
    let collector = Collector::start([GOOD; 4]);
    let exporter = exporter(options(&collector.url), 10, 300 << 10);
    let sent = settled(&exporter);
    assert!(sent.starts_with("10 spans were sent"), "{sent}");
    assert_eq!(collector.spans(), [3, 3, 3, 1]);
}

#[test]
fn nobody_waits_for_a_collector_that_is_not_there() {
    let exporter = exporter(options("http://127.0.0.1:9/v1/traces"), 40_000, 0);
    let begun = Instant::now();
    exporter.finish();
    assert!(
        begun.elapsed() < Duration::from_millis(400),
        "{:?}",
        begun.elapsed()
    );
    let sent = exporter.sent().to_string();
    assert!(
        sent.starts_with("0 spans were sent to the collector, 7232 lost, 32768 not sent yet: "),
        "{sent}"
    );
    // Their time is over.
    let sent = settled(&exporter);
    assert!(
        sent.starts_with("0 spans were sent to the collector, 40000 lost"),
        "{sent}"
    );
}

#[test]
fn half_a_second_is_waited_for_a_collector_that_hangs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = options(&format!("http://{}/", listener.local_addr().unwrap()));
    options.timeout = Duration::from_secs(10);
    let exporter = exporter(options, 4, 0);
    let begun = Instant::now();
    exporter.finish();
    let took = begun.elapsed();
    assert!(
        (Duration::from_millis(400)..Duration::from_secs(2)).contains(&took),
        "{took:?}"
    );
    let sent = exporter.sent().to_string();
    assert!(
        sent.starts_with("0 spans were sent to the collector, 0 lost, 4 not sent yet"),
        "{sent}"
    );
}

#[test]
fn traces_that_are_not_sampled_are_left_out() {
    let collector = Collector::start([GOOD; 1]);
    let mut options = options(&collector.url);
    options.sampler = sampler::Sampler::parse("traceidratio", Some("0.3")).unwrap();
    options.batch = 1000;
    let exporter = exporter(options, 1000, 0);
    exporter.finish();
    let sent = exporter.sent().to_string();
    let numbers: Vec<usize> = sent
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert_eq!(collector.spans(), [numbers[0]]);
    assert!((200..400).contains(&numbers[0]), "{sent}");
    assert!(
        sent.ends_with(&format!(", {} not sampled", 1000 - numbers[0])),
        "{sent}"
    );
}
