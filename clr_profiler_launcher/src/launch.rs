//! Starts a program with the variables that make the runtime load a profiler.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::hooks;
use crate::{DotnetHost, Error, ProfilerLibrary, Program, ProgramKind, Result, RuntimeVersion};

/// The program to start and its profiler, built like [`std::process::Command`].
///
/// ```no_run
/// use clr_profiler_launcher::{Launch, ProfilerLibrary};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let library = ProfilerLibrary::new("libmy.so", "DF63A541-5A33-4611-8829-F4E495985EE3")?;
/// let status = Launch::new("App.dll")
///     .arg("a file with spaces.txt")
///     .env("MY_PROFILER_OUTPUT", "methods.txt")
///     .profiler(library)
///     .command()?
///     .status()?;
/// println!("{status}");
/// # Ok(()) }
/// ```
///
/// Without [`profiler`](Self::profiler) and [`notification_profiler`](Self::notification_profiler) the program runs unprofiled, even if this process's
/// environment asks for a profiler: the run to compare with.
#[derive(Debug, Clone)]
pub struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    // The last one of a name counts; `None` removes the variable.
    variables: Vec<(OsString, Option<OsString>)>,
    folder: Option<PathBuf>,
    profiler: Option<ProfilerLibrary>,
    notification_profilers: Vec<ProfilerLibrary>,
    startup_hooks: Vec<PathBuf>,
    host: Option<DotnetHost>,
    version: Option<RuntimeVersion>,
}

/// The destination for reports of `clr_profiler` about a profiler that could not start.
const DIAGNOSTICS: &str = "CLR_PROFILER_DIAGNOSTICS";

/// The runtime reads the settings of the profiler with the first of these prefixes (.NET Core 3.1
/// to .NET 10 read no other); the second is that of its other settings and may be added, the third that of .NET Framework ...
const PREFIXES: &[&str] = match cfg!(windows) {
    true => &["CORECLR", "DOTNET", "COR"],
    false => &["CORECLR", "DOTNET"],
};

/// The prefixes of the variables that load the profiler. The second is that of .NET Framework, which the program, or one that it
/// starts, may run on.
const LOADING: &[&str] = match cfg!(windows) {
    true => &["CORECLR", "COR"],
    false => &["CORECLR"],
};

/// ... and these names. An inherited one would take precedence over ours, or load another profiler.
const SETTINGS: [&str; 13] = [
    "ENABLE_PROFILING",
    "PROFILER",
    "PROFILER_PATH",
    "PROFILER_PATH_32",
    "PROFILER_PATH_64",
    "PROFILER_PATH_ARM32",
    "PROFILER_PATH_ARM64",
    "ENABLE_NOTIFICATION_PROFILERS",
    "NOTIFICATION_PROFILERS",
    "NOTIFICATION_PROFILERS_32",
    "NOTIFICATION_PROFILERS_64",
    "NOTIFICATION_PROFILERS_ARM32",
    "NOTIFICATION_PROFILERS_ARM64",
];

/// How many notification profilers the runtime supports.
const MOST_NOTIFICATION_PROFILERS: usize = 32;

/// The variables in which an apphost looks for its runtime.
const ROOTS: [&str; 3] = ["DOTNET_ROOT", "DOTNET_ROOT_X64", "DOTNET_ROOT_ARM64"];

/// Any of these with the value 0 keeps the runtime from loading profilers (seen on .NET 8, 9 and 10;
/// .NET Core 3.1 ignores them, but the runtime that a program will use is not known here).
const SWITCHES: [&str; 4] = [
    "DOTNET_EnableDiagnostics",
    "DOTNET_EnableDiagnostics_Profiler",
    "COMPlus_EnableDiagnostics",
    "COMPlus_EnableDiagnostics_Profiler",
];

