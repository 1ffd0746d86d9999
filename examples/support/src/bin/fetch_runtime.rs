//! Fetches the runtimes that the tests use, and the C# compiler, and prints where their executables are.
//!
//! `cargo run -p examples_support --bin fetch_runtime -- 3.1 8 9 10 roslyn`
//!
//! Further versions are named by all of their numbers, such as `8.0.15`. After `--platform win-x64` or `linux-arm64` the
//! runtimes are those for such a machine, or an emulator of it.

use std::io::{self, Write};
use std::process::ExitCode;

use examples_support::{Fetcher, Pinned, Platform};

fn main() -> ExitCode {
    match fetch(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "fetch_runtime: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fetch(mut names: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut fetcher = Fetcher::from_env()?;
    let mut pinned = Vec::new();
    while let Some(name) = names.next() {
        if name == "--platform" {
            let platform = names.next().as_deref().and_then(Platform::named);
            let known = "After --platform comes linux-x64, linux-arm64 or win-x64.";
            fetcher = fetcher.platform(platform.ok_or(known)?);
        } else {
            pinned.push(named(&name).ok_or_else(|| {
                let versions: Vec<_> = known().map(|pinned| pinned.version).collect();
                format!(
                    "`{name}` is neither roslyn nor one of {}.",
                    versions.join(", ")
                )
            })?);
        }
    }
    if pinned.is_empty() {
        return Err("Name the runtimes: 3.1, 8, 9, 10; or roslyn.".into());
    }
    for pinned in &pinned {
        writeln!(io::stdout(), "{}", fetcher.fetch(pinned)?.display())?;
    }
    Ok(())
}

/// The first package with this version, or a version that begins with these numbers.
fn named(name: &str) -> Option<Pinned> {
    if name == "roslyn" {
        return Some(Pinned::ROSLYN);
    }
    known().find(|pinned| {
        let rest = pinned.version.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn known() -> impl Iterator<Item = Pinned> {
    Pinned::RUNTIMES.into_iter().chain(Pinned::OTHER_VERSIONS)
}
