//! Gives methods of a .NET program faults: exceptions, delays and results in a share of their calls.

use std::fmt::Write as _;
use std::sync::Arc;

use clr_profiler::instrumentation::{Instrumentation, MethodState};
use clr_profiler::patches::Faults;
use clr_profiler::prelude::*;

use crate::report::{Moment, Output, Pace, Report, Session, Settings, Tool, When, failures};

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
        let Some(path) = settings.get("FAULT_INJECTOR_FAULTS") else {
            return Err(Error::other("there is no file of faults"));
        };
        let faults = Faults::open(&path)
            .map_err(|error| Error::other(format!("{}: {error}", path.display())))?;
        let output = Output::whole(settings.path("FAULT_INJECTOR_OUTPUT", "patch.txt"))?;
        let instrumentation = Instrumentation::new().faults(&faults).report(|outcome, _| {
            if let Some(problem) = &outcome.problem {
                failures::add("refused", format_args!("{}: {problem}", outcome.name));
            }
        });
        let instrumentation = setup.attach(instrumentation)?;
        Session::say_so_far(settings, line(&faults, &instrumentation));
        let report = Arc::new(Report::start(When::every(Pace::LOOK), {
            let (instrumentation, info) = (Arc::clone(&instrumentation), info.clone());
            let settings = settings.clone();
            let mut pace = Pace::start();
            move |moment| {
                let is_due = pace.is_due() && output.is_replaceable();
                if moment == Moment::Meanwhile && !is_due {
                    return Ok(());
                }
                let began = std::time::Instant::now();
                Session::say_so_far(&settings, line(&faults, &instrumentation));
                let text = table(&faults, &instrumentation, &info);
                let written = output.replace(|file| file.write_all(text.as_bytes()));
                pace.written(began);
                written
            }
        })?);
        let session = Session::start(settings, info, {
            let (instrumentation, report) = (Arc::clone(&instrumentation), Arc::clone(&report));
            move || {
                if let Err(error) = instrumentation.remove() {
                    failures::add("failed", error);
                }
                report.finish();
            }
        })?;
        Ok(Self { report, session })
    }
}

/// The counts in one line.
fn line(faults: &Faults, instrumentation: &Instrumentation) -> String {
    let counts = faults.counts();
    let calls: u64 = counts.iter().map(|row| row.calls).sum();
    let hits: u64 = counts.iter().map(|row| row.faults).sum();
    let outcomes = instrumentation.outcomes();
    let unmatched = outcomes.unmatched().count();
    let mut line = format!(
        "{hits} faults in {calls} calls of {} methods",
        outcomes.methods.len()
    );
    if unmatched > 0 {
        let _ = write!(line, "; {unmatched} patterns have matched nothing");
    }
    line
}

/// The counts of each line, and the outcomes of the methods.
fn table(faults: &Faults, instrumentation: &Instrumentation, info: &ProfilerInfo) -> String {
    let mut text = String::from("       calls      faults  line\n");
    for row in faults.counts() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:>12}{:>12}  {}", row.calls, row.faults, row.line);
    }
    text.push('\n');
    for method in instrumentation.outcomes().methods {
        // Until the first call of a method, its state says nothing.
        if method.state == MethodState::NotCompiled {
            continue;
        }
        let _ = write!(text, "{:<13} {}", method.state.name(), method.name);
        if let Some(problem) = &method.problem {
            let _ = write!(text, ": {problem}");
        }
        text.push('\n');
    }
    for pattern in instrumentation.outcomes().unmatched() {
        let _ = writeln!(text, "matched none  {pattern}");
    }
    let _ = writeln!(text, "overhead: {}", info.overhead());
    text
}
