//! Traces the calls of configured methods of a .NET program, asynchronous ones to the completion of
//! their tasks.

mod calls;
mod methods;
mod notes;
mod options;
mod otlp;
mod spans;
mod summary;
mod trace;

use std::sync::Arc;
use std::time::Duration;

use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::HelperAssembly;
use report::helper::NativeMethods;
use report::{Moment, Output, Report, When, failures};

use notes::About;
use options::Options;
use otlp::Exporter;
use trace::Trace;

/// How often spans are taken and written.
const INTERVAL: Duration = Duration::from_millis(50);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct MethodTracer {
    instrumentation: Arc<Instrumentation>,
    helper: HelperAssembly,
    /// The methods of the helper that begin and end spans.
    spans: NativeMethods,
    report: Report,
}

#[profiler(clsid = "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48")]
impl Profiler for MethodTracer {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("method_tracer", setup);
        let options = Options::from_environment()?;
        let exporter = options.otlp.map(Exporter::start).transpose()?;
        let helper = HelperAssembly::open(&options.helper)?;
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
        let trace = Trace::create(options.output, options.limit)?;
        let report = report(info.clone(), trace, options.summary, exporter)?;
        Ok(Self {
            instrumentation: setup.attach(instrumentation)?,
            helper,
            spans: NativeMethods::new(calls::of),
            report,
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        self.spans.find(info, module, Some(&self.helper))?;
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.spans.unloaded(module);
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.spans.compiled(&info.method(function)?)?;
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        for problem in self.instrumentation.outcomes().problems {
            let (assembly, reason) = problem.split_once(": ").unwrap_or(("", &problem));
            notes::add(About::Refused, assembly, reason);
        }
        self.report.finish();
        Ok(())
    }
}

register!(MethodTracer);

/// Takes the spans periodically, and passes them to the trace and the collector.
fn report(
    info: ProfilerInfo,
    mut trace: Trace,
    summary: Option<Output>,
    exporter: Option<Exporter>,
) -> Result<Report> {
    let report = Report::start(When::every(INTERVAL), move |moment| {
        let ended = spans::take();
        if let Some(exporter) = &exporter {
            exporter.add(&ended);
            if moment != Moment::Meanwhile {
                exporter.flush();
            }
        }
        let sent = exporter.as_ref().map(Exporter::sent);
        let written = trace.write(&ended, moment, sent);
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
