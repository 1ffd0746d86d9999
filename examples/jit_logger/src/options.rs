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
            Some(path) => Box::new(File::create(&path).map_err(|error| {
                Error::other(format!("cannot write {}: {error}", path.display()))
            })?),
            None => Box::new(io::stderr()),
        };
        Ok(Self {
            output,
            filter: env::var("JIT_LOGGER_FILTER").ok(),
            summary: env::var_os("JIT_LOGGER_SUMMARY").is_some(),
        })
    }
}
