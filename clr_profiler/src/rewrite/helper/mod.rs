//! [`HelperAssembly`]: managed code of the profiler.

mod component;
mod framework;
mod key;
mod loader;
mod progress;
mod slots;
mod symbols;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::RewriteContext;
use super::lookup::Lookup;
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::assembly_references::AssemblyReferenceProvider;
use crate::metadata::{AssemblyProps, AssemblyVersion};
use crate::runtime::{ProfilerInfo, own_library};
use clr_metadata::Assembly;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::token::TokenTable;

pub use component::HelperLoader;
pub(super) use progress::Progress as HelperProgress;
use progress::{Progress, Step};
use slots::Slots;
pub(super) use symbols::{Declared, FoundMethods, find_methods, signature_text};

/// An assembly of the profiler that rewritten code calls: code that is tedious in IL is written in C# there.
///
/// # How the runtime finds it
///
/// The program does not refer to it, so the runtime must be told where it is. There are these ways:
///
/// | | needs | for |
/// |---|---|---|
/// | [`open`](Self::open) | nothing | the normal case |
/// | [`in_memory`](Self::in_memory) | nothing, no file either | helpers within the profiler's library, and file systems that cannot be written |
/// | [`beside_profiler`](Self::beside_profiler) | a file in the profiler's folder | profilers that are deployed with the helper |
/// | [`startup_hook`](Self::startup_hook) | an environment variable, which a launcher sets; .NET Core 3.0 or newer | helpers that have to run before `Main` |
/// | [`next_to`](Self::next_to) | a file in the program's folder | programs that are deployed with the helper |
///
/// Each reads the assembly and fails if it is missing or is no assembly. Only the runtime knows whether the
/// helper and its references can be loaded: [`load_into`](Self::load_into) has it try that before any code of
/// a module runs.
///
/// # How code refers to it
///
/// [`RewriteContext::refer_to`] gives the module a reference with the name, version and key of the file;
/// symbols then name its types as `[Helper]Namespace.Type`. It fails until the helper and all types that it
/// refers to are loaded, so that no method depends on missing code. The core library cannot refer to other
/// assemblies: its methods call [functions of the profiler](super::NativeCall) instead.
///
/// The methods that the helper calls can be instrumented themselves, and call the helper again: see
/// [`ReentrancyGuard`](super::ReentrancyGuard).
///
/// ```
/// use clr_profiler::il::fragment::Fragment;
/// use clr_profiler::il::symbol::MethodSymbol;
/// use clr_profiler::prelude::*;
/// use clr_profiler::rewrite::HelperAssembly;
///
/// struct Tracer {
///     helper: HelperAssembly,
/// }
///
/// #[profiler(clsid = "3F7C4B0A-6A57-4B7E-9E0C-0A5D8C3B8E11")]
/// impl Profiler for Tracer {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let helper = HelperAssembly::open("/opt/tracer/Helper.dll")?;
///         setup.attach(helper.loader(|info, module| {
///             Ok(info.module_info(module)?.name.ends_with("App.dll"))
///         }))?;
///         Ok(Self { helper })
///     }
///
///     fn jit_compilation_started(
///         &self,
///         info: &ProfilerInfo,
///         function: FunctionId,
///         _is_safe_to_block: bool,
///     ) -> Result<()> {
///         let method = info.method(function)?;
///         if method.assembly_name()? == "App" {
///             let enter = MethodSymbol::new("[Helper]Logger", "Enter", "void (string)");
///             method.rewrite(|body, cx| {
///                 cx.refer_to(&self.helper)?;
///                 body.prologue(Fragment::new().ldstr(cx.full_name()).call(&enter))?;
///                 Ok(())
///             })?;
///         }
///         Ok(())
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct HelperAssembly {
    source: Source,
    props: AssemblyProps,
    /// The number of types of other assemblies that it refers to.
    type_refs: u32,
    /// The rows of those that need not exist.
    unneeded: Vec<u32>,
    progress: &'static Progress,
    slots: Slots,
}

/// Where the runtime finds the bytes of a helper.
#[derive(Clone)]
enum Source {
    /// The absolute path.
    File(PathBuf),
    /// In the memory of the process, as long as that lives.
    Memory(&'static [u8]),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Memory(bytes) => write!(f, "{} bytes in memory", bytes.len()),
        }
    }
}

/// The environment variable that names the code that .NET runs before a program.
const STARTUP_HOOKS: &str = "DOTNET_STARTUP_HOOKS";

