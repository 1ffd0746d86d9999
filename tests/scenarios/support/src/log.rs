//! The scenario's log: a file that the test reads afterwards.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Writes one line. Errors are visible as missing lines.
pub fn line(text: impl Display) {
    static LOG: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    let log = LOG.get_or_init(|| {
        let path = std::env::var_os("SCENARIO_LOG")?;
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .ok()
            .map(Mutex::new)
    });
    if let Some(log) = log {
        let line = format!("{text}\n");
        // Wine does not append lines of several threads one after the other.
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = log.write_all(line.as_bytes());
    }
}
