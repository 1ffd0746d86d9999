//! The profilers of the scenarios: each does one thing and says so in the scenario's log.

mod enumerates;
mod every_callback;
mod flag_rules;
mod log;
mod native_code;
mod nested;
mod rejit;
mod replace_body;
mod start;

use clr_profiler::prelude::*;

register!(
    every_callback::Counts,
    every_callback::CountsChosen,
    every_callback::Fails,
    every_callback::Panics,
    every_callback::PanicsUntilRetired,
    rejit::Rejits,
    enumerates::Enumerates,
    flag_rules::FlagRules,
    native_code::NativeCode,
    nested::Nests,
    nested::SaysLate,
    replace_body::ReplacesBody,
    start::CancelsActivation,
    start::FailsToStart,
    start::Null,
    start::PanicsAtStart,
    start::WritesFacts,
);
