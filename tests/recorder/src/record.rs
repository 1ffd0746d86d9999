//! The counters of this process.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, process};

use stand_in::Recording;

/// The counters of this process: a file, if the framework of the scenarios has started it.
pub(crate) fn recording() -> &'static Recording {
    static RECORDING: OnceLock<Recording> = OnceLock::new();
    RECORDING.get_or_init(|| create().unwrap_or_else(Recording::nowhere))
}

fn create() -> Option<Recording> {
    let folder = env::var_os("CLR_PROFILER_RECORD_FOLDER")?;
    let runtime = env::var("CLR_PROFILER_RECORD_RUNTIME").ok()?;
    let scenario = env::var("CLR_PROFILER_RECORD_SCENARIO").ok()?;
    // A profiled program may start others, and process ids are reused.
    let started = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let name = format!("{}-{}.recording", started.as_nanos(), process::id());
    Recording::create(&Path::new(&folder).join(name), &runtime, &scenario).ok()
}
