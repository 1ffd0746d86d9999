//! Fetches a pinned package into a cache: once, verified, and safe against other processes that
//! fetch the same and against being killed at any point.
//!
//! The cache holds, for each package, its folder, a lock file, and during a fetch a temporary
//! folder. The package's folder appears by one renaming when everything is in it. Only the holder
//! of the lock creates temporary folders, so the holder may remove all that it finds.

mod client;
mod pinned;
mod unpack;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clr_profiler_launcher::DotnetHost;
use fs4::{FileExt, TryLockError};
use sha2::{Digest, Sha256};

use crate::{Error, Result};
use client::Client;
pub use pinned::{Archive, Index, Pinned, Platform};

/// Fetches packages into a folder, with python's pip and with npm.
#[derive(Debug, Clone)]
pub struct Fetcher {
    cache: PathBuf,
    python: OsString,
    npm: OsString,
    platform: Option<Platform>,
}

impl Fetcher {
    /// Fetches into this folder with `python3` and `npm`.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
            python: "python3".into(),
            npm: "npm".into(),
            platform: Platform::of_this_machine(),
        }
    }

    /// Fetches into the folder `CLR_PROFILER_CACHE`, by default `clr_profiler` in the user's cache
    /// folder, with the python of `CLR_PROFILER_PYTHON`, by default `python3`, and the npm of
    /// `CLR_PROFILER_NPM`, by default `npm`.
    ///
    /// # Errors
    ///
    /// If no variable names the user's cache folder.
    pub fn from_env() -> Result<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut fetcher = Self::new(default_cache(variable)?);
        if let Some(python) = variable(Client::PYTHON) {
            fetcher.python = python;
        }
        if let Some(npm) = variable(Client::NPM) {
            fetcher.npm = npm;
        }
        Ok(fetcher)
    }

    /// Uses this python instead.
    #[must_use]
    pub fn python(mut self, executable: impl Into<OsString>) -> Self {
        self.python = executable.into();
        self
    }

    /// Uses this npm instead.
    #[must_use]
    pub fn npm(mut self, executable: impl Into<OsString>) -> Self {
        self.npm = executable.into();
        self
    }

    /// Fetches the archives for another machine, or an emulator of it.
    #[must_use]
    pub fn platform(mut self, platform: Platform) -> Self {
        self.platform = Some(platform);
        self
    }

    /// The folder of the cache.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The path of the package's executable, if it was fetched before.
    ///
    /// # Errors
    ///
    /// If others may have put programs into the cache.
    pub fn cached(&self, pinned: &Pinned) -> Result<Option<PathBuf>> {
        self.check_cache()?;
        let cached = pinned.archive(self.platform).map(|archive| {
            let package = Package { pinned, archive };
            self.cache.join(package.folder()).join(archive.executable)
        });
        Ok(cached.filter(|executable| executable.is_file()))
    }

    /// Returns the path of the package's executable, and fetches the package if it is not there.
    ///
    /// The package, its source, size and licence, and the folder are reported on stderr.
    ///
    /// # Errors
    ///
    /// If there is no such package for this machine, no python with pip, no npm or no network, if
    /// the download is not the expected one, or if the cache cannot be written.
    pub fn fetch(&self, pinned: &Pinned) -> Result<PathBuf> {
        let archive = pinned
            .archive(self.platform)
            .ok_or_else(|| self.no_archive(pinned))?;
        let package = Package { pinned, archive };
        self.check_cache()?;
        let target = self.cache.join(package.folder());
        let executable = target.join(archive.executable);
        if executable.is_file() {
            return Ok(executable);
        }
        self.create_cache()?;
        let _lock = self.lock(package)?;
        // Another process may have fetched it while this one waited.
        if executable.is_file() {
            return Ok(executable);
        }
        self.remove_leftovers(package)?;
        if target.exists() {
            fs::remove_dir_all(&target).map_err(Error::io("remove the damaged", &target))?;
        }
        let work = WorkFolder::new(self.cache.join(format!(
            "{}{}",
            package.temporary_prefix(),
            std::process::id()
        )))?;
        let downloaded = self.download(package, &work.0)?;
        verify(package, &downloaded)?;
        let unpacked = work.0.join("unpacked");
        unpack::unpack(package, &downloaded, &unpacked)?;
        fs::rename(&unpacked, &target).map_err(Error::io("create the folder", &target))?;
        say(&format!("{} is ready.", pinned.name));
        Ok(executable)
    }

    /// Creates the folder of the cache, for its user only.
    fn create_cache(&self) -> Result<()> {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        let created = folder.create(&self.cache);
        created.map_err(Error::io("create the folder", &self.cache))?;
        // Another process may have been faster.
        self.check_cache()
    }

    /// Refuses a folder in which another user may have put programs.
    #[cfg(unix)]
    fn check_cache(&self) -> Result<()> {
        use std::os::unix::fs::MetadataExt;

        const OTHERS_WRITE: u32 = 0o002;
        const ROOT: u32 = 0;
        let Ok(about) = fs::metadata(&self.cache) else {
            return Ok(());
        };
        let is_shared = |about: &fs::Metadata| about.mode() & OTHERS_WRITE != 0;
        let parent = self
            .cache
            .parent()
            .and_then(|parent| fs::metadata(parent).ok());
        // The files that the system shows of this process belong to its user.
        let user = fs::metadata("/proc/self").map(|own| own.uid()).ok();
        let is_of_another = user.is_some_and(|user| ![user, ROOT].contains(&about.uid()))
            && parent.as_ref().is_some_and(is_shared);
        if is_shared(&about) || is_of_another {
            return Err(Error::new(format!(
                "In the folder `{}` somebody else may have put programs that would be run from there. \
                 Set CLR_PROFILER_CACHE to a folder of your own that others cannot write to.",
                self.cache.display()
            )));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn check_cache(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until no other process fetches this package. The lock ends with the file's handle, at
    /// the latest with the process.
    fn lock(&self, package: Package<'_>) -> Result<File> {
        let path = self.cache.join(format!("{}.lock", package.folder()));
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::io("create the lock file", &path))?;
        match FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                say(&format!(
                    "Waiting for another process that fetches {} ...",
                    package.pinned.name
                ));
                FileExt::lock(&file).map_err(Error::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        Ok(file)
    }

    /// Removes the leftovers of a killed process. The caller holds the lock.
    fn remove_leftovers(&self, package: Package<'_>) -> Result<()> {
        let prefix = package.temporary_prefix();
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

    /// Downloads the package's archive into `folder`.
    fn download(&self, package: Package<'_>, folder: &Path) -> Result<PathBuf> {
        let Package { pinned, archive } = package;
        let client = match pinned.index {
            Index::PyPi => Client::Pip(&self.python),
            Index::Npm => Client::Npm(&self.npm),
        };
        say(&format!(
            "{name} is fetched once:\n  \
             what:    the package {package} {version}, {size:.1} MB\n  \
             from:    {index}, by `{client}`\n  \
             licence: {licence}\n  \
             to:      {to}",
            name = pinned.name,
            package = pinned.package,
            version = pinned.package_version,
            size = archive.size as f64 / 1e6,
            index = pinned.index,
            licence = pinned.licence,
            to = self.cache.join(package.folder()).display(),
        ));
        client.download(package, folder)
    }

    fn no_archive(&self, pinned: &Pinned) -> Error {
        let names: Vec<_> = pinned
            .archives
            .iter()
            .map(|it| it.platform.name())
            .collect();
        let here = self.platform.map_or("this machine", Platform::name);
        Error::new(format!(
            "{} can be fetched for {} only (on Linux with glibc), not for {here}.\n{}",
            pinned.name,
            names.join(" and "),
            DotnetHost::HOW_TO_GET_ONE
        ))
    }
}

/// A package, and its archive for one platform.
#[derive(Debug, Clone, Copy)]
struct Package<'a> {
    pinned: &'a Pinned,
    archive: &'a Archive,
}

impl Package<'_> {
    /// Its folder in the cache, a different one for each archive.
    fn folder(self) -> String {
        let Self { pinned, archive } = self;
        let short = archive.sha256.get(..12).unwrap_or(archive.sha256);
        // The `/` of an npm scope is not a folder.
        let name = pinned.package.trim_start_matches('@').replace('/', "-");
        format!("{name}-{}-{short}", pinned.package_version)
    }

    /// The prefix of the names of its temporary folders.
    fn temporary_prefix(self) -> String {
        format!("{}.tmp-", self.folder())
    }
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
        // By the rules of that variable a relative path is ignored.
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

/// A folder that is removed at the end in any case.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn new(path: PathBuf) -> Result<Self> {
        fs::create_dir(&path).map_err(Error::io("create the folder", &path))?;
        Ok(Self(path))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // The next process that fetches removes leftovers.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compares the download with the pinned hash; a wrong one is removed.
fn verify(package: Package<'_>, downloaded: &Path) -> Result<()> {
    let Package { pinned, archive } = package;
    let read = Error::io("read", downloaded);
    let mut file = File::open(downloaded).map_err(&read)?;
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
    if found == archive.sha256 {
        return Ok(());
    }
    drop(file);
    let _ = fs::remove_file(downloaded);
    Err(Error::new(format!(
        "The download of {} is corrupted: {} has {size} bytes with the SHA-256 {found}; expected \
         were {} bytes with {}. It was deleted; try again. If it happens again, something between \
         this machine and {} changes the file.",
        pinned.name, archive.file, archive.size, archive.sha256, pinned.index
    )))
}

/// Writes a message to stderr; if stderr is closed, the message is dropped.
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
}
