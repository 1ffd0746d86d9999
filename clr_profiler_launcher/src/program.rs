//! The kind of a program's file, and whether its architecture is that of this process.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use crate::image::{self, Architecture, Image};
use crate::{Error, Result, signature};

/// A .NET program whose file was checked.
///
/// ```no_run
/// use clr_profiler_launcher::{Program, ProgramKind};
///
/// let program = Program::open("path/to/App.dll")?;
/// assert_eq!(program.kind(), ProgramKind::Assembly);
/// # Ok::<(), clr_profiler_launcher::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    kind: ProgramKind,
}

/// How a .NET program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProgramKind {
    /// A managed assembly with an entry point: started by a `dotnet` host.
    Assembly,
    /// A native executable that contains or finds its runtime by itself: a single-file program or
    /// the apphost that the build creates next to an assembly.
    NativeExecutable,
}

impl Program {
    /// Inspects the file and refuses one that cannot be started and profiled.
    ///
    /// Of an assembly only headers are read; a native executable is read until the mark that .NET
    /// embeds in it is found, without holding it in memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchProgram`], [`Error::ProgramIsFolder`], [`Error::NotDotnet`],
    /// [`Error::WrongArchitecture`], [`Error::NoEntryPoint`], [`Error::NoRuntimeConfig`],
    /// [`Error::NotExecutable`], or [`Error::Io`] if the file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let given = path.as_ref();
        let io = |source| Error::Io {
            path: given.to_owned(),
            source,
        };
        let path = match std::path::absolute(given) {
            Ok(path) => path,
            // Only an empty path has no absolute form.
            Err(_) => {
                return Err(Error::NoSuchProgram {
                    path: given.to_owned(),
                });
            }
        };
        let about = match fs::metadata(&path) {
            Ok(about) => about,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::InvalidInput
                ) =>
            {
                return Err(Error::NoSuchProgram { path });
            }
            Err(error) => return Err(io(error)),
        };
        if about.is_dir() {
            return Err(Error::ProgramIsFolder { path });
        }
        if !about.is_file() {
            return Err(not_dotnet(path, "It is not a regular file."));
        }
        let mut file = File::open(&path).map_err(io)?;
        let kind = match image::read(&mut file).map_err(io)? {
            Image::Pe(pe) => match pe.cli {
                Some(cli) => {
                    check_architecture(&path, pe.architecture)?;
                    if !cli.has_entry_point() {
                        return Err(Error::NoEntryPoint { path });
                    }
                    check_runtime_config(&path)?;
                    ProgramKind::Assembly
                }
                None if cfg!(windows) => {
                    check_native(&path, &mut file, Some(pe.architecture)).map_err(io)??
                }
                None => return Err(native_pe(path)),
            },
            Image::Elf(architecture) if !cfg!(any(windows, target_vendor = "apple")) => {
                check_native(&path, &mut file, Some(architecture)).map_err(io)??
            }
            Image::MachO(architecture) if cfg!(target_vendor = "apple") => {
                check_native(&path, &mut file, architecture).map_err(io)??
            }
            Image::Elf(_) | Image::MachO(_) => {
                return Err(not_dotnet(
                    path,
                    "It is an executable of another operating system.",
                ));
            }
            Image::Script => {
                return Err(not_dotnet(
                    path,
                    "It is a script. Give the program that the script starts.",
                ));
            }
            Image::Other => {
                return Err(not_dotnet(
                    path,
                    "It is neither an assembly nor an executable of this system, or it is \
                     damaged. Give the assembly (.dll) that the build made.",
                ));
            }
        };
        Ok(Self { path, kind })
    }

    /// The file, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it is started.
    #[must_use]
    pub fn kind(&self) -> ProgramKind {
        self.kind
    }
}

fn not_dotnet(path: PathBuf, found: impl Into<String>) -> Error {
    Error::NotDotnet {
        path,
        found: found.into(),
    }
}

fn native_pe(path: PathBuf) -> Error {
    let assembly = path.with_extension("dll");
    let found = if assembly != path && assembly.is_file() {
        format!(
            "It is a native Windows program. Give the assembly next to it, `{}`.",
            assembly.display()
        )
    } else {
        "It is a native Windows program or library without managed code.".to_owned()
    };
    not_dotnet(path, found)
}

pub(crate) fn check_architecture(path: &Path, architecture: Architecture) -> Result<()> {
    if architecture.fits_this_process() {
        return Ok(());
    }
    Err(Error::WrongArchitecture {
        path: path.to_owned(),
        found: architecture.name(),
        expected: std::env::consts::ARCH,
    })
}

fn check_runtime_config(path: &Path) -> Result<()> {
    let expected = path.with_extension("runtimeconfig.json");
    if expected.is_file() {
        return Ok(());
    }
    Err(Error::NoRuntimeConfig {
        path: path.to_owned(),
        expected,
    })
}

/// The outer error is an I/O error.
fn check_native(
    path: &Path,
    file: &mut File,
    architecture: Option<Architecture>,
) -> io::Result<Result<ProgramKind>> {
    if let Some(architecture) = architecture
        && let Err(error) = check_architecture(path, architecture)
    {
        return Ok(Err(error));
    }
    file.rewind()?;
    if !signature::is_in(file)? {
        let found = match path.file_stem() {
            Some(name) if name == "dotnet" => {
                "It is the host that runs assemblies. Give the assembly itself, without `dotnet`."
            }
            _ => {
                "It is a native executable without a .NET runtime. (A program published with \
                 NativeAOT is one too: it cannot be profiled; publish it without PublishAot.)"
            }
        };
        return Ok(Err(not_dotnet(path.to_owned(), found)));
    }
    if !may_execute(path) {
        return Ok(Err(Error::NotExecutable {
            path: path.to_owned(),
        }));
    }
    Ok(Ok(ProgramKind::NativeExecutable))
}

/// Whether the file's mode permits execution by anyone.
#[cfg(unix)]
pub(crate) fn may_execute(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

/// Windows has no such mode.
#[cfg(not(unix))]
pub(crate) fn may_execute(_path: &Path) -> bool {
    true
}
