//! What the runner hands over, through environment variables.

use std::env;
use std::path::{Path, PathBuf};

use clr_profiler::{Error, Result};
use report::Output;

use crate::config::Config;
use crate::failed;

/// What is traced, and where it goes.
pub(crate) struct Options {
    pub(crate) config: Config,
    pub(crate) output: Output,
    pub(crate) summary: Option<Output>,
    pub(crate) helper: PathBuf,
    pub(crate) arguments: bool,
    pub(crate) otlp: Option<String>,
}

impl Options {
    pub(crate) fn from_environment() -> Result<Self> {
        let config = match env::var_os("METHOD_TRACER_CONFIG") {
            Some(path) => Config::read(Path::new(&path))?,
            None => Config::everything()?,
        };
        let output = env::var_os("METHOD_TRACER_OUTPUT").unwrap_or_else(|| "trace.json".into());
        let summary = env::var_os("METHOD_TRACER_SUMMARY").map(|path| Output::open(path.into()));
        let otlp = env::var_os("METHOD_TRACER_OTLP").map(|url| {
            url.into_string()
                .map_err(|_| Error::other("METHOD_TRACER_OTLP is not UTF-8"))
        });
        // Beside this source, unless the profiler has gone elsewhere.
        let helper = match env::var_os("METHOD_TRACER_HELPER") {
            Some(path) => path.into(),
            None => concat!(env!("CARGO_MANIFEST_DIR"), "/helper/MethodTracer.dll").into(),
        };
        Ok(Self {
            config,
            output: Output::open_alone(output.into()).map_err(failed)?,
            summary: summary.transpose().map_err(failed)?,
            helper,
            arguments: env::var_os("METHOD_TRACER_ARGUMENTS").is_some(),
            otlp: otlp.transpose()?,
        })
    }
}
