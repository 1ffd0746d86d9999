//! The options that the runner passes, through environment variables.

use std::env;

use clr_profiler::{Error, Result};
use report::Output;

/// How to log.
pub(crate) struct Options {
    /// The destination of the lines.
    pub(crate) output: Output,
    /// Only methods whose full name contains this.
    pub(crate) filter: Option<String>,
    /// Whether to write a summary at the end.
    pub(crate) summary: bool,
}

impl Options {
    /// `JIT_LOGGER_OUTPUT` is a file, `JIT_LOGGER_FILTER` a text, `JIT_LOGGER_SUMMARY` anything.
    pub(crate) fn from_environment() -> Result<Self> {
        let output = match env::var_os("JIT_LOGGER_OUTPUT") {
            // Programs started by this one inherit the variable: each adds its lines.
            Some(path) => Output::lines(path.into())?,
            None => Output::stderr(),
        };
        let filter = env::var_os("JIT_LOGGER_FILTER").map(|filter| {
            filter
                .into_string()
                .map_err(|_| Error::other("JIT_LOGGER_FILTER is not UTF-8"))
        });
        Ok(Self {
            output,
            filter: filter.transpose()?,
            summary: env::var_os("JIT_LOGGER_SUMMARY").is_some(),
        })
    }
}
