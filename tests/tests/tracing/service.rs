//! A traced client calls an ASP.NET Core service that others have written, over a network with faults: one trace, and the right
//! parents.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use clr_profiler_test::{Archive, Index, Pinned, Platform};
use clr_profiler_tests::{Finished, Folder, Running, Runtime, fetched, profilee, runtimes};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use super::both::{Both, RECEIVE, SEND, START, attributes};
use super::collector::Collector;
use super::trace::EXAMPLE;

/// A server for office documents, one file with ASP.NET Core 10 and the runtime in it.
const SERVICE: Pinned = Pinned {
    name: "officeagent-mcp 1.2.0, with .NET 10",
    version: "1.2.0",
    index: Index::PyPi,
    package: "officeagent-mcp",
    package_version: "1.2.0",
    licence: "MIT (the program and the runtime)",
    archives: &[Archive {
        platform: Platform::LinuxX64,
        tag: "manylinux_2_27_x86_64",
        file: "officeagent_mcp-1.2.0-py3-none-manylinux_2_27_x86_64.whl",
        sha256: "9a2af78ac4b6bc680e6e7557600d3a5b3a06b43411b1caca9ce3e0471aebf51b",
        size: 48_664_869,
        executable: "officeagent_mcp/bin/officeagent-mcp",
    }],
};

/// Methods of the service.
const OWN: &str = "OfficeAgent.Mcp!OfficeAgent.Mcp.OfficeAgentMcpServer.*";
const ASK: &str = "Asks.Client.Ask";

/// The network's faults, which are the paths of the client's requests: the client's output, whether the request has reached
/// the service, and the client's error.
const FAULTS: [(&str, &str, bool, Option<&str>); 6] = [
    ("whole", "200, ", true, None),
    ("crumbs", "200, ", true, None),
    (
        "nothing",
        "failed",
        false,
        Some("System.Net.Http.HttpRequestException"),
    ),
    (
        "head",
        "failed",
        true,
        Some("System.Net.Http.HttpRequestException"),
    ),
    // The handler has given the response to its caller before the end is missing.
    ("body", "failed", true, None),
    (
        "slow",
        "cancelled",
        true,
        Some("System.Threading.Tasks.TaskCanceledException"),
    ),
];

/// Passes requests on to the service, as the path says, and the answers back.
fn network(service: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            let service = service.clone();
            thread::spawn(move || pass(client.unwrap(), &service));
        }
    });
    url
}

/// One request. The client may close its connection at any moment.
fn pass(mut client: TcpStream, service: &str) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let (first, headers) = head.split_once("\r\n")?;
    let fault = first.strip_prefix("POST /")?.split(' ').next()?;
    let length = headers
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length?.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    if fault == "nothing" {
        return None;
    }
    let mut to = TcpStream::connect(service).ok()?;
    write!(to, "POST / HTTP/1.1\r\nConnection: close\r\n{headers}").ok()?;
    to.write_all(&body).ok()?;
    let mut answer = Vec::new();
    to.read_to_end(&mut answer).ok()?;
    match fault {
        "crumbs" => {
            for crumb in answer.chunks(100) {
                client.write_all(crumb).ok()?;
                client.flush().ok()?;
                thread::sleep(Duration::from_micros(500));
            }
        }
        "head" => client.write_all(&answer[..10]).ok()?,
        "body" => client.write_all(&answer[..answer.len() - 50]).ok()?,
        // Until the client has had enough.
        "slow" => drop(reader.read(&mut [0])),
        _ => client.write_all(&answer).ok()?,
    }
    Some(())
}

/// The service, and where it listens. With a collector it is traced.
fn service(executable: &Path, folder: &Folder, collector: Option<&Collector>) -> (Running, String) {
    let mut command = match collector {
        None => Command::new(executable),
        Some(collector) => {
            let mut command = Command::new(EXAMPLE.executable());
            command
                .arg("--output")
                .arg(folder.path("service.json"))
                .args(["--otlp", &collector.url, "--budget", "100"])
                .args(["--methods", OWN, "--"])
                .arg(executable);
            command
        }
    };
    command
        .args(["--urls", "http://127.0.0.1:0"])
        .env("HOME", folder.path(""))
        .env("OTEL_SERVICE_NAME", "service");
    let mut service = Running::start(command);
    loop {
        let line = service.line_within(START);
        if let Some((_, address)) = line.split_once("Now listening on: http://") {
            return (service, address.to_owned());
        }
    }
}

