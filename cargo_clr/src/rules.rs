//! Files of rules for spans, which are checked before a program starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clr_profiler_tools::conventions::{RuleText, checked, files};

use crate::cli::{Rules, Subject};
use crate::library::{self, Reader};
use crate::outcome::{self, Failure, Result};
use crate::print;

/// The verb `rules`.
pub(crate) fn check(options: &Rules) -> Result<ExitCode> {
    let rules = read(&options.files)?;
    let Some(output) = &options.output else {
        let count = rules.len();
        return print(format!("{count} rules are without mistakes\n"));
    };
    fs::write(output, checked::write(&rules)).map_err(outcome::io("write", output))?;
    Ok(ExitCode::SUCCESS)
}

/// The path of the checked rules, for the profiler.
pub(crate) fn setting(files: &[PathBuf], subject: &Subject) -> Result<Option<PathBuf>> {
    if files.is_empty() {
        return Ok(None);
    }
    let text = checked::write(&read(files)?);
    let reader = match subject.target.process {
        Some(_) => Reader::Anyone,
        None => Reader::ThisUser,
    };
    library::share(text.as_bytes(), ".rules.json", reader).map(Some)
}

fn read(files: &[PathBuf]) -> Result<Vec<RuleText>> {
    let mut all = Vec::new();
    for file in files {
        all.extend(read_file(file)?);
    }
    Ok(all)
}

fn read_file(file: &Path) -> Result<Vec<RuleText>> {
    let name = file.display();
    let source = fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!(
            "The file of rules `{name}` cannot be read: {error}."
        ))
    })?;
    files::read(&name.to_string(), &source)
        .map_err(|fault| Failure::usage(format!("{name}:{fault}.")))
}
