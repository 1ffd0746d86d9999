//! The options that the runner passes, through environment variables.

use std::env;
use std::time::Duration;

use clr_profiler::{Error, Result};
use report::{Output, path_from_environment};
use stacks::Form;

/// How to sample, and what to write.
pub(crate) struct Options {
    pub(crate) output: Output,
    pub(crate) form: Form,
    pub(crate) interval: Duration,
    pub(crate) by_wall: bool,
    pub(crate) progress: bool,
}

impl Options {
    pub(crate) fn from_environment() -> Result<Self> {
        let output = Output::whole(path_from_environment("CPU_SAMPLER_OUTPUT", "cpu.svg"))?;
        let form = Form::of(output.path());
        let interval = match env::var("CPU_SAMPLER_INTERVAL") {
            Ok(text) => match text.parse() {
                Ok(microseconds @ 100..=10_000_000) => Duration::from_micros(microseconds),
                _ => {
                    return Err(Error::other(format!(
                        "the interval `{text}` is not a number of microseconds from 100 to 10000000"
                    )));
                }
            },
            Err(_) => Duration::from_millis(1),
        };
        Ok(Self {
            output,
            form,
            interval,
            by_wall: env::var_os("CPU_SAMPLER_WALL").is_some(),
            progress: env::var_os("CPU_SAMPLER_PROGRESS").is_some(),
        })
    }
}
