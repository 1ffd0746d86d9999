//! A program that forks under the examples that watch signals: the child has their handlers, but not
//! the threads that would write results.

use std::fs;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Example, Finished, Folder, Sample, profilee, runtimes};

/// The program's output, with one word for all signals that ended the child: after an abort, the
/// runtime's own handler ends it in more than one way.
fn output(finished: &Finished) -> String {
    let lines = finished.stdout.lines().map(|line| {
        let status = line.strip_prefix("child: status ");
        match status.and_then(|status| status.parse::<u32>().ok()) {
            Some(status) if status & 0x7F != 0 => "child: a signal\n".to_owned(),
            _ => format!("{line}\n"),
        }
    });
    lines.collect()
}

#[test]
fn the_child_of_a_fork_gets_its_signals_and_writes_no_results() {
    let program = profilee("Forks");
    for runtime in runtimes() {
        let sample = Sample::one_of(2);
        let all = ["leave", "exit", "exec", "term", "abort"].into_iter();
        for (_, what) in all.enumerate().filter(|(number, _)| sample.has(*number)) {
            let plain = Finished::of(Example("jit_logger").plain(runtime, &program, &[what]));
            for name in ["jit_logger", "heap_snapshot"] {
                println!("{what} under {name} on {}", runtime.name);
                let folder = Folder::new();
                let file = folder.path("results.heapsnapshot");
                let options = ["--output", file.to_str().unwrap()];
                // This builds the examples, once.
                let command = Example(name).command(runtime, &options, &program, &[what]);
                let begun = Instant::now();
                let watched = Finished::of(command);
                assert_eq!(watched.status, plain.status, "{watched:?}");
                assert_eq!(output(&watched), output(&plain));
                // It does not wait for a thread that it does not have.
                assert!(
                    begun.elapsed() < Duration::from_secs(4),
                    "{:?}",
                    begun.elapsed()
                );
                let results = fs::read_to_string(&file).unwrap();
                match name {
                    "jit_logger" => {
                        let lines = results.matches("Forks.Program.Fork(string)");
                        assert_eq!(lines.count(), 1, "{results}");
                    }
                    _ => drop(serde_json::from_str::<serde_json::Value>(&results).unwrap()),
                }
                assert_eq!(folder.listing().len(), 1);
            }
        }
    }
}
