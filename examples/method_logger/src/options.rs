//! The options that the runner passes, through environment variables.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clr_profiler::Result;
use clr_profiler::il::pattern::MethodPatterns;
use report::{Output, methods_or_all, path_from_environment};

/// Which methods, and how they are rewritten.
pub(crate) struct Options {
    pub(crate) methods: Arc<MethodPatterns>,
    pub(crate) il: Il,
    pub(crate) output: PathBuf,
    pub(crate) helper: PathBuf,
    pub(crate) time: bool,
    pub(crate) count: bool,
    pub(crate) swallow: bool,
}

/// The file for the listing of rewritten methods, if one is requested.
pub(crate) struct Il(Option<Output>);

impl Il {
    pub(crate) fn say(&self, text: fmt::Arguments<'_>) {
        if let Some(output) = &self.0 {
            output.append(&format!("{text}\n"));
        }
    }
}

impl Options {
    pub(crate) fn from_environment() -> Result<Self> {
        let methods = methods_or_all("METHOD_LOGGER_METHODS")?;
        let il = env::var_os("METHOD_LOGGER_IL").map(|path| Output::lines(path.into()));
        let il = il.transpose()?;
        // Next to this source, unless the profiler was moved.
        let helper = match env::var_os("METHOD_LOGGER_HELPER") {
            Some(path) => path.into(),
            None => concat!(env!("CARGO_MANIFEST_DIR"), "/helper/Logger.dll").into(),
        };
        Ok(Self {
            methods,
            il: Il(il),
            output: path_from_environment("METHOD_LOGGER_OUTPUT", "calls.txt"),
            helper,
            time: env::var_os("METHOD_LOGGER_TIME").is_some(),
            count: env::var_os("METHOD_LOGGER_COUNT").is_some(),
            swallow: env::var_os("METHOD_LOGGER_SWALLOW").is_some(),
        })
    }
}
