//! The option `--methods`: patterns for methods, in the syntax of [`MethodPatterns`].

use std::fs;
use std::sync::Arc;

use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::prelude::*;

use crate::report::{Settings, failures};

/// The patterns of a variable of the environment, or of the file that it names after an `@`.
///
/// Patterns that match nothing are reported when the program ends.
///
/// # Errors
///
/// A bad pattern, with its line and column; a file that cannot be read.
pub fn methods_from_environment(variable: &str) -> Result<Option<Arc<MethodPatterns>>> {
    methods(&Settings::from_environment(), variable)
}

/// The patterns of a setting, or of the file that it names after an `@`.
///
/// Patterns that match nothing are reported when the program ends.
///
/// # Errors
///
/// A bad pattern, with its line and column; a file that cannot be read.
pub fn methods(settings: &Settings, name: &str) -> Result<Option<Arc<MethodPatterns>>> {
    let patterns = read_methods(settings, name)?;
    if let Some(patterns) = &patterns {
        failures::watch_patterns(patterns);
    }
    Ok(patterns)
}

/// As [`methods`], for tools of several processes, of which one alone may have the methods.
pub(crate) fn read_methods(settings: &Settings, name: &str) -> Result<Option<Arc<MethodPatterns>>> {
    let Some(text) = settings.text(name)? else {
        return Ok(None);
    };
    let read = match text.strip_prefix('@') {
        Some(path) => {
            let text = fs::read_to_string(path);
            let text =
                text.map_err(|error| Error::other(format!("cannot read {path}: {error}")))?;
            MethodPatterns::parse(&text)
                .map_err(|error| Error::other(format!("the patterns in {path}: {error}")))?
        }
        None => MethodPatterns::parse(&text)
            .map_err(|error| Error::other(format!("the patterns `{text}`: {error}")))?,
    };
    Ok(Some(Arc::new(read)))
}

/// The patterns of a variable as [`methods_from_environment`] reads them; without it, all methods of the program.
///
/// # Errors
///
/// As of [`methods_from_environment`].
pub fn methods_or_all(variable: &str) -> Result<Arc<MethodPatterns>> {
    match methods_from_environment(variable)? {
        Some(patterns) => Ok(patterns),
        None => Ok(Arc::new("**; generated **".parse()?)),
    }
}
