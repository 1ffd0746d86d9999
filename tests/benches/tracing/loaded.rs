//! A server under load for minutes, once without the tracer and once with it: memory, answers, and the CPU time of a request.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::measure::{Job, Result, With, server};
use super::server::{QUESTIONS, Server};

/// The megabytes of the trace, so that its files change places during the run.
const LIMIT: u64 = 20;

/// The figures of a process at a moment.
#[derive(Clone, Copy)]
struct Figures {
    /// Seconds.
    cpu: f64,
    requests: u64,
    /// Kilobytes.
    resident: f64,
    private: f64,
}

/// The counts of the clients of a server.
#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    others: AtomicU64,
}

pub(crate) fn run(minutes: u64, rate: u32) -> Result<()> {
    let Some(plain) = server("plain", 1)? else {
        return Err("its runtime is missing".into());
    };
    let Some(mut traced) = server("traced", 1)? else {
        return Err("its runtime is missing".into());
    };
    let bytes = AtomicU64::new(0);
    let collector = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1/traces", collector.local_addr()?);
    let summary = traced.folder.path("summary");
    traced.options = vec![
        ("METHOD_TRACER_CONVENTIONS", "all".to_owned()),
        ("METHOD_TRACER_MAX_SIZE", LIMIT.to_string()),
        ("METHOD_TRACER_OTLP", url),
        ("METHOD_TRACER_SUMMARY", summary.display().to_string()),
    ];
    let is_over = AtomicBool::new(false);
    println!(
        "{rate} requests a second to each server; CPU time in ms for each request, memory in MB"
    );
    println!(
        "{:>7}{:>10}{:>8}{:>8}{:>8}{:>20}{:>20}{:>9}{:>9}",
        "minute",
        "requests",
        "plain",
        "traced",
        "ratio",
        "resident",
        "private",
        "others",
        "OTLP kB"
    );
    thread::scope(|scope| {
        scope.spawn(|| collect(&collector, &bytes, &is_over));
        let result = compare([&plain, &traced], (minutes, rate), &bytes);
        is_over.store(true, Ordering::Relaxed);
        // The thread looks at it after each connection.
        let _ = TcpStream::connect(collector.local_addr()?);
        result
    })?;
    let text = fs::read_to_string(summary)?;
    let last = text.lines().rev().take(4).collect::<Vec<_>>();
    for line in last.iter().rev().filter(|line| !line.is_empty()) {
        println!("{line}");
    }
    for name in ["trace.json", "trace.1.json"] {
        let size = fs::metadata(traced.folder.path(name)).map_or(0, |file| file.len());
        println!("{name}: {:.1} MB", size as f64 / 1e6);
    }
    Ok(())
}

/// Asks both servers at the same rate, and prints a line a minute.
fn compare(jobs: [&Job; 2], (minutes, rate): (u64, u32), bytes: &AtomicU64) -> Result<()> {
    let [plain, traced] = [(jobs[0], With::Nothing), (jobs[1], With::Tracer)]
        .map(|(job, with)| Server::start(&mut job.command(with)?, job));
    let servers = [plain?, traced?];
    let expected: Vec<Option<String>> = QUESTIONS.iter().map(|it| servers[0].ask(it)).collect();
    if expected.iter().any(Option::is_none) {
        return Err(jobs[0].fails(&"no answer"));
    }
    let (seen, is_over) = ([Seen::default(), Seen::default()], AtomicBool::new(false));
    let all = thread::scope(|scope| {
        for (server, seen) in servers.iter().zip(&seen) {
            let (expected, is_over) = (&expected, &is_over);
            scope.spawn(move || ask(server, expected, rate, seen, is_over));
        }
        let all = watch(&servers, &seen, minutes, bytes);
        is_over.store(true, Ordering::Relaxed);
        all
    })?;
    let ticks: Vec<_> = all.iter().skip(all.len() / 2).collect();
    for (at, name) in ["plain", "traced"].iter().enumerate() {
        let points = (0..)
            .zip(&ticks)
            .map(|(minute, figures)| (f64::from(minute), figures[at].private));
        println!(
            "{name}: in the second half, private memory grew by {:.0} kB a minute",
            slope(points)
        );
    }
    let first = all.first().ok_or("no minutes")?;
    let last = all.last().ok_or("no minutes")?;
    let each = [0, 1].map(|at| each(&first[at], &last[at]));
    println!(
        "after the first minute: {:.3} and {:.3} ms of CPU time for each request, {:.3} times",
        each[0],
        each[1],
        each[1] / each[0]
    );
    for (server, job) in servers.into_iter().zip(jobs) {
        server.end(job)?;
    }
    match seen
        .iter()
        .all(|seen| seen.others.load(Ordering::Relaxed) == 0)
    {
        true => Ok(()),
        false => Err("answers differ, or are missing".into()),
    }
}

