//! Counts and times the calls of methods by a patch, which is switched on and off while the program runs.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clr_profiler::instrumentation::{Instrumentation, MethodState};
use clr_profiler::patches::Patch;
use clr_profiler::prelude::*;
use clr_profiler_tools::report::{
    Output, Pace, Report, Requests, Settings, Tool, When, failures, lock, methods,
};

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct HotPatch {
    report: Report,
}

#[profiler(clsid = "7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46")]
impl Profiler for HotPatch {
    clr_profiler_tools::start_as_tool!();

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

/// The number of calls and the longest time, by the full names of the methods.
type Table = Mutex<HashMap<String, (u64, Duration)>>;

impl Tool for HotPatch {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("hot_patch", setup);
        let output = Output::whole(settings.path("HOT_PATCH_OUTPUT", "hot_patch.txt"))?;
        let control = settings.path("HOT_PATCH_CONTROL", "hot_patch.control");
        let mut control = Requests::new(&control)?;
        let methods = methods(settings, "HOT_PATCH_METHODS")?;
        let methods = methods.map_or_else(|| "**".parse().map(Arc::new), Ok)?;
        let table = Arc::new(Table::default());
        let patch = Patch::method(methods)
            .before({
                let table = Arc::clone(&table);
                move |call| {
                    lock(&table).entry(call.method().to_owned()).or_default().0 += 1;
                    call.keep(Instant::now());
                    Ok(())
                }
            })
            .after({
                let table = Arc::clone(&table);
                move |call| {
                    let time = call
                        .kept::<Instant>()
                        .map_or(Duration::ZERO, |began| began.elapsed());
                    if let Some((_, longest)) = lock(&table).get_mut(call.method()) {
                        *longest = time.max(*longest);
                    }
                    Ok(())
                }
            });
        let patches = Instrumentation::new().patch(patch).switchable();
        let patches = setup.attach(patches.report(|outcome, _| {
            if let Some(problem) = &outcome.problem {
                failures::add("failed", format_args!("{}: {problem}", outcome.name));
            }
        }))?;
        // A command from before the program begins is effective from its first call on.
        let mut switched = follow(&patches, control.lines()).unwrap_or_else(|| "on".to_owned());
        let (info, mut pace) = (info.clone(), Pace::start());
        let report = Report::start(When::every(Pace::LOOK), move |moment| {
            if let Some(command) = follow(&patches, control.lines()) {
                if let Some(rejit) = patches.rejit() {
                    // Until the runtime has the new IL of all methods.
                    rejit.wait(Duration::from_secs(10));
                }
                (switched, pace) = (command, Pace::start());
            }
            pace.replace(&output, moment, |file| {
                let (text, overhead) = (text(&table, &patches), info.overhead());
                writeln!(file, "{text}overhead: {overhead}\nswitched {switched}")
            })
        })?;
        Ok(Self { report })
    }
}

/// Obeys the lines, `on` or `off`, and returns the last one, or the mistake in it.
fn follow(patches: &Instrumentation, lines: std::io::Result<Vec<String>>) -> Option<String> {
    let lines = lines.unwrap_or_else(|error| vec![format!("the control file: {error}")]);
    let mut last = None;
    for line in lines.iter().map(|line| line.trim()) {
        let switched = match line {
            "" => continue,
            "on" => patches.on(),
            "off" => patches.off(),
            _ => Err(Error::other(format!("`{line}` is neither `on` nor `off`"))),
        };
        last = Some(switched.map_or_else(|error| error.to_string(), |()| line.to_owned()));
    }
    last
}

/// The methods that were called, most calls first, and those that could not be patched.
fn text(table: &Table, patches: &Instrumentation) -> String {
    let mut rows = Vec::new();
    let methods = patches.outcomes().methods;
    let selected = methods.len();
    for method in methods {
        let (count, longest) = lock(table).get(&method.name).copied().unwrap_or_default();
        if count > 0 || method.state != MethodState::NotCompiled {
            rows.push((count, longest.as_micros(), method));
        }
    }
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.name.cmp(&b.2.name)));
    let mut text = format!(
        "{:>12} {:>12}  {:<13} method\n",
        "calls", "longest us", "state"
    );
    for (count, longest, method) in rows {
        let (state, name) = (method.state.name(), method.name);
        // Writing to a `String` cannot fail, hence `let _`.
        let _ = writeln!(text, "{count:>12} {longest:>12}  {state:<13} {name}");
        if let Some(problem) = method.problem {
            let _ = writeln!(text, "{:27}{problem}", "");
        }
    }
    text + &format!("{selected} methods are selected\n")
}

register!(HotPatch);
