//! Random trees of calls, tasks, timers, threads, contexts and exceptions: each span has its parent.
//!
//! The test can fail: with a part of `profilers/trace/context.rs` left out by hand, so many spans of the same trees had wrong parents, and
//! none with all parts.
//!
//! | left out | .NET Core 3.1.23, of 25,192 | .NET 8.0.4, of 25,786 |
//! |---|---|---|
//! | the prologue of `ExecutionContext.Capture` | 8,666 | 10,067 (also on .NET 9.0.7 and 10.0.13) |
//! | the boundaries (`RunInternal` and the others) | 1,377 | 1,076 |
//! | the prologue of `RestoreInternal`, which .NET Core 3.1 does not get | | 231 |

use std::collections::HashMap;
use std::fs;

use clr_profiler_tests::{Finished, Folder, profilee, runtimes};

use super::trace::{EXAMPLE, Trace};

/// The number of trees on each of the program's threads.
const TREES: &str = "250";
const METHODS: &str = "Trees!Trees.Spans.*; Trees!Trees.Program.Warm";

#[test]
fn spans_of_random_trees_have_their_parents() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (file, known) = (folder.path("trace.json"), folder.path("known"));
        let output = ["--output", file.to_str().unwrap()];
        let options = [&["--budget", "100", "--methods", METHODS][..], &output].concat();
        let program = profilee("Trees");
        let words = ["trees", TREES, known.to_str().unwrap()];
        let plain = Finished::of(EXAMPLE.plain(runtime, &program, &words));
        let finished = Finished::of(EXAMPLE.command(runtime, &options, &program, &words));
        assert_eq!(finished.output(), plain.output(), "{finished:?}");
        assert_eq!(finished.status.code(), Some(0), "{finished:?}");
        let trace = Trace::parse(&fs::read_to_string(&file).unwrap());
        assert_eq!(trace.other["lost"], 0);
        let parents: HashMap<u64, u64> = trace
            .spans
            .iter()
            .map(|span| (span.id, span.parent))
            .collect();
        let known = fs::read_to_string(&known).unwrap();
        let mut wrong: HashMap<&str, u64> = HashMap::new();
        let mut all = 0;
        for line in known.lines() {
            let mut words = line.splitn(3, ' ');
            let [span, parent] = [words.next(), words.next()].map(|n| n.unwrap().parse().unwrap());
            all += 1;
            if parents.get(&span) != Some(&parent) {
                *wrong.entry(words.next().unwrap()).or_default() += 1;
            }
        }
        let count: u64 = wrong.values().sum();
        println!("on {}: {all} spans, {count} wrong", runtime.name);
        assert!(all > 20_000 && wrong.is_empty(), "{wrong:?}");
        // All of them are in the program's own list.
        assert_eq!(trace.of("Trees.Program.Warm()").len(), 1);
        assert_eq!(trace.spans.len(), all + 1);
    }
}
