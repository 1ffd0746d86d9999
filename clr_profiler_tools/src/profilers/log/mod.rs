//! Prints the methods that a .NET program compiles, one a line, as they are compiled.

mod lines;
mod options;
#[cfg(target_os = "linux")]
mod perf;
mod stopwatch;

use std::sync::Arc;

use crate::report::{Moment, Report, Session, Settings, Tool, When, failures};
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::prelude::*;

use lines::Log;
use options::Options;

/// How often names for perf are written.
#[cfg(target_os = "linux")]
const NAMES: std::time::Duration = std::time::Duration::from_millis(500);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct JitLogger {
    methods: Option<Arc<MethodPatterns>>,
    lines: bool,
    log: Arc<Log>,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "DF63A541-5A33-4611-8829-F4E495985EE3")]
impl Profiler for JitLogger {
    crate::start_as_tool!();

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
        // It has no metadata: no type, no assembly, nothing for a pattern but its name.
        if self.methods.is_some() {
            return Ok(());
        }
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
        self.session.end();
        Ok(())
    }
}

impl JitLogger {
    fn started(&self, info: &ProfilerInfo, function: FunctionId, kind: &str) -> Result<()> {
        stopwatch::started(function.raw());
        let method = info.method(function)?;
        if let Some(patterns) = &self.methods
            && !patterns.matches(&method)?
        {
            return Ok(());
        }
        let name = if self.lines {
            method.source_name()
        } else {
            method.full_name()
        };
        // It is compiled, even if its name is not available.
        let mut name = name.unwrap_or_else(|error| format!("? ({error})"));
        if self.lines {
            match method.first_source_location() {
                Ok(Some(location)) => name += &format!(" in {location}"),
                Ok(None) => {}
                Err(error) => name += &format!(" in ? ({error})"),
            }
        }
        self.log(kind, &name, || {
            method.assembly_name().unwrap_or_else(|_| "?".to_owned())
        });
        Ok(())
    }

    /// Writes the line of a compilation.
    fn log(&self, kind: &str, name: &str, assembly: impl FnOnce() -> String) {
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

impl Tool for JitLogger {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("jit_logger", setup);
        // With it a profiler cannot be detached. It is for the callbacks of ReJIT, of which there is none without it.
        if settings.is_attached() {
            setup.remove_events(EventMask::ENABLE_REJIT);
        }
        let options = Options::read(settings)?;
        let log = Arc::new(Log::new(options.output, options.summary));
        #[cfg(target_os = "linux")]
        let names = perf::PerfNames::attach(setup, settings)?;
        #[cfg(not(target_os = "linux"))]
        if settings.is_set("JIT_LOGGER_PERF_MAP") || settings.is_set("JIT_LOGGER_JITDUMP") {
            return Err(Error::other("perf maps and jitdumps are for Linux"));
        }
        #[cfg(target_os = "linux")]
        let when = match names {
            Some(_) => When::every(NAMES),
            None => When::default(),
        };
        #[cfg(not(target_os = "linux"))]
        let when = When::default();
        let report = Arc::new(Report::start(when, {
            let (log, info) = (Arc::clone(&log), info.clone());
            #[cfg(target_os = "linux")]
            let settings = settings.clone();
            move |moment| {
                #[cfg(target_os = "linux")]
                if let Some(names) = &names {
                    names.write(&info)?;
                    if moment == Moment::End {
                        for words in names.end()? {
                            Session::say(&settings, words);
                        }
                    }
                }
                if moment == Moment::Meanwhile {
                    return Ok(());
                }
                log.summary(&info.overhead());
                match moment {
                    Moment::Asked => Ok(()),
                    // Perhaps nothing was written since the file was removed, which would have told.
                    _ => log.is_kept(),
                }
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(JitLogger {
            methods: options.methods,
            lines: options.lines,
            log,
            report,
            session,
        })
    }
}
