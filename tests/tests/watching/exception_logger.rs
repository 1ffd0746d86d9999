//! `exception_logger`: each exception has its type, message, stack and catch block.

use std::fs;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes};

use super::endings::endings;

const EXAMPLE: Example = Example("exception_logger");

/// The exceptions of `Watched fail` on its main thread: type and message, stack, and catch block.
const THROWN: [(&str, &str, Option<&str>); 10] = [
    ("System.InvalidOperationException: at once", RUN, Some(RUN)),
    (
        "Watched.Failure<int>: through frames",
        "Watched.Failures.Through(int)",
        Some(RUN),
    ),
    ("Watched.Failures+Silent", RUN, Some(RUN)),
    ("Watched.Failures+Silent", RUN, Some(RUN)),
    (
        r"System.FormatException: by a filter\nof two lines",
        RUN,
        Some(RUN),
    ),
    (
        "System.ApplicationException: in a filter",
        "Watched.Failures.Throws(System.Exception)",
        Some("a filter"),
    ),
    ("System.TimeoutException: given up for the next", RUN, None),
    (
        "System.NotSupportedException: the next",
        "Watched.Failures.Replace()",
        Some(RUN),
    ),
    // The runtime itself catches it and throws the next.
    (
        "System.ArgumentException: in a static constructor",
        "Watched.Failures+Broken.Fail()",
        None,
    ),
    (
        "System.TypeInitializationException: The type initializer for 'Broken' threw an exception.",
        RUN,
        Some(RUN),
    ),
];

/// The same on a runtime that loses exceptions, where its tracing reports them: with other
/// names, and without those that are thrown again.
fn thrown(runtime: &Runtime) -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    let mut thrown = THROWN.to_vec();
    if runtime.major >= 9 {
        thrown.remove(3);
        thrown[1].0 = "Watched.Failure`1[System.Int32]: through frames";
        thrown[2].0 = "Silent";
    }
    thrown
}

const RUN: &str = "Watched.Failures.Run()";

/// The exceptions of four threads, each caught where it is thrown.
const OFTEN: &str = ": often";
const TIMES: usize = 1000;

fn results(runtime: &Runtime, options: &[&str]) -> String {
    let folder = Folder::new();
    let file = folder.path("results");
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let command = EXAMPLE.command(runtime, &all, &profilee("Watched"), &["fail"]);
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    assert_eq!((&*finished.stdout, &*finished.stderr), ("worked\n", ""));
    fs::read_to_string(file).unwrap()
}

/// An exception as it was logged.
#[derive(Debug)]
struct Logged<'a> {
    what: &'a str,
    frames: Vec<&'a str>,
    caught: Option<&'a str>,
}

/// The program's own exceptions, without those of its host.
fn logged(results: &str) -> Vec<Logged<'_>> {
    let mut all: Vec<Logged<'_>> = Vec::new();
    // A host of the program may throw as well: numbers connect catches with throws.
    let mut numbers = Vec::new();
    for line in results.lines() {
        if let Some(frame) = line.strip_prefix("    at ") {
            all.last_mut().unwrap().frames.push(frame);
        } else if let Some((number, rest)) = line.strip_prefix('[').and_then(|l| l.split_once("] "))
        {
            if let Some(place) = rest.strip_prefix("caught in ") {
                let index = numbers.iter().position(|known| *known == number).unwrap();
                assert_eq!(
                    all[index].caught.replace(place),
                    None,
                    "caught twice: {line}"
                );
            } else {
                let (_, what) = rest.split_once("  thread ").unwrap();
                let (_, what) = what.split_once("  ").unwrap();
                numbers.push(number);
                all.push(Logged {
                    what,
                    frames: Vec::new(),
                    caught: None,
                });
            }
        }
    }
    all.retain(|logged| {
        logged
            .frames
            .iter()
            .any(|frame| frame.starts_with("Watched."))
    });
    all
}

