//! The errors before a program starts, or when a profiler is attached to it, in sentences.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::attach::explain_refusal;
use crate::{Clsid, DotnetHost};

/// Why a program cannot be started under a profiler, or a profiler cannot be attached to it.
///
/// The text is one or more whole sentences for a person who knows .NET or Rust, but perhaps not
/// both: the problem, the file or variable, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No .NET runtime was found on this machine.
    NoRuntime,
    /// An environment variable that should name a runtime does not.
    BadVariable {
        /// The variable's name.
        name: &'static str,
        /// Its value.
        value: PathBuf,
        /// The problem with the value.
        problem: String,
    },
    /// The file or folder given as a `dotnet` host is not one.
    BadHost {
        /// The given path.
        path: PathBuf,
        /// The problem with it.
        problem: String,
    },
    /// The program's file does not exist.
    NoSuchProgram {
        /// The path.
        path: PathBuf,
    },
    /// The program's path is a folder.
    ProgramIsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not a .NET program.
    NotDotnet {
        /// The file.
        path: PathBuf,
        /// The kind of the file, and what to do.
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
    /// The assembly has no `.runtimeconfig.json` next to it.
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
    /// An environment variable forbids the runtime to load profilers.
    DiagnosticsDisabled {
        /// The variable's name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A CLSID is not written as a GUID.
    BadClsid {
        /// The given text.
        text: String,
    },
    /// The profiler's library does not exist.
    NoSuchLibrary {
        /// The path.
        path: PathBuf,
    },
    /// No library of that name was built next to the executable.
    LibraryNotBuilt {
        /// The name of the library's crate.
        name: String,
        /// The files that were looked for.
        looked_at: Vec<PathBuf>,
    },
    /// The path cannot be passed to the runtime, which reads it as UTF-8.
    PathNotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// The operating system's loader refuses the profiler's library.
    LibraryNotLoadable {
        /// The library.
        path: PathBuf,
        /// The problem with it, as far as it is known.
        reason: String,
        /// The loader's own message; empty if it was not asked.
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
        /// The requested CLSID.
        clsid: Clsid,
    },
    /// The library's `DllGetClassObject` returns another error.
    ClassFactory {
        /// The library.
        path: PathBuf,
        /// The requested CLSID.
        clsid: Clsid,
        /// The HRESULT; 0 (`S_OK`) if it returned success without an object.
        hresult: i32,
    },
    /// The path of a notification profiler's library has a character that ends a path in the list
    /// of these profilers.
    PathNotListable {
        /// The path.
        path: PathBuf,
        /// The character.
        character: char,
    },
    /// An assembly cannot be a startup hook.
    BadStartupHook {
        /// The assembly.
        path: PathBuf,
        /// The problem with it.
        problem: String,
    },
    /// More notification profilers than the runtime takes.
    TooManyNotificationProfilers {
        /// How many.
        count: usize,
        /// How many it takes.
        limit: usize,
    },
    /// No profiler was given to [`Attach`](crate::Attach).
    NoProfiler,
    /// The data for an attached profiler does not fit into the message.
    ClientDataTooLong {
        /// How many bytes it has.
        length: usize,
        /// The limit, with a library of this path.
        limit: usize,
    },
    /// There is no process with this id.
    NoSuchProcess {
        /// The process id.
        process: u32,
    },
    /// The process sees no such library, or another one, under the path.
    LibraryNotSeen {
        /// The process id.
        process: u32,
        /// The path.
        path: PathBuf,
    },
    /// No runtime of the process listens: it is not a .NET program, or listening is switched off.
    NoDiagnostics {
        /// The process id.
        process: u32,
        /// Its name, if that is known, after a space and in parentheses.
        name: String,
        /// The variable, with its value, that switches it off.
        switched_off: Option<String>,
        /// The sockets or pipes that were looked for.
        looked_at: Vec<PathBuf>,
    },
    /// This user may not connect to the process.
    OtherUser {
        /// The process id.
        process: u32,
        /// Its name, if that is known, after a space and in parentheses.
        name: String,
        /// The socket or pipe.
        path: PathBuf,
    },
    /// Another process listens under the name of this one's runtime, or the process has ended and
    /// another one has its id. Nothing was sent.
    ForeignListener {
        /// The process id.
        process: u32,
        /// Its name, if that is known, after a space and in parentheses.
        name: String,
        /// The socket or pipe.
        path: PathBuf,
        /// The process that listens; 0 for one that this process cannot see.
        listener: u32,
    },
    /// The connection to the process failed.
    Connection {
        /// The process id.
        process: u32,
        /// Why.
        source: io::Error,
    },
    /// The process did not answer in time.
    NoAnswer {
        /// The process id.
        process: u32,
        /// The time waited.
        waited: Duration,
    },
    /// The answer is not that of a .NET runtime.
    BadAnswer {
        /// The process id.
        process: u32,
        /// The problem with the answer.
        problem: String,
    },
    /// The runtime, or the profiler in it, refuses to be attached.
    AttachRefused {
        /// The process id.
        process: u32,
        /// The HRESULT.
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
                write!(f, "`{}` is not a .NET program. {found}", path.display())
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
                "`{}` cannot be started: `{}` is missing next to it. `dotnet build` makes that file \
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
            Self::PathNotListable { path, character } => write!(
                f,
                "The path of the profiler library, `{}`, has a `{character}`. In the list of \
                 notification profilers, which the .NET runtime reads, the path would end there. \
                 Move the library to another folder.",
                path.display()
            ),
            Self::BadStartupHook { path, problem } => write!(
                f,
                "`{}` cannot be a startup hook: {problem}. The .NET runtime would not start the \
                 program.",
                path.display()
            ),
            Self::TooManyNotificationProfilers { count, limit } => write!(
                f,
                "These are {count} notification profilers. The .NET runtime takes {limit} at most."
            ),
            Self::NoProfiler => {
                f.write_str("There is no profiler to attach. Name one by `Attach::profiler`.")
            }
            Self::ClientDataTooLong { length, limit } => write!(
                f,
                "The {length} bytes of client data do not fit into the message to the runtime. \
                 With this library {limit} would. Send the name of a file that holds the rest."
            ),
            Self::NoSuchProcess { process } => write!(
                f,
                "There is no process {process}. It has ended, or this user may not see it."
            ),
            Self::LibraryNotSeen { process, path } => write!(
                f,
                "The process {process} does not see the profiler library `{}`: it has another file \
                 system, as in a container. Put the library where it is at the same path for both.",
                path.display()
            ),
            Self::NoDiagnostics {
                process,
                name,
                switched_off: Some(variable),
                ..
            } => write!(
                f,
                "The process {process}{name} was started with {variable}, which keeps its .NET \
                 runtime from listening. Start it without that variable."
            ),
            Self::NoDiagnostics {
                process,
                name,
                switched_off: None,
                looked_at,
            } => {
                // A pipe of Windows has no folder.
                let elsewhere = match cfg!(windows) {
                    true => "does not listen: it was started with DOTNET_EnableDiagnostics=0",
                    false => {
                        "listens elsewhere or not at all: started with DOTNET_EnableDiagnostics=0, or \
                         with another TMPDIR than this tool"
                    }
                };
                write!(
                    f,
                    "The process {process}{name} is not a .NET program of .NET Core 3.1 or newer, or \
                     it {elsewhere}. Looked for:"
                )?;
                looked_at
                    .iter()
                    .try_for_each(|path| write!(f, "\n  {}", path.display()))
            }
            Self::OtherUser {
                process,
                name,
                path,
            } => write!(
                f,
                "This user may not attach to the process {process}{name}: it belongs to another user \
                 (`{}`: permission denied). Run this as the same user, or as root.",
                path.display()
            ),
            Self::ForeignListener {
                process,
                name,
                path,
                listener,
            } => {
                write!(
                    f,
                    "The {} `{}` is not listened to by the process {process}{name}",
                    if cfg!(windows) { "pipe" } else { "socket" },
                    path.display()
                )?;
                match listener {
                    0 => f.write_str(", but by one in another namespace")?,
                    other if other == process => {
                        f.write_str(" that was asked for, which has ended")?
                    }
                    other => write!(f, ", but by the process {other}")?,
                }
                f.write_str(
                    ". Nothing was sent to it. Its name is predictable: if you do not know that \
                     process, it may be impersonating the program.",
                )
            }
            Self::Connection { process, source } => write!(
                f,
                "The connection to the process {process} failed: {source}. It may just be ending."
            ),
            Self::NoAnswer { process, waited } => write!(
                f,
                "The process {process} did not answer within {} s. It may be stopped, or be too busy; \
                 the profiler may be loaded later all the same.",
                waited.as_secs_f32()
            ),
            Self::BadAnswer { process, problem } => write!(
                f,
                "The answer for the process {process} is not that of a .NET runtime, or it ended meanwhile: \
                 an answer came, but {problem}."
            ),
            Self::AttachRefused { process, hresult } => write!(
                f,
                "The process {process} continues without the profiler: {}",
                explain_refusal(*hresult)
            ),
            Self::Io { path, source } => {
                write!(f, "`{}` cannot be read: {source}.", path.display())
            }
            Self::Start { path, source } => {
                write!(f, "`{}` cannot be started: {source}.", path.display())?;
                match source.kind() {
                    io::ErrorKind::NotFound if path.components().count() == 1 => {
                        f.write_str(" No folder of PATH has a program of this name.")
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. }
            | Self::Start { source, .. }
            | Self::Connection { source, .. } => Some(source),
            _ => None,
        }
    }
}
