//! The scenario's log: a file that the test reads afterwards.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

/// Writes one line. Errors are visible as missing lines.
pub fn line(text: impl Display) {
    static LOG: OnceLock<Option<File>> = OnceLock::new();
    let log = LOG.get_or_init(|| {
        let path = std::env::var_os("SCENARIO_LOG")?;
        OpenOptions::new().append(true).create(true).open(path).ok()
    });
    if let Some(mut log) = log.as_ref() {
        let _ = log.write_all(format!("{text}\n").as_bytes());
    }
}