#[test]
fn exceptions_are_those_of_the_program_in_their_order() {
    for runtime in runtimes() {
        let results = results(runtime, &[]);
        println!(
            "on {}:\n{}",
            runtime.name,
            &results[..results.len().min(6000)]
        );
        let logged = logged(&results);
        let (often, others): (Vec<_>, Vec<_>) = logged
            .iter()
            .partition(|logged| logged.what.ends_with(OFTEN));
        let wanted = thrown(runtime);
        assert_eq!(others.len(), wanted.len());
        for (logged, (what, thrown, caught)) in others.iter().zip(wanted) {
            // .NET 10 runs static constructors by managed code of its own.
            let mut frames = logged.frames.iter();
            let first = frames.find(|frame| frame.starts_with("Watched."));
            assert_eq!((logged.what, first), (what, Some(&thrown)));
            assert_eq!(logged.caught, caught, "{logged:?}");
            assert!(logged.frames.contains(&"Watched.Program.Main(string[])"));
        }
        let through = others[1]
            .frames
            .iter()
            .filter(|frame| frame.ends_with("Through(int)"));
        assert_eq!(through.count(), 4);
        assert_eq!(often.len(), TIMES);
        for logged in &often {
            assert_eq!(logged.frames[0], "Watched.Failures.Often()");
            assert_eq!(logged.caught, Some("Watched.Failures.Often()"));
        }
        let row = results
            .lines()
            .find(|line| line.ends_with(&format!("  {}", often[0].what.trim_end_matches(OFTEN))));
        let numbers: Vec<&str> = row.unwrap().split_whitespace().collect();
        assert_eq!(numbers[..3], ["1000", "1000", "0"]);
    }
}

#[test]
fn the_filter_and_the_depth_leave_the_rest_out() {
    for runtime in runtimes() {
        let part = if runtime.major >= 9 {
            "Failure`1[System.Int"
        } else {
            "Failure<int>"
        };
        let results = results(runtime, &["--filter", part, "--depth", "2"]);
        println!("on {}:\n{results}", runtime.name);
        let logged = logged(&results);
        assert_eq!(logged.len(), 1);
        assert_eq!(logged[0].frames, ["Watched.Failures.Through(int)"; 2]);
        assert_eq!(logged[0].caught, Some(RUN));
        assert!(!results.contains("often"));
    }
}

#[test]
fn a_depth_that_is_no_number_is_told_and_the_program_runs() {
    let runtime = runtimes()[0];
    let folder = Folder::new();
    let file = folder.path("results");
    let options = ["--depth", "many", "--output", file.to_str().unwrap()];
    let command = EXAMPLE.command(runtime, &options, &profilee("Watched"), &["fail"]);
    let finished = Finished::of(command);
    assert_eq!(finished.stdout, "worked\n");
    assert!(
        finished
            .stderr
            .contains("the depth `many` is not a number of frames"),
        "{finished:?}"
    );
}

#[test]
fn however_the_program_ends_its_exceptions_are_there() {
    endings(EXAMPLE, &[], "fail", |runtime, ending, results| {
        let logged = logged(results);
        let last = logged
            .iter()
            .filter(|logged| logged.what.ends_with("nobody catches this"));
        let last: Vec<_> = last.collect();
        assert!(
            logged.len() - last.len() == thrown(runtime).len() + TIMES,
            "{}",
            logged.len()
        );
        for logged in &last {
            assert_eq!(logged.caught, None);
            assert_eq!(logged.frames[0], "Watched.Program.End(string)");
        }
        let tables = results
            .lines()
            .filter(|line| line.ends_with("  a second  type"))
            .count();
        assert_eq!(tables, usize::from(ending.is_seen(runtime)), "{results}");
        let overheads: Vec<&str> = results
            .lines()
            .filter_map(|line| line.strip_prefix("overhead: "))
            .collect();
        assert_eq!(overheads.len(), tables, "{results}");
        for overhead in overheads {
            // One callback, at least, for each exception; those of .NET 9 and 10 arrive in larger pieces.
            let (callbacks, _) = overhead.split_once(" callbacks took ").unwrap();
            let callbacks: usize = callbacks.parse().unwrap();
            let least = if runtime.major >= 9 { 1 } else { TIMES };
            assert!(callbacks >= least, "{overhead}");
        }
    });
}