impl Launch {
    /// Starts `program`, an assembly or a native .NET executable; see [`Program`].
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: None,
            profiler: None,
            notification_profilers: Vec::new(),
            startup_hooks: Vec::new(),
            host: None,
            version: None,
        }
    }

    /// Adds an argument for the program.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments for the program.
    pub fn args<A: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = A>) -> &mut Self {
        for argument in arguments {
            self.arg(argument);
        }
        self
    }

    /// Sets an environment variable of the program; those that choose the profiler are set only by
    /// [`profiler`](Self::profiler).
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.variables
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes an environment variable of this process from the program's environment.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.variables.push((name.as_ref().to_owned(), None));
        self
    }

    /// The folder in which the program starts; by default that of this process. Relative paths
    /// given to this type are nevertheless relative to the folder of this process.
    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// The profiler that the runtime loads.
    pub fn profiler(&mut self, library: ProfilerLibrary) -> &mut Self {
        self.profiler = Some(library);
        self
    }

    /// A profiler that the runtime loads in addition to the main one, or without one; several can be
    /// added. .NET 5 and newer; .NET Core 3.1 ignores them.
    ///
    /// It has to declare itself a notification profiler
    /// (`ICorProfilerCallback11::LoadAsNotificationOnly`); one that does not becomes the
    /// main profiler, if there is no other. It receives notifications but may change nothing: no IL,
    /// no ReJIT, no enter and leave hooks.
    pub fn notification_profiler(&mut self, library: ProfilerLibrary) -> &mut Self {
        self.notification_profilers.push(library);
        self
    }

    /// An assembly that the runtime loads before the program's `Main`, and whose
    /// `StartupHook.Initialize()` it calls: a static method without parameters, of an internal class
    /// without a namespace. .NET Core 3.0 and newer; several can be added.
    ///
    /// This is a way to load a profiler's managed helper: it is in the program from the start. The
    /// variable `DOTNET_STARTUP_HOOKS` names it; hooks that are set already, by
    /// [`env`](Self::env) or in this process's environment, run after those that are added here.
    pub fn startup_hook(&mut self, assembly: impl AsRef<Path>) -> &mut Self {
        self.startup_hooks.push(assembly.as_ref().to_owned());
        self
    }

    /// The host for an assembly, and the runtime for an executable that looks for one; by default
    /// [`DotnetHost::find`].
    pub fn dotnet(&mut self, host: DotnetHost) -> &mut Self {
        self.host = Some(host);
        self
    }

    /// The version of `Microsoft.NETCore.App` on which the host runs an assembly, whatever the assembly's configuration
    /// says: the option `--fx-version` of the host. It has no effect on a native executable.
    ///
    /// [`DotnetHost::installed_runtimes`] has the versions of a host. The host ends with a message if it does not have
    /// this one, and for a program that needs further frameworks.
    pub fn runtime_version(&mut self, version: RuntimeVersion) -> &mut Self {
        self.version = Some(version);
        self
    }

    /// Checks program, library and environment, and returns the command that starts the program, for
    /// [`spawn`](Command::spawn), [`status`](Command::status) or [`output`](Command::output).
    ///
    /// Its environment is that of this process with the changes made here, with
    /// `CORECLR_ENABLE_PROFILING`, `CORECLR_PROFILER` and `CORECLR_PROFILER_PATH` set, without
    /// any other setting that chooses a profiler, with `CORECLR_ENABLE_NOTIFICATION_PROFILERS` and
    /// `CORECLR_NOTIFICATION_PROFILERS` where there are such profilers, on Windows with the variables of .NET Framework
    /// (`COR_PROFILER` and so on) for the profiler, too, and with `CLR_PROFILER_DIAGNOSTICS=stderr`
    /// unless that variable is set already (to `off` or a file): a profiler made with
    /// `clr_profiler` reports there why it could not start.
    ///
    /// # Errors
    ///
    /// Those of [`Program::open`], [`ProfilerLibrary::check`] and [`DotnetHost::find`], and
    /// [`Error::DiagnosticsDisabled`], [`Error::TooManyNotificationProfilers`],
    /// [`Error::PathNotListable`] or [`Error::BadStartupHook`].
    pub fn command(&self) -> Result<Command> {
        let program = Program::open(&self.program)?;
        let mut command = match program.kind() {
            ProgramKind::Assembly => {
                let host = match &self.host {
                    Some(host) => host.clone(),
                    None => DotnetHost::find()?,
                };
                let mut command = Command::new(host.path());
                // After `exec` the host takes the first argument for the program, whatever its
                // name, and forwards all others.
                command.arg("exec");
                if let Some(version) = &self.version {
                    command.arg("--fx-version").arg(version.to_string());
                }
                command.arg(program.path());
                command
            }
            ProgramKind::NativeExecutable => {
                let mut command = Command::new(program.path());
                if let Some(root) = self.root_for_executable()? {
                    for name in ROOTS {
                        command.env_remove(name);
                    }
                    command.env("DOTNET_ROOT", root);
                }
                command
            }
        };
        self.prepare(&mut command)?;
        Ok(command)
    }

    /// As [`command`](Self::command), for a program that is none of .NET but starts some: `dotnet test`, a script. It is looked up
    /// as shells do it, and its .NET processes inherit the profiler.
    ///
    /// # Errors
    ///
    /// As of [`command`](Self::command), without those of the program.
    pub fn any_command(&self) -> Result<Command> {
        let mut command = Command::new(&self.program);
        self.prepare(&mut command)?;
        Ok(command)
    }

    /// Adds arguments and environment.
    fn prepare(&self, command: &mut Command) -> Result<()> {
        command.args(&self.arguments);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if !self.startup_hooks.is_empty() {
            let before = self.variable(hooks::VARIABLE);
            command.env(hooks::VARIABLE, hooks::list(&self.startup_hooks, before)?);
        }
        for prefix in PREFIXES {
            for setting in SETTINGS {
                command.env_remove(format!("{prefix}_{setting}"));
            }
        }
        if self.profiler.is_some() || !self.notification_profilers.is_empty() {
            self.check_switches()?;
            if self.variable(DIAGNOSTICS).is_none() {
                command.env(DIAGNOSTICS, "stderr");
            }
        }
        if let Some(library) = &self.profiler {
            library.check()?;
            for prefix in LOADING {
                command.env(format!("{prefix}_ENABLE_PROFILING"), "1");
                command.env(format!("{prefix}_PROFILER"), library.clsid().to_string());
                command.env(format!("{prefix}_PROFILER_PATH"), library.path());
            }
        }
        if !self.notification_profilers.is_empty() {
            command.env("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1");
            command.env("CORECLR_NOTIFICATION_PROFILERS", self.notification_list()?);
        }
        Ok(())
    }

    /// Checks everything and replaces this process with the program. Returns only if that
    /// failed.
    ///
    /// On Unix this process becomes the program (`exec`): streams, terminal, signals, process id
    /// and exit code are exactly the program's. No destructors of this process run; flush buffered
    /// output before. Elsewhere the program is started and awaited, and this process ends with
    /// its exit code.
    #[must_use = "when this returns, the program was not started"]
    pub fn exec(&self) -> Error {
        match self.command() {
            Ok(command) => replace(command),
            Err(error) => error,
        }
    }

    /// The `DOTNET_ROOT` for an apphost, unless the environment sets one for it. A program that
    /// brings its runtime ignores it.
    fn root_for_executable(&self) -> Result<Option<PathBuf>> {
        let is_set = |name: &str| self.variable(name).is_some();
        let host = match &self.host {
            Some(host) => host.clone(),
            None if ROOTS.into_iter().any(is_set) && !is_set(DotnetHost::VARIABLE) => {
                return Ok(None);
            }
            None => match DotnetHost::find() {
                Ok(host) => host,
                Err(Error::NoRuntime) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        Ok(host.root().map(Path::to_owned))
    }

    /// The notification profilers as the runtime reads them: each `path={clsid};`.
    fn notification_list(&self) -> Result<OsString> {
        let count = self.notification_profilers.len();
        if count > MOST_NOTIFICATION_PROFILERS {
            return Err(Error::TooManyNotificationProfilers {
                count,
                limit: MOST_NOTIFICATION_PROFILERS,
            });
        }
        let mut list = OsString::new();
        for library in &self.notification_profilers {
            let path = library.path();
            let text = path.to_string_lossy();
            if let Some(character) = text.chars().find(|c| matches!(c, ';' | '=')) {
                return Err(Error::PathNotListable {
                    path: path.to_owned(),
                    character,
                });
            }
            library.check()?;
            list.push(path);
            list.push(format!("={};", library.clsid()));
        }
        Ok(list)
    }

    /// A variable as the program will see it.
    fn variable(&self, name: &str) -> Option<OsString> {
        match self.variables.iter().rev().find(|(set, _)| set == name) {
            Some((_, value)) => value.clone(),
            None => std::env::var_os(name),
        }
    }

    fn check_switches(&self) -> Result<()> {
        for name in SWITCHES {
            if let Some(value) = self.variable(name)
                && let Some(value) = value.to_str()
                && is_zero(value)
            {
                return Err(Error::DiagnosticsDisabled {
                    name: name.to_owned(),
                    value: value.to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// The runtime reads these values as hexadecimal numbers.
pub(crate) fn is_zero(value: &str) -> bool {
    let value = value.trim();
    let digits = value
        .strip_prefix("0x")
        .or(value.strip_prefix("0X"))
        .unwrap_or(value);
    u64::from_str_radix(digits, 16) == Ok(0)
}

#[cfg(unix)]
fn replace(mut command: Command) -> Error {
    use std::os::unix::process::CommandExt;
    let source = command.exec();
    Error::Start {
        path: command.get_program().into(),
        source,
    }
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(source) => Error::Start {
            path: command.get_program().into(),
            source,
        },
    }
}
