//! Traces across processes: requests carry the context of their span (W3C Trace Context), and the program's own activities
//! are continued.
//!
//! The [rules](crate::conventions) say which methods make and answer requests, and where the headers are.

// The functions that the helper calls read and write its strings.
#[allow(unsafe_code)]
mod native;

use std::env;
use std::sync::{Arc, Mutex};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

pub(super) use native::of;

use crate::otlp::TraceContexts;
use crate::report::lock;

const ACTIVITIES: &str = "System.Diagnostics.DiagnosticSource!System.Diagnostics.Activity.Start()";

const HELPER: &str = "[MethodTracer]MethodTracer.Http";

/// The contexts that the functions of the helper read and write: those of the exporter.
static CONTEXTS: Mutex<Option<Arc<TraceContexts>>> = Mutex::new(None);

/// Whether requests carry the context: unless the environment asks for other propagators.
pub(super) fn is_on() -> bool {
    let propagators = env::var("OTEL_PROPAGATORS").ok();
    let propagators = propagators.filter(|names| !names.trim().is_empty());
    propagators.is_none_or(|names| names.split(',').any(|name| name.trim() == "tracecontext"))
}

/// Follows the activities of the program; the spans of rules pass their contexts on.
pub(super) fn follow(
    instrumentation: Instrumentation,
    contexts: &Arc<TraceContexts>,
) -> Instrumentation {
    *lock(&CONTEXTS) = Some(Arc::clone(contexts));
    instrumentation.edit_where_present(ACTIVITIES, activity)
}

/// No request carries a context: another run of the tool begins.
pub(super) fn forget() {
    *lock(&CONTEXTS) = None;
}

/// Shows the helper the first activity of the program.
fn activity(body: &mut MethodBody, _cx: &mut RewriteContext<'_>) -> Result<()> {
    let mut code = Fragment::new();
    code.ldarg(0);
    code.call(MethodSymbol::new(HELPER, "Starts", "void (object)"));
    body.prologue(&code)?;
    Ok(())
}
