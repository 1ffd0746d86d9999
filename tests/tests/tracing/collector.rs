//! A collector of OpenTelemetry, as far as these tests need it: it decodes requests by the official
//! definitions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

pub(crate) struct Collector {
    pub(crate) url: String,
    requests: Receiver<Request>,
}

/// The lines of a head in lower case, and the message.
pub(crate) type Request = (Vec<String>, ExportTraceServiceRequest);

impl Collector {
    /// A collector that takes this long for each answer.
    pub(crate) fn start(takes: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let (send, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = receive(&mut stream) else {
                    continue;
                };
                thread::sleep(takes);
                // Before the answer: a program that has it may end, and its spans are counted then.
                if send.send(request).is_err() {
                    return;
                }
                // The program may have ended by now.
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
        });
        Self { url, requests }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

fn receive(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push(line.trim().to_ascii_lowercase());
    }
    assert!(head[0].starts_with("post /v1/traces http/1.1"), "{head:?}");
    assert!(
        head.contains(&"content-type: application/x-protobuf".to_owned()),
        "{head:?}"
    );
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    if head.contains(&"content-encoding: gzip".to_owned()) {
        let mut plain = Vec::new();
        GzDecoder::new(&*body).read_to_end(&mut plain).unwrap();
        body = plain;
    }
    Some((head, ExportTraceServiceRequest::decode(&*body).unwrap()))
}
