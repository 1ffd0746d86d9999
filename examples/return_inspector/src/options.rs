//! The options that the runner passes, through environment variables.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::{Error, Result};
use report::methods_or_all;

/// Which methods, and how.
pub(crate) struct Options {
    pub(crate) methods: Arc<MethodPatterns>,
    pub(crate) output: PathBuf,
    pub(crate) helper: PathBuf,
    pub(crate) native: bool,
    pub(crate) framework: bool,
}

impl Options {
    pub(crate) fn from_environment() -> Result<Self> {
        let methods = methods_or_all("RETURN_INSPECTOR_METHODS")?;
        let path = |variable: &str, otherwise: &str| match env::var_os(variable) {
            Some(path) => path.into(),
            None => otherwise.into(),
        };
        let native = env::var_os("RETURN_INSPECTOR_NATIVE").is_some();
        let framework = env::var_os("RETURN_INSPECTOR_FRAMEWORK").is_some();
        if framework && !native {
            return Err(Error::other(
                "--framework needs --native: the core library cannot call a helper assembly",
            ));
        }
        Ok(Self {
            methods,
            output: path("RETURN_INSPECTOR_OUTPUT", "returns.txt"),
            // Next to this source, unless the profiler was moved.
            helper: path(
                "RETURN_INSPECTOR_HELPER",
                concat!(env!("CARGO_MANIFEST_DIR"), "/helper/Inspector.dll"),
            ),
            native,
            framework,
        })
    }
}
