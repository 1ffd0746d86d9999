//! A collector that others have written gets the spans, and passes them on.

use std::collections::HashMap;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler_test::{Archive, Index, Pinned, Platform};
use clr_profiler_tests::{Folder, Running, fetched, runtimes};
use opentelemetry_proto::tonic::trace::v1::Span;

use super::collector::Collector;
use super::trace::{Traced, traced_in};

/// Rotel, a collector of OpenTelemetry for one machine.
const ROTEL: Pinned = Pinned {
    name: "the collector Rotel 0.0.1a15",
    version: "0.0.1a15",
    index: Index::PyPi,
    package: "rotel",
    package_version: "0.0.1a15",
    licence: "Apache-2.0",
    archives: &[Archive {
        platform: Platform::LinuxX64,
        tag: "manylinux_2_34_x86_64",
        file: "rotel-0.0.1a15-cp311-cp311-manylinux_2_34_x86_64.whl",
        sha256: "2f4117e58410c933e0dc042a268ef738dab2e3a5d63b5831209acdac2a6ddcb7",
        size: 10_349_391,
        executable: "rotel/rotel-agent",
    }],
};

/// A port that nobody listens at.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn a_real_collector_gets_all_spans() {
    let Some(executable) = fetched(&ROTEL) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        // Rotel passes the spans on to a receiver of the test.
        let receiver = Collector::start(Duration::ZERO);
        let folder = Folder::new();
        let [http, grpc] = [port(), port()];
        let mut rotel = Command::new(&executable);
        rotel
            .args([
                "start",
                "--exporter",
                "otlp",
                "--otlp-exporter-protocol",
                "http",
            ])
            .args([
                "--otlp-exporter-endpoint",
                receiver.url.trim_end_matches("/v1/traces"),
            ])
            .args(["--otlp-http-endpoint", &format!("127.0.0.1:{http}")])
            .args(["--otlp-grpc-endpoint", &format!("127.0.0.1:{grpc}")])
            .arg("--pid-file")
            .arg(folder.path("pid"))
            .arg("--log-file")
            .arg(folder.path("log"))
            .stdin(Stdio::piped());
        let rotel = Running::start(rotel);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", http)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{rotel:?}");
            thread::sleep(Duration::from_millis(20));
        }
        let url = format!("http://127.0.0.1:{http}");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ];
        let Traced { trace, summary, .. } = traced_in(runtime, &[], &["work"], &variables);
        let ended: Vec<_> = trace
            .spans
            .iter()
            .filter(|span| !span.is_unfinished)
            .collect();
        assert!(
            summary.contains(&format!("{} spans were sent", ended.len())),
            "{summary}"
        );
        let mut passed_on: HashMap<Vec<u8>, Span> = HashMap::new();
        let begun = Instant::now();
        while passed_on.len() < ended.len() {
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "{} {rotel:?}",
                passed_on.len()
            );
            thread::sleep(Duration::from_millis(20));
            for (_, request) in receiver.requests() {
                let scopes = request
                    .resource_spans
                    .into_iter()
                    .flat_map(|of| of.scope_spans);
                let spans = scopes.flat_map(|scope| scope.spans);
                passed_on.extend(spans.map(|span| (span.span_id.clone(), span)));
            }
        }
        assert_eq!(passed_on.len(), ended.len());
        let names = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        let expected = ended.iter().map(|span| span.name.clone()).collect();
        let found = passed_on.values().map(|span| span.name.clone()).collect();
        assert_eq!(names(found), names(expected));
        let roots = passed_on
            .values()
            .filter(|span| span.parent_span_id.is_empty())
            .count();
        assert_eq!(roots, ended.iter().filter(|span| span.parent == 0).count());
        // Dropping ends it.
        drop(rotel);
    }
}
