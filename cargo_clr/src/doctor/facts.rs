//! The facts about a process or a program that are visible from outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clr_profiler_launcher::Program;

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
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) user: Option<u32>,
    /// `None` if this user may not read them.
    pub(super) mappings: Option<Vec<PathBuf>>,
    pub(super) socket: Option<PathBuf>,
    /// The socket, in folders that are not those of this command.
    pub(super) own_socket: Option<PathBuf>,
    pub(super) executable: Option<PathBuf>,
}

/// The profiler that the environment names.
#[derive(Debug)]
pub(super) struct Named {
    /// The variable that names the library.
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
        if !Path::new("/proc/self").exists() {
            return Err(Failure::new(
                "A running process can be examined on Linux alone. Examine the program: `cargo clr doctor -- App.dll`.",
            ));
        }
        if !process::is_alive(id) {
            return Err(clr_profiler_launcher::Error::NoSuchProcess { process: id }.into());
        }
        let below = PathBuf::from(format!("/proc/{id}"));
        Ok(Self {
            environment: process::environment(id),
            folder: fs::read_link(below.join("cwd")).unwrap_or_default(),
            process: Some(Process {
                id,
                user: process::user(id),
                mappings: process::mappings(id),
                socket: super::socket(id),
                own_socket: super::own_socket(id),
                executable: fs::read_link(below.join("exe")).ok(),
            }),
            program: None,
            root: None,
        })
    }

    /// The environment of this command, with the files below a folder.
    pub(super) fn of_container(root: &Path) -> Result<Self> {
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
        let value = environment.get(name)?;
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

    /// The library that the runtime would load: a variable for its processor takes precedence.
    pub(super) fn named(&self) -> Option<Named> {
        let special: &[&str] = match std::env::consts::ARCH {
            "aarch64" => &["CORECLR_PROFILER_PATH_ARM64", "CORECLR_PROFILER_PATH_64"],
            _ => &["CORECLR_PROFILER_PATH_64"],
        };
        let names = special.iter().chain(&["CORECLR_PROFILER_PATH"]);
        let (name, value) = names
            .into_iter()
            .find_map(|name| Some((*name, self.variable(name)?)))?;
        Some(Named {
            variable: name.to_owned(),
            value: value.to_owned(),
            path: self.folder.join(value),
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
        let path = fs::canonicalize(&named.path).unwrap_or(named.path);
        mappings.contains(&path)
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
                    .socket
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
