//! The options that the command passes.

use std::time::Duration;

use crate::profilers::form;
use crate::report::{Output, Settings};
use crate::stacks::Form;
use clr_profiler::{Error, Result};

/// How to sample, and what to write.
pub(crate) struct Options {
    pub(crate) output: Output,
    pub(crate) form: Form,
    /// The time between two samples of a thread, if it was given.
    pub(crate) interval: Option<Duration>,
    /// Whether the runtime is suspended for samples, although threads could be interrupted by themselves.
    pub(crate) suspends: bool,
    pub(crate) by_wall: bool,
    pub(crate) by_thread: bool,
    pub(crate) lines: bool,
    pub(crate) progress: bool,
}

impl Options {
    /// Samples as often as by default, for a file.
    pub(crate) fn of_file(output: Output, form: Form, by_wall: bool) -> Self {
        Self {
            output,
            form,
            interval: None,
            suspends: false,
            by_wall,
            by_thread: false,
            lines: false,
            progress: false,
        }
    }

    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let output = Output::whole(settings.path("CPU_SAMPLER_OUTPUT", "cpu.svg"))?;
        let form = form(settings, "CPU_SAMPLER_FORMAT", output.path())?;
        let interval = match settings.text("CPU_SAMPLER_INTERVAL")? {
            Some(text) => match text.parse() {
                Ok(microseconds @ 100..=10_000_000) => Some(Duration::from_micros(microseconds)),
                _ => {
                    return Err(Error::other(format!(
                        "the interval `{text}` is not a number of microseconds from 100 to 10000000"
                    )));
                }
            },
            None => None,
        };
        Ok(Self {
            output,
            form,
            interval,
            suspends: settings.is_set("CPU_SAMPLER_SUSPEND"),
            by_thread: settings.is_set("CPU_SAMPLER_THREADS"),
            by_wall: settings.is_set("CPU_SAMPLER_WALL"),
            lines: settings.is_set("CPU_SAMPLER_LINES"),
            progress: settings.is_set("CPU_SAMPLER_PROGRESS"),
        })
    }
}
