//! Writes `docs/api-coverage.md`.
//!
//! With the folder of recordings as its argument, the results on real runtimes are taken from them;
//! without it, those in the document are kept, and the rest is generated anew.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use clr_profiler_tests::coverage::{Document, Real, document_path, wrappers};

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("api_coverage: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> io::Result<()> {
    let real = match env::args_os().nth(1) {
        Some(folder) => Real::read(Path::new(&folder))?,
        None => Document::read()?.real(),
    };
    let document = Document::new(&wrappers()?, &real)?;
    fs::write(document_path(), document.to_markdown())
}
