//! The faults that can be seen from outside.

#[cfg(not(windows))]
mod c_library;
mod environment;
mod library;
mod process;

use super::Fault;
use super::facts::Facts;

/// A rule: the fault, if there is one.
type Rule = fn(&Facts) -> Option<Fault>;

/// In the order in which they are told. Of each group only the first fault is: the others follow from it.
const GROUPS: &[&[Rule]] = &[
    &[process::unreadable],
    &[process::program, process::no_runtime],
    &[environment::switched_off],
    &[environment::hot_reload],
    &[
        environment::framework_names,
        environment::wrong_prefix,
        environment::not_enabled,
        environment::enabled_is_no_number,
        environment::no_clsid,
        environment::clsid_without_braces,
        environment::clsid_is_no_guid,
    ],
    &[
        environment::no_path,
        environment::wrong_bits_variable,
        environment::quoted_path,
        environment::path_with_spaces,
        environment::path_list,
        library::missing,
        library::folder,
        library::unreadable,
        library::wrong_kind,
        library::executable,
        library::wrong_processor,
        #[cfg(not(windows))]
        c_library::wrong_c_library,
        #[cfg(not(windows))]
        c_library::newer_c_library,
        library::missing_dependency,
        library::no_class_factory,
        #[cfg(not(windows))]
        c_library::noexec,
        library::not_loadable,
    ],
    &[process::not_loaded],
    &[process::no_endpoint, process::attach_switched_off],
];

/// The faults of these facts.
pub(super) fn apply(facts: &Facts) -> Vec<Fault> {
    let faults = GROUPS
        .iter()
        .filter_map(|group| group.iter().find_map(|rule| rule(facts)));
    let faults: Vec<Fault> = faults.collect();
    // A profiler that cannot be loaded is not loaded: the cause alone is worth a line.
    let has_cause = faults.iter().any(|fault| fault.name != "not-loaded");
    let is_told = |fault: &Fault| !(has_cause && fault.name == "not-loaded");
    faults.into_iter().filter(is_told).collect()
}

/// The value of a setting of the runtime, which are hexadecimal.
fn number(value: &str) -> Option<u32> {
    let value = value.trim();
    let value = value
        .strip_prefix("0x")
        .or(value.strip_prefix("0X"))
        .unwrap_or(value);
    u32::from_str_radix(value, 16).ok()
}