impl HelperAssembly {
    /// The assembly in a file, to be loaded by [`load_into`](Self::load_into).
    ///
    /// A relative path is resolved against the current directory of the process.
    ///
    /// # Errors
    ///
    /// That the file cannot be read, or is no .NET assembly: a native library, a module without a manifest,
    /// or another file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let problem = |problem: &dyn std::fmt::Display| {
            Error::other(format!(
                "the helper assembly {} cannot be used: {problem}",
                path.display()
            ))
        };
        let file = std::fs::read(path).map_err(|error| problem(&error))?;
        let absolute = std::path::absolute(path).map_err(|error| problem(&error))?;
        Self::read(&file, Source::File(absolute)).map_err(|error| problem(&error))
    }

    /// The assembly with these bytes, to be loaded by [`load_into`](Self::load_into) without a file:
    /// `include_bytes!` puts them into the profiler's library.
    ///
    /// The runtime loads it from a stream over the bytes, into the default context.
    ///
    /// # Errors
    ///
    /// That the bytes are no .NET assembly.
    pub fn in_memory(bytes: &'static [u8]) -> Result<Self> {
        Self::read(bytes, Source::Memory(bytes)).map_err(|error| {
            Error::other(format!(
                "the helper assembly in memory cannot be used: {error}"
            ))
        })
    }

    /// The assembly in this file in the folder of the profiler's library.
    ///
    /// # Errors
    ///
    /// That the library cannot be found; those of [`open`](Self::open).
    pub fn beside_profiler(file: &str) -> Result<Self> {
        let library =
            own_library().ok_or_else(|| Error::other("the profiler's library has no path"))?;
        Self::open(library.with_file_name(file))
    }

    fn read(bytes: &[u8], source: Source) -> Result<Self, clr_metadata::Error> {
        let assembly = Assembly::parse(bytes)?;
        let manifest = assembly.metadata.manifest()?;
        let [major, minor, build, revision] = manifest.version;
        Ok(Self {
            source,
            props: AssemblyProps {
                name: manifest.name.to_owned(),
                version: AssemblyVersion {
                    major,
                    minor,
                    build,
                    revision,
                    culture: manifest.culture.to_owned(),
                },
                public_key: manifest.public_key.to_vec(),
                hash_algorithm: manifest.hash_algorithm,
                flags: manifest.flags,
            },
            type_refs: assembly.metadata.row_count(TokenTable::TYPE_REF),
            unneeded: Vec::new(),
            progress: Progress::new(),
            slots: Slots::default(),
        })
    }

    /// Does without types of other assemblies that none of its code uses, by their rows.
    pub(crate) fn without(mut self, types: Vec<u32>) -> Self {
        self.unneeded = types;
        self
    }

    /// The assembly of this name that is a startup hook: `DOTNET_STARTUP_HOOKS` contains its path.
    ///
    /// The runtime loads it before the program's `Main`, and calls its `StartupHook.Initialize()`, a static
    /// method without parameters of an internal class without a namespace: the method is required, and may be
    /// empty. `Launch::startup_hook` of `clr_profiler_launcher` sets the variable. Processes that the program
    /// starts inherit the variable, so it applies to them, too.
    ///
    /// # Errors
    ///
    /// That the variable names no assembly of this name; those of [`open`](Self::open).
    pub fn startup_hook(name: &str) -> Result<Self> {
        let hooks = std::env::var_os(STARTUP_HOOKS).unwrap_or_default();
        let hook = std::env::split_paths(&hooks)
            .find(|path| path.is_absolute() && path.file_stem() == Some(OsStr::new(name)));
        let hook = hook.ok_or_else(|| {
            Error::other(format!(
                "no startup hook is called {name}: start the program with the whole path of \
                 {name}.dll in {STARTUP_HOOKS}, which is {hooks:?}"
            ))
        })?;
        Self::open(hook)
    }

    /// The assembly of this name in the folder of the program, given the path of the program's main assembly
    /// ([`module_info`](crate::info::CorProfilerInfo::module_info) returns it).
    ///
    /// # Errors
    ///
    /// That the runtime will not find it there: the program has a list of its assemblies, `*.deps.json`, in
    /// which it is missing, or its file name differs from its assembly name. Those of [`open`](Self::open).
    pub fn next_to(program: impl AsRef<Path>, name: &str) -> Result<Self> {
        let program = program.as_ref();
        let file = format!("{name}.dll");
        let helper = Self::open(program.with_file_name(&file))?;
        if !helper.props.name.eq_ignore_ascii_case(name) {
            return Err(Error::other(format!(
                "the assembly in {} is called {}: in the folder of a program, the runtime finds \
                 files by the names of their assemblies",
                program.with_file_name(&file).display(),
                helper.props.name
            )));
        }
        let list = program.with_extension("deps.json");
        if let Ok(listed) = std::fs::read_to_string(&list)
            && !lists(&listed, &file)
        {
            return Err(Error::other(format!(
                "{} does not list {file}, so the runtime will not find it next to the program: add \
                 it there, or use HelperAssembly::load_into",
                list.display()
            )));
        }
        Ok(helper)
    }

    /// The absolute path of the file; `None` for one in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Memory(_) => None,
        }
    }

    /// Name, version and public key from the file.
    #[must_use]
    pub fn props(&self) -> &AssemblyProps {
        &self.props
    }

    /// Has a module of the program load the helper before any other code in that module runs or is compiled.
    ///
    /// For [`module_load_finished`](crate::Profiler::module_load_finished), once for each module whose
    /// methods will call the helper: the first one to run loads it, and the others find it loaded.
    /// [`loader`](Self::loader) does it for all modules that a closure selects.
    ///
    /// The code is inserted into the initialiser of the module, which gets one if it has none. It calls
    /// `Assembly.LoadFrom`, which loads the helper into the default context, or finds that it was loaded as a
    /// startup hook; for a helper in memory `AssemblyLoadContext.LoadFromStream`. Then it has the runtime resolve each type that the helper refers to, so that their
    /// assemblies are loaded, too. If that fails at run time, the program continues, and
    /// [`check`](Self::check) returns the error.
    ///
    /// On .NET Framework, the code calls `Assembly.Load` with the full name of the helper: as references do there, it finds a file in
    /// the folder of the program, or an assembly in the global assembly cache. Each module needs the call, because each
    /// application domain loads a helper of its own.
    ///
    /// From then on, the initialiser itself cannot be rewritten
    /// ([`LoadsHelper`](crate::il::edit::NotInstrumentable::LoadsHelper)): it runs before the helper is
    /// loaded.
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: in `module_load_finished` of the module,
    /// because its types must not have been loaded.
    ///
    /// # Errors
    ///
    /// That the module is the core library; a path that is not Unicode; on .NET Framework, a helper in memory, a module whose code
    /// several application domains share, and a module with a strong name if the helper has none; an error of the metadata or
    /// the runtime.
    pub fn load_into(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        loader::load_into(self, info, module).inspect_err(|error| self.progress.failed(error))
    }

    /// Has a method load the helper when it is called, for modules whose initialisers have run: an alternative to
    /// [`load_into`](Self::load_into). The code does that once for all methods.
    pub(crate) fn load_in_method(
        &self,
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
    ) -> Result<()> {
        loader::load_in_method(self, body, cx)
    }

    /// Whether the code of a method has failed to load the helper, and no other code has loaded it.
    pub(crate) fn has_failed(&self) -> bool {
        self.progress.has_failed() && self.progress.step() != Step::Done
    }

    /// Whether code can call the helper; the error says why not.
    ///
    /// It can if the code of [`load_into`](Self::load_into) has run, the runtime has loaded the file, and
    /// each type that the helper refers to was found. That is so when the methods of a module with that code
    /// are compiled.
    ///
    /// On .NET Framework, this is about the module that has come furthest: each application domain loads the helper itself, and
    /// [`RewriteContext::refer_to`] checks the module alone.
    ///
    /// # Errors
    ///
    /// That the code has not run, that the runtime has not loaded the file, or which type it has not found:
    /// the helper may have been built for a newer framework.
    pub fn check(&self, info: &ProfilerInfo) -> Result<()> {
        let progress = match info.is_net_framework()? {
            true => framework::furthest(self, info),
            false => self.progress,
        };
        self.told(info, progress)
    }

    /// Whether a module that is loaded now finds the helper without code that loads it. Each application domain of .NET Framework
    /// loads it for itself.
    pub(crate) fn is_loaded_for_all(&self, info: &ProfilerInfo) -> bool {
        info.is_net_framework().is_ok_and(|is| !is) && self.progress.step() == Step::Done
    }

    /// Whether code of a module can call the helper.
    fn check_in(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let progress = match info.is_net_framework()? {
            true => framework::of_module(self, info, module),
            false => self.progress,
        };
        self.told(info, progress)
    }

    fn told(&self, info: &ProfilerInfo, progress: &Progress) -> Result<()> {
        let name = &self.props.name;
        Err(Error::other(match progress.step() {
            Step::Done => return Ok(()),
            Step::NotBegun => match self.progress.error() {
                Some(error) => format!("no code has loaded the helper assembly {name}: {error}"),
                None => format!(
                    "no code has loaded the helper assembly {name} yet: HelperAssembly::load_into puts such \
                     code into a module, where it runs before all else"
                ),
            },
            Step::Loading if info.is_net_framework()? => format!(
                "the runtime has not loaded {}: .NET Framework finds it only in the folder of the program or in the global \
                 assembly cache",
                framework::full_name(&self.props)
            ),
            Step::Loading => format!(
                "the runtime has not loaded the helper assembly {name}: it refuses {:?}, or is at it",
                self.source
            ),
            Step::Resolving(class) => format!(
                "the helper assembly {name} refers to the type {}, which the runtime has not found",
                Lookup::of(info).reference_of(name, class)
            ),
        }))
    }

    /// Announces, while an assembly of the program is being loaded, that it will refer to the helper.
    ///
    /// Call it in [`get_assembly_references`](crate::Profiler::get_assembly_references). The helper is loaded
    /// without it, too; the runtime uses the announcement when it decides whether assemblies share precompiled
    /// code. Calls [`AssemblyReferenceProvider::add`].
    ///
    /// # Errors
    ///
    /// The error of the native call.
    #[doc(alias = "AddAssemblyReference")]
    pub fn announce(&self, references: &AssemblyReferenceProvider<'_>) -> Result<()> {
        let version = &self.props.version;
        let version = [
            version.major,
            version.minor,
            version.build,
            version.revision,
        ];
        references.add(&self.props.name, version)
    }
}

