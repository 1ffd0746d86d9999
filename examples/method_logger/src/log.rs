//! The lines of the logger, which this library writes.

use std::path::PathBuf;
use std::sync::OnceLock;

use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;
use report::Output;
use report::helper::{self, LineWriter};

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Opens the output, and returns the writer of its lines.
pub(crate) fn open(path: PathBuf) -> Result<LineWriter> {
    // Set already if another runtime of this process has started the profiler, too.
    let _ = OUTPUT.set(Output::lines(path)?);
    Ok(LineWriter::new(NativeCall::new(write_line)))
}

fn write_line(text: *const u16, length: i32) {
    // SAFETY: the logger pins a string, and passes its address and length.
    let mut line = unsafe { helper::text(text, length) };
    line.push('\n');
    if let Some(output) = OUTPUT.get() {
        output.append(&line);
    }
}
