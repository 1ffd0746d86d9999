//! The recorder between runtime and profiler, if the environment requests it.
//!
//! With `CLR_PROFILER_RECORD_FOLDER` naming a folder and `CLR_PROFILER_RECORDED_LIBRARY` the library
//! of the scenarios' profilers, every scenario runs through the recorder.

use std::path::PathBuf;
use std::{env, thread};

use crate::Runtime;
use crate::scenario::beside_test;

const FOLDER: &str = "CLR_PROFILER_RECORD_FOLDER";
const LIBRARY: &str = "CLR_PROFILER_RECORDED_LIBRARY";

/// The recorder's library, if this one is recorded, otherwise the library itself.
pub(crate) fn instead_of(library: PathBuf) -> PathBuf {
    let recorded = env::var_os(LIBRARY).map(PathBuf::from);
    let wanted = env::var_os(FOLDER).is_some()
        && recorded.is_some_and(|recorded| recorded.file_name() == library.file_name());
    match wanted {
        true => beside_test("recorder"),
        false => library,
    }
}

/// The variables of the program that tell the recorder about this test.
pub(crate) fn names(runtime: &Runtime) -> Vec<(&'static str, String)> {
    if env::var_os(FOLDER).is_none() {
        return Vec::new();
    }
    let thread = thread::current();
    // For a test in a module, only its own name.
    let scenario = thread.name().and_then(|name| name.rsplit("::").next());
    let scenario = scenario.unwrap_or("unknown");
    vec![
        ("CLR_PROFILER_RECORD_RUNTIME", runtime.name.clone()),
        ("CLR_PROFILER_RECORD_SCENARIO", scenario.to_owned()),
    ]
}
