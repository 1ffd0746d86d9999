//! An hour of events without pauses: the tools' memory does not grow with it.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Sample, profilee, runtimes_where};

/// The event rate, as a fraction of that of `.ci/full`.
fn rate(of: u64) -> u64 {
    match std::env::var_os("WATCHED_HOUR") {
        Some(_) => of,
        None => of.div_ceil(50),
    }
}

/// How many more kilobytes the program may grow under a tool than alone.
const MORE: i64 = 8 * 1024;

/// The program's memory after the first second of the hour, and after the last one.
fn memory(finished: &Finished) -> [i64; 2] {
    assert!(finished.status.success(), "{finished:?}");
    let lines = finished.stdout.lines();
    let figures = lines.filter_map(|line| line.strip_prefix("rss ")?.parse().ok());
    let figures: Vec<i64> = figures.collect();
    figures.try_into().expect("two figures")
}

#[test]
fn tools_do_not_grow_with_the_events() {
    let is_hour = std::env::var_os("WATCHED_HOUR").is_some();
    let sample = Sample::one_of(2);
    // A line for each exception and each collection: these are less frequent.
    let tools = [
        ("call_counter", &[][..], "calls", 1000),
        ("alloc_profiler", &[], "objects", 1000),
        ("alloc_profiler", &["--sampled"], "objects", 1000),
        ("exception_logger", &[], "exceptions", 100),
        ("gc_monitor", &[], "collections", 10),
    ];
    for (number, (name, options, events, of)) in tools.into_iter().enumerate() {
        if !(is_hour || sample.has(number)) {
            continue;
        }
        let rate = rate(of);
        for runtime in runtimes_where(|it| it.major >= 5 || !options.contains(&"--sampled")) {
            let example = Example(name);
            let folder = Folder::new();
            let file = folder.path("results.txt");
            let mut all = options.to_vec();
            all.extend(["--output", file.to_str().unwrap()]);
            let words = ["hour", "return", &rate.to_string(), events];
            let program = profilee("Watched");
            let plain = memory(&Finished::of(example.plain(runtime, &program, &words)));
            let watched = Finished::of(example.command(runtime, &all, &program, &words));
            let watched = memory(&watched);
            println!(
                "{name} {options:?} on {}: {rate} {events} a second: {} kB after the first \
                 second, {} kB after the hour; without it {} kB and {} kB",
                runtime.name, watched[0], watched[1], plain[0], plain[1]
            );
            assert!(fs::metadata(file).unwrap().len() > 0);
            let grown = (watched[1] - watched[0]) - (plain[1] - plain[0]).max(0);
            assert!(grown < MORE, "{name} has grown by {grown} kB");
        }
    }
}
