//! Whatever a collector does, the program behaves as without one, and the lost spans are counted.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler_tests::runtimes;

use super::trace::{Traced, traced_in};

/// How a collector fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nobody listens.
    Absent,
    /// It takes each request, after a while.
    Slow,
    /// It accepts connections, and neither reads nor writes.
    Hangs,
    /// It closes connections at once.
    Closes,
    /// It closes a connection in the middle of its answer.
    ClosesLate,
    /// It is a server of another protocol.
    Garbage,
    /// Its answer never ends.
    Endless,
    /// It sends a byte of its answer now and then.
    Drips,
    /// It asks for later requests.
    Busy,
    /// It refuses requests.
    Refuses,
}

const ALL: [Fault; 10] = [
    Fault::Absent,
    Fault::Slow,
    Fault::Hangs,
    Fault::Closes,
    Fault::ClosesLate,
    Fault::Garbage,
    Fault::Endless,
    Fault::Drips,
    Fault::Busy,
    Fault::Refuses,
];

impl Fault {
    /// The URL of a collector that fails so.
    fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        if self != Self::Absent {
            thread::spawn(move || {
                // Those that are not answered stay open.
                let mut open = Vec::new();
                for stream in listener.incoming() {
                    let stream = stream.unwrap();
                    match self {
                        Self::Hangs => open.push(stream),
                        _ => drop(thread::spawn(move || self.answer(stream))),
                    }
                }
            });
        }
        url
    }

    /// The program may have ended at any moment.
    fn answer(self, mut stream: TcpStream) -> Option<()> {
        if self == Self::Closes {
            return None;
        }
        let mut request = [0; 64 << 10];
        let _some = stream.read(&mut request).ok()?;
        let mut write = |text: &str| stream.write_all(text.as_bytes()).ok();
        match self {
            Self::Slow => {
                thread::sleep(Duration::from_millis(200));
                write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
            }
            Self::ClosesLate => write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")?,
            Self::Garbage => write("\0\u{1}garbage\r\n\r\nmore of it\r\n\r\n")?,
            Self::Endless => {
                write("HTTP/1.1 200 OK\r\n\r\n")?;
                loop {
                    write(&"x".repeat(4096))?;
                }
            }
            Self::Drips => {
                for byte in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".chars() {
                    thread::sleep(Duration::from_millis(500));
                    write(&byte.to_string())?;
                }
            }
            Self::Busy => write(
                "HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            )?,
            _ => write("HTTP/1.1 400 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?,
        }
        // The rest of a request that came in parts.
        stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
        while stream.read(&mut request).ok()? > 0 {}
        Some(())
    }
}

/// The numbers of sent, lost and waiting spans.
fn numbers(traced: &Traced) -> [usize; 3] {
    let line = traced
        .summary
        .lines()
        .find(|line| line.contains("sent to the collector"));
    let words = line.unwrap().split_whitespace();
    let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).take(3).collect();
    numbers.try_into().unwrap()
}

/// The number in the line at the end of the program.
fn told(traced: &Traced) -> usize {
    let parts = traced
        .line
        .split("; ")
        .map(|part| part.trim_start_matches("method_tracer: "));
    let counts =
        parts.filter_map(|part| part.split_once(" spans not sent")?.0.parse::<usize>().ok());
    counts.sum()
}

#[test]
fn a_collector_that_fails_costs_spans_and_nothing_else() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let timed = |options: &[&str]| {
            let traced = traced_in(runtime, options, &["work"], &[]);
            (traced.took, traced)
        };
        let (alone, _) = timed(&[]);
        for fault in ALL {
            let (took, traced) = timed(&["--otlp", &fault.start()]);
            let ended = traced
                .trace
                .spans
                .iter()
                .filter(|span| !span.is_unfinished)
                .count();
            let [sent, lost, waiting] = numbers(&traced);
            println!(
                "{fault:?}: {sent} sent, {lost} lost, {waiting} wait; {took:?}, {alone:?} alone"
            );
            assert_eq!(sent + lost + waiting, ended, "{}", traced.summary);
            assert_eq!(told(&traced), lost + waiting, "{}", traced.line);
            assert_eq!(sent > 0, fault == Fault::Slow, "{}", traced.summary);
            // Half a second is waited for an answer; the machine may be busy.
            assert!(
                took < alone * 2 + Duration::from_secs(3),
                "{fault:?} {took:?} {alone:?}"
            );
        }
    }
}

#[test]
fn a_queue_that_is_full_loses_what_is_counted() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let url = Fault::Slow.start();
        let variables = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &*url),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "64"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8"),
        ];
        let begun = Instant::now();
        let traced = traced_in(runtime, &[], &["work"], &variables);
        let ended = traced
            .trace
            .spans
            .iter()
            .filter(|span| !span.is_unfinished)
            .count();
        let [sent, lost, waiting] = numbers(&traced);
        println!(
            "{sent} sent, {lost} lost, {waiting} wait, in {:?}",
            begun.elapsed()
        );
        assert_eq!(sent + lost + waiting, ended, "{}", traced.summary);
        assert!(sent > 0 && lost > 0 && waiting <= 64, "{}", traced.summary);
        assert_eq!(told(&traced), lost + waiting, "{}", traced.line);
        assert!(
            traced.line.contains("the collector is too slow"),
            "{}",
            traced.line
        );
    }
}
