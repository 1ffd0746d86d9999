//! The options that the command passes.

use std::sync::Arc;

use crate::report::{Output, Settings, methods};
use clr_profiler::Result;
use clr_profiler::il::pattern::MethodPatterns;

/// How to log.
pub(crate) struct Options {
    /// The destination of the lines.
    pub(crate) output: Output,
    /// Only methods that match.
    pub(crate) methods: Option<Arc<MethodPatterns>>,
    /// Whether to write the file and line of each method.
    pub(crate) lines: bool,
    /// Whether to write a summary at the end.
    pub(crate) summary: bool,
}

impl Options {
    /// `JIT_LOGGER_OUTPUT` is a file, `JIT_LOGGER_METHODS` patterns, `JIT_LOGGER_LINES` and
    /// `JIT_LOGGER_SUMMARY` anything.
    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let output = match settings.get("JIT_LOGGER_OUTPUT") {
            // Programs started by this one inherit the variable: each adds its lines.
            Some(path) => Output::lines(path.into())?,
            None => Output::stderr(),
        };
        Ok(Self {
            output,
            methods: methods(settings, "JIT_LOGGER_METHODS")?,
            lines: settings.is_set("JIT_LOGGER_LINES"),
            summary: settings.is_set("JIT_LOGGER_SUMMARY"),
        })
    }
}
