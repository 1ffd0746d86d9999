//! The facts about a process or a program that are visible from outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clr_profiler_launcher::{Program, ProgramKind};

use super::binary::{self, Machine};
use super::system;
use crate::outcome::{Failure, Result};
use crate::{library, process, ps};

/// The facts that the rules look at.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// `None` if this user may not read it.
    pub(super) environment: Option<BTreeMap<String, String>>,
    /// The folder in which the program starts.
    pub(super) folder: PathBuf,
    /// The running process.
    pub(super) process: Option<Process>,
    /// The program to start, or the reason why it cannot be.
    pub(super) program: Option<std::result::Result<Program, String>>,
    /// The root folder of an image or container, in which paths are.
    pub(super) root: Option<PathBuf>,
    /// The processor of the program: only libraries for it can be loaded, and one variable is for it alone.
    pub(super) machine: Machine,
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) user: Option<u32>,
    /// `None` if this user may not read them.
    pub(super) mappings: Option<Vec<PathBuf>>,
    /// Where its runtime listens for diagnostic tools.
    pub(super) endpoint: std::result::Result<PathBuf, clr_profiler_launcher::Error>,
    /// Whether its executable has the runtime in itself.
    pub(super) is_single_file: bool,
    pub(super) started: Option<SystemTime>,
    pub(super) executable: Option<PathBuf>,
}

impl Process {
    /// Whether there is a runtime that loads profilers; `None` if this user may not see that.
    pub(super) fn has_runtime(&self) -> Option<bool> {
        let mappings = self.mappings.as_ref()?;
        Some(self.is_single_file || process::runtime(mappings).is_some())
    }
}

/// The profiler that the environment or the registry names.
#[derive(Debug)]
pub(super) struct Named {
    /// The variable that names the library, or the key of the registry.
    pub(super) variable: String,
    pub(super) value: String,
    /// As an absolute path.
    pub(super) path: PathBuf,
}

impl Facts {
    pub(super) fn of_environment() -> Self {
        let variables = std::env::vars_os().map(|(name, value)| {
            let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
            (text(name), text(value))
        });
        Self {
            environment: Some(variables.collect()),
            folder: std::env::current_dir().unwrap_or_default(),
            ..Self::default()
        }
    }

    pub(super) fn of_program(program: &Path) -> Self {
        let opened = Program::open(program).map_err(|error| error.to_string());
        Self {
            program: Some(opened),
            ..Self::of_environment()
        }
    }

    pub(super) fn of_process(id: u32) -> Result<Self> {
        if !system::SHOWS_PROCESSES {
            return Err(Failure::new(
                "A running process can be examined on Linux and Windows alone. Examine the program: `cargo clr doctor -- \
                 App.dll`.",
            ));
        }
        if !process::is_alive(id) {
            return Err(clr_profiler_launcher::Error::NoSuchProcess { process: id }.into());
        }
        let mappings = process::mappings(id);
        let image = process::image(id);
        let endpoint = super::endpoint(id);
        let runtime = mappings.as_deref().and_then(process::runtime);
        let is_single_file = runtime.is_none() && has_runtime(image.as_deref(), endpoint.is_ok());
        // Under an emulator the executable is the emulator, and the runtime is not.
        let library = runtime.map(|(path, _)| system::seen_by(id, path));
        let machine = library
            .and_then(|path| binary::read(&path))
            .or_else(|| binary::read(image.as_deref()?))
            .map_or_else(Machine::own, |binary| binary.machine);
        Ok(Self {
            environment: process::environment(id),
            folder: process::folder(id).unwrap_or_default(),
            process: Some(Process {
                id,
                user: process::user(id),
                mappings,
                endpoint,
                is_single_file,
                started: process::started(id),
                executable: process::executable(id),
            }),
            program: None,
            root: None,
            machine,
        })
    }

