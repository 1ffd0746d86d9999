//! All plans: moments, ids, kinds of calls.

use std::collections::VecDeque;

use clr_profiler::events::Callback;
use clr_profiler_tests::Runtime;
use probe::calls::Effect;
use probe::moments::{AT_THE_GATE, IN_CALLBACKS, WITH_PARTS};
use probe::plan::Ids;

/// The plan of one process, or of several.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) moment: String,
    pub(crate) ids: Ids,
    pub(crate) effect: Effect,
}

/// Moments in which functions of components are called.
const OF_PARTS: &[&str] = &[
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
];

/// All plans, by moments: callbacks by their names, and others.
pub(crate) fn all() -> Vec<Vec<Plan>> {
    let mut moments: Vec<String> = AT_THE_GATE.iter().map(|it| (*it).to_owned()).collect();
    moments.extend(IN_CALLBACKS.iter().map(|it| (*it).to_owned()));
    for callback in Callback::ALL {
        let name = callback.name();
        // Callbacks only of .NET Framework or Windows, and the one that precedes all others.
        let is_foreign = ["remoting", "com_classic", "load_as"]
            .iter()
            .any(|it| name.contains(it));
        if !is_foreign && !moments.iter().any(|known| known == name) {
            moments.push(name.to_owned());
        }
    }
    moments.extend(
        OF_PARTS
            .iter()
            .map(|moment| format!("{WITH_PARTS}{moment}")),
    );
    moments.iter().map(|moment| of(moment)).collect()
}

/// The plans of a moment. The first tells whether it occurs.
fn of(moment: &str) -> Vec<Plan> {
    use Effect::{Alone, Asks, Changes, Writes};
    use Ids::{Elsewhere, Foreign, Kept, Moved, Own, Stale};
    let mut plans = vec![(Own, Asks), (Stale, Asks), (Foreign, Asks)];
    let begins = |beginnings: &[&str]| beginnings.iter().any(|it| moment.starts_with(it));
    let has = |parts: &[&str]| parts.iter().any(|it| moment.contains(it));
    if begins(&[
        "module_",
        "assembly_",
        "class_",
        "jit_",
        "dynamic_",
        "rejit",
        "thread_created",
        "thread_destroyed",
    ]) {
        plans.extend([(Kept, Asks), (Elsewhere, Asks), (Elsewhere, Changes)]);
    }
    if has(&[
        "object",
        "exception_thrown",
        "catcher_enter",
        "handle_created",
        "static_field",
    ]) {
        plans.push((Moved, Asks));
    }
    plans.extend([
        (Own, Changes),
        (Stale, Changes),
        (Own, Writes),
        (Stale, Writes),
        (Own, Alone),
    ]);
    if moment.starts_with(WITH_PARTS) {
        plans = vec![(Own, Changes), (Stale, Changes)];
    }
    let plan = |(ids, effect)| Plan {
        moment: moment.to_owned(),
        ids,
        effect,
    };
    plans.into_iter().map(plan).collect()
}

/// The number of processes of a sample, for each runtime; more if something fails.
const SAMPLE: usize = 2;

/// Some plans of each runtime.
pub(crate) fn sample(
    all: VecDeque<(&Runtime, Vec<Plan>)>,
    seed: u64,
) -> VecDeque<(&Runtime, Vec<Plan>)> {
    let mut state = seed;
    let mut chance = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut majors: Vec<u32> = all.iter().map(|(runtime, _)| runtime.major).collect();
    majors.sort_unstable();
    majors.dedup();
    let mut chosen = VecDeque::new();
    for major in majors {
        let mut plans: Vec<(&Runtime, Plan)> = all
            .iter()
            .filter(|(runtime, _)| runtime.major == major)
            .flat_map(|(runtime, plans)| plans.iter().map(|plan| (*runtime, plan.clone())))
            // Each of these is many processes.
            .filter(|(_, plan)| plan.effect != Effect::Alone)
            .collect();
        for _ in 0..SAMPLE.min(plans.len()) {
            let (runtime, plan) = plans.swap_remove(chance(plans.len()));
            chosen.push_back((runtime, vec![plan]));
        }
    }
    chosen
}
