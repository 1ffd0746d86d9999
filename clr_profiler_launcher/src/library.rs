//! The profiler's native library.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::image::{self, Image};
use crate::loader::{self, Answer};
use crate::program::check_architecture;
use crate::{Clsid, Error, Result};

/// A profiler: a native library and the CLSID of the profiler in it.
///
/// ```no_run
/// use clr_profiler_launcher::ProfilerLibrary;
///
/// let library = ProfilerLibrary::new(
///     "/opt/tools/libmy_profiler.so",
///     "DF63A541-5A33-4611-8829-F4E495985EE3",
/// )?;
/// library.check()?;
/// # Ok::<(), clr_profiler_launcher::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilerLibrary {
    path: PathBuf,
    clsid: Clsid,
}

impl ProfilerLibrary {
    /// Names a library and the profiler in it; a relative path is relative to the current folder.
    ///
    /// The CLSID is text, a [`Clsid`], or the number that `Uuid::as_u128` returns. The file is
    /// not opened: see [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// [`Error::BadClsid`] if the text is not a GUID. [`Error::NoSuchLibrary`] if the path is
    /// empty.
    pub fn new<C>(path: impl AsRef<Path>, clsid: C) -> Result<Self>
    where
        C: TryInto<Clsid>,
        Error: From<C::Error>,
    {
        let clsid = clsid.try_into()?;
        let path = path.as_ref();
        match std::path::absolute(path) {
            Ok(path) => Ok(Self { path, clsid }),
            Err(_) => Err(Error::NoSuchLibrary {
                path: path.to_owned(),
            }),
        }
    }

    /// The library's file, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The CLSID.
    #[must_use]
    pub fn clsid(&self) -> Clsid {
        self.clsid
    }

    /// Loads the library into this process and asks it for the class factory of the CLSID, as the
    /// runtime does.
    ///
    /// The library stays loaded until this process ends, because a profiler may have started
    /// threads. The profiler itself is not created.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchLibrary`], [`Error::PathNotUnicode`], [`Error::WrongArchitecture`],
    /// [`Error::LibraryNotLoadable`], [`Error::NoDllGetClassObject`],
    /// [`Error::ClsidNotInLibrary`], [`Error::ClassFactory`], or [`Error::Io`].
    pub fn check(&self) -> Result<()> {
        const CLASS_E_CLASSNOTAVAILABLE: i32 = 0x8004_0111_u32 as i32;
        let path = || self.path.clone();
        if !self.path.exists() {
            return Err(Error::NoSuchLibrary { path: path() });
        }
        // The runtime does not split this value, but it reads the variable as UTF-8.
        if self.path.to_str().is_none() {
            return Err(Error::PathNotUnicode { path: path() });
        }
        self.check_headers()?;
        match loader::ask(&self.path, &self.clsid) {
            Answer::NotLoaded(loader) => Err(Error::LibraryNotLoadable {
                path: path(),
                reason: explain(&self.path.to_string_lossy(), &loader),
                loader,
            }),
            Answer::NoExport => Err(Error::NoDllGetClassObject { path: path() }),
            Answer::Answered {
                hresult: 0,
                object: true,
            } => Ok(()),
            Answer::Answered {
                hresult: CLASS_E_CLASSNOTAVAILABLE,
                ..
            } => Err(Error::ClsidNotInLibrary {
                path: path(),
                clsid: self.clsid,
            }),
            Answer::Answered { hresult, .. } => Err(Error::ClassFactory {
                path: path(),
                clsid: self.clsid,
                hresult,
            }),
        }
    }

