//! Prints the methods that a .NET program compiles, one a line, as they are compiled.

mod options;
mod summary;

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use clr_profiler::prelude::*;

use options::Options;
use summary::Summary;

/// The profiler.
struct JitLogger {
    output: Mutex<Box<dyn Write + Send>>,
    filter: Option<String>,
    summary: Option<Summary>,
}

#[profiler(clsid = "DF63A541-5A33-4611-8829-F4E495985EE3")]
impl Profiler for JitLogger {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        let options = Options::from_environment()?;
        setup.on_failure(|failure| eprintln!("jit_logger: {failure}"));
        Ok(JitLogger {
            output: Mutex::new(options.output),
            filter: options.filter,
            summary: options.summary.then(Summary::default),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        // Code from before, precompiled or less optimised, means that this one is a better tier.
        let is_first = info
            .native_code_start_addresses(function, RejitId::ORIGINAL)?
            .is_empty();
        self.started(info, function, if is_first { "jit" } else { "tier-up" })
    }

    fn jit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.finished();
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
        _function: FunctionId,
        _rejit: RejitId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.finished();
        Ok(())
    }

    fn dynamic_method_jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
        _il: &[u8],
    ) -> Result<()> {
        if let Some(summary) = &self.summary {
            summary.started();
        }
        let name = info.dynamic_function_info(function)?.name;
        self.log("dynamic", &name, || Ok("(dynamic methods)".to_owned()))
    }

    fn dynamic_method_jit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.finished();
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        if let Some(summary) = &self.summary {
            self.write(&summary.to_string())?;
        }
        Ok(())
    }
}

impl JitLogger {
    fn started(&self, info: &ProfilerInfo, function: FunctionId, kind: &str) -> Result<()> {
        if let Some(summary) = &self.summary {
            summary.started();
        }
        let method = info.method(function)?;
        self.log(kind, &method.full_name()?, || method.assembly_name())
    }

    fn finished(&self) {
        if let Some(summary) = &self.summary {
            summary.finished();
        }
    }

    /// Writes the line of a compilation, unless the filter says otherwise.
    fn log(&self, kind: &str, name: &str, assembly: impl FnOnce() -> Result<String>) -> Result<()> {
        if self
            .filter
            .as_ref()
            .is_some_and(|filter| !name.contains(filter))
        {
            return Ok(());
        }
        self.write(&format!("[{kind}] {name}"))?;
        if let Some(summary) = &self.summary {
            summary.counts_for(assembly()?);
        }
        Ok(())
    }

    fn write(&self, text: &str) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // In one piece, so that the program's own lines on the same stream stay whole.
        Ok(output.write_all(format!("{text}\n").as_bytes())?)
    }
}

register!(JitLogger);