/// The milliseconds of a request between two moments.
fn each(first: &Figures, last: &Figures) -> f64 {
    (last.cpu - first.cpu) * 1e3 / (last.requests - first.requests).max(1) as f64
}

/// The figures of both servers after each minute.
fn watch(
    servers: &[Server; 2],
    seen: &[Seen; 2],
    minutes: u64,
    bytes: &AtomicU64,
) -> Result<Vec<[Figures; 2]>> {
    let began = Instant::now();
    let now = || -> Result<[Figures; 2]> {
        let [plain, traced] = [0, 1].map(|at| {
            figures(
                servers[at].process(),
                seen[at].requests.load(Ordering::Relaxed),
            )
        });
        Ok([plain?, traced?])
    };
    let mut last = now()?;
    let mut all = Vec::new();
    for minute in 1..=minutes {
        thread::sleep(Duration::from_secs(60 * minute).saturating_sub(began.elapsed()));
        let now = now()?;
        let [plain, traced] = [0, 1].map(|at| each(&last[at], &now[at]));
        let memory =
            |of: fn(&Figures) -> f64| format!("{:.1} {:.1}", of(&now[0]) / 1e3, of(&now[1]) / 1e3);
        println!(
            "{minute:>7}{:>10}{plain:>8.3}{traced:>8.3}{:>8.3}{:>20}{:>20}{:>9}{:>9}",
            now[1].requests,
            traced / plain,
            memory(|it| it.resident),
            memory(|it| it.private),
            seen.iter()
                .map(|seen| seen.others.load(Ordering::Relaxed))
                .sum::<u64>(),
            bytes.load(Ordering::Relaxed) / 1000
        );
        all.push(now);
        last = now;
    }
    Ok(all)
}

fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count().max(1) as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |sum, point| {
        (sum.0 + point.0 / count, sum.1 + point.1 / count)
    });
    let products: f64 = points
        .clone()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    let squares: f64 = points.map(|point| (point.0 - x).powi(2)).sum();
    products / squares.max(1.0)
}

/// Asks a server at a fixed rate, whatever its answers take.
fn ask(server: &Server, expected: &[Option<String>], rate: u32, seen: &Seen, is_over: &AtomicBool) {
    let began = Instant::now();
    let questions = QUESTIONS.iter().zip(expected).cycle();
    for (number, (question, expected)) in (0_u32..).zip(questions) {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep((Duration::from_secs(1) / rate * number).saturating_sub(began.elapsed()));
        if server.ask(question) != *expected {
            seen.others.fetch_add(1, Ordering::Relaxed);
        }
        seen.requests.fetch_add(1, Ordering::Relaxed);
    }
}

fn figures(process: u32, requests: u64) -> Result<Figures> {
    /// Ticks of the system in a second, which are the same on all machines.
    const TICKS: f64 = 100.0;
    let read = |file: &str| fs::read_to_string(format!("/proc/{process}/{file}"));
    let kilobytes = |text: &str, name: &str| -> Result<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.ok_or("no such line")?.parse()?)
    };
    let stat = read("stat")?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no name in the file stat")?;
    let times = rest.split_whitespace().skip(11).take(2);
    let times: std::result::Result<Vec<f64>, _> = times.map(str::parse).collect();
    Ok(Figures {
        cpu: times?.iter().sum::<f64>() / TICKS,
        requests,
        resident: kilobytes(&read("status")?, "VmRSS:")?,
        private: kilobytes(&read("smaps_rollup")?, "Private_Dirty:")?,
    })
}

/// A collector that accepts everything.
fn collect(listener: &TcpListener, bytes: &AtomicU64, is_over: &AtomicBool) {
    for connection in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        // A client that leaves is none of its business.
        let _ = connection.and_then(|connection| accept(connection, bytes));
    }
}

/// Answers the requests of a connection, and counts their bytes.
fn accept(mut connection: TcpStream, bytes: &AtomicU64) -> io::Result<()> {
    let (mut buffer, mut text) = ([0; 65536], Vec::new());
    connection.set_read_timeout(Some(Duration::from_secs(5)))?;
    loop {
        let count = connection.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        text.extend_from_slice(&buffer[..count]);
        bytes.fetch_add(count as u64, Ordering::Relaxed);
        let Some(end) = text.windows(4).position(|it| it == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&text[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
        if text.len() >= end + 4 + length {
            text.drain(..end + 4 + length);
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
        }
    }
}