    /// Refuses files that the loader would refuse with a less clear message.
    fn check_headers(&self) -> Result<()> {
        let io = |source| Error::Io {
            path: self.path.clone(),
            source,
        };
        let refuse = |reason: &str| {
            Err(Error::LibraryNotLoadable {
                path: self.path.clone(),
                reason: reason.to_owned(),
                loader: String::new(),
            })
        };
        if self.path.is_dir() {
            return refuse("it is a folder, not a library file.");
        }
        let image = image::read(&mut File::open(&self.path).map_err(io)?).map_err(io)?;
        let (system, architecture) = match image {
            Image::Pe(pe) if pe.cli.is_some() => {
                return refuse(
                    "it is a managed assembly. A profiler is a native library (in Rust a crate \
                     whose crate-type is `cdylib`).",
                );
            }
            Image::Pe(pe) => ("Windows", Some(pe.architecture)),
            Image::Elf(architecture) => ("Linux", Some(architecture)),
            Image::MachO(architecture) => ("macOS", architecture),
            Image::Script | Image::Other => {
                return refuse("it is not a native library, or it is damaged.");
            }
        };
        let here = match std::env::consts::OS {
            "windows" => "Windows",
            "macos" => "macOS",
            _ => "Linux",
        };
        if system != here {
            return refuse(&format!(
                "it is a library for {system}, but this is {here}. Build it for this system."
            ));
        }
        match architecture {
            Some(architecture) => check_architecture(&self.path, architecture),
            None => Ok(()),
        }
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// The meaning of the loader's message for the person who built the library.
fn explain(path: &str, loader: &str) -> String {
    let has = |part: &str| loader.contains(part);
    if has("libc.musl") || has("ld-musl") {
        return "it was built for another C library, musl (as on Alpine Linux). Build it for the \
                C library of this system."
            .to_owned();
    }
    if has("GLIBC_") && has("not found") {
        return "it was built on a system with a newer C library (glibc) than this one. Build it \
                here, or on an older system."
            .to_owned();
    }
    if has("ld-linux") || (has("Error loading shared library") && has("libc.so.6")) {
        return "it was built for another C library, glibc. Build it for the C library of this \
                system."
            .to_owned();
    }
    if has("cannot open shared object file") || has("Error loading shared library") {
        // Both loaders name the missing file and separate it with a colon; it is the path of the
        // library itself if that vanished in the meantime.
        let missing = loader
            .trim_start_matches("Error loading shared library ")
            .split(':')
            .next()
            .unwrap_or_default()
            .trim();
        return match missing {
            "" => "a library that it needs is missing on this machine.".to_owned(),
            missing if missing == path => "the file cannot be opened.".to_owned(),
            missing => format!("it needs the library `{missing}`, which is missing here."),
        };
    }
    if has("undefined symbol") || has("symbol not found") {
        return "it needs a function that no library on this machine has.".to_owned();
    }
    if has("os error 126") {
        return "a DLL that it needs is missing on this machine.".to_owned();
    }
    if has("os error 193") {
        return "it is for another architecture, or it is damaged.".to_owned();
    }
    "the loader refuses it.".to_owned()
}

/// Finds the library of the crate `name` that cargo built together with the current executable.
///
/// An example, test or binary of cargo finds a `cdylib` among its (dev-)dependencies, or that of
/// its own package. Where cargo left several, the newest is taken.
///
/// # Errors
///
/// [`Error::LibraryNotBuilt`] with the searched paths, or [`Error::Io`] if the current executable
/// is unknown.
pub fn find_library(name: &str) -> Result<PathBuf> {
    let executable = std::env::current_exe().map_err(|source| Error::Io {
        path: "the current executable".into(),
        source,
    })?;
    find_library_next_to(executable, name)
}

/// Like [`find_library`], for an executable other than the current one.
///
/// # Errors
///
/// [`Error::LibraryNotBuilt`] with the searched paths.
pub fn find_library_next_to(executable: impl AsRef<Path>, name: &str) -> Result<PathBuf> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let file = format!("{DLL_PREFIX}{}{DLL_SUFFIX}", name.replace('-', "_"));
    let folder = executable.as_ref().parent().unwrap_or(Path::new("."));
    let above = folder.parent().unwrap_or(folder);
    // From target/debug/examples: cargo builds in ../deps, and copies requested targets to .. ;
    // from target/debug itself, the folder of binaries: deps.
    let looked_at: Vec<PathBuf> = [
        above.join("deps"),
        above.to_owned(),
        folder.join("deps"),
        folder.to_owned(),
    ]
    .into_iter()
    .map(|folder| folder.join(&file))
    .collect();
    let age = |path: &PathBuf| fs::metadata(path).and_then(|about| about.modified()).ok();
    let newest = looked_at
        .iter()
        .filter(|path| path.is_file())
        .max_by_key(|path| age(path).unwrap_or(SystemTime::UNIX_EPOCH));
    match newest {
        Some(path) => Ok(path.clone()),
        None => Err(Error::LibraryNotBuilt {
            name: name.to_owned(),
            looked_at,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn loader_words_are_explained() {
        for (loader, meaning) in [
            (
                "libssl.so.1.1: cannot open shared object file: No such file or directory",
                "`libssl.so.1.1`, which is missing",
            ),
            (
                "/x/libp.so: cannot open shared object file: Permission denied",
                "the file cannot be opened",
            ),
            (
                "libc.musl-x86_64.so.1: cannot open shared object file: No such file or directory",
                "another C library, musl",
            ),
            (
                "/lib/libc.so.6: version `GLIBC_2.99' not found (required by /x/libp.so)",
                "newer C library",
            ),
            (
                "Error loading shared library ld-linux-x86-64.so.2: No such file or directory \
                 (needed by /x/libp.so)",
                "another C library, glibc",
            ),
            (
                "Error loading shared library libz.so.1: No such file or directory (needed by \
                 /x/libp.so)",
                "`libz.so.1`, which is missing",
            ),
            (
                "/x/libp.so: undefined symbol: frob",
                "a function that no library",
            ),
            (
                "The specified module could not be found. (os error 126)",
                "a DLL that it needs",
            ),
            ("bananas", "the loader refuses it"),
        ] {
            let text = explain("/x/libp.so", loader);
            assert!(text.contains(meaning), "{loader}: {text}");
        }
    }
}
