//! A client and a server in two processes: one trace, and the right parents.

use std::time::Duration;

use clr_profiler_tests::{Finished, Folder, Running, Runtime, profilee, runtimes, runtimes_where};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use super::both::{Both, RECEIVE, SEND, START, attributes, hex};
use super::collector::Collector;
use super::trace::EXAMPLE;

/// Each request has a trace of its own: `Run` and `Main` have no span.
const PATTERNS: &str = "Requests!**; -Requests!**.Main; -Requests!**.Run";

fn client(runtime: &Runtime, url: &str, collector: Option<&Collector>) -> Finished {
    let folder = Folder::new();
    let program = profilee("Requests");
    let words = ["call", url];
    let Some(collector) = collector else {
        return Finished::of(EXAMPLE.plain(runtime, &program, &words));
    };
    let file = folder.path("trace.json");
    let options = [
        "--methods",
        PATTERNS,
        // On a busy machine, the usual one may leave methods without spans.
        "--budget",
        "100",
        "--output",
        file.to_str().unwrap(),
        "--otlp",
        &collector.url,
    ];
    let mut command = EXAMPLE.command(runtime, &options, &program, &words);
    command.env("OTEL_SERVICE_NAME", "client");
    Finished::of(command)
}

#[test]
fn a_request_is_one_trace_in_both_processes() {
    // The one that brings ASP.NET Core.
    let Some(with_server) = runtimes_where(|runtime| runtime.major == 9)
        .into_iter()
        .next()
    else {
        return;
    };
    for runtime in runtimes() {
        for logs in ["None", "Critical"] {
            println!("on {}, with logs: {logs}", runtime.name);
            let collector = Collector::start(Duration::ZERO);
            let folder = Folder::new();
            let file = folder.path("trace.json");
            let options = [
                "--methods",
                PATTERNS,
                "--budget",
                "100",
                "--output",
                file.to_str().unwrap(),
                "--otlp",
                &collector.url,
            ];
            let program = profilee("Requests");
            let mut command = EXAMPLE.command(with_server, &options, &program, &["serve", logs]);
            command.env("OTEL_SERVICE_NAME", "server");
            let mut server = Running::start(command);
            let url = server.line_within(START);
            let plain = client(runtime, &url, None);
            let traced = client(runtime, &url, Some(&collector));
            assert_eq!(server.ask(""), "stopped");
            let server = server.finish();
            assert_eq!(
                (server.status.code(), &*server.stderr),
                (Some(7), ""),
                "{server:?}"
            );
            assert_eq!(traced.status, plain.status, "{traced:?}");
            // A client without a tracer adds no header outside of activities.
            let [header, no_header] = ["with a header", "without a header"];
            assert_eq!(traced.stdout, plain.stdout.replace(no_header, header));
            assert!(plain.stdout.contains(no_header), "{plain:?}");
            assert!(traced.stdout.contains("its own header"), "{traced:?}");
            check(&Both::of(&collector), traced.stderr.trim());
        }
    }
}

/// The server uses the objects of a request again, for the next one of the same connection: as soon as its task has
/// completed, on another thread than that on which it completes.
#[test]
fn each_request_has_the_status_of_its_own_response() {
    const COUNT: usize = 100;
    let Some(with_server) = runtimes_where(|runtime| runtime.major == 9)
        .into_iter()
        .next()
    else {
        return;
    };
    let collector = Collector::start(Duration::ZERO);
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let options = [
        "--methods",
        "Requests!Requests.Shop.Pay",
        "--budget",
        "100",
        "--output",
        file.to_str().unwrap(),
        "--otlp",
        &collector.url,
    ];
    let program = profilee("Requests");
    let mut command = EXAMPLE.command(with_server, &options, &program, &["serve", "None"]);
    command.env("OTEL_SERVICE_NAME", "server");
    let mut server = Running::start(command);
    let url = server.line_within(START);
    let count = COUNT.to_string();
    let client = EXAMPLE.plain(with_server, &program, &["codes", &url, &count]);
    let client = Finished::of(client);
    let sum: usize = (0..COUNT).map(|number| 400 + number % 50).sum();
    assert_eq!(client.output(), (Some(7), &*format!("{}\n", 16 * sum), ""));
    assert_eq!(server.ask(""), "stopped");
    assert_eq!(server.finish().status.code(), Some(7));
    let both = Both::of(&collector);
    let requests = both.named("server", RECEIVE);
    assert_eq!(requests.len(), 16 * COUNT);
    let mut wrong = Vec::new();
    for span in requests {
        let said = attributes(span);
        assert_eq!(span.name, "GET /code/{code}");
        assert_eq!(said["http.route"], "/code/{code}");
        let path = said["url.path"].strip_prefix("/code/").unwrap().to_owned();
        let status = said.get("http.response.status_code").cloned();
        if status.as_ref() != Some(&path) {
            wrong.push((path, status));
        }
    }
    assert_eq!(wrong, []);
}

