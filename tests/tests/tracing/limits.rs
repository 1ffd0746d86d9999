//! A trace is complete at any moment, and does not grow without limit.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Finished, Folder, Running, profilee, runtimes};

use super::trace::{EXAMPLE, Trace};

/// 360,000 calls of one method.
const CALLS: [&str; 4] = ["hour", "return", "100", "calls"];

#[test]
fn a_trace_that_has_reached_its_limit_says_so() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let options = ["--limit", "1", "--output", file.to_str().unwrap()];
        let command = EXAMPLE.command(runtime, &options, &profilee("Watched"), &CALLS);
        let finished = Finished::of(command);
        assert!(finished.status.success(), "{finished:?}");
        let lines: Vec<&str> = finished.stderr.lines().collect();
        let is_said = lines.len() == 1
            && lines[0].starts_with("method_tracer: ")
            && lines[0].contains(" calls are not in the trace")
            && lines[0].contains("1 MB; `--limit` sets another limit");
        assert!(is_said, "{lines:?}");
        let text = fs::read_to_string(&file).unwrap();
        // With the open calls, and the summary.
        assert!(
            (1 << 19..(1 << 20) + (64 << 10)).contains(&text.len()),
            "{}",
            text.len()
        );
        let trace = Trace::parse(&text);
        let calls = trace.of("Watched.Hour.Call(int)").len() as u64;
        let left_out = trace.other["left_out"].as_u64().unwrap();
        let lost = trace.other["lost"].as_u64().unwrap();
        assert!(
            calls > 1_000 && calls + left_out + lost >= 360_000,
            "{calls} {left_out} {lost}"
        );
    }
}

#[test]
fn a_trace_is_whole_whenever_the_program_is_killed() {
    for runtime in runtimes() {
        for least in [20_000, 100_000, 500_000, 2_000_000] {
            println!("after {least} bytes on {}", runtime.name);
            let folder = Folder::new();
            let file = folder.path("trace.json");
            let options = ["--output", file.to_str().unwrap()];
            let words = ["hour", "return", "10000", "calls"];
            let command = EXAMPLE.command(runtime, &options, &profilee("Watched"), &words);
            let running = Running::start(command);
            let begun = Instant::now();
            while fs::metadata(&file).map_or(0, |about| about.len()) < least {
                assert!(begun.elapsed() < Duration::from_secs(60), "no trace");
                thread::sleep(Duration::from_millis(1));
            }
            // By dropping, which sends SIGKILL and waits.
            drop(running);
            let trace = Trace::parse(&fs::read_to_string(&file).unwrap());
            assert!(!trace.spans.is_empty());
        }
    }
}

/// A program that a traced one has started writes to a file of its own.
#[test]
fn each_process_has_its_trace() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let options = ["--output", file.to_str().unwrap()];
        let command = EXAMPLE.command(runtime, &options, &profilee("Behaviours"), &["child"]);
        let finished = Finished::of(command);
        assert!(finished.status.success(), "{finished:?}");
        let traces = folder.listing();
        assert_eq!(traces.len(), 2, "{traces:?}");
        for (path, _) in traces {
            let trace = Trace::parse(&fs::read_to_string(path).unwrap());
            assert_eq!(trace.of("Behaviours.Program.Main(string[])").len(), 1);
        }
    }
}
