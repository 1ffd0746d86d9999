//! One batch of calls, at a place whose turn it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

use clr_profiler::prelude::*;

use crate::at::{At, Kind, Own};
use crate::calls::{self, Call, Effect, outcome, rest};
use crate::moments::PHASE;
use crate::plan::{Ids, Plan, journal};

/// Whether calls are being made; one place at a time makes them.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Whether it is the turn of a moment, which can be very frequent; with the number of its turns.
pub fn turn() -> Option<usize> {
    static COUNT: Mutex<(usize, usize, usize)> = Mutex::new((0, 0, 0));
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    let phase = PHASE.load(SeqCst);
    if count.0 != phase {
        (count.0, count.1) = (phase, 0);
    }
    count.1 += 1;
    if ![1, 2, 3, 5, 9, 17, 40].contains(&count.1) {
        return None;
    }
    count.2 += 1;
    Some(count.2)
}

pub fn here(info: &ProfilerInfo) -> Option<At<'_>> {
    place(info, Own::default())
}

/// A place for calls, if it is its turn.
pub fn place<'a>(info: &'a ProfilerInfo, own: Own<'a>) -> Option<At<'a>> {
    let ids = Plan::get().ids;
    (!BUSY.load(SeqCst))
        .then(turn)?
        .map(|turn| At::new(info, ids, own, turn))
}

/// Makes all calls of the plan.
pub fn batch(at: Option<At<'_>>) {
    let Some(at) = at.filter(At::is_worthwhile) else {
        return;
    };
    if BUSY.swap(true, SeqCst) {
        return;
    }
    journal(&format!("@ {} {}", PHASE.load(SeqCst), at.turn));
    for call in calls::all() {
        // Saving the metadata of large modules takes long.
        if call.effect == Effect::Writes && at.turn > 3 {
            continue;
        }
        make(call, &at, None);
        let picked = at.take_picked();
        if at.ids == Ids::Stale {
            // Stale ids in addition to valid ones, too.
            let was_made = Plan::get().calls.contains(call.name);
            let alone = match picked.len() {
                0 | 1 if was_made => Vec::new(),
                _ if was_made => picked,
                _ => Kind::ALL.to_vec(),
            };
            for kind in alone {
                make(call, &at, Some(kind));
                at.take_picked();
            }
        }
    }
    journal("@ done");
    BUSY.store(false, SeqCst);
}

/// Makes a call; for `Ids::Stale` with stale ids of only one kind.
fn make(call: &Call, at: &At<'_>, only: Option<Kind>) {
    let Some(name) = Plan::get().name(call.name, only) else {
        return;
    };
    at.only.set(only);
    journal(&format!("> {name}"));
    at.current.replace(name);
    let answer = catch_unwind(AssertUnwindSafe(|| (call.run)(at)));
    let outcome = answer.map_or_else(|_| "panic".to_owned(), |answer| outcome(&answer));
    let answers_for_gone = at.has_picked() && !rest::QUEUED.contains(&call.name);
    let is_stale = if answers_for_gone { " gone" } else { "" };
    journal(&format!("= {outcome}{is_stale}"));
    at.only.set(None);
}
