//! What can be wrong before a program starts, in sentences.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::{Clsid, DotnetHost};

/// Why a program cannot be started under a profiler.
///
/// The text is one or more whole sentences for a person who knows .NET or Rust, but perhaps not
/// both: what is wrong, with which file or variable, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No .NET runtime was found on this machine.
    NoRuntime,
    /// An environment variable names a runtime, but the wrong way.
    BadVariable {
        /// The variable's name.
        name: &'static str,
        /// Its value.
        value: PathBuf,
        /// What is wrong with the value.
        problem: String,
    },
    /// The file or folder given as a `dotnet` host is none.
    BadHost {
        /// What was given.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The program's file does not exist.
    NoSuchProgram {
        /// The path that was looked at.
        path: PathBuf,
    },
    /// The program's path is a folder.
    ProgramIsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is no .NET program.
    NotDotnet {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do.
        found: String,
    },
    /// The program or the library is for another processor than this process.
    WrongArchitecture {
        /// The file.
        path: PathBuf,
        /// The architecture that it is for.
        found: String,
        /// The architecture of this process.
        expected: &'static str,
    },
    /// The assembly has no entry point: it is a class library.
    NoEntryPoint {
        /// The assembly.
        path: PathBuf,
    },
    /// The assembly has no `.runtimeconfig.json` beside it.
    NoRuntimeConfig {
        /// The assembly.
        path: PathBuf,
        /// The file that is missing.
        expected: PathBuf,
    },
    /// The native program's file may not be executed.
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// An environment variable forbids the runtime to load any profiler.
    DiagnosticsDisabled {
        /// The variable's name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A CLSID is not written as a GUID.
    BadClsid {
        /// What was given.
        text: String,
    },
    /// The profiler's library does not exist.
    NoSuchLibrary {
        /// The path that was looked at.
        path: PathBuf,
    },
    /// No library of that name was built beside the executable.
    LibraryNotBuilt {
        /// The name of the library's crate.
        name: String,
        /// The files that were looked for.
        looked_at: Vec<PathBuf>,
    },
    /// The path cannot be handed to the runtime, which reads it as UTF-8.
    PathNotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// The operating system's loader refuses the profiler's library.
    LibraryNotLoadable {
        /// The library.
        path: PathBuf,
        /// What is wrong with it, as far as that can be told.
        reason: String,
        /// The loader's own words; empty if it was not asked.
        loader: String,
    },
    /// The library does not export `DllGetClassObject`.
    NoDllGetClassObject {
        /// The library.
        path: PathBuf,
    },
    /// The library has no class of that CLSID.
    ClsidNotInLibrary {
        /// The library.
        path: PathBuf,
        /// The CLSID that it was asked for.
        clsid: Clsid,
    },
    /// The library's `DllGetClassObject` answers with another error.
    ClassFactory {
        /// The library.
        path: PathBuf,
        /// The CLSID that it was asked for.
        clsid: Clsid,
        /// The HRESULT; 0 (`S_OK`) if it gave no object in spite of success.
        hresult: i32,
    },
    /// A file could not be read.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program could not be started.
    Start {
        /// The executable: the program or the `dotnet` host.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => write!(
                f,
                "No .NET runtime was found on this machine.\n{}",
                DotnetHost::HOW_TO_GET_ONE
            ),
            Self::BadVariable {
                name,
                value,
                problem,
            } => write!(
                f,
                "The environment variable {name} is set to `{}`, but {problem}. Set {name} to the \
                 folder of a .NET runtime, the one that holds `dotnet`, or unset it.",
                value.display()
            ),
            Self::BadHost { path, problem } => {
                write!(f, "`{}` is not a .NET host: {problem}.", path.display())
            }
            Self::NoSuchProgram { path } => {
                write!(
                    f,
                    "There is no program `{}`. Check the path.",
                    path.display()
                )
            }
            Self::ProgramIsFolder { path } => write!(
                f,
                "`{}` is a folder. Give the program in it: the assembly (.dll) that the build \
                 made, for example bin/Debug/net8.0/App.dll, or its native executable.",
                path.display()
            ),
            Self::NotDotnet { path, found } => {
                write!(f, "`{}` is not a .NET program: {found}", path.display())
            }
            Self::WrongArchitecture {
                path,
                found,
                expected,
            } => write!(
                f,
                "`{}` is for {found}, but this process is {expected}. Program, runtime and \
                 profiler must be for the same architecture.",
                path.display()
            ),
            Self::NoEntryPoint { path } => write!(
                f,
                "`{}` is a .NET class library: it has no entry point to start. Give the assembly \
                 of the program that uses it (OutputType `Exe` in its project).",
                path.display()
            ),
            Self::NoRuntimeConfig { path, expected } => write!(
                f,
                "`{}` cannot be started: `{}` is missing beside it. `dotnet build` makes that file \
                 for a program: copy it together with the assembly. An assembly built for .NET \
                 Framework has none and does not run on this runtime.",
                path.display(),
                expected.display()
            ),
            Self::NotExecutable { path } => write!(
                f,
                "`{0}` may not be executed. Allow it with `chmod +x {0}`.",
                path.display()
            ),
            Self::DiagnosticsDisabled { name, value } => write!(
                f,
                "The environment variable {name}={value} tells the .NET runtime to load no \
                 profiler. Unset it, or set it to 1."
            ),
            Self::BadClsid { text } => write!(
                f,
                "`{text}` is not a CLSID. Write it as a GUID, for example \
                 DF63A541-5A33-4611-8829-F4E495985EE3: five groups of hexadecimal digits, with \
                 or without braces around them."
            ),
            Self::NoSuchLibrary { path } => write!(
                f,
                "There is no profiler library `{}`. Build it first, and check the path.",
                path.display()
            ),
            Self::LibraryNotBuilt { name, looked_at } => {
                write!(
                    f,
                    "The profiler library of `{name}` was not found. Build it with `cargo build -p \
                     {name}`; its Cargo.toml needs crate-type = [\"cdylib\", ...]. Looked for:"
                )?;
                looked_at
                    .iter()
                    .try_for_each(|path| write!(f, "\n  {}", path.display()))
            }
            Self::PathNotUnicode { path } => write!(
                f,
                "The path of the profiler library, `{}`, is not valid UTF-8, and the .NET runtime \
                 cannot read it. Move the library to another folder.",
                path.display()
            ),
            Self::LibraryNotLoadable {
                path,
                reason,
                loader,
            } => {
                write!(
                    f,
                    "The profiler library `{}` cannot be loaded: {reason}",
                    path.display()
                )?;
                if loader.is_empty() {
                    return Ok(());
                }
                write!(f, " The loader says: {loader}")
            }
            Self::NoDllGetClassObject { path } => write!(
                f,
                "`{}` is a library but not a profiler: it does not export `DllGetClassObject`. In \
                 Rust, `register!(MyProfiler);` exports it, from a crate whose crate-type is \
                 `cdylib`.",
                path.display()
            ),
            Self::ClsidNotInLibrary { path, clsid } => write!(
                f,
                "The profiler library `{}` has no profiler with the CLSID {clsid} (it answers \
                 CLASS_E_CLASSNOTAVAILABLE). Use the CLSID that its source registers.",
                path.display()
            ),
            Self::ClassFactory {
                path,
                clsid,
                hresult: 0,
            } => write!(
                f,
                "The profiler library `{}` says that it has the CLSID {clsid}, but gives no class \
                 factory. This is a fault of the library.",
                path.display()
            ),
            Self::ClassFactory {
                path,
                clsid,
                hresult,
            } => write!(
                f,
                "The profiler library `{}`, asked for the class factory of {clsid}, fails with \
                 HRESULT 0x{hresult:08X}.",
                path.display()
            ),
            Self::Io { path, source } => {
                write!(f, "`{}` cannot be read: {source}.", path.display())
            }
            Self::Start { path, source } => {
                write!(f, "`{}` cannot be started: {source}.", path.display())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Start { source, .. } => Some(source),
            _ => None,
        }
    }
}
