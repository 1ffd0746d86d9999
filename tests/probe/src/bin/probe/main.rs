//! Starts the processes of the probes, and writes what came of them.
//!
//! ```text
//! cargo run -p probe -- [--jobs 2] [--moments a,b] [--ids own,stale] [--each] [--sample SEED]
//!                       [--out FILE] [--list FILE]
//! ```

mod find;
mod process;
mod table;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::{env, fs, thread};

use clr_profiler::Callback;
use clr_profiler_tests::{Runtime, runtimes};
use probe::calls::Effect;
use probe::moments::{AT_THE_GATE, IN_CALLBACKS, WITH_PARTS};
use probe::plan::Ids;

use find::{Found, find, group};
use process::{Job, plain};
use table::{Entry, Table};

struct Options {
    jobs: usize,
    moments: Option<Vec<String>>,
    ids: Option<Vec<Ids>>,
    is_each: bool,
    out: Option<String>,
    list: Option<String>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            jobs: 2,
            moments: None,
            ids: None,
            is_each: false,
            out: None,
            list: None,
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .unwrap_or_else(|| panic!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--jobs" => options.jobs = value().parse().expect("a number"),
                "--moments" => {
                    options.moments = Some(value().split(',').map(str::to_owned).collect())
                }
                "--ids" => {
                    let ids = value();
                    let ids = ids
                        .split(',')
                        .map(|ids| Ids::named(ids).expect("a kind of ids"));
                    options.ids = Some(ids.collect());
                }
                "--each" => options.is_each = true,
                "--out" => options.out = Some(value()),
                "--list" => options.list = Some(value()),
                _ => panic!("what is {argument}?"),
            }
        }
        options
    }
}

/// All moments: callbacks by their names, and others.
fn moments() -> Vec<String> {
    let mut moments: Vec<String> = AT_THE_GATE.iter().map(|it| (*it).to_owned()).collect();
    moments.extend(IN_CALLBACKS.iter().map(|it| (*it).to_owned()));
    for callback in Callback::ALL {
        let name = callback.name().to_owned();
        // Of .NET Framework and Windows alone.
        let is_elsewhere = name.contains("remoting") || name.contains("com_classic");
        if !is_elsewhere && !moments.contains(&name) {
            moments.push(name);
        }
    }
    for callback in [
        "initialize",
        "module_load_started",
        "module_load_finished",
        "module_unload_started",
        "module_unload_finished",
        "jit_compilation_started",
        "exception_thrown",
        "thread_destroyed",
        "garbage_collection_started",
        "suspended",
        "thread",
        "thread_initialized",
        "detached",
        "after_shutdown",
        "shutdown",
    ] {
        moments.push(format!("{WITH_PARTS}{callback}"));
    }
    moments
}

/// The groups of a moment: which ids, which calls. The first tells whether the moment comes.
fn groups(moment: &str) -> Vec<(Ids, Effect)> {
    use Effect::{Alone, Asks, Changes, Writes};
    if moment.starts_with(WITH_PARTS) {
        return vec![(Ids::Own, Changes), (Ids::Stale, Changes)];
    }
    let mut groups = vec![(Ids::Own, Asks), (Ids::Stale, Asks), (Ids::Foreign, Asks)];
    let has_ids = [
        "module_",
        "assembly_",
        "class_",
        "thread_",
        "jit_",
        "dynamic_",
        "rejit",
    ]
    .iter()
    .any(|kind| moment.starts_with(kind));
    let has_object = [
        "object",
        "exception_thrown",
        "exception_catcher_enter",
        "handle_created",
        "static_field",
    ]
    .iter()
    .any(|kind| moment.contains(kind));
    if has_ids && !moment.starts_with("thread_in") && !moment.starts_with("thread_exit") {
        groups.extend([
            (Ids::Kept, Asks),
            (Ids::Elsewhere, Asks),
            (Ids::Elsewhere, Changes),
        ]);
    }
    if has_object {
        groups.push((Ids::Moved, Asks));
    }
    groups.extend([(Ids::Own, Changes), (Ids::Stale, Changes)]);
    groups.extend([(Ids::Own, Writes), (Ids::Stale, Writes), (Ids::Own, Alone)]);
    groups
}

fn main() {
    let options = Options::read();
    let moments = options.moments.clone().unwrap_or_else(moments);
    let mut work: VecDeque<(&Runtime, String)> = VecDeque::new();
    for moment in &moments {
        work.extend(runtimes().iter().map(|runtime| (runtime, moment.clone())));
    }
    let all = work.len();
    let work = Mutex::new(work);
    let table = Mutex::new(Table::default());
    let plains: Vec<_> = runtimes()
        .iter()
        .map(|runtime| (runtime.major, plain(runtime)))
        .collect();
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let next = work.lock().expect("nobody panics").pop_front();
                    let Some((runtime, moment)) = next else { break };
                    let plain = &plains
                        .iter()
                        .find(|it| it.0 == runtime.major)
                        .expect("was run")
                        .1;
                    for (ids, effect) in groups(&moment) {
                        if options
                            .ids
                            .as_ref()
                            .is_some_and(|wanted| !wanted.contains(&ids))
                        {
                            continue;
                        }
                        let job = Job {
                            runtime,
                            moment: &moment,
                            ids,
                        };
                        let calls = group(&moment, effect);
                        let found = if options.is_each || effect == Effect::Alone {
                            each(job, effect, calls, plain)
                        } else {
                            find(job, effect, calls, plain)
                        };
                        let comes = found.batches > 0;
                        let mut table = table.lock().expect("nobody panics");
                        table.add(Entry {
                            runtime: runtime.major,
                            moment: moment.clone(),
                            ids,
                            found,
                        });
                        if let Some(list) = &options.list {
                            fs::write(list, table.list()).expect("the list can be written");
                        }
                        if !comes && ids == Ids::Own {
                            break;
                        }
                    }
                    let left = work.lock().expect("nobody panics").len();
                    eprintln!("{moment} on {}; {left} of {all} left", runtime.name);
                }
            });
        }
    });
    let table = table.into_inner().expect("nobody panics");
    println!("{}", table.list());
    if let Some(out) = &options.out {
        fs::write(out, table.document()).expect("the document can be written");
    }
    std::process::exit(i32::from(table.has_crashes()));
}

/// Each call in a process of its own.
fn each(job: Job<'_>, effect: Effect, calls: BTreeSet<String>, plain: &process::End) -> Found {
    let mut all = Found::default();
    for call in calls {
        let found = find(job, effect, [call].into(), plain);
        all.batches = all.batches.max(found.batches);
        all.answers.extend(found.answers);
        all.crashes.extend(found.crashes);
        all.gone.extend(found.gone);
        all.without = all.without.or(found.without);
    }
    all
}
