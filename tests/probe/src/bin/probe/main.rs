//! Starts the processes of the probes, and writes their outcomes.
//!
//! ```text
//! cargo run -p probe -- [--jobs 2] [--moments a,b] [--ids own,stale] [--calls a,b] [--each]
//!                       [--sample SEED] [--part 0/6] [--out FILE] [--onto FILE] [--list FILE]
//! ```
//!
//! Without `--each`, the reading calls of a moment share a process, and so do those that change something.
//! `--calls` makes only those whose names contain one of these texts. `--sample` takes a few random groups of calls,
//! `--part 0/6` the first sixth of the moments on the runtimes, `--list` and `--out` are the paths of the list of failures and
//! of the document, `--onto` that of an earlier document, in which the outcomes of these calls are replaced. The exit code is 1 if there is a failure.

mod find;
mod plans;
mod process;
mod table;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::{env, fs, thread};

use clr_profiler_tests::{Runtime, matrix};
use probe::calls::Effect;
use probe::plan::Ids;

use find::{Found, find, group};
use plans::{Plan, all, sample};
use process::{End, Job, plain};
use table::{Entry, Table, merged};

#[derive(Default)]
struct Options {
    jobs: usize,
    moments: Option<Vec<String>>,
    ids: Option<Vec<Ids>>,
    calls: Option<Vec<String>>,
    is_each: bool,
    seed: Option<u64>,
    part: Option<(usize, usize)>,
    out: Option<String>,
    onto: Option<String>,
    list: Option<String>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            jobs: 2,
            ..Self::default()
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
                "--calls" => options.calls = Some(value().split(',').map(str::to_owned).collect()),
                "--each" => options.is_each = true,
                "--sample" => options.seed = Some(value().parse().expect("a number")),
                "--part" => options.part = Some(part(&value())),
                "--onto" => options.onto = Some(value()),
                "--out" => options.out = Some(value()),
                "--list" => options.list = Some(value()),
                _ => panic!("unknown argument {argument}"),
            }
        }
        options
    }

    /// The calls of a plan.
    fn chosen(&self, plan: &Plan) -> BTreeSet<String> {
        let mut calls = group(&plan.moment, plan.effect);
        if let Some(wanted) = &self.calls {
            calls.retain(|call| wanted.iter().any(|wanted| call.contains(wanted)));
        }
        calls
    }

    fn wants(&self, plan: &Plan) -> bool {
        if self.calls.is_some() && self.chosen(plan).is_empty() {
            return false;
        }
        let is_moment = self
            .moments
            .as_ref()
            .is_none_or(|wanted| wanted.contains(&plan.moment));
        is_moment
            && self
                .ids
                .as_ref()
                .is_none_or(|wanted| wanted.contains(&plan.ids))
    }
}

/// The number of a part, from zero, and how many there are.
fn part(words: &str) -> (usize, usize) {
    let (number, of) = words.split_once('/').expect("a number, / and a number");
    let number = number.parse().expect("a number");
    let of = of.parse().expect("a number");
    assert!(number < of, "the first part is 0, the last of six is 5");
    (number, of)
}

fn main() {
    let options = Options::read();
    let mut work: VecDeque<(&Runtime, Vec<Plan>)> = VecDeque::new();
    let mut moments = all();
    moments
        .iter_mut()
        .for_each(|plans| plans.retain(|plan| options.wants(plan)));
    for plans in moments.into_iter().filter(|plans| !plans.is_empty()) {
        work.extend(matrix().iter().map(|runtime| (runtime, plans.clone())));
    }
    if let Some((number, of)) = options.part {
        // Neighbours are the runtimes of one moment: each part has all runtimes and all kinds of moments.
        let mut at = 0..;
        work.retain(|_| {
            at.next()
                .is_some_and(|at: usize| (at + at / of) % of == number)
        });
    }
    if let Some(seed) = options.seed {
        work = sample(work, seed);
    }
    let plains: Vec<(u32, End)> = matrix().iter().map(|it| (it.major, plain(it))).collect();
    let all = work.len();
    let work = Mutex::new(work);
    let table = Mutex::new(Table::default());
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let next = work.lock().expect("nobody panics").pop_front();
                    let Some((runtime, plans)) = next else { break };
                    let plain = &plains
                        .iter()
                        .find(|it| it.0 == runtime.major)
                        .expect("was run")
                        .1;
                    for plan in &plans {
                        let found = probe(runtime, plan, &options, plain);
                        let comes = found.batches > 0 || !found.crashes.is_empty();
                        let mut table = table.lock().expect("nobody panics");
                        table.add(Entry {
                            runtime: runtime.major,
                            plan: plan.clone(),
                            found,
                        });
                        if let Some(list) = &options.list {
                            fs::write(list, table.list()).expect("the list can be written");
                        }
                        if let Some(out) = &options.out {
                            fs::write(out, table.document()).expect("the document can be written");
                        }
                        // The others of a moment that does not come do not come either.
                        if !comes && plan.ids == Ids::Own {
                            break;
                        }
                    }
                    let left = work.lock().expect("nobody panics").len();
                    let moment = plans.first().map_or("nothing", |plan| &plan.moment);
                    eprintln!("{moment} on {}; {left} of {all} left", runtime.name);
                }
            });
        }
    });
    let table = table.into_inner().expect("nobody panics");
    print!("{}", table.list());
    if let Some(onto) = &options.onto {
        let old = fs::read_to_string(onto).expect("the document can be read");
        let merged = merged(&old, &table.document());
        fs::write(onto, merged).expect("the document can be written");
    }
    std::process::exit(i32::from(table.has_crashes()));
}

/// The outcome of the calls of a plan, in one process or each in its own.
fn probe(runtime: &Runtime, plan: &Plan, options: &Options, plain: &End) -> Found {
    let job = Job {
        runtime,
        moment: &plan.moment,
        ids: plan.ids,
    };
    let calls = options.chosen(plan);
    if !options.is_each && plan.effect != Effect::Alone {
        return find(job, plan.effect, calls, plain);
    }
    let mut all = Found::default();
    for call in calls {
        all.add(find(job, plan.effect, BTreeSet::from([call]), plain));
    }
    all
}
