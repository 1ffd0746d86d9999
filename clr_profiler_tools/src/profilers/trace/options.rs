//! The options that the command passes.

use std::path::PathBuf;
use std::sync::Arc;

use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::{Error, Result};

use crate::report::{Output, Settings, methods};

/// Megabytes of a trace, which viewers open without effort.
const LIMIT: u64 = 64;

/// The selection of traced methods, and the outputs.
pub(crate) struct Options {
    pub(crate) patterns: Arc<MethodPatterns>,
    pub(crate) output: PathBuf,
    /// The limit of the trace in bytes.
    pub(crate) limit: u64,
    pub(crate) summary: Option<Output>,
    pub(crate) arguments: bool,
    pub(crate) otlp: Option<String>,
}

impl Options {
    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let patterns = match methods(settings, "METHOD_TRACER_METHODS")? {
            Some(patterns) => patterns,
            None => Arc::new(MethodPatterns::parse("**").map_err(Error::other)?),
        };
        let limit = match settings.text("METHOD_TRACER_LIMIT")? {
            Some(text) => match text.parse() {
                Ok(megabytes @ 1..=1_000_000) => megabytes,
                _ => {
                    return Err(Error::other(format!(
                        "the limit `{text}` is not a number of megabytes from 1 to 1000000"
                    )));
                }
            },
            None => LIMIT,
        };
        let summary = settings.get("METHOD_TRACER_SUMMARY");
        Ok(Self {
            patterns,
            output: settings.path("METHOD_TRACER_OUTPUT", "trace.json"),
            limit: limit << 20,
            summary: summary.map(|path| Output::whole(path.into())).transpose()?,
            arguments: settings.is_set("METHOD_TRACER_ARGUMENTS"),
            otlp: settings.text("METHOD_TRACER_OTLP")?,
        })
    }
}
