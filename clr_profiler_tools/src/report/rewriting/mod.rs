//! Parts of profilers that rewrite: the outcomes of methods, counters in modules, results of methods.

mod counters;
mod results;

pub use counters::ModuleCounters;
pub use results::native_results;

use std::io;
use std::sync::Arc;

use clr_profiler::instrumentation::MethodOutcome;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::Rewritten;

use crate::report::{Output, Report, When, failures};

/// A function for [`Instrumentation::report`](clr_profiler::instrumentation::Instrumentation::report): refused methods are
/// [failures], and `il` gets the IL of each method before and after, or the reason of the refusal.
pub fn outcomes(
    il: Option<Arc<Output>>,
) -> impl Fn(&MethodOutcome, Option<&Rewritten>) + Send + Sync + 'static {
    move |outcome, rewritten| {
        let name = &outcome.name;
        if let Some(problem) = &outcome.problem {
            failures::add("refused", format_args!("{name}: {problem}"));
        }
        let Some(il) = &il else {
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
}

/// A report that ends lines with the costs of the profiler: `overhead: ...`.
///
/// # Errors
///
/// As of [`Report::start`].
pub fn overhead(info: &ProfilerInfo, lines: &Arc<Output>) -> io::Result<Report> {
    let (info, lines) = (info.clone(), Arc::clone(lines));
    Report::start(When::default(), move |_| {
        lines.end(&format!("overhead: {}\n", info.overhead()));
        Ok(())
    })
}
