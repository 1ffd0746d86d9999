//! Gives methods of a .NET program faults: exceptions, delays and results in a share of their calls; and applies patches in C#.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use clr_profiler::il::pattern::{MethodPattern, own_name};
use clr_profiler::instrumentation::{Instrumentation, MethodState, Outcomes, PatchWay};
use clr_profiler::patches::{Faults, ManagedPatches};
use clr_profiler::prelude::*;

use crate::report::{Moment, Output, Pace, Report, Session, Settings, Tool, When, failures};

/// The number of methods of a type that are listed when a pattern has matched none of them.
const LISTED: usize = 12;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct FaultInjector {
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "9B6C1E52-3F0D-4D8A-A7C4-2E51D08B7F36")]
impl Profiler for FaultInjector {
    crate::start_as_tool!();

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl Tool for FaultInjector {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("fault_injector", setup);
        let path = settings.get("FAULT_INJECTOR_FAULTS");
        let patches = settings.get("FAULT_INJECTOR_PATCHES");
        if path.is_none() && patches.is_none() {
            return Err(Error::other("there are neither faults nor patches"));
        }
        let faults = path.map(|path| {
            Faults::open(&path)
                .map_err(|error| Error::other(format!("{}: {error}", path.display())))
        });
        let faults = faults.transpose()?;
        let output = Output::whole(settings.path("FAULT_INJECTOR_OUTPUT", "patch.txt"))?;
        let mut instrumentation = Instrumentation::new();
        if let Some(faults) = &faults {
            instrumentation = instrumentation.faults(faults);
        }
        let for_all_callers = settings.is_set("FAULT_INJECTOR_ALL_CALLERS");
        for path in patches.iter().flat_map(env::split_paths) {
            instrumentation = instrumentation.managed_patches(opened(&path, for_all_callers)?);
        }
        let instrumentation = instrumentation.report(|outcome, _| {
            if let Some(problem) = &outcome.problem {
                failures::add("refused", format_args!("{}: {problem}", outcome.name));
            }
        });
        let instrumentation = setup.attach(instrumentation)?;
        Session::say_so_far(settings, line(faults.as_ref(), &instrumentation, info));
        let ended = faults.clone();
        let report = Arc::new(Report::start(When::every(Pace::LOOK), {
            let (instrumentation, info) = (Arc::clone(&instrumentation), info.clone());
            let settings = settings.clone();
            let mut pace = Pace::start();
            move |moment| {
                let say = || {
                    let line = line(faults.as_ref(), &instrumentation, &info);
                    Session::say_so_far(&settings, line);
                };
                // At an end also if the file cannot be written.
                let is_meanwhile = moment == Moment::Meanwhile;
                if !is_meanwhile {
                    say();
                }
                pace.replace(&output, moment, |file| {
                    if is_meanwhile {
                        say();
                    }
                    let text = table(faults.as_ref(), &instrumentation, &info);
                    file.write_all(text.as_bytes())
                })
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let (instrumentation, report) = (Arc::clone(&instrumentation), Arc::clone(&report));
            move || {
                // Methods that may be running in a loop keep their IL.
                if let Some(faults) = &ended {
                    faults.end();
                }
                if let Err(error) = instrumentation.remove() {
                    failures::add("failed", error);
                }
                report.finish();
            }
        })?;
        Ok(Self { report, session })
    }
}

/// The patches of an assembly.
fn opened(path: &Path, for_all_callers: bool) -> Result<ManagedPatches> {
    let patches = ManagedPatches::open(path)?;
    Ok(match for_all_callers {
        true => patches.for_all_callers(),
        false => patches,
    })
}

/// The counts in one line.
fn line(faults: Option<&Faults>, instrumentation: &Instrumentation, info: &ProfilerInfo) -> String {
    let outcomes = instrumentation.outcomes();
    let mut parts = Vec::new();
    if let Some(faults) = faults {
        let counts = faults.counts();
        let calls: u64 = counts.iter().map(|row| row.calls).sum();
        let hits: u64 = counts.iter().map(|row| row.faults).sum();
        let methods = outcomes.methods.iter();
        let methods = methods.filter(|one| one.ways.iter().any(|way| *way != PatchWay::Calls));
        parts.push(format!(
            "{} in {} of {}",
            counted(hits, "fault"),
            counted(calls, "call"),
            counted(methods.count() as u64, "method")
        ));
    }
    parts.extend(ways(&outcomes));
    if parts.is_empty() {
        parts.push("nothing is patched".to_owned());
    }
    let unmatched: Vec<_> = outcomes.unmatched().collect();
    if let Some(first) = unmatched.first() {
        let mut part = match unmatched.len() {
            1 => format!("`{first}` has matched nothing"),
            count => format!("{count} patterns have matched nothing, such as `{first}`"),
        };
        let hint = failures::missing_assembly(first);
        if let Some(hint) = hint.or_else(|| methods_of_type(info, first)) {
            // Writing to a string cannot fail.
            let _ = write!(part, ": {hint}");
        }
        parts.push(part);
    }
    parts.join("; ")
}

/// How methods reach their patches, in words.
fn ways(outcomes: &Outcomes) -> Vec<String> {
    let mut words = Vec::new();
    let by_address = outcomes.patched(PatchWay::Slot);
    let all = by_address + outcomes.patched(PatchWay::Method);
    if all > 0 {
        let mut part = format!("{} patched, for all callers", counted(all as u64, "method"));
        if by_address > 0 {
            let _ = write!(part, ", {by_address} of them by addresses");
        }
        words.push(part);
    }
    let calls: u64 = outcomes.callees.iter().map(|of| of.methods).sum();
    if calls > 0 {
        let callers = outcomes.patched(PatchWay::Calls);
        let (calls, callers) = (counted(calls, "call"), counted(callers as u64, "method"));
        words.push(format!("{calls} patched, in {callers}"));
    }
    words
}

/// A number of things in words.
fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// The methods of the type that a pattern without matches names.
fn methods_of_type(info: &ProfilerInfo, pattern: &MethodPattern) -> Option<String> {
    let wanted = pattern.type_name()?;
    for module in info.modules().ok()?.flatten() {
        let Ok(Some(assembly)) = info.module_info(module).map(|facts| facts.assembly) else {
            continue;
        };
        let assembly = info.assembly_info(assembly);
        if !assembly.is_ok_and(|assembly| pattern.matches_assembly(&assembly.name)) {
            continue;
        }
        let Ok(metadata) = info.module_metadata(module) else {
            continue;
        };
        for class in metadata.type_defs().flatten() {
            let Ok(class_props) = metadata.type_def_props(class) else {
                continue;
            };
            if own_name(&class_props.name) != wanted || !pattern.matches_type(&class_props.name) {
                continue;
            }
            let methods = metadata.methods(class).flatten();
            let methods = methods.filter_map(|method| metadata.method_props(method).ok());
            let names: BTreeSet<String> = methods.map(|method| method.name).collect();
            let names: Vec<String> = names.into_iter().collect();
            let list = match names.len() {
                0 => "no methods".to_owned(),
                1..=LISTED => names.join(", "),
                count => format!(
                    "{} and {} more",
                    names.get(..LISTED)?.join(", "),
                    count - LISTED
                ),
            };
            return Some(format!("{} has {list}", class_props.name));
        }
    }
    Some("no type that it names was loaded".to_owned())
}

/// The counts of each line, and the outcomes of the methods.
fn table(
    faults: Option<&Faults>,
    instrumentation: &Instrumentation,
    info: &ProfilerInfo,
) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(faults) = faults {
        text.push_str("       calls      faults  line\n");
        for row in faults.counts() {
            let _ = writeln!(text, "{:>12}{:>12}  {}", row.calls, row.faults, row.line);
        }
        text.push('\n');
    }
    let outcomes = instrumentation.outcomes();
    for method in &outcomes.methods {
        // Until the first call of a method, its state says nothing; all methods are read for patched calls.
        let is_read = method.ways == [PatchWay::Calls];
        if method.state == MethodState::NotCompiled
            || method.state == MethodState::Unchanged && is_read
        {
            continue;
        }
        let _ = write!(text, "{:<13} {}", method.state.name(), method.name);
        if let Some(problem) = &method.problem {
            let _ = write!(text, ": {problem}");
        } else if method.ways.contains(&PatchWay::Slot) {
            text.push_str(" (by addresses)");
        } else if is_read {
            text.push_str(" (its calls)");
        }
        text.push('\n');
    }
    for callee in outcomes.callees.iter().filter(|of| of.methods > 0) {
        let _ = writeln!(
            text,
            "{:<13} {}, at {} calls",
            "patched", callee.pattern, callee.methods
        );
    }
    for problem in &outcomes.problems {
        let _ = writeln!(text, "failed        {problem}");
    }
    for pattern in outcomes.unmatched() {
        let _ = writeln!(text, "matched none  {pattern}");
    }
    let _ = writeln!(text, "overhead: {}", info.overhead());
    text
}
