//! The budget: methods that are called too often lose their spans, and keep an exact count.

use std::cmp::Reverse;
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clr_profiler::prelude::*;

use super::notes::{self, About};
use super::{SPANS, compilations};
use crate::spans::{Recording, process_time, thread_time};

/// The time of a span, of a call that is only counted, and of a span for which the helper is called, in nanoseconds. They are those of
/// .NET 8; calls of .NET Core 3.1 make a transition. A count is dearer than its own code: a method with one is not
/// inlined.
const COSTS: Costs = Costs {
    span: 35.0,
    count: 24.0,
    helped: 500.0,
};
const OLDER: Costs = Costs {
    span: 60.0,
    count: 45.0,
    helped: 700.0,
};

/// The least that is allowed, in nanoseconds of CPU time: for the first calls of a program.
const ADVANCE: f64 = 20e6;

/// The part of the allowed costs that compilations may take, so that something is left for calls.
const COMPILED: f64 = 0.6;

/// A program that waits counts as one that uses this part of a processor. The tool's threads wake up whether there are spans or
/// not, so that a service without many requests would lose its spans, and would save nothing by it.
const LEAST: f64 = 0.2;

/// The least time of writing a span, in nanoseconds: it takes place later than the call.
const WRITING: f64 = 1_500.0;

/// The CPU time for which a method is counted at least, in nanoseconds: a count of a moment would say nothing.
const COUNTED: f64 = 40e6;

/// The time after which code that still counts, although its method was given up, is replaced by ReJIT, after which the method is never inlined
/// again. Methods that are called often get their next code sooner, also while the runtime delays it at a start, unless they have their last.
const REPLACED: Duration = Duration::from_secs(3);

/// The shortest time by which calls are measured, in nanoseconds.
const SHORT: f64 = 50e6;

/// The CPU times of the process and of compilations, the time of callbacks, and the moment.
#[derive(Debug, Clone, Copy)]
struct Reading {
    process: u64,
    compiled: u64,
    callbacks: Duration,
    at: Instant,
}