/// Whether the list of a program's assemblies contains a file: its name in quotes, with or without folders
/// before it.
fn lists(list: &str, file: &str) -> bool {
    let list = list.to_ascii_lowercase();
    let end = format!("{}\"", file.to_ascii_lowercase());
    let mut found = list.match_indices(&end);
    found.any(|(at, _)| {
        let before = list.get(..at).unwrap_or_default();
        before.ends_with('"') || before.ends_with('/')
    })
}

impl RewriteContext<'_> {
    /// Gives this module a reference to a helper, so that symbols can name its types:
    /// `[Helper]Namespace.Type`.
    ///
    /// Once for a module is enough; more calls do no harm.
    ///
    /// # Errors
    ///
    /// That the helper [cannot be called](HelperAssembly::check) now, that the module refers to another
    /// version of an assembly of this name, or is part of the core library, which cannot refer to others; an
    /// error of the metadata.
    pub fn refer_to(&mut self, helper: &HelperAssembly) -> Result<()> {
        helper.check_in(self.info(), self.module())?;
        self.importing(|importer| importer.emitter().refer_to(&helper.props))
    }

    /// Lets symbols name an assembly that is not loaded and to which this module does not refer; the caller
    /// guarantees that the runtime will find it by its name.
    ///
    /// Otherwise, symbols that name such an assembly are refused. If the runtime does not find it, the
    /// program gets a `FileNotFoundException` when a method that names the assembly is compiled.
    ///
    /// .NET Framework finds assemblies of the global assembly cache by their full name alone. Pass that instead of the simple
    /// name: `System.Core, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089`. Symbols have the simple
    /// name in each case, and assemblies that are loaded need no full name.
    ///
    /// # Errors
    ///
    /// That the module is part of the core library, which cannot refer to others; a mistake in a full name; on .NET Framework,
    /// the simple name of an assembly of its own that is not loaded; an error of the metadata.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let write = "[System.Diagnostics.TraceSource]System.Diagnostics.Trace";
    ///     let write = MethodSymbol::new(write, "WriteLine", "void (string)");
    ///     cx.assume_loadable("System.Diagnostics.TraceSource")?;
    ///     body.prologue(Fragment::new().ldstr("here").call(&write))?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn assume_loadable(&mut self, assembly: &str) -> Result<()> {
        self.importing(|importer| importer.emitter().assume(assembly))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_files_by_their_whole_name() {
        let list = r#"{"runtime": {"lib/net8.0/Other.dll": {}, "Own.dll": {}}}"#;
        assert!(lists(list, "own.dll"));
        assert!(lists(list, "Other.dll"));
        assert!(!lists(list, "her.dll"));
        assert!(!lists(list, "Own"));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let own = std::env::current_exe().unwrap();
        let error = HelperAssembly::open(&own).unwrap_err().to_string();
        assert!(error.contains(&*own.to_string_lossy()), "{error}");
        assert!(HelperAssembly::open("/nowhere/Helper.dll").is_err());
        assert!(HelperAssembly::startup_hook("Nobody").is_err());
        assert!(HelperAssembly::next_to(own, "Helper").is_err());
    }
}
