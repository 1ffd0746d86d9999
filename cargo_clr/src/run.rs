//! `run`: a program under a profiler of the user.

use clr_profiler_launcher::Launch;

use crate::cli::Run;
use crate::outcome::{Failure, Result};
use crate::{child, package};

pub(crate) fn run(options: &Run) -> Result<i32> {
    let Some((program, arguments)) = options.program.program.split_first() else {
        return Err(Failure::usage("There is no program to start."));
    };
    let library = package::library(&options.profiler)?;
    let command = Launch::new(program)
        .args(arguments)
        .profiler(library)
        .command()?;
    child::run(command)
}
