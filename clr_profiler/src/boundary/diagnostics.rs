//! The one place where the library may write something: that a profiler did not start, or started
//! with less than it wanted, and only where the environment asks for it.
//!
//! `CLR_PROFILER_DIAGNOSTICS` is `stderr` or the path of a file to append to. Unset, empty or
//! `off`, nothing is written.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// The environment variable.
const VARIABLE: &str = "CLR_PROFILER_DIAGNOSTICS";

/// Writes one line, if somebody wants it.
pub(super) fn write(line: &dyn Display) {
    let Some(target) = std::env::var_os(VARIABLE) else {
        return;
    };
    // Whoever asked for this can see that nothing came: a failure to write has nowhere to go.
    if target == "stderr" {
        let _ = writeln!(std::io::stderr(), "clr_profiler: {line}");
    } else if !target.is_empty() && target != "off" {
        let file = OpenOptions::new().append(true).create(true).open(target);
        let _ = file.and_then(|mut file| writeln!(file, "clr_profiler: {line}"));
    }
}
