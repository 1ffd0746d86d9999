//! Faults around the process: limits, disks, signals, ends, threads, memory and clocks.
//!
//! Under each of them, a program behaves under each example as it does alone under the same fault: the same
//! standard output and exit code. The results are complete, or complete up to the last period, or the loss is
//! said in one line.
//!
//! A seed chooses some combinations of a fault, an example and a runtime. `AROUND=all` runs all of them on .NET Core
//! 3.1, .NET 8 and .NET 10, `AROUND=disk` those of the faults whose names contain that; both add to the
//! outcomes from which `FAULTS=write` makes docs/faults.md.

mod disk;
mod faults;
mod outcomes;
mod run;

use std::collections::HashMap;
use std::env;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use clr_profiler_tests::{Example, Finished, Folder, Runtime, matrix, seed};

use crate::watching::limits::EXAMPLES;
use faults::{FAULTS, Fault};
use outcomes::Outcome;
use run::{Attempt, Kept};

/// How many combinations run without `AROUND`.
const SAMPLE: usize = 3;

/// The runtimes of the table.
const MAJORS: [u32; 3] = [3, 8, 10];

#[derive(Clone, Copy)]
struct Case {
    fault: &'static Fault,
    example: (Example, &'static str),
    runtime: &'static Runtime,
}

fn cases() -> Vec<Case> {
    let runtimes = matrix().iter();
    let runtimes = runtimes.filter(|runtime| MAJORS.contains(&runtime.major));
    let mut all: Vec<Case> = Vec::new();
    for runtime in runtimes {
        for fault in FAULTS {
            let examples = EXAMPLES.iter().filter(|_| fault.is_on(runtime));
            all.extend(examples.map(|example| Case {
                fault,
                example: *example,
                runtime,
            }));
        }
    }
    match env::var("AROUND") {
        Ok(wanted) if wanted == "all" => all,
        Ok(wanted) => {
            // Words for the fault and, after a colon, for the example.
            let (fault, example) = wanted.split_once(':').unwrap_or((&wanted, ""));
            let is_wanted =
                |case: &Case| case.fault.name.contains(fault) && case.example.0.0.contains(example);
            all.into_iter().filter(is_wanted).collect()
        }
        Err(_) => {
            // Thousands of threads take minutes.
            all.retain(|case| !case.fault.words.contains(&"crowd"));
            // A prime step visits all combinations, from seed to seed.
            (0..SAMPLE)
                .map(|number| all[(seed() + number * 7919) % all.len()])
                .collect()
        }
    }
}

#[test]
fn programs_behave_as_alone_whatever_happens_around_them() {
    let cases = cases();
    assert!(!cases.is_empty(), "AROUND names no fault");
    let (next, failed) = (Mutex::new(cases.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let case = next.lock().unwrap().next();
                    let Some(case) = case else {
                        break;
                    };
                    let name = format!(
                        "{} under {} on {}",
                        case.fault.name, case.example.0.0, case.runtime.name
                    );
                    // A disk belongs to the thread that mounts it.
                    let done = thread::scope(|scope| scope.spawn(|| case.run()).join());
                    match done {
                        Ok(outcome) => println!("{name}: {outcome}"),
                        Err(panic) => {
                            let words = panic.downcast_ref::<String>();
                            println!("{name}: FAILED {words:?}");
                            failed.lock().unwrap().push(name);
                        }
                    }
                }
            });
        }
    });
    outcomes::write();
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{failed:#?}");
}

impl Case {
    fn run(self) -> &'static str {
        let Self {
            fault,
            example: (example, clsid),
            runtime,
        } = self;
        let plain = self.plain();
        let folder = Folder::new();
        let attempt = Attempt::watched(fault, example, clsid, runtime, &folder);
        let Some((watched, results)) = attempt.run() else {
            return outcomes::add(fault, example, runtime, Outcome::NotPermitted);
        };
        assert_eq!(watched.status, plain.status, "{watched:?}\n{plain:?}");
        assert_eq!(watched.stdout, plain.stdout);
        let (own, _) = example.split(&watched.stderr);
        // The runtime prints the frames of an overflown stack, which may contain those of the profiler.
        assert!(own.len() <= 1, "{own:?}");
        let said = own.iter().any(|line| line.contains("cannot write"));
        let text = results.as_deref().unwrap_or_default();
        assert!(run::is_complete(example, text), "not whole: {text}");
        let has_all = run::marker(example, fault).is_none_or(|marker| text.contains(marker));
        let outcome = match fault.kept(example, runtime) {
            Kept::All => {
                assert!(has_all, "{} in {text:?}, {own:?}", example.0);
                assert!(!said, "{own:?}");
                match fault.setting(example, runtime) {
                    None => Outcome::Whole,
                    Some(_) => Outcome::WholeWithSetting,
                }
            }
            Kept::UpToPeriod => match has_all {
                true => Outcome::UpToPeriod,
                false => Outcome::Early,
            },
            Kept::Said if said => Outcome::Said,
            // It had nothing to write while it could not.
            Kept::Said => {
                assert!(has_all, "nothing was said: {text:?} {own:?}");
                Outcome::Whole
            }
        };
        outcomes::add(fault, example, runtime, outcome)
    }

    /// The program alone under the same fault, once for all examples.
    fn plain(self) -> Finished {
        type Key = (&'static str, u32);
        static KNOWN: LazyLock<Mutex<HashMap<Key, Finished>>> = LazyLock::new(Mutex::default);
        let key = (self.fault.name, self.runtime.major);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let plain = known.entry(key).or_insert_with(|| {
            // In a thread of its own for its disk, as the other.
            let run = || {
                let folder = Folder::new();
                let attempt = Attempt::plain(self.fault, self.runtime, &folder);
                attempt.run().map(|(plain, _)| plain)
            };
            let plain = thread::scope(|scope| scope.spawn(run).join().unwrap());
            plain.unwrap_or_else(|| Attempt::nothing(self.runtime))
        });
        plain.clone()
    }
}
