//! The cost of a span: nanoseconds and allocated bytes of a call, traced by `method_tracer`, with spans by hand, and without.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench spans            # 31 rounds
//! cargo bench -p clr_profiler_tests --bench spans -- 101
//! ```
//!
//! The rows of threads have the CPU time of a thread for each of its calls, so that neither the number of processors nor waiting for one
//! counts; the last line has the ratio of their spans.
//!
//! One process times all ways in turn in each round, so that other activity of the machine affects all alike; the
//! figures are medians. Code has its last tier before.

use std::error::Error;
use std::process::ExitCode;

use clr_profiler_tests::{Example, Folder, Runtime, matrix, profilee};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// In the order of the program, each with the way that it is compared with.
const WAYS: [(&str, usize); 13] = [
    ("a call", 0),
    ("traced", 0),
    ("by hand in C#", 0),
    ("with an Activity", 0),
    ("a call that captures the context", 4),
    ("traced", 4),
    ("a call that returns a completed task", 6),
    ("traced", 6),
    ("traced, first span of its trace", 0),
    ("a call on 1 thread, its CPU time", 9),
    ("traced", 9),
    ("a call on each of 4 threads, their CPU time", 11),
    ("traced", 11),
];
/// The traced calls on one thread and on several at once.
const THREADS: [usize; 2] = [10, 12];

fn main() -> ExitCode {
    let rounds = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    for runtime in matrix() {
        if let Err(error) = run(runtime, rounds.unwrap_or(31)) {
            eprintln!("spans: error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(runtime: &Runtime, rounds: u32) -> Result<()> {
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let file = file.to_str().ok_or("the path of the trace")?;
    let options = [
        "--methods",
        "SpanCosts!SpanCosts.Traced.*",
        // So many calls have no spans otherwise.
        "--budget",
        "100",
        "--output",
        file,
    ];
    let words = [&*rounds.to_string()];
    let mut command =
        Example("method_tracer").command(runtime, &options, &profilee("SpanCosts"), &words);
    let output = command.output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || stderr.contains("only counted") {
        return Err(format!("{}: {}: {stderr}", runtime.name, output.status).into());
    }
    let mut figures = vec![Vec::new(); 2 * WAYS.len()];
    for line in String::from_utf8(output.stdout)?.lines() {
        let words: Vec<f64> = line
            .split_whitespace()
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()?;
        if words.len() != figures.len() {
            return Err(format!("{}: `{line}`", runtime.name).into());
        }
        for (all, one) in figures.iter_mut().zip(words) {
            all.push(one);
        }
    }
    let medians: Vec<f64> = figures
        .iter_mut()
        .map(|figures| {
            figures.sort_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
        })
        .collect();
    println!("{}, {rounds} rounds of 10,000 calls", runtime.name);
    println!(
        "{:45}{:>11}{:>10}{:>8}{:>16}",
        "", "median", "added", "bytes", "added at least"
    );
    for (at, (name, other)) in WAYS.iter().enumerate() {
        let (time, added) = (medians[2 * at], medians[2 * at] - medians[2 * other]);
        let bytes = medians[2 * at + 1];
        // Sorted by now: the round with the least of other activity.
        let least = figures[2 * at][0] - figures[2 * other][0];
        println!("{name:45}{time:>8.2} ns{added:>10.2}{bytes:>8.0}{least:>16.2}");
    }
    let [one, four] = THREADS.map(|at| medians[2 * at] - medians[2 * WAYS[at].1]);
    println!(
        "a span on each of 4 threads takes {:.2} of the CPU time of one on a single thread",
        four / one
    );
    Ok(())
}
