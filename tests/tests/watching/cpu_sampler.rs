//! `cpu_sampler`: time is attributed to the methods that spend it.

use std::collections::HashMap;
use std::fs;
#[cfg(target_arch = "x86_64")]
use std::io;
#[cfg(target_arch = "x86_64")]
use std::os::unix::process::CommandExt;
#[cfg(target_arch = "x86_64")]
use std::process::Command;
use std::time::Instant;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee, runtimes};

use super::endings::{Ending, endings};

const EXAMPLE: Example = Example("cpu_sampler");

/// Runs `Spins` with these numbers of threads and rounds; returns the file of this name.
fn results(
    runtime: &Runtime,
    (threads, rounds): (&str, &str),
    options: &[&str],
    name: &str,
) -> String {
    let program = ("Spins", &[threads, rounds][..], "spun\n");
    results_of(runtime, program, options, name)
}

/// Runs a program with these arguments and this output; returns the file of this name.
fn results_of(
    runtime: &Runtime,
    (program, arguments, output): (&str, &[&str], &str),
    options: &[&str],
    name: &str,
) -> String {
    let folder = Folder::new();
    let file = folder.path(name);
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let command = EXAMPLE.command(runtime, &all, &profilee(program), arguments);
    let finished = Finished::of(command);
    assert!(finished.status.success(), "{finished:?}");
    assert_eq!((&*finished.stdout, &*finished.stderr), (output, ""));
    fs::read_to_string(file).unwrap()
}

/// Weights by stack.
fn stacks(folded: &str) -> Vec<(Vec<&str>, u64)> {
    let lines = folded.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        (stack.split(';').collect(), weight.parse().unwrap())
    });
    lines.collect()
}

const SEVENTY: &str = "Spins.Program+Hot<int>.Seventy()";

/// Time by the method that ran, in one run or several.
#[derive(Default)]
struct Shares {
    leaves: HashMap<String, u64>,
    waiting: u64,
}

impl Shares {
    fn add(&mut self, folded: &str) {
        let mut deep = 0;
        for (stack, weight) in stacks(folded) {
            if stack.contains(&"Spins.Program.Wait()") {
                self.waiting += weight;
            }
            let Some(spin) = stack.iter().position(|f| *f == "Spins.Program.Spin(int)") else {
                continue;
            };
            let leaf = *stack.last().unwrap();
            *self.leaves.entry(leaf.to_owned()).or_default() += weight;
            if leaf == "Spins.Program.Twenty()" {
                let below = &stack[spin + 1..stack.len() - 1];
                assert!(
                    below.iter().all(|f| *f == "Spins.Program.Deep(int)"),
                    "{stack:?}"
                );
                assert_eq!(below.len(), 31);
                deep += weight;
            }
        }
        assert!(deep > 0);
    }

    fn all(&self) -> u64 {
        self.leaves.values().sum()
    }

    /// The largest deviation of a method from its share, in points.
    fn error(&self) -> f64 {
        let expected = [
            (SEVENTY, 70.0),
            ("Spins.Program.Twenty()", 20.0),
            ("Spins.Program.Ten()", 10.0),
        ];
        let errors = expected.map(|(name, expected)| {
            let weight = self.leaves.get(name).copied().unwrap_or(0);
            (weight as f64 / self.all() as f64 * 100.0 - expected).abs()
        });
        errors.into_iter().fold(0.0, f64::max)
    }
}

#[test]
fn shares_are_those_of_the_program() {
    for runtime in runtimes() {
        // On a busy machine, each of many threads is sampled more rarely.
        for (threads, rounds) in [("1", "640"), ("16", "1920")] {
            let mut shares = Shares::default();
            // Random errors of few samples of a busy machine average out with more of them; systematic
            // errors remain.
            for _ in 0..20 {
                let run = (threads, rounds);
                shares.add(&results(runtime, run, &["--interval", "500"], "cpu.folded"));
                println!(
                    "on {}, {threads} threads: {:?}",
                    runtime.name, shares.leaves
                );
                if shares.error() < 3.0 {
                    break;
                }
            }
            assert!(shares.error() < 3.0, "{} points off", shares.error());
            let (waiting, all) = (shares.waiting, shares.all());
            assert!(
                waiting * 50 < all,
                "it starts and waits: {waiting} of {all}"
            );
        }
    }
}

#[test]
fn time_is_not_booked_on_a_copy_or_a_lock() {
    for runtime in runtimes() {
        for (way, rare) in [
            ("copies", "Sampled.Program.Copies()"),
            ("locks", "Sampled.Program.Locks()"),
        ] {
            let program = ("Sampled", &[way, "2500", "1"][..], "sampled\n");
            let folded = results_of(runtime, program, &["--interval", "1000"], "cpu.folded");
            let stacks = stacks(&folded);
            let weight = |name: &str| -> u64 {
                let with = stacks.iter().filter(|(stack, _)| stack.contains(&name));
                with.map(|(_, weight)| weight).sum()
            };
            let all = weight("Sampled.Program.Run(string, int)");
            let (rare, compute) = (weight(rare), weight("Sampled.Program.Compute()"));
            println!("on {}, {way}: {rare} and {compute} of {all}", runtime.name);
            assert!(all > 0 && rare * 100 < all * 3, "{folded}");
            // The caller of a method without a frame, in which most samples are, is not lost.
            assert!(compute * 100 > all * 90, "{folded}");
        }
    }
}

