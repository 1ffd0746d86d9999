//! The scenario's log: a file that the test reads afterwards.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Writes one line. Errors are visible as missing lines.
pub fn line(text: impl Display) {
    static LOG: OnceLock<Option<File>> = OnceLock::new();
    static WINE: Mutex<()> = Mutex::new(());
    let log = LOG.get_or_init(|| {
        let path = std::env::var_os("SCENARIO_LOG")?;
        OpenOptions::new().append(true).create(true).open(path).ok()
    });
    if let Some(mut log) = log.as_ref() {
        let line = format!("{text}\n");
        // Wine does not append lines of several threads one after the other. Elsewhere the child of a fork would wait
        // for the lock of a thread that it does not have.
        let _alone = cfg!(windows).then(|| WINE.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = log.write_all(line.as_bytes());
    }
}
