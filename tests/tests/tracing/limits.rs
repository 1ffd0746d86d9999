//! A trace is complete at any moment, and does not grow without limit.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Finished, Folder, Running, profilee, runtimes};

use super::trace::{EXAMPLE, Trace, WITHOUT_BUDGET};

/// All calls, also those of small methods, and however often they are.
const ALL: [&str; 4] = ["--methods", "**", "--budget", "100"];

/// 360,000 calls of one method.
const CALLS: [&str; 4] = ["hour", "return", "100", "calls"];

#[test]
fn a_trace_that_has_reached_its_limit_has_the_newest_calls_and_says_so() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let [file, older] = ["trace.json", "trace.1.json"].map(|name| folder.path(name));
        let output = ["--output", file.to_str().unwrap()];
        let options = [&ALL[..], &["--max-size", "2"], &output].concat();
        let command = EXAMPLE.command(runtime, &options, &profilee("Watched"), &CALLS);
        let finished = Finished::of(command);
        assert!(finished.status.success(), "{finished:?}");
        let lines: Vec<&str> = finished.stderr.lines().collect();
        let is_said = lines.len() == 1
            && lines[0].starts_with("method_tracer: ")
            && lines[0].contains(" calls are not in the trace")
            && lines[0].contains("2 MB, and the oldest calls were dropped; `--max-size` sets");
        assert!(is_said, "{lines:?} {:?}", folder.listing());
        let [text, before] = [&file, &older].map(|file| fs::read_to_string(file).unwrap());
        // With the open calls, and the summary.
        let size = text.len() + before.len();
        assert!((1 << 20..(2 << 20) + (64 << 10)).contains(&size), "{size}");
        let [trace, before] = [text, before].map(|text| Trace::parse(&text));
        assert_eq!(trace.other["older"], "trace.1.json");
        assert_eq!(before.other["newer"], "trace.json");
        let calls = |trace: &Trace| {
            let calls = trace
                .spans
                .iter()
                .filter(|span| span.name == "Watched.Hour.Call(int)");
            calls.count() as u64
        };
        let (all, left_out) = (
            calls(&trace) + calls(&before),
            trace.other["left_out"].as_u64(),
        );
        let (left_out, lost) = (left_out.unwrap(), trace.other["lost"].as_u64().unwrap());
        assert!(
            all > 2_000 && all + left_out + lost >= 360_000,
            "{all} {left_out} {lost}"
        );
        // The last call of the program is there.
        let main = trace.of("Watched.Program.Main(string[])");
        assert_eq!(main.len(), 1);
        // Both files have the name of the thread.
        for file in [&file, &older] {
            let text = fs::read_to_string(file).unwrap();
            assert_eq!(text.matches("\"thread_name\"").count(), 1, "{file:?}");
        }
    }
}

#[test]
fn a_trace_is_whole_whenever_the_program_is_killed() {
    for runtime in runtimes() {
        for least in [20_000, 100_000, 500_000, 2_000_000] {
            println!("after {least} bytes on {}", runtime.name);
            let folder = Folder::new();
            let file = folder.path("trace.json");
            let output = ["--output", file.to_str().unwrap()];
            let options = [&ALL[..], &output].concat();
            let words = ["hour", "return", "10000", "calls"];
            let command = EXAMPLE.command(runtime, &options, &profilee("Watched"), &words);
            let running = Running::start(command);
            let begun = Instant::now();
            // Most of the file is room for more.
            let written = || {
                let text = fs::read(&file).unwrap_or_default();
                text.iter().filter(|byte| **byte != b' ').count()
            };
            while written() < least {
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
        let output = ["--output", file.to_str().unwrap()];
        let options = [&WITHOUT_BUDGET[..], &output].concat();
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
