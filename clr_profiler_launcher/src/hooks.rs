//! Startup hooks: assemblies that run before a program.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::image::{self, Image};
use crate::{Error, Result};

/// The variable from which the runtime reads them.
pub(crate) const VARIABLE: &str = "DOTNET_STARTUP_HOOKS";

/// The variable's value: these hooks, followed by those that it names already.
pub(crate) fn list(hooks: &[PathBuf], before: Option<OsString>) -> Result<OsString> {
    let mut paths = Vec::new();
    for hook in hooks {
        paths.push(checked(hook)?);
    }
    let mut list = env::join_paths(&paths).map_err(|error| {
        let path = paths.first().cloned().unwrap_or_default();
        bad(&path, error.to_string())
    })?;
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        list.push(if cfg!(windows) { ";" } else { ":" });
        list.push(before);
    }
    Ok(list)
}

fn bad(path: &Path, problem: String) -> Error {
    Error::BadStartupHook {
        path: path.to_owned(),
        problem,
    }
}

/// The absolute path of an assembly: the runtime accepts no other.
fn checked(hook: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(hook).map_err(|error| bad(hook, error.to_string()))?;
    // The runtime ends the program if the file is not an assembly.
    let image = File::open(&path).and_then(|mut file| image::read(&mut file));
    match image.map_err(|error| bad(&path, error.to_string()))? {
        Image::Pe(pe) if pe.cli.is_some() => Ok(path),
        _ => Err(bad(&path, "it is no .NET assembly".to_owned())),
    }
}
