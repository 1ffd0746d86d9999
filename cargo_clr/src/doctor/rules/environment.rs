//! Faults of variables.

use clr_profiler_launcher::Clsid;

use super::super::Fault;
use super::super::facts::Facts;
use super::super::system;
use super::number;

/// Any of these with the value 0 keeps the runtime from loading profilers; .NET Core 3.1 ignores them.
const SWITCHES: [&str; 4] = [
    "DOTNET_EnableDiagnostics",
    "DOTNET_EnableDiagnostics_Profiler",
    "COMPlus_EnableDiagnostics",
    "COMPlus_EnableDiagnostics_Profiler",
];

pub(super) fn switched_off(facts: &Facts) -> Option<Fault> {
    let (name, value) = SWITCHES.iter().find_map(|name| {
        let value = facts.variable(name)?;
        (number(value) == Some(0)).then_some((name, value))
    })?;
    Some(Fault::new(
        "switched-off",
        format!("{name}={value} tells the runtime to load no profiler (.NET Core 3.1 ignores it)."),
        format!("Unset {name}, or set it to 1."),
    ))
}

/// Rewriting is refused then, and nothing else.
pub(super) fn hot_reload(facts: &Facts) -> Option<Fault> {
    let names = [
        "DOTNET_MODIFIABLE_ASSEMBLIES",
        "COMPlus_MODIFIABLE_ASSEMBLIES",
    ];
    let (name, value) = names
        .iter()
        .find_map(|name| Some((name, facts.variable(name)?)))?;
    if !facts.wants_profiler() || !value.eq_ignore_ascii_case("debug") {
        return None;
    }
    Some(Fault::new(
        "hot-reload",
        format!(
            "{name}={value} lets the program edit its own modules: a profiler is loaded, but clr_profiler does not rewrite \
             methods of modules that were compiled for debugging."
        ),
        format!("Unset {name}, which `dotnet watch` and some editors set."),
    ))
}

pub(super) fn framework_names(facts: &Facts) -> Option<Fault> {
    if facts.wants_profiler() {
        return None;
    }
    let found = facts.variables(|name| name.starts_with("COR_") && name.contains("PROFIL"));
    let (name, _) = found.first()?;
    Some(Fault::new(
        "framework-names",
        format!("{name} is a variable of .NET Framework, and .NET ignores it."),
        format!(
            "Set the variables whose names begin with CORECLR_: {} instead of {name}.",
            name.replacen("COR_", "CORECLR_", 1)
        ),
    ))
}

pub(super) fn wrong_prefix(facts: &Facts) -> Option<Fault> {
    if facts.wants_profiler() {
        return None;
    }
    let settings = ["ENABLE_PROFILING", "PROFILER", "PROFILER_PATH"];
    let found = facts.variables(|name| {
        let rest = name
            .strip_prefix("DOTNET_")
            .or(name.strip_prefix("COMPlus_"));
        let rest = rest.or(name.strip_prefix("CLR_"));
        rest.is_some_and(|rest| settings.contains(&rest))
    });
    let (name, _) = found.first()?;
    let rest = name.split_once('_')?.1;
    Some(Fault::new(
        "wrong-prefix",
        format!(
            "{name} is no variable of the runtime: the settings of profilers begin with CORECLR_ alone."
        ),
        format!("Set CORECLR_{rest} instead."),
    ))
}

pub(super) fn not_enabled(facts: &Facts) -> Option<Fault> {
    if !facts.wants_profiler() || facts.variable("CORECLR_ENABLE_PROFILING").is_some() {
        return None;
    }
    Some(Fault::new(
        "not-enabled",
        "A profiler is named, but CORECLR_ENABLE_PROFILING is not set.",
        "Set CORECLR_ENABLE_PROFILING=1.",
    ))
}

pub(super) fn enabled_is_no_number(facts: &Facts) -> Option<Fault> {
    let value = facts.variable("CORECLR_ENABLE_PROFILING")?;
    if number(value) == Some(1) {
        return None;
    }
    Some(Fault::new(
        "enabled-is-off",
        format!("CORECLR_ENABLE_PROFILING={value} is not the number 1, and leaves profiling off."),
        "Set CORECLR_ENABLE_PROFILING=1.",
    ))
}

