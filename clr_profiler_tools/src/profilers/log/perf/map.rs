//! A perf map: a line for each piece of code, with its address, its size and its name.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::report::Output;
use crate::report::private;

use super::code::Codes;

/// The file `/tmp/perf-PID.map`, which perf looks for.
pub(crate) struct PerfMap {
    output: Output,
    /// The lines that are to be written.
    lines: String,
}

impl PerfMap {
    pub(crate) fn create() -> io::Result<Self> {
        // The folder is a part of the interface: perf does not look at TMPDIR.
        let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
        // One of an earlier process with the same id would name code that is not there.
        private::create(&path)?;
        Ok(Self {
            output: Output::lines(path)?,
            lines: String::new(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.output.path()
    }

    pub(crate) fn add(&mut self, start: usize, size: usize, name: &str) {
        line(&mut self.lines, start, size, name);
    }

    /// Writes the new lines; all lines again if code has taken the place of other code, because perf takes each line for
    /// valid all the time.
    pub(crate) fn write(&mut self, codes: &mut Codes) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        if !codes.take_replaced() {
            self.output.append(&lines);
            return Ok(());
        }
        self.output.replace(|file| {
            let mut text = String::new();
            for (start, size, name) in codes.iter() {
                text.clear();
                line(&mut text, start, size, name);
                file.write_all(text.as_bytes())?;
            }
            Ok(())
        })
    }
}

fn line(text: &mut String, start: usize, size: usize, name: &str) {
    let name = name.replace(['\n', '\r'], " ");
    // A string takes all that is written.
    let _ = writeln!(text, "{start:x} {size:x} {name}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_address_size_and_name() {
        let mut text = String::new();
        line(&mut text, 0x7f00_1234_5678, 0x40, "A.B(int)\nC");
        assert_eq!(text, "7f0012345678 40 A.B(int) C\n");
    }
}
