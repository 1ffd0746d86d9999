//! The options that the command passes.

use crate::profilers::form;
use crate::report::{Output, Settings};
use crate::stacks::Form;
use clr_profiler::Result;

/// How to measure, and what to write.
pub(crate) struct Options {
    pub(crate) output: Output,
    pub(crate) form: Form,
    pub(crate) sampled: bool,
    pub(crate) survival: bool,
}

impl Options {
    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let output = Output::whole(settings.path("ALLOC_PROFILER_OUTPUT", "allocations.txt"))?;
        let form = form(settings, "ALLOC_PROFILER_FORMAT", output.path())?;
        Ok(Self {
            output,
            form,
            sampled: settings.is_set("ALLOC_PROFILER_SAMPLED"),
            survival: settings.is_set("ALLOC_PROFILER_SURVIVAL"),
        })
    }

    /// How many frames of a stack are recorded, from the innermost.
    pub(crate) fn depth(&self) -> usize {
        if self.form.has_stacks() { 256 } else { 1 }
    }

    /// Why these options cannot work on this runtime, if so.
    pub(crate) fn problem(&self, info_version: u8) -> Option<&'static str> {
        match (self.sampled, self.survival, info_version) {
            (true, true, _) => Some(
                "`--survival` needs every object, `--sampled` sees few of them: choose one of them",
            ),
            (true, _, ..=9) => Some("`--sampled` needs .NET 5 or newer, and this runtime is older"),
            (true, _, 10) => {
                Some("`--sampled` needs .NET 5 or newer, this is .NET Core 3.0: start it without")
            }
            (true, _, 11) => {
                Some("`--sampled` needs .NET 5 or newer, this is .NET Core 3.1: start it without")
            }
            _ => None,
        }
    }
}