fn client(
    runtime: &Runtime,
    words: &[&str],
    folder: &Folder,
    collector: Option<&Collector>,
) -> Finished {
    let program = profilee("Asks");
    let Some(collector) = collector else {
        return Finished::of(EXAMPLE.plain(runtime, &program, words));
    };
    let file = folder.path("client.json");
    let options = [
        "--budget",
        "100",
        "--methods",
        ASK,
        "--output",
        file.to_str().unwrap(),
        "--otlp",
        &collector.url,
    ];
    let mut command = EXAMPLE.command(runtime, &options, &program, words);
    command.env("OTEL_SERVICE_NAME", "client");
    Finished::of(command)
}

#[test]
fn calls_of_a_real_service_are_one_trace_whatever_the_network_does() {
    let Some(executable) = fetched(&SERVICE) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let collector = Collector::start(Duration::ZERO);
        let mut outputs = Vec::new();
        for traced in [None, Some(&collector)] {
            let (service, address) = service(&executable, &folder, traced);
            let url = network(address);
            let mut words: Vec<String> = FAULTS.map(|(fault, ..)| format!("{url}/{fault}")).into();
            // Nobody listens there.
            words.push("http://127.0.0.1:9/refused".to_owned());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let client = client(runtime, &words, &folder, traced);
            assert_eq!(client.status.code(), Some(7), "{client:?}");
            let id = service.id().to_string();
            assert!(
                Command::new("kill")
                    .args(["-TERM", &id])
                    .status()
                    .unwrap()
                    .success()
            );
            let service = service.wait();
            assert_eq!(service.status.code(), Some(0), "{service:?}");
            outputs.push(client.stdout);
        }
        assert_eq!(outputs[0], outputs[1]);
        let lines: Vec<&str> = outputs[1].lines().collect();
        let both = Both::of(&collector);
        let sent = both.named("client", SEND);
        assert_eq!((lines.len(), sent.len()), (7, 7), "{lines:?} {sent:?}");
        for (index, (fault, printed, arrives, error)) in FAULTS.into_iter().enumerate() {
            assert!(lines[index].starts_with(printed), "{fault}: {lines:?}");
            check(&both, sent[index], fault, arrives, error);
        }
        assert_eq!(lines[6], "failed");
        check(
            &both,
            sent[6],
            "refused",
            false,
            Some("System.Net.Http.HttpRequestException"),
        );
        let arrived = FAULTS.iter().filter(|(_, _, arrives, _)| *arrives).count();
        assert_eq!(both.named("service", RECEIVE).len(), arrived);
    }
}

/// The spans of one request in both processes.
fn check(both: &Both, sent: &Span, fault: &str, arrives: bool, error: Option<&str>) {
    assert_eq!(both.path(sent), [SEND, ASK], "{fault}");
    assert_eq!(
        (sent.kind(), &*sent.name),
        (SpanKind::Client, "POST"),
        "{fault}"
    );
    let said = attributes(sent);
    assert!(said["url.full"].ends_with(&format!("/{fault}")), "{said:?}");
    assert_eq!(
        said.get("error.type").map(String::as_str),
        error,
        "{fault}: {said:?}"
    );
    let status = sent
        .status
        .as_ref()
        .map_or(StatusCode::Unset, |status| status.code());
    let expected = if error.is_some() {
        StatusCode::Error
    } else {
        StatusCode::Unset
    };
    assert_eq!(status, expected, "{fault}");
    let code = said.get("http.response.status_code").map(String::as_str);
    assert_eq!(code, error.is_none().then_some("200"), "{fault}: {said:?}");

    let received = both.named("service", RECEIVE);
    let received: Vec<_> = received
        .iter()
        .filter(|span| span.parent_span_id == sent.span_id)
        .collect();
    assert_eq!(
        received.len(),
        usize::from(arrives),
        "{fault}: {received:?}"
    );
    for span in received {
        assert_eq!(both.path(span), [RECEIVE, SEND, ASK]);
        assert_eq!((span.kind(), &*span.name), (SpanKind::Server, "POST /"));
        assert_eq!(span.trace_id, sent.trace_id);
        let said = attributes(span);
        let expected = [
            ("http.request.method", "POST"),
            ("http.response.status_code", "200"),
            ("http.route", "/"),
            ("url.path", "/"),
        ];
        for (name, value) in expected {
            assert_eq!(
                said.get(name).map(String::as_str),
                Some(value),
                "{fault}: {said:?}"
            );
        }
    }
}
