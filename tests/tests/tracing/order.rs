//! A service with a request in, a request out and a database call: one trace.
//!
//! With SERVICE_TRACE, its trace is written to this path: docs/viewers.sh photographs it.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use clr_profiler_tests::{Folder, Running, profilee, runtimes_where};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use super::both::{Both, RECEIVE, SEND, START, attributes, hex};
use super::collector::Collector;
use super::database::{self, connection};
use super::trace::EXAMPLE;

const PATTERNS: &str = "Requests!Requests.Server.Handle; Requests!Requests.Shop.**";
const HANDLE: &str = "Requests.Server.Handle";
const ORDER: &str = "Requests.Shop.Order";
const ASK: &str = "Npgsql.NpgsqlCommand.ExecuteScalarAsync";

/// A service that answers every request with a price, and the headers `traceparent` that it gets.
fn prices() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/price", listener.local_addr().unwrap());
    let (send, contexts) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for line in lines.map_while(Result::ok) {
                if line.is_empty() {
                    break;
                }
                if let Some(context) = line.strip_prefix("traceparent: ") {
                    send.send(context.to_owned()).unwrap();
                }
            }
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n12";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, contexts)
}

fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn an_order_is_one_trace() {
    // The program that brings ASP.NET Core and Npgsql.
    for runtime in runtimes_where(|runtime| runtime.major == 9) {
        println!("on {}", runtime.name);
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
        ];
        let options = [&options[..], &["--otlp", &collector.url]].concat();
        let (prices, contexts) = prices();
        let at = connection(database::start());
        let program = profilee("Requests");
        let words = ["serve", "None", &prices, &at];
        let mut command = EXAMPLE.command(runtime, &options, &program, &words);
        command.env("OTEL_SERVICE_NAME", "server");
        let mut server = Running::start(command);
        let url = server.line_within(START);
        // The second one is without the work of the first: that of the compiler, and of loading.
        for _ in 0..2 {
            let answer = get(&url, "/order");
            assert!(
                answer.starts_with("HTTP/1.1 200 ") && answer.contains("12 of 42"),
                "{answer}"
            );
        }
        assert_eq!(server.ask(""), "stopped");
        let server = server.finish();
        assert_eq!(
            (server.status.code(), &*server.stderr),
            (Some(7), ""),
            "{server:?}"
        );

        let both = Both::of(&collector);
        let [received, sent, asked] = [RECEIVE, SEND, ASK].map(|name| both.named("server", name));
        assert_eq!(
            [received.len(), sent.len(), asked.len()],
            [2, 2, 2],
            "{:?}",
            both.0
        );
        for ((received, sent), asked) in received.into_iter().zip(sent).zip(asked) {
            assert_eq!(
                (received.kind(), &*received.name),
                (SpanKind::Server, "GET")
            );
            assert_eq!(both.path(sent), [SEND, ORDER, HANDLE, HANDLE, RECEIVE]);
            assert_eq!((sent.kind(), &*sent.name), (SpanKind::Client, "GET"));
            assert_eq!(attributes(sent)["url.full"], prices);
            assert_eq!(both.path(asked), [ASK, ORDER, HANDLE, HANDLE, RECEIVE]);
            assert_eq!(
                (asked.kind(), &*asked.name),
                (SpanKind::Client, "postgresql shop")
            );
            assert_eq!(
                attributes(asked)["db.query.text"],
                "select total from orders"
            );
            assert_eq!(
                (&sent.trace_id, &asked.trace_id),
                (&received.trace_id, &received.trace_id)
            );
            let context = format!("00-{}-{}-01", hex(&sent.trace_id), hex(&sent.span_id));
            assert_eq!(contexts.recv().unwrap(), context);
        }
        if let Some(path) = env::var_os("SERVICE_TRACE") {
            fs::copy(&file, path).unwrap();
        }
    }
}