    /// The environment of this command, with the files below a folder.
    pub(super) fn of_container(root: &Path) -> Result<Self> {
        if cfg!(windows) {
            return Err(Failure::usage(
                "The files of a container are examined on Linux alone: run this command there, or in the container without \
                 `--container-root`.",
            ));
        }
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        if !root.is_dir() {
            return Err(Failure::usage(format!(
                "`{}` is not a folder: give the root of an unpacked image, or /proc/PID/root of a container.",
                root.display()
            )));
        }
        Ok(Self {
            folder: PathBuf::from("/"),
            root: Some(root),
            ..Self::of_environment()
        })
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let environment = self.environment.as_ref()?;
        let value = environment.get(name).or_else(|| {
            // The names of Windows are the same in capital and in small letters.
            let mut all = environment.iter().filter(|_| cfg!(windows));
            all.find_map(|(other, value)| other.eq_ignore_ascii_case(name).then_some(value))
        })?;
        (!value.is_empty()).then_some(value)
    }

    /// The names and values of the variables for which this is true.
    pub(super) fn variables(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<(&str, &str)> {
        let all = self.environment.iter().flatten();
        let wanted = all.filter(|(name, value)| is_wanted(name) && !value.is_empty());
        wanted
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// The library that the runtime would load: a variable for its processor takes precedence, and the registry is
    /// read if there is no variable.
    pub(super) fn named(&self) -> Option<Named> {
        let special: &[&str] = match (&*self.machine.processor, self.machine.bits) {
            ("aarch64", _) => &["CORECLR_PROFILER_PATH_ARM64", "CORECLR_PROFILER_PATH_64"],
            ("arm", _) => &["CORECLR_PROFILER_PATH_ARM32", "CORECLR_PROFILER_PATH_32"],
            (_, 32) => &["CORECLR_PROFILER_PATH_32"],
            _ => &["CORECLR_PROFILER_PATH_64"],
        };
        let mut names = special.iter().chain(&["CORECLR_PROFILER_PATH"]);
        let found = names.find_map(|name| Some((*name, self.variable(name)?)));
        let Some((name, value)) = found else {
            return system::registered(self);
        };
        Some(Named {
            variable: name.to_owned(),
            value: value.to_owned(),
            path: system::resolved(self, value),
        })
    }

    /// Whether any variable chooses a profiler.
    pub(super) fn wants_profiler(&self) -> bool {
        self.variable("CORECLR_PROFILER").is_some()
            || self.variable("CORECLR_ENABLE_PROFILING").is_some()
            || self.named().is_some()
    }

    /// Whether the runtime of the process has the library that its environment names.
    pub(super) fn is_loaded(&self) -> bool {
        let mappings = self
            .process
            .as_ref()
            .and_then(|process| process.mappings.as_ref());
        let Some((mappings, named)) = mappings.zip(self.named()) else {
            return false;
        };
        process::has_mapped(mappings, &named.path)
    }

    /// The sentence if there is no fault.
    pub(super) fn proof(&self) -> String {
        let Some(process) = &self.process else {
            return match self.named() {
                Some(named) if self.root.is_some() => format!(
                    "All is well as far as it can be seen in the files of the container: `{}` fits. Run `cargo-clr doctor \
                     -- App.dll` in the container for a proof.",
                    named.path.display()
                ),
                Some(named) => format!(
                    "All is well as far as it can be seen without a program: `{}` can be loaded.",
                    named.path.display()
                ),
                None => "No profiler is asked for: no variable names one.".to_owned(),
            };
        };
        let profilers = process
            .mappings
            .as_deref()
            .map(ps::profilers)
            .unwrap_or_default();
        match profilers.first() {
            Some(first) => format!(
                "All is well: the process {} has loaded `{}`.",
                process.id,
                first.display()
            ),
            None => format!(
                "All is well: the process {} was started without a profiler, and one can be attached at `{}`.",
                process.id,
                process
                    .endpoint
                    .as_deref()
                    .unwrap_or(Path::new("?"))
                    .display()
            ),
        }
    }

    /// Whether the user of the process differs from this one.
    pub(super) fn other_user(&self) -> Option<u32> {
        let user = self.process.as_ref()?.user?;
        (user != library::user()).then_some(user)
    }
}

/// Whether an executable has the runtime in itself: a program in a single file, which has no library of the runtime.
pub(super) fn has_runtime(image: Option<&Path>, listens: bool) -> bool {
    // .NET 5 does not export the data for debuggers, but its executables have the mark of the host. A NativeAOT program
    // listens, too, and has neither.
    let has_host = |image| {
        Program::open(image).is_ok_and(|program| program.kind() == ProgramKind::NativeExecutable)
    };
    image.is_some_and(|image| binary::has_runtime(image) || (listens && has_host(image)))
}
