//! The recorder between runtime and profiler, if the environment requests it.
//!
//! With `CLR_PROFILER_RECORD_FOLDER` naming a folder and `CLR_PROFILER_RECORDED_LIBRARY` the library
//! of the scenarios' profilers, every scenario runs through the recorder.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::{env, thread};

use crate::Runtime;
use crate::scenario::built_library;

/// The variable that names the folder of the recordings.
pub(crate) const FOLDER: &str = "CLR_PROFILER_RECORD_FOLDER";
/// The variable that names the library between which and the runtime the recorder is.
const LIBRARY: &str = "CLR_PROFILER_RECORDED_LIBRARY";

/// Whether the environment requests recordings.
pub(crate) fn is_wanted() -> bool {
    env::var_os(FOLDER).is_some()
}

/// The recorder's library.
fn library() -> PathBuf {
    built_library("recorder")
}

/// Has the runtime load the recorder in place of the profiler's library. The launcher checks the library, so this is
/// done to its command.
pub(crate) fn interpose(command: &mut Command) {
    const PATH: &str = "CORECLR_PROFILER_PATH";
    let mut variables = command.get_envs();
    let loaded = variables.find_map(|(name, value)| value.filter(|_| name == PATH));
    if let Some(loaded) = loaded.map(OsStr::to_owned).filter(|it| *it != library()) {
        command.env(LIBRARY, loaded).env(PATH, library());
    }
}

/// The recorder's library, if this one is recorded, otherwise the library itself.
pub(crate) fn instead_of(path: PathBuf) -> PathBuf {
    let recorded = env::var_os(LIBRARY).map(PathBuf::from);
    let is_recorded = recorded.is_some_and(|recorded| recorded.file_name() == path.file_name());
    match is_wanted() && is_recorded {
        true => library(),
        false => path,
    }
}

/// The variables of the program that tell the recorder about this test.
pub(crate) fn names(runtime: &Runtime) -> [(&'static str, String); 2] {
    let thread = thread::current();
    // For a test in a module, only its own name.
    let scenario = thread.name().and_then(|name| name.rsplit("::").next());
    let scenario = scenario.unwrap_or("unknown");
    [
        ("CLR_PROFILER_RECORD_RUNTIME", runtime.name.clone()),
        ("CLR_PROFILER_RECORD_SCENARIO", scenario.to_owned()),
    ]
}
