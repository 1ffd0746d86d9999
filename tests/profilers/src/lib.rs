//! The profilers of the scenarios: each does one thing and says so in the scenario's log.

mod accesses;
mod allocations;
mod boxes;
mod calls;
pub mod class_id;
mod components;
mod contexts;
mod dynamics;
mod enumerates;
mod every_callback;
mod everything;
mod exception_events;
mod exceptions;
mod flag_rules;
mod handles;
mod helped;
mod hooks_balance;
mod hooks_bench;
mod hooks_fast;
mod hooks_info;
mod hooks_owner;
mod hooks_values;
mod inlines;
mod jit_share;
mod load_paths;
mod log;
mod made_up_tokens;
mod members;
mod metadata_emit;
mod metadata_read;
mod metadata_write;
mod native_calls;
mod native_code;
mod nested;
mod old_and_new;
mod old_hooks;
mod pipes;
mod reads_attributes;
mod reads_objects;
mod rejit;
mod rejit_steps;
mod rejits_at_attach;
mod replace_body;
mod rewrites;
mod rewrites_again;
mod samples_deep;
mod scrambles;
mod shapes;
mod silent;
mod stale_objects;
mod start;
mod statics;
mod stress;
mod suspensions;
mod switches;
mod transitions;
mod walks_heap;

use clr_profiler::Uuid;
use clr_profiler::prelude::*;

/// The class id of the profiler whose type has this name.
const fn clsid(name: &str) -> Uuid {
    Uuid::from_u128(class_id::class_id(name))
}

register!(
    accesses::Accesses,
    allocations::Allocations,
    boxes::Boxes,
    calls::SeesCalls,
    components::Composed,
    components::Conflicts,
    components::OwnsRejit,
    components::Pairs,
    contexts::AsksInCollection,
    contexts::HookPanics,
    contexts::LowEvents,
    contexts::Reenters,
    dynamics::Dynamics,
    every_callback::Counts,
    every_callback::CountsChosen,
    every_callback::Fails,
    every_callback::Panics,
    every_callback::PanicsUntilRetired,
    rejit::Rejits,
    rejit_steps::RejitSteps,
    rejits_at_attach::RejitsAtAttach,
    enumerates::Enumerates,
    everything::Everything,
    exception_events::HearsOfExceptions,
    exception_events::TracesExceptions,
    exceptions::Exceptions,
    flag_rules::FlagRules,
    handles::Handles,
    hooks_values::LooksAtValues,
    inlines::Inlines,
    jit_share::JitShare,
    helped::Helped,
    helped::HelpsAll,
    hooks_balance::PairsCalls,
    hooks_bench::Measures,
    hooks_fast::CountsCalls,
    hooks_fast::HooksPanic,
    hooks_fast::WrongHooks,
    hooks_info::SeesValues,
    hooks_owner::OwnsHooks,
    load_paths::CannotDetach,
    load_paths::Detaches,
    load_paths::Notified,
    load_paths::NotifiedToo,
    load_paths::Watches,
    load_paths::WatchesAllocations,
    metadata_emit::EmitsMetadata,
    made_up_tokens::MadeUpTokens,
    members::AddsMembers,
    members::OwnInstances,
    metadata_read::ReadsMetadata,
    metadata_write::WritesMetadata,
    native_calls::NativeCalls,
    native_calls::TimesCalls,
    native_code::NativeCode,
    nested::Nests,
    nested::SaysLate,
    old_and_new::OldAndNew,
    old_hooks::OldHooks,
    pipes::Pipes,
    reads_attributes::ReadsAttributes,
    reads_objects::ReadsObjects,
    replace_body::ReplacesBody,
    rewrites::Announces,
    rewrites::Breaks,
    rewrites::Changes,
    rewrites::ChangesEach,
    rewrites::WrapsAll,
    rewrites_again::RewritesAgain,
    stress::Stress,
    scrambles::Scrambles,
    samples_deep::SamplesDeep,
    shapes::InspectsShapes,
    shapes::LogsShapes,
    shapes::RejitsShapes,
    shapes::WrapsShapes,
    stale_objects::KeepsObjects,
    silent::Silent,
    start::CancelsActivation,
    start::FailsToStart,
    start::Null,
    start::PanicsAtStart,
    start::WritesFacts,
    statics::Statics,
    suspensions::Suspends,
    switches::Switches,
    transitions::Transitions,
    walks_heap::WalksHeap,
);
