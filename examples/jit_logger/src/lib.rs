//! Prints the methods that a .NET program compiles, one a line, as they are compiled.

mod log;
mod options;
mod stopwatch;

use std::sync::Arc;

use clr_profiler::prelude::*;
use report::{Report, When, failures};

use log::Log;
use options::Options;

/// The profiler.
struct JitLogger {
    filter: Option<String>,
    log: Arc<Log>,
    report: Report,
}

#[profiler(clsid = "DF63A541-5A33-4611-8829-F4E495985EE3")]
impl Profiler for JitLogger {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("jit_logger", setup);
        let options = Options::from_environment()?;
        let log = Arc::new(Log::new(options.output, options.summary));
        let report = Report::start(When::default(), {
            let log = Arc::clone(&log);
            move |_| {
                log.summary();
                Ok(())
            }
        })?;
        Ok(JitLogger {
            filter: options.filter,
            log,
            report,
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        // Native code that exists already was precompiled, or compiled at an earlier tier.
        let earlier = info.native_code_start_addresses(function, RejitId::ORIGINAL)?;
        let kind = if earlier.is_empty() { "jit" } else { "tier-up" };
        self.started(info, function, kind)
    }

    fn jit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.finished(function);
        Ok(())
    }

    fn rejit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        rejit: RejitId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.started(info, function, &format!("rejit {}", rejit.raw()))
    }

    fn rejit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
        _rejit: RejitId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.finished(function);
        Ok(())
    }

    fn dynamic_method_jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
        _il: &[u8],
    ) -> Result<()> {
        stopwatch::started(function.raw());
        // It has no metadata: no type, no assembly.
        let name = info.dynamic_function_info(function)?.name;
        self.log("dynamic", &name, || "(dynamic methods)".to_owned());
        Ok(())
    }

    fn dynamic_method_jit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.finished(function);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl JitLogger {
    fn started(&self, info: &ProfilerInfo, function: FunctionId, kind: &str) -> Result<()> {
        stopwatch::started(function.raw());
        let method = info.method(function)?;
        let name = method.full_name();
        // It is compiled, even if its name is not available.
        let name = name.unwrap_or_else(|error| format!("? ({error})"));
        self.log(kind, &name, || {
            method.assembly_name().unwrap_or_else(|_| "?".to_owned())
        });
        Ok(())
    }

    /// Writes the line of a compilation, unless the filter excludes it.
    fn log(&self, kind: &str, name: &str, assembly: impl FnOnce() -> String) {
        if self
            .filter
            .as_ref()
            .is_some_and(|part| !name.contains(part))
        {
            return;
        }
        let assembly = self.log.has_summary().then(assembly);
        self.log.method(kind, name, assembly.as_deref());
        stopwatch::counts_for(assembly);
    }

    fn finished(&self, function: FunctionId) {
        if let Some((assembly, time)) = stopwatch::finished(function.raw()) {
            self.log.add_time(&assembly, time);
        }
    }
}

register!(JitLogger);
