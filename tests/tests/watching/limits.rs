//! Programs with few descriptors and small files, and results that cannot be written: no example
//! affects the program, and each reports its failed writes in one line.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use clr_profiler_tests::{
    Example, Finished, Folder, Running, Sample, Scenario, profilee, runtimes,
};

/// All of them, with their class ids.
pub(crate) const EXAMPLES: [(Example, &str); 11] = [
    (
        Example("alloc_profiler"),
        "E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68",
    ),
    (
        Example("call_counter"),
        "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57",
    ),
    (
        Example("cpu_sampler"),
        "B859E288-AEB7-4E25-98DD-4D6A1B242B70",
    ),
    (
        Example("exception_logger"),
        "282F8859-F66D-4168-A257-F3B6BF218ABF",
    ),
    (
        Example("gc_monitor"),
        "0FC6B97D-3335-4EF1-B21E-308F717146F4",
    ),
    (
        Example("heap_snapshot"),
        "4B0B7D1B-6F0E-4E0C-9E5B-6E9C6A9A1D42",
    ),
    (Example("hot_patch"), "7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46"),
    (
        Example("jit_logger"),
        "DF63A541-5A33-4611-8829-F4E495985EE3",
    ),
    (
        Example("method_logger"),
        "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF",
    ),
    (
        Example("method_tracer"),
        "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48",
    ),
    (
        Example("return_inspector"),
        "A8656E35-9A04-449E-B8EA-C9B8FBA40D52",
    ),
];

/// The examples of the calling test.
fn sampled() -> impl Iterator<Item = (Example, &'static str)> {
    let sample = Sample::one_of(3);
    let examples = EXAMPLES.into_iter().enumerate();
    examples.filter_map(move |(number, example)| sample.has(number).then_some(example))
}

/// How many descriptors an example may take from the program: two for an assembly that it loads.
const DESCRIPTORS: usize = 2;
/// How large its files may be: a page and a half.
const FILE: u64 = 6_144;

/// The program throws and compiles, and collects at its end; it waits before.
fn limited(mut command: Command, descriptors: Option<usize>) -> Command {
    // Otherwise newer runtimes make a file of gigabytes in memory, and cannot start.
    command.env("DOTNET_EnableWriteXorExecute", "0");
    // SAFETY: `setrlimit` may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            set_limit(libc::RLIMIT_FSIZE, FILE);
            if let Some(descriptors) = descriptors {
                set_limit(libc::RLIMIT_NOFILE, descriptors as u64);
            }
            Ok(())
        });
    }
    command
}

fn set_limit(resource: libc::__rlimit_resource_t, limit: u64) {
    let limit = libc::rlimit {
        rlim_cur: limit,
        rlim_max: limit,
    };
    // SAFETY: the limits are initialised.
    unsafe { libc::setrlimit(resource, &raw const limit) };
}

/// Runs the program to its end, and counts its descriptors while it waits.
fn counted(command: Command) -> (Finished, usize) {
    let mut running = Running::start(command);
    while running.line() != "waiting" {}
    let count = || {
        fs::read_dir(format!("/proc/{}/fd", running.id()))
            .unwrap()
            .count()
    };
    // It opens some and closes others when it begins to wait, and the example during a write.
    let (mut descriptors, mut times) = (count(), 0);
    while times < 20 {
        thread::sleep(Duration::from_millis(10));
        let now = count();
        times = if now == descriptors { times + 1 } else { 0 };
        descriptors = now;
    }
    (running.finish(), descriptors)
}

fn assert_as_plain(example: Example, watched: &Finished, plain: &Finished) {
    assert_eq!(watched.status, plain.status, "{} {watched:?}", example.0);
    assert_eq!(watched.stdout, plain.stdout);
    let (_, rest) = example.split(&watched.stderr);
    assert_eq!(rest, plain.stderr.lines().collect::<Vec<_>>());
}

#[test]
fn few_descriptors_and_small_files_do_not_hurt() {
    let words = ["fail", "wait"];
    let program = profilee("Watched");
    for runtime in runtimes() {
        let folder = Folder::new();
        let plain = limited(EXAMPLES[0].0.plain(runtime, &program, &words), None);
        let (plain, least) = counted(plain);
        assert!(plain.status.success(), "{plain:?}");
        // Other runtimes need more during their start than when the program waits.
        let most = (runtime.major == 8).then_some(least + DESCRIPTORS + 1);
        for (example, _) in sampled() {
            let file = folder.path(example.0);
            let options = ["--output", file.to_str().unwrap()];
            let command = example.command(runtime, &options, &program, &words);
            let (watched, descriptors) = counted(limited(command, most));
            let size = fs::metadata(&file).map(|about| about.len());
            println!(
                "{} on {}: {descriptors} descriptors, {least} without it; {size:?} bytes",
                example.0, runtime.name
            );
            assert!(descriptors <= least + DESCRIPTORS, "{}", example.0);
            assert_as_plain(example, &watched, &plain);
            let (own, _) = example.split(&watched.stderr);
            assert!(own.len() <= 1, "{own:?}");
            // The existing part of the file is complete.
            if let Ok(text) = fs::read_to_string(&file) {
                assert!(text.is_empty() || text.ends_with('\n'), "{text}");
                if example.0 == "method_tracer" {
                    serde_json::from_str::<serde_json::Value>(&text).unwrap();
                }
            }
        }
    }
}

#[test]
fn results_that_cannot_be_written_are_said_once() {
    let words = ["fail", "return"];
    let program = profilee("Watched");
    for runtime in runtimes() {
        let plain = Finished::of(EXAMPLES[0].0.plain(runtime, &program, &words));
        for (example, clsid) in sampled() {
            println!("{} on {}", example.0, runtime.name);
            let options = ["--output", "/dev/full"];
            let full = Finished::of(example.command(runtime, &options, &program, &words));
            // As without the example's executable, which would report it before the start.
            let variable = format!("{}_OUTPUT", example.0.to_uppercase());
            let closed = Scenario::new("Watched")
                .arg(words[0])
                .arg(words[1])
                .library(example.0)
                .profiler(clsid)
                .env(&variable, "/proc/results")
                .env("CLR_PROFILER_DIAGNOSTICS", "stderr")
                .run_on(runtime);
            for (watched, path) in [(full, "/dev/full"), (closed, "/proc/results")] {
                assert_as_plain(example, &watched, &plain);
                let (own, _) = example.split(&watched.stderr);
                let reason = format!("cannot write `{path}`: ");
                let is_said = own.len() == 1 && own[0].contains(&reason);
                assert!(is_said, "{} {path} {watched:?}", example.0);
            }
        }
    }
}
