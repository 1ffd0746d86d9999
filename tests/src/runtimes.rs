//! The runtimes that every scenario runs on.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clr_profiler_launcher::{DotnetHost, Launch, RuntimeVersion};
use examples_support::{Pinned, runtime};

use crate::sample::seed;
use crate::scenario::profilee;

/// A runtime of the matrix.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// Its name and version, for messages.
    pub name: String,
    /// Its major version.
    pub major: u32,
    version: String,
    way: Way,
}

/// How it runs a program.
#[derive(Debug, Clone)]
enum Way {
    /// By its host, `dotnet`.
    Host(DotnetHost),
    /// It is part of an application, into which a startup hook loads the program.
    Application(PathBuf),
}

impl Runtime {
    /// The application that contains this runtime, which can be profiled itself.
    pub fn application(&self) -> Option<&Path> {
        match &self.way {
            Way::Host(_) => None,
            Way::Application(application) => Some(application),
        }
    }

    /// The folder with the assemblies of the framework; `None` if they are in the application.
    pub fn framework(&self) -> Option<PathBuf> {
        let folder = match &self.way {
            Way::Host(host) => host
                .path()
                .with_file_name("shared")
                .join("Microsoft.NETCore.App")
                .join(&self.version),
            Way::Application(application) => application.with_file_name(""),
        };
        let core_library = folder.join("System.Private.CoreLib.dll");
        core_library.exists().then_some(folder)
    }

    /// The launch of a managed program on this runtime.
    pub fn launch(&self, program: &Path, arguments: &[&str]) -> Launch {
        let mut launch = match &self.way {
            Way::Host(host) => {
                let mut launch = Launch::new(program);
                launch.dotnet(host.clone()).args(arguments);
                launch
            }
            Way::Application(application) if application == program => {
                let mut launch = Launch::new(application);
                launch.args(arguments);
                launch
            }
            Way::Application(application) => {
                let mut launch = Launch::new(application);
                launch
                    .env("DOTNET_STARTUP_HOOKS", profilee("StartupHook"))
                    .env("HOSTED_PROGRAM", program)
                    .env("HOSTED_ARGUMENTS", arguments.join("\n"));
                launch
            }
        };
        launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        launch
    }
}

/// The runtimes that the calling test runs on: one of the [`matrix`], by its name and the seed, or those that
/// `SCENARIO_RUNTIMES` names.
///
/// # Panics
///
/// As [`matrix`].
pub fn runtimes() -> Vec<&'static Runtime> {
    runtimes_where(|_| true)
}

/// As [`runtimes`], of those runtimes of which this is true; none if there are none.
///
/// A test that skips runtimes asks here, so that its sample is never one that it skips.
///
/// # Panics
///
/// As [`matrix`].
pub fn runtimes_where(is_wanted: impl Fn(&Runtime) -> bool) -> Vec<&'static Runtime> {
    let mut wanted: Vec<_> = matrix()
        .iter()
        .filter(|runtime| is_wanted(runtime))
        .collect();
    if named().is_none() && !wanted.is_empty() {
        wanted = vec![wanted[seed() % wanted.len()]];
    }
    wanted
}

/// The runtimes that `SCENARIO_RUNTIMES` names by their major versions.
fn named() -> Option<String> {
    let named = env::var("SCENARIO_RUNTIMES").ok();
    named.filter(|named| !named.is_empty())
}

/// .NET Core 3.1 and .NET 8, 9 and 10, fetched if need be, and an installed one that is newer.
///
/// `SCENARIO_RUNTIMES` names some of them by their major versions, such as `3,9`, or `all`.
///
/// # Panics
///
/// In CI, if one is missing. Elsewhere a message on stderr says so, and the scenario continues without it.
pub fn matrix() -> &'static [Runtime] {
    static RUNTIMES: OnceLock<Vec<Runtime>> = OnceLock::new();
    RUNTIMES.get_or_init(|| {
        let pinned = [
            (3, Pinned::NET_CORE_3_1),
            (8, Pinned::NET_8),
            (9, Pinned::NET_9),
            (10, Pinned::NET_10),
        ];
        let only = named().filter(|named| named != "all");
        let is_wanted = |major: u32| {
            let mut only = only.iter().flat_map(|majors| majors.split(',')).peekable();
            only.peek().is_none() || only.any(|wanted| wanted == major.to_string())
        };
        let mut runtimes: Vec<Runtime> = pinned
            .iter()
            .filter(|(major, _)| is_wanted(*major))
            .filter_map(|(major, pinned)| match fetched(*major, pinned) {
                Ok(runtime) => Some(runtime),
                Err(error) => {
                    assert!(
                        env::var_os("CI").is_none(),
                        "{} is missing: {error}",
                        pinned.name
                    );
                    eprintln!("NOT TESTED on {}: {error}", pinned.name);
                    None
                }
            })
            .collect();
        runtimes.extend(installed_newer_than(10).filter(|runtime| is_wanted(runtime.major)));
        assert!(!runtimes.is_empty(), "there is no runtime to test on");
        runtimes
    })
}

fn fetched(major: u32, pinned: &Pinned) -> Result<Runtime, Box<dyn std::error::Error>> {
    let executable = runtime::fetch(pinned)?;
    let way = if pinned.has_host() {
        Way::Host(DotnetHost::at(executable)?)
    } else {
        Way::Application(executable)
    };
    Ok(Runtime {
        name: pinned.name.to_owned(),
        major,
        version: pinned.version.to_owned(),
        way,
    })
}

/// An installed runtime that is newer than the fetched ones.
fn installed_newer_than(major: u32) -> Option<Runtime> {
    let host = DotnetHost::find().ok()?;
    let newest: RuntimeVersion = host.installed_runtimes().ok()?.into_iter().max()?;
    (newest.major() > major).then(|| Runtime {
        name: format!("installed {newest}"),
        major: newest.major(),
        version: newest.to_string(),
        way: Way::Host(host),
    })
}