/// `.ci/full truth` runs it.
#[test]
#[ignore = "needs minutes of processor time"]
fn a_hundred_samples_a_second_are_enough() {
    for runtime in runtimes() {
        for threads in ["1", "64"] {
            let mut shares = Shares::default();
            for _ in 0..20 {
                let run = (threads, "3840");
                shares.add(&results(
                    runtime,
                    run,
                    &["--interval", "10000"],
                    "cpu.folded",
                ));
                println!(
                    "on {}, {threads} threads: {:.2} points",
                    runtime.name,
                    shares.error()
                );
                if shares.error() < 1.0 {
                    break;
                }
            }
            assert!(shares.error() < 1.0, "{} points off", shares.error());
        }
    }
}

/// Has the system refuse a call to a program in this way, as the filter of a container may.
#[cfg(target_arch = "x86_64")]
fn refuse(command: &mut Command, call: libc::c_long, refusal: u32) {
    let step = |code: u32, k: u32, jt, jf| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            call as u32,
            0,
            1,
        ),
        step(libc::BPF_RET | libc::BPF_K, refusal, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let install = move || {
        let mut filter = filter;
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: the calls read their arguments, and `program` is a list of so many instructions.
        let failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) != 0
        };
        if failed {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    };
    // SAFETY: the closure makes two calls of the system, and allocates nothing.
    unsafe { command.pre_exec(install) };
}

#[cfg(target_arch = "x86_64")]
#[test]
fn without_timers_the_program_is_suspended_and_the_table_says_why() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("cpu.txt");
        let options = ["--output", file.to_str().unwrap()];
        let mut command = EXAMPLE.command(runtime, &options, &profilee("Spins"), &["1", "320"]);
        let refusal = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        refuse(&mut command, libc::SYS_timer_create, refusal);
        let finished = Finished::of(command);
        assert_eq!(finished.status.code(), Some(0), "{finished:?}");
        let table = fs::read_to_string(file).unwrap();
        let why = "the runtime is suspended for each sample: ";
        let reason = "the system refuses timers of processor time: ";
        assert!(table.contains(why) && table.contains(reason), "{table}");
        assert!(
            table.contains(SEVENTY) && table.contains("own time is biased: "),
            "{table}"
        );
    }
}

/// A rate above the kernel's tick; the line of the table about lost intervals has the one that was had.
#[cfg(target_arch = "x86_64")]
#[test]
fn above_the_tick_the_kernel_takes_the_samples_or_the_table_says_why_not() {
    const WHY: &str = "threads were sampled at the kernel's tick instead of 2000 times a second, ";
    const FILTER: &str = "a seccomp filter restricts the program, as in most containers, and may end it for the call `perf_event_open`";
    for runtime in runtimes() {
        for is_refused in [false, true] {
            let folder = Folder::new();
            let file = folder.path("cpu.txt");
            let options = ["--interval", "500", "--output", file.to_str().unwrap()];
            let mut command = EXAMPLE.command(runtime, &options, &profilee("Spins"), &["2", "640"]);
            if is_refused {
                // The call would end the program.
                let end = libc::SECCOMP_RET_KILL_PROCESS;
                refuse(&mut command, libc::SYS_perf_event_open, end);
            }
            let finished = Finished::of(command);
            assert_eq!(finished.status.code(), Some(0), "{finished:?}");
            let table = fs::read_to_string(file).unwrap();
            let number = |before: &str, after: &str| -> f64 {
                let (text, _) = table.split_once(after).expect(after);
                let text = text.rsplit(before).next().unwrap();
                text.parse().unwrap_or_else(|_| panic!("{text}: {table}"))
            };
            let rate = number("; ", " samples a second of processor time; ");
            let lost = number(", ", " % of them; ");
            println!(
                "on {}, refused {is_refused}: {rate} samples a second, {lost} % lost",
                runtime.name
            );
            if is_refused {
                assert!(table.contains(WHY) && table.contains(FILTER), "{table}");
                assert!(rate < 1100.0, "{table}");
            } else if table.contains(WHY) {
                eprintln!("NOT TESTED: the system allows no events\n{table}");
            } else {
                assert!((1700.0..=2010.0).contains(&rate) && lost < 5.0, "{table}");
                let words = "2000 samples a second were asked for, above the kernel's tick: its performance events have sampled ";
                assert!(
                    table.contains(words) && table.contains("the handler took 0.0 ms"),
                    "{table}"
                );
            }
        }
    }
}