/// `activity` is the id of the program's own activity.
fn check(both: &Both, activity: &str) {
    let traced: Vec<&Span> = both.named("server", RECEIVE);
    // The client ran twice. Without the tracer, the request of its activity says that the trace is not sampled.
    assert_eq!(traced.len(), 2 * 13 - 1, "{traced:?}");
    assert!(traced.iter().all(|span| span.kind() == SpanKind::Server));
    for span in &traced {
        let said = attributes(span);
        let is = |name: &str, value: &str| said.get(name).map(String::as_str) == Some(value);
        assert!(
            is("http.request.method", "GET") && is("url.scheme", "http"),
            "{said:?}"
        );
        assert!(is("server.address", "127.0.0.1"), "{said:?}");
        assert!(is("http.response.status_code", "200"), "{said:?}");
        assert!(
            said["url.path"].starts_with('/') && said.contains_key("server.port"),
            "{said:?}"
        );
        assert!(
            is("network.protocol.version", "1.1") && !said.contains_key("error.type"),
            "{said:?}"
        );
        assert_eq!(span.name, "GET");
    }
    let (of_client, others): (Vec<&Span>, Vec<&Span>) = traced
        .into_iter()
        .partition(|span| both.parent(span).is_some());
    assert_eq!((of_client.len(), others.len()), (12, 13));
    for span in of_client {
        let path = both.path(span);
        assert_eq!(path, [RECEIVE, SEND, "Requests.Client.Buy"]);
        assert_eq!(both.parent(span).unwrap().kind(), SpanKind::Client);
    }
    for span in both.named("server", "Requests.Shop.Price") {
        let path = both.path(span);
        assert_eq!(
            path[..5],
            [
                "Requests.Shop.Price",
                "Requests.Shop.Pay",
                "Requests.Server.Handle",
                "Requests.Server.Handle",
                RECEIVE
            ]
        );
    }
    // The header of the program itself.
    let own = |span: &&&Span| span.trace_id == [0x11; 16] && span.parent_span_id == [0x22; 8];
    assert_eq!(others.iter().filter(own).count(), 2);
    // A request that nobody has answered.
    let failed = both.named("client", SEND);
    let failed: Vec<_> = failed
        .iter()
        .filter(|span| {
            span.status
                .as_ref()
                .is_some_and(|status| status.code() == StatusCode::Error)
        })
        .collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(both.path(failed[0]), [SEND, "Requests.Client.Fail"]);
    let said = attributes(failed[0]);
    assert_eq!(said["error.type"], "System.Net.Http.HttpRequestException");
    assert_eq!(said["url.full"], "http://127.0.0.1:9/");
    let sent = both.named("client", SEND);
    for span in sent.iter().filter(|span| span.span_id != failed[0].span_id) {
        let said = attributes(span);
        assert_eq!((&*span.name, &*said["http.request.method"]), ("GET", "GET"));
        assert_eq!(said["http.response.status_code"], "200");
        assert_eq!(said["server.address"], "127.0.0.1");
        assert!(
            said["url.full"].starts_with("http://127.0.0.1:"),
            "{said:?}"
        );
        assert_eq!(said["network.protocol.version"], "1.1");
    }
    // The activity is continued: its trace, and its span as the parent.
    let buys = both.named("client", "Requests.Client.Buy");
    let last = buys.last().unwrap();
    let [_, trace, span, _] = activity.split('-').collect::<Vec<_>>()[..] else {
        panic!("{activity}");
    };
    assert_eq!(
        (hex(&last.trace_id), hex(&last.parent_span_id)),
        (trace.to_owned(), span.to_owned())
    );
    let of_activity = both
        .0
        .values()
        .filter(|(_, span)| span.trace_id == last.trace_id);
    let services: Vec<&str> = of_activity.map(|(service, _)| &**service).collect();
    assert!(
        services.contains(&"client") && services.contains(&"server"),
        "{services:?}"
    );
    let others = buys.iter().filter(|span| span.trace_id != last.trace_id);
    assert!(
        others.clone().count() == 11 && others.clone().all(|span| span.parent_span_id.is_empty())
    );
}
