//! The `main` of an example's executable.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clr_profiler_launcher::{Launch, ProfilerLibrary, Program, ProgramKind, find_library};
use clr_profiler_tools::report::private;

use crate::{Error, Example, Request, Result, runtime, samples};

/// Parses the command line and runs the program under the example's profiler.
///
/// On Unix this process becomes the program. It returns only after `--help` (0), a mistake on the
/// command line (2), or if the program cannot be started (1); the reason is then on stderr.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use examples_support::{Example, ExampleOption, Takes, run};
///
/// fn main() -> ExitCode {
///     run(&Example {
///         name: "jit_logger",
///         about: "Names every method that the runtime compiles.",
///         clsid: "DF63A541-5A33-4611-8829-F4E495985EE3",
///         options: &[ExampleOption {
///             name: "--output",
///             takes: Takes::Output("FILE"),
///             variable: "JIT_LOGGER_OUTPUT",
///             help: "write to FILE instead of stderr",
///         }],
///     })
/// }
/// ```
#[must_use]
pub fn run(example: &Example) -> ExitCode {
    let (message, code) = match example.parse(std::env::args_os().skip(1)) {
        Ok(Request::Help) => {
            // If stdout is closed, there is nothing to do.
            let _ = io::stdout().write_all(example.usage().as_bytes());
            return ExitCode::SUCCESS;
        }
        Ok(Request::Run {
            variables,
            program,
            arguments,
        }) => match launch(example, variables, program, arguments) {
            Ok(never) => match never {},
            Err(error) => (error.to_string(), 1),
        },
        Err(error) => (error.to_string(), 2),
    };
    let _ = writeln!(io::stderr(), "{}: error: {message}", example.name);
    ExitCode::from(code)
}

fn launch(
    example: &Example,
    variables: Vec<(&'static str, OsString)>,
    program: Option<PathBuf>,
    arguments: Vec<OsString>,
) -> Result<Infallible> {
    // First the cheap checks: a runtime may have to be fetched.
    let program = Program::open(program.unwrap_or_else(samples::sample))?;
    let library = ProfilerLibrary::new(find_library(example.name)?, example.clsid)?;
    library.check()?;
    let mut launch = Launch::new(program.path());
    if program.kind() == ProgramKind::Assembly {
        let host = runtime::host()?;
        for (name, value) in runtime::variables(&host) {
            launch.env(name, value);
        }
        launch.dotnet(host);
    }
    for (name, value) in &variables {
        launch.env(name, value);
    }
    launch.args(arguments).profiler(library);
    // Everything is checked before anything is removed.
    launch.command()?;
    for (name, value) in &variables {
        if example.is_output(name) {
            clear(Path::new(value))?;
        }
    }
    // If the program's streams are read by another program, it gets them unchanged.
    if let Some(file) = example.results(&variables)
        && io::stderr().is_terminal()
    {
        let line = format!("{}: results go to `{}`\n", example.name, file.display());
        let _ = io::stderr().write_all(line.as_bytes());
    }
    Err(Error::from(launch.exec()))
}

/// Removes the results of an earlier run, which would be mistaken for those of this one. Terminals, pipes
/// and the like are left alone.
fn clear(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() && !about.is_dir() => Ok(()),
        _ => {
            // Tests whether it can be written, as the profiler will do.
            private::append(path).map_err(|error| {
                Error::new(format!("Cannot write `{}`: {error}.", path.display()))
            })?;
            // A link remains, and so does a file in a folder that cannot be written: an empty one.
            let _ = fs::canonicalize(path).and_then(fs::remove_file);
            Ok(())
        }
    }
}