pub(super) fn no_clsid(facts: &Facts) -> Option<Fault> {
    if !facts.wants_profiler() || facts.variable("CORECLR_PROFILER").is_some() {
        return None;
    }
    Some(Fault::new(
        "no-clsid",
        "Profiling is enabled, but CORECLR_PROFILER, the class id of the profiler, is not set.",
        "Set CORECLR_PROFILER to the class id that the profiler documents, in braces.",
    ))
}

pub(super) fn clsid_without_braces(facts: &Facts) -> Option<Fault> {
    let value = facts.variable("CORECLR_PROFILER")?;
    let clsid: Clsid = value.parse().ok()?;
    if value.starts_with('{') && value.ends_with('}') {
        return None;
    }
    Some(Fault::new(
        "clsid-without-braces",
        format!(
            "CORECLR_PROFILER={value} has no braces, or blanks around them, and the runtime cannot read it."
        ),
        format!("Set CORECLR_PROFILER={clsid}; in a shell in quotation marks."),
    ))
}

pub(super) fn clsid_is_no_guid(facts: &Facts) -> Option<Fault> {
    let value = facts.variable("CORECLR_PROFILER")?;
    if value.parse::<Clsid>().is_ok() || system::is_name_of_class(value) {
        return None;
    }
    Some(Fault::new(
        "clsid-is-no-guid",
        format!("CORECLR_PROFILER={value} is not a class id."),
        "Set it to a GUID in braces, such as {DF63A541-5A33-4611-8829-F4E495985EE3}.",
    ))
}

pub(super) fn no_path(facts: &Facts) -> Option<Fault> {
    if !facts.wants_profiler() || facts.named().is_some() {
        return None;
    }
    if !facts
        .variables(|name| name.starts_with("CORECLR_PROFILER_PATH_"))
        .is_empty()
    {
        return None;
    }
    Some(system::no_path(facts))
}

pub(super) fn wrong_bits_variable(facts: &Facts) -> Option<Fault> {
    if facts.named().is_some() {
        return None;
    }
    let found = facts.variables(|name| name.starts_with("CORECLR_PROFILER_PATH_"));
    let (name, value) = found.first()?;
    let (processor, bits) = (&facts.machine.processor, facts.machine.bits);
    Some(Fault::new(
        "path-for-other-processor",
        format!(
            "{name} is for another processor than {processor} ({bits} bits), and the runtime does not read it."
        ),
        format!(
            "Set CORECLR_PROFILER_PATH={value}, if that library is for {processor} ({bits} bits)."
        ),
    ))
}

pub(super) fn quoted_path(facts: &Facts) -> Option<Fault> {
    let named = facts.named()?;
    let is_quote = |text: char| matches!(text, '"' | '\'');
    if !named.value.starts_with(is_quote) && !named.value.ends_with(is_quote) {
        return None;
    }
    Some(Fault::new(
        "quoted-path",
        format!(
            "The value of {} has quotation marks in it: {}.",
            named.variable, named.value
        ),
        format!(
            "Set {}={} without them; files of services and containers do not remove them, as shells do.",
            named.variable,
            named.value.trim_matches(is_quote)
        ),
    ))
}

pub(super) fn path_with_spaces(facts: &Facts) -> Option<Fault> {
    let named = facts.named()?;
    if named.value.trim() == named.value || named.path.exists() {
        return None;
    }
    Some(Fault::new(
        "path-with-blanks",
        format!(
            "The value of {} begins or ends with a blank or a line break.",
            named.variable
        ),
        format!("Set {}={} without it.", named.variable, named.value.trim()),
    ))
}

pub(super) fn path_list(facts: &Facts) -> Option<Fault> {
    let named = facts.named()?;
    if named.path.exists() {
        return None;
    }
    let paths = system::paths_of_list(&named.value);
    let [first, _, ..] = &paths[..] else {
        return None;
    };
    Some(Fault::new(
        "list-of-paths",
        format!(
            "{}={} is a list, and the runtime takes it for one path.",
            named.variable, named.value
        ),
        format!(
            "Name one library, such as {}: a process has one profiler.",
            first.display()
        ),
    ))
}
