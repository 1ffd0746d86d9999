//! What the runner hands over, through environment variables.

use std::env;
use std::fs::File;
use std::io::{self, Write};

use clr_profiler::{Error, Result};

/// How to log.
pub(crate) struct Options {
    /// Where the lines go.
    pub(crate) output: Box<dyn Write + Send>,
    /// Only methods whose full name contains this.
    pub(crate) filter: Option<String>,
    /// Whether to write a summary at the end.
    pub(crate) summary: bool,
}

impl Options {
    /// `JIT_LOGGER_OUTPUT` is a file, `JIT_LOGGER_FILTER` a text, `JIT_LOGGER_SUMMARY` anything.
    pub(crate) fn from_environment() -> Result<Self> {
        let output: Box<dyn Write + Send> = match env::var_os("JIT_LOGGER_OUTPUT") {
            // The programs that this one starts inherit the variable: each adds its lines.
            Some(path) => Box::new(
                File::options()
                    .create(true)
                    .append(true)
                    .open(&path)
                    .map_err(|error| {
                        Error::other(format!("cannot write `{}`: {error}", path.display()))
                    })?,
            ),
            None => Box::new(io::stderr()),
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
