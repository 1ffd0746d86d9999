//! Fetches the runtimes that the tests use, and the C# compiler, and prints where their executables are.
//!
//! `cargo run -p examples_support --bin fetch_runtime -- 3.1 8 9 10 roslyn`

use std::io::{self, Write};
use std::process::ExitCode;

use examples_support::{Pinned, runtime};

fn main() -> ExitCode {
    match fetch(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "fetch_runtime: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fetch(names: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut pinned = Vec::new();
    for name in names {
        pinned.push(match name.as_str() {
            "3.1" => Pinned::NET_CORE_3_1,
            "8" => Pinned::NET_8,
            "9" => Pinned::NET_9,
            "10" => Pinned::NET_10,
            "roslyn" => Pinned::ROSLYN,
            _ => return Err(format!("`{name}` is not one of 3.1, 8, 9, 10 and roslyn.").into()),
        });
    }
    if pinned.is_empty() {
        return Err("Name the runtimes: 3.1, 8, 9, 10; or roslyn.".into());
    }
    for pinned in &pinned {
        writeln!(io::stdout(), "{}", runtime::fetch(pinned)?.display())?;
    }
    Ok(())
}
