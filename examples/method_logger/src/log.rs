//! The lines of the logger, which this library writes.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::OnceLock;

use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;
use report::Output;
use report::helper::{self, NativeMethods};

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Opens the output, and returns the writer of its lines.
pub(crate) fn open(path: PathBuf) -> Result<NativeMethods> {
    // Set already if another runtime of this process has started the profiler, too.
    let _ = OUTPUT.set(Output::lines(path)?);
    Ok(NativeMethods::new(|name| {
        (name == "WriteLine").then(|| NativeCall::new(write_line))
    }))
}

/// Writes the line after the calls.
pub(crate) fn end(overhead: &impl Display) {
    if let Some(output) = OUTPUT.get() {
        output.end(&format!("overhead: {overhead}\n"));
    }
}

fn write_line(text: *const u16, length: i32) {
    // SAFETY: the logger pins a string, and passes its address and length.
    let mut line = unsafe { helper::text(text, length) };
    line.push('\n');
    if let Some(output) = OUTPUT.get() {
        output.append(&line);
    }
}
