//! Has the methods of a .NET program call a logger, which is written in C#.

mod counters;
mod logging;

use std::sync::Arc;

use clr_profiler::instrumentation::{Instrumentation, MethodOutcome};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, Rewritten};
use clr_profiler_tools::report::helper::NativeMethods;
use clr_profiler_tools::report::{Output, Report, Settings, When, failures, methods_or_all};

use counters::Counters;
use logging::Logging;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct MethodLogger {
    report: Report,
}

#[profiler(clsid = "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF")]
impl Profiler for MethodLogger {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("method_logger", setup);
        let settings = Settings::from_environment();
        let methods = methods_or_all("METHOD_LOGGER_METHODS")?;
        // Next to this source, unless the profiler was moved.
        let helper = concat!(env!("CARGO_MANIFEST_DIR"), "/helper/Logger.dll");
        let helper = HelperAssembly::open(settings.path("METHOD_LOGGER_HELPER", helper))?;
        let output = settings.path("METHOD_LOGGER_OUTPUT", "calls.txt");
        let output = Arc::new(Output::lines(output)?);
        let il = settings
            .get("METHOD_LOGGER_IL")
            .map(|path| Output::lines(path.into()));
        let il = Arc::new(il.transpose()?);

        // SAFETY: the logger pins a string, and passes its address and its length.
        setup.attach(unsafe { NativeMethods::lines(&helper, &output) })?;
        let counters = match settings.is_set("METHOD_LOGGER_COUNT") {
            true => Some(setup.attach(Counters::new(&helper, &il))?),
            false => None,
        };
        let logging = Logging::new(&settings, counters)?;
        setup.attach(
            Instrumentation::new()
                .helper(&helper)
                .edit(methods, move |body, cx| logging.edit(body, cx))
                .report(move |outcome, rewritten| list(il.as_ref().as_ref(), outcome, rewritten)),
        )?;
        let info = info.clone();
        let report = Report::start(When::default(), move |_| {
            output.end(&format!("overhead: {}\n", info.overhead()));
            Ok(())
        })?;
        Ok(Self { report })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

register!(MethodLogger);

/// Lists the IL of a method, or why it was refused.
fn list(il: Option<&Output>, outcome: &MethodOutcome, rewritten: Option<&Rewritten>) {
    let name = &outcome.name;
    if let Some(problem) = &outcome.problem {
        failures::add("refused", format_args!("{name}: {problem}"));
    }
    let Some(il) = il else {
        return;
    };
    if let Some(rewritten) = rewritten {
        let [before, after] = [rewritten.before(), rewritten.after()]
            .map(|body| body.map_or_else(|error| error.to_string(), |body| body.to_string()));
        il.append(&format!("{name}\nbefore:\n{before}\nafter:\n{after}\n\n"));
    }
    if let Some(problem) = &outcome.problem {
        il.append(&format!("{name}\nrefused: {problem}\n\n"));
    }
}
