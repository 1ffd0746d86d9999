//! The .NET runtime that runs the examples' programs.

use std::path::PathBuf;

use clr_profiler_launcher::DotnetHost;

use crate::{Fetcher, Pinned, Result};

/// The host of an installed runtime, or of .NET 8 fetched into the user's cache if there is none.
///
/// # Errors
///
/// If a variable names a runtime that does not exist, or if there is none and none can be fetched:
/// see [`DotnetHost::find`] and [`Fetcher::fetch`].
pub fn host() -> Result<DotnetHost> {
    match DotnetHost::find() {
        Ok(host) => Ok(host),
        Err(clr_profiler_launcher::Error::NoRuntime) => Ok(DotnetHost::at(fetch(&Pinned::NET_8)?)?),
        Err(error) => Err(error.into()),
    }
}

/// Fetches a runtime into the user's cache if it is not there, and returns its executable.
///
/// # Errors
///
/// See [`Fetcher::fetch`].
pub fn fetch(pinned: &Pinned) -> Result<PathBuf> {
    Fetcher::from_env()?.fetch(pinned)
}

/// Environment variables that a program needs on this host.
///
/// A fetched runtime is on a machine that was not prepared for .NET. The library with
/// the world's cultures (ICU) is often missing, without which .NET does not start: it is told to do
/// without. A value of the variable that is set already takes precedence.
/// without. Whoever sets the variable decides.
#[must_use]
pub fn variables(host: &DotnetHost) -> Vec<(&'static str, &'static str)> {
    const INVARIANT: &str = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT";
    let cache = Fetcher::from_env()
        .ok()
        .and_then(|fetcher| fetcher.cache().canonicalize().ok());
    let is_fetched = cache.is_some_and(|cache| host.path().starts_with(cache));
    if is_fetched && std::env::var_os(INVARIANT).is_none() {
        vec![(INVARIANT, "1")]
    } else {
        Vec::new()
    }
}