#[test]
fn by_the_clock_threads_that_wait_count_too() {
    for runtime in runtimes() {
        let began = Instant::now();
        let folded = results(runtime, ("1", "640"), &["--wall"], "cpu.folded");
        let took = began.elapsed();
        let stacks = stacks(&folded);
        let weight = |name: &str| -> u64 {
            let with = stacks.iter().filter(|(stack, _)| stack.contains(&name));
            with.map(|(_, weight)| weight).sum()
        };
        let (spin, wait) = (
            weight("Spins.Program.Spin(int)"),
            weight("Spins.Program.Wait()"),
        );
        println!("on {}: {spin} {wait}", runtime.name);
        // On a busy machine the thread that spins waits for a processor meanwhile.
        assert!(wait * 10 > spin * 9, "{spin} {wait}");
        assert!(u128::from(wait) < took.as_nanos(), "{wait} {took:?}");
    }
}

/// No call of the system is interrupted, and each of five threads has its two seconds.
#[test]
fn by_the_clock_time_is_booked_where_threads_wait() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("cpu.folded");
        let options = ["--wall", "--output", file.to_str().unwrap()];
        let command = EXAMPLE.command(runtime, &options, &profilee("Blocked"), &[]);
        let finished = Finished::of(command);
        assert_eq!(finished.status.code(), Some(4), "{finished:?}");
        assert_eq!(finished.stdout, "interrupted 0\n", "{finished:?}");
        let folded = fs::read_to_string(file).unwrap();
        let stacks = stacks(&folded);
        let seconds = |part: &str| -> f64 {
            let with = stacks.iter().filter(|(stack, _)| {
                stack
                    .iter()
                    .any(|frame| frame.starts_with("Blocked.Program.") && frame.contains(part))
            });
            with.map(|(_, weight)| *weight as f64 / 1e9).sum()
        };
        for method in ["Sleeps(", "Locks(", "Awaits(", "Polls(", "Main("] {
            let seconds = seconds(method);
            println!("on {}: {method} {seconds:.2}", runtime.name);
            assert!(
                (1.6..=2.4).contains(&seconds),
                "{method} {seconds} {folded}"
            );
        }
        // Without the time in which it had no processor.
        let computes = seconds("Computes(");
        assert!(computes > 0.1 && computes < 2.2, "{computes} {folded}");
    }
}

#[test]
fn each_form_has_the_methods() {
    let runtime = runtimes()[0];
    let svg = results(runtime, ("2", "320"), &["--suspend"], "cpu.svg");
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(
        svg.contains("Spins.Program+Hot&lt;int&gt;.Seventy() ("),
        "{svg}"
    );
    assert!(
        svg.contains("own time is booked at the next safepoint"),
        "{svg}"
    );
    let svg = results(runtime, ("2", "320"), &[], "cpu.svg");
    assert!(!svg.contains("safepoint"), "{svg}");
    let table = results(runtime, ("2", "320"), &[], "cpu.txt");
    let first = table.lines().nth(1).unwrap();
    assert!(first.ends_with(SEVENTY), "{table}");
    for words in [
        " samples; the program was stopped 0 times; ",
        " samples a second of processor time; ",
        " intervals were lost, ",
        " of the stacks are broken, ",
        "the handler took ",
    ] {
        assert!(table.contains(words), "{table}");
    }
    assert!(!table.contains("safepoint"), "{table}");
    let table = results(runtime, ("2", "320"), &["--suspend"], "cpu.txt");
    let first = table.lines().nth(1).unwrap();
    assert!(first.ends_with(SEVENTY), "{table}");
    let report: Vec<&str> = table.lines().rev().take(2).collect();
    assert!(report[1].contains(" samples; "), "{table}");
    for words in [
        " s passed until its threads were suspended; ",
        " stacks were truncated, ",
    ] {
        assert!(report[1].contains(words), "{table}");
    }
    // The limits of the method are stated in the table.
    assert!(report[0].starts_with("own time is biased: "), "{table}");
    assert!(
        report[0].contains("booked at the next safepoint"),
        "{table}"
    );
    let json = results(runtime, ("2", "320"), &["--suspend"], "cpu.json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let name = json["profiles"][0]["name"].as_str().unwrap();
    assert!(name.contains("booked at the next safepoint"), "{name}");
    let frames = json["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|frame| frame["name"] == SEVENTY));
    let profile = &json["profiles"][0];
    let samples = profile["samples"].as_array().unwrap();
    assert_eq!(samples.len(), profile["weights"].as_array().unwrap().len());
    let numbers = samples.iter().flat_map(|sample| sample.as_array().unwrap());
    assert!(
        numbers
            .into_iter()
            .all(|n| (n.as_u64().unwrap() as usize) < frames.len())
    );
}

#[test]
fn however_the_program_ends_the_picture_is_whole() {
    endings(
        EXAMPLE,
        &["--interval", "200"],
        "compute",
        |runtime, ending, results| {
            if ending.is_seen(runtime) {
                assert!(
                    results.contains("Watched.Computed.Run()"),
                    "{ending:?} {results}"
                );
                assert!(results.contains(" samples; the program was stopped "));
            } else {
                // It may have ended before anything was written, except where the test waits for that.
                let is_early =
                    results.is_empty() && !matches!(ending, Ending::Kill | Ending::Overflow);
                assert!(is_early || results.contains(" samples; "), "{results}");
            }
        },
    );
}
