//! Traces the calls of configured methods of a .NET program, asynchronous ones to the completion of
//! their tasks.

mod methods;
// The functions that the helper calls read its strings.
#[allow(unsafe_code)]
mod native;
mod notes;
mod options;
mod summary;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::HelperAssembly;

use crate::otlp::Exporter;
use crate::report::helper::NativeMethods;
use crate::report::{Moment, Output, Report, Session, Settings, Tool, When, failures};
use crate::spans::{Spans, TraceFile};

use notes::About;
use options::Options;

/// How often spans are taken and written.
const INTERVAL: Duration = Duration::from_millis(50);

/// The assembly that traced methods call.
static HELPER: &[u8] = include_bytes!("helper/MethodTracer.dll");

/// The spans of the process: rewritten code calls functions, not objects.
static SPANS: LazyLock<Arc<Spans>> = LazyLock::new(Arc::default);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct MethodTracer {
    instrumentation: Arc<Instrumentation>,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48")]
impl Profiler for MethodTracer {
    crate::start_as_tool!();

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        note_problems(&self.instrumentation);
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl Tool for MethodTracer {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("method_tracer", setup);
        notes::forget();
        let options = Options::read(settings)?;
        let exporter = match &options.otlp {
            Some(url) => Some(Exporter::start(&SPANS, url, "method_tracer")?),
            None => None,
        };
        let helper = HelperAssembly::in_memory(HELPER)?;
        let arguments = options.arguments;
        let instrumentation = Instrumentation::new()
            .helper(&helper)
            .edit(options.patterns, move |body, cx| {
                methods::trace(body, cx, arguments)
            })
            .report(|outcome, _| {
                if let Some(problem) = &outcome.problem {
                    notes::add(About::Refused, &outcome.name, problem);
                }
            });
        let trace = TraceFile::create(options.output, options.limit)?;
        let report = Arc::new(report(info.clone(), trace, options.summary, exporter)?);
        setup.attach(NativeMethods::new(&helper, native::of))?;
        let instrumentation = setup.attach(instrumentation)?;
        let session = Session::start(settings, info, {
            let (instrumentation, report) = (Arc::clone(&instrumentation), Arc::clone(&report));
            move || {
                SPANS.close();
                if let Err(error) = instrumentation.remove() {
                    failures::add("failed", error);
                }
                note_problems(&instrumentation);
                report.finish();
            }
        })?;
        Ok(Self {
            instrumentation,
            report,
            session,
        })
    }
}

/// Notes the assemblies whose methods are not traced.
fn note_problems(instrumentation: &Instrumentation) {
    for problem in instrumentation.outcomes().problems {
        let (assembly, reason) = problem.split_once(": ").unwrap_or(("", &problem));
        notes::add(About::Refused, assembly, reason);
    }
}

/// Takes the spans periodically, and passes them to the trace and the collector.
fn report(
    info: ProfilerInfo,
    mut trace: TraceFile,
    summary: Option<Output>,
    exporter: Option<Exporter>,
) -> Result<Report> {
    let report = Report::start(When::every(INTERVAL), move |moment| {
        let ended = SPANS.take();
        if let Some(exporter) = &exporter {
            exporter.add(&ended);
            if moment != Moment::Meanwhile {
                exporter.finish();
            }
        }
        let sent = exporter.as_ref().map(Exporter::sent);
        let written = trace.write(&SPANS, &ended, moment, || summary::json(sent));
        // Spans beyond the limit of the trace are in the summary.
        let is_due = !matches!(written, Ok(false));
        match &summary {
            Some(summary) if is_due && (summary.is_replaceable() || moment == Moment::End) => {
                let text = summary::text(sent, &info.overhead());
                summary.replace(|file| file.write_all(text.as_bytes()))?;
            }
            _ => {}
        }
        written.map(drop)
    });
    Ok(report?)
}
