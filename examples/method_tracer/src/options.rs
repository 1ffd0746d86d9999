//! The options that the runner passes, through environment variables.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::{Error, Result};
use report::{Output, methods_from_environment, path_from_environment};

/// Megabytes of a trace, which viewers open without effort.
const LIMIT: u64 = 64;

/// The selection of traced methods, and the outputs.
pub(crate) struct Options {
    pub(crate) patterns: Arc<MethodPatterns>,
    pub(crate) output: PathBuf,
    /// The limit of the trace in bytes.
    pub(crate) limit: u64,
    pub(crate) summary: Option<Output>,
    pub(crate) helper: PathBuf,
    pub(crate) arguments: bool,
    pub(crate) otlp: Option<String>,
}

impl Options {
    pub(crate) fn from_environment() -> Result<Self> {
        let patterns = match methods_from_environment("METHOD_TRACER_METHODS")? {
            Some(patterns) => patterns,
            None => Arc::new(MethodPatterns::parse("**").map_err(Error::other)?),
        };
        let summary = env::var_os("METHOD_TRACER_SUMMARY").map(|path| Output::whole(path.into()));
        let limit = match env::var("METHOD_TRACER_LIMIT") {
            Ok(text) => match text.parse() {
                Ok(megabytes @ 1..=1_000_000) => megabytes,
                _ => {
                    return Err(Error::other(format!(
                        "the limit `{text}` is not a number of megabytes from 1 to 1000000"
                    )));
                }
            },
            Err(_) => LIMIT,
        };
        let otlp = env::var_os("METHOD_TRACER_OTLP").map(|url| {
            url.into_string()
                .map_err(|_| Error::other("METHOD_TRACER_OTLP is not UTF-8"))
        });
        // Next to this source, unless the profiler was moved.
        let helper = match env::var_os("METHOD_TRACER_HELPER") {
            Some(path) => path.into(),
            None => concat!(env!("CARGO_MANIFEST_DIR"), "/helper/MethodTracer.dll").into(),
        };
        Ok(Self {
            patterns,
            output: path_from_environment("METHOD_TRACER_OUTPUT", "trace.json"),
            limit: limit << 20,
            summary: summary.transpose()?,
            helper,
            arguments: env::var_os("METHOD_TRACER_ARGUMENTS").is_some(),
            otlp: otlp.transpose()?,
        })
    }
}