impl Reading {
    fn now(info: &ProfilerInfo) -> Self {
        Self {
            process: process_time(),
            compiled: compilations::spent(),
            callbacks: info.callback_time(),
            at: Instant::now(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Costs {
    span: f64,
    count: f64,
    helped: f64,
}

/// The CPU time of the tool's threads.
static OWN: AtomicU64 = AtomicU64::new(0);

/// Runs a part of the tool on a thread of its own, and adds its time to the costs.
pub(super) fn charged<R>(work: impl FnOnce() -> R) -> R {
    let began = thread_time();
    let result = work();
    OWN.fetch_add(thread_time() - began, Ordering::Relaxed);
    result
}

/// The costs so far, and the methods without spans.
pub(super) struct Budget {
    info: ProfilerInfo,
    /// The part of the CPU time that tracing may take.
    share: f64,
    costs: Costs,
    /// The state at the last check.
    last: Reading,
    /// The CPU time, the costs so far, and the share of the time.
    passed: f64,
    spent: f64,
    shared: f64,
    /// The time of callbacks, which calls have not given up yet.
    owed: f64,
    /// The number of spans that were not lost, and the costs of the tool's threads with those that wait.
    kept: f64,
    written: f64,
    helped: Vec<u64>,
    counted: Vec<Counted>,
}

/// A method that is only counted.
struct Counted {
    number: u32,
    /// The CPU time at which it lost its spans.
    since: f64,
    /// The calls until the last check.
    last: u64,
    /// The calls between the last two checks.
    calls: u64,
    given_up: Option<Instant>,
    is_replaced: bool,
}

/// The methods that record less from now on, by number.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Those that get other code when they are compiled again.
    pub(super) renewed: Vec<u32>,
    /// Those whose code has to be replaced, because it would stay.
    pub(super) replaced: Vec<u32>,
}

impl Budget {
    pub(super) fn new(info: ProfilerInfo, share: f64, can_suppress_transitions: bool) -> Self {
        compilations::limit(COMPILED * ADVANCE);
        Self {
            share,
            costs: match can_suppress_transitions {
                true => COSTS,
                false => OLDER,
            },
            last: Reading::now(&info),
            info,
            passed: 0.0,
            spent: 0.0,
            shared: 0.0,
            owed: 0.0,
            kept: 0.0,
            written: 0.0,
            helped: Vec::new(),
            counted: Vec::new(),
        }
    }

    /// Adds the costs since the last check. If they are too high, the methods that cost most lose their spans, or their counts.
    pub(super) fn watch(&mut self) -> Changed {
        let now = Reading::now(&self.info);
        let last = std::mem::replace(&mut self.last, now);
        let passed = now.process.saturating_sub(last.process) as f64;
        let elapsed = now.at.saturating_duration_since(last.at).as_nanos() as f64;
        let compiled = now.compiled.saturating_sub(last.compiled) as f64;
        let called = now.callbacks.saturating_sub(last.callbacks).as_nanos() as f64;
        let mut methods = self.methods();
        let kept: f64 = methods.iter().map(|method| method.kept).sum();
        let counts = self.counts();
        self.kept += kept;
        let written = (OWN.load(Ordering::Relaxed) as f64).max(self.kept * WRITING);
        let own = written - std::mem::replace(&mut self.written, written);
        let spent = counts + own + methods.iter().map(|method| method.cost).sum::<f64>();
        self.spent += spent + compiled;
        self.passed += passed;
        self.shared += allowance(self.share, passed, elapsed, spent);
        self.owed = owed(self.owed + called, self.share, elapsed, spent);
        let allowed = (self.shared - self.owed).max(ADVANCE);
        // The costs of calls and of the tool's threads leave less for compilations.
        let others = self.spent - now.compiled as f64;
        compilations::limit((allowed - others).min(COMPILED * allowed));
        // Writing the spans costs more than beginning and ending them.
        let each = written / self.kept.max(1.0);
        for method in &mut methods {
            method.cost += method.kept * each;
        }
        let mut cost: f64 = methods.iter().map(|method| method.cost).sum();
        if others <= for_calls(allowed, now.compiled as f64) {
            return Changed::default();
        }
        // The excess is saved from now on. A burst of calls is not measured by the short time that it takes.
        let most = self.share * passed.max(LEAST * elapsed).max(SHORT) / 2.0;
        let mut changed = Changed::default();
        methods.sort_by(|one, other| other.cost.total_cmp(&one.cost));
        for method in methods {
            if cost <= most {
                break;
            }
            cost -= method.cost;
            // The last of its spans were taken after it lost them.
            if self.counted.iter().any(|of| of.number == method.number) {
                continue;
            }
            self.count(&method, passed);
            changed.renewed.push(method.number);
        }
        if counts > most {
            self.give_up((counts, most), passed, &mut changed);
        }
        changed
    }

    /// The methods with spans since the last check.
    fn methods(&mut self) -> Vec<Method> {
        let (seen, lost) = SPANS.take_seen();
        // Those that were overwritten are of the same methods.
        let known = seen.iter().sum::<u64>().max(1) as f64;
        let scale = 1.0 + lost as f64 / known;
        let helped = SPANS.helped_calls();
        self.helped.resize(helped.len(), 0);
        let mut methods = Vec::new();
        let totals = self.helped.iter_mut().zip(helped);
        for (number, (last, total)) in (0..).zip(totals) {
            let seen = seen.get(number as usize).copied().unwrap_or(0);
            let helped = total.saturating_sub(std::mem::replace(last, total)) as f64;
            let (kept, seen) = (seen as f64 + helped, seen as f64 * scale);
            if kept > 0.0 {
                methods.push(Method {
                    number,
                    spans: seen + helped,
                    kept,
                    cost: seen * self.costs.span + helped * self.costs.helped,
                });
            }
        }
        methods
    }

    /// The cost of the calls that were only counted since the last check.
    fn counts(&mut self) -> f64 {
        let mut calls = 0;
        let totals = SPANS.plain_calls(self.counted.iter().map(|method| method.number));
        for (method, now) in self.counted.iter_mut().zip(totals) {
            method.calls = now - std::mem::replace(&mut method.last, now);
            calls += method.calls;
        }
        calls as f64 * self.costs.count
    }

    /// The counted methods that are called most, until the rest costs at most as much as it may, get their original IL when they are compiled
    /// again, or at once if that does not happen.
    fn give_up(&mut self, (counts, most): (f64, f64), passed: f64, changed: &mut Changed) {
        self.counted.sort_by_key(|method| Reverse(method.calls));
        let each = self.costs.count;
        let costs = self.counted.iter().map(|method| method.calls as f64 * each);
        let dear = excess(costs, counts - most);
        for method in self.counted.iter_mut().take(dear) {
            let is_new = self.passed - method.since < COUNTED;
            if method.is_replaced || is_new {
                continue;
            }
            match method.given_up {
                None => {
                    method.given_up = Some(Instant::now());
                    SPANS.record_less(method.number, Recording::Nothing);
                    note(About::GivenUp, method.number, method.calls as f64, passed);
                    changed.renewed.push(method.number);
                }
                Some(since) if since.elapsed() >= REPLACED => {
                    method.is_replaced = true;
                    changed.replaced.push(method.number);
                }
                Some(_) => {}
            }
        }
    }

    fn count(&mut self, method: &Method, passed: f64) {
        SPANS.record_less(method.number, Recording::Counts);
        self.counted.push(Counted {
            number: method.number,
            since: self.passed,
            last: SPANS.plain_calls(iter::once(method.number)).iter().sum(),
            calls: 0,
            given_up: None,
            is_replaced: false,
        });
        note(About::Counted, method.number, method.spans, passed);
    }
}

/// The costs that are allowed for a part of the run: a share of its CPU time, or if it waited and has `spent` more, up to the share of
/// the least CPU time. Waiting does not save anything for later.
fn allowance(share: f64, passed: f64, elapsed: f64, spent: f64) -> f64 {
    (share * passed).max(spent.min(share * LEAST * elapsed))
}

/// The time of callbacks that is still owed. Most are made at a start, and a program that waits would owe them for long: it gives up the part of
/// the share of the least CPU time that its calls leave.
fn owed(owed: f64, share: f64, elapsed: f64, spent: f64) -> f64 {
    (owed - (share * LEAST * elapsed - spent).max(0.0)).max(0.0)
}

/// How many of these costs, from the first on, make up an excess.
fn excess(costs: impl Iterator<Item = f64>, mut excess: f64) -> usize {
    costs
        .take_while(|cost| {
            let is_needed = excess > 0.0;
            excess -= cost;
            is_needed
        })
        .count()
}

/// The part of the allowed costs that compilations leave for calls: methods that cannot wait for their spans may have spent all.
fn for_calls(allowed: f64, compiled: f64) -> f64 {
    (allowed - compiled).max((1.0 - COMPILED) * allowed)
}

fn note(about: About, method: u32, calls: f64, passed: f64) {
    let often = calls / passed.max(1.0) * 1e9;
    notes::add(
        about,
        &SPANS.name(method),
        format_args!("{often:.0} calls in a second of CPU time"),
    );
}

/// The calls of a method with spans since the last check, and their cost in nanoseconds.
struct Method {
    number: u32,
    spans: f64,
    /// Those that were not lost.
    kept: f64,
    cost: f64,
}

#[cfg(test)]
mod tests {
    use super::{allowance, excess, for_calls, owed};

    #[test]
    fn compilations_leave_a_part_for_calls() {
        let left = |compiled| for_calls(100.0, compiled).round() as u64;
        assert_eq!([0.0, 30.0, 60.0, 900.0].map(left), [100, 70, 40, 40]);
    }

    #[test]
    fn programs_that_wait_are_allowed_their_costs_up_to_a_limit() {
        let whole = |passed, elapsed, spent| allowance(0.05, passed, elapsed, spent).round() as u64;
        // In a second of one processor, 5 % of the time of a program that computes.
        assert_eq!(whole(1e9, 1e9, 0.0), 50_000_000);
        assert_eq!(whole(1e9, 1e9, 9e7), 50_000_000);
        // One that waits has its costs up to 1 % of the processor, and nothing for later.
        assert_eq!(whole(0.0, 1e9, 0.0), 0);
        assert_eq!(whole(2e6, 1e9, 4e6), 4_000_000);
        assert_eq!(whole(2e6, 1e9, 9e7), 10_000_000);
    }

    #[test]
    fn the_dearest_counts_are_given_up_until_the_rest_fits() {
        let given_up = |by| excess([50.0, 30.0, 15.0, 5.0].into_iter(), by);
        assert_eq!(
            [0.0, 1.0, 50.0, 51.0, 80.0, 96.0, 200.0].map(given_up),
            [0, 1, 1, 2, 2, 4, 4]
        );
    }

    #[test]
    fn callbacks_are_owed_until_a_program_has_waited() {
        let after = |spent| owed(3e7, 0.05, 1e9, spent).round() as u64;
        // 1 % of a processor, of which calls have spent a part, or all.
        assert_eq!(after(0.0), 20_000_000);
        assert_eq!(after(4e6), 24_000_000);
        assert_eq!(after(9e7), 30_000_000);
        assert_eq!(owed(3e7, 0.05, 6e9, 0.0).round() as u64, 0);
    }
}
