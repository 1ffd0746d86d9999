//! Traces the calls of configured methods of a .NET program, asynchronous ones to the completion of
//! their tasks.

mod calls;
mod config;
mod methods;
mod notes;
mod options;
mod otlp;
mod spans;
mod summary;
mod trace;

use std::time::Duration;

use clr_profiler::prelude::*;
use report::{Moment, Output, Report, When, failures, helper};

use methods::{Methods, Place};
use notes::About;
use options::Options;
use otlp::Exporter;
use trace::Trace;

/// How often spans are taken and written.
const INTERVAL: Duration = Duration::from_millis(50);

/// The profiler.
struct MethodTracer {
    methods: Methods,
    report: Report,
}

#[profiler(clsid = "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48")]
impl Profiler for MethodTracer {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("method_tracer", setup);
        let options = Options::from_environment()?;
        let exporter = options.otlp.map(Exporter::start).transpose()?;
        let methods = Methods::new(options.config, &options.helper, options.arguments)?;
        let trace = Trace::create(options.output, options.limit)?;
        let report = report(trace, options.summary, exporter)?;
        Ok(Self { methods, report })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        self.methods.loaded(info, module)
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.methods.unloaded(module);
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        match self.methods.place(&method)? {
            Place::Elsewhere => {}
            Place::Native(call) => helper::pass_on(&method, &call)?,
            Place::Traced => {
                let name = method.full_name()?;
                if let Err(error) = method.rewrite(|body, cx| self.methods.trace(body, cx)) {
                    notes::add(About::Refused, &name, error);
                }
            }
        }
        Ok(())
    }

    // Precompiled code cannot be rewritten, and contains inlined copies of methods.
    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        Ok(!self.methods.may_be_copied_into(info, function)?)
    }

    // The inlined copy of the method has the IL of that time, which may be the original one.
    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        let place = self.methods.place(&info.method(callee)?)?;
        Ok(matches!(place, Place::Elsewhere))
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

register!(MethodTracer);

/// Takes the spans periodically, and passes them to the trace and the collector.
fn report(mut trace: Trace, summary: Option<Output>, exporter: Option<Exporter>) -> Result<Report> {
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
                summary.replace(|file| file.write_all(summary::text(sent).as_bytes()))?;
            }
            _ => {}
        }
        written.map(drop)
    });
    Ok(report?)
}
