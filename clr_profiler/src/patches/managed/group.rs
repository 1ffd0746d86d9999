//! [`ManagedPatches`]: an assembly of patches, and its rules.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::attributes::TargetPatterns;
use super::bind::{PatchMethod, state_problem};
use super::code::{self, OfCalls};
use super::file::{self, PatchClass};
use super::slots::OfClass;
use super::{slots, target, usage};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::is_framework;
use crate::instrumentation::{Group, Instrumentation, IntoPatterns, parsed_patterns};
use crate::rewrite::{HelperAssembly, RewriteContext};
use crate::runtime::ProfilerInfo;
use clr_metadata::Assembly;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::core_library;
use clr_profiler_il::pattern::MethodPatterns;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::MethodDef;

/// Patches in C#: static methods of an assembly that run before, after or instead of methods of the program.
///
/// [`Instrumentation::managed_patches`] adds them to the rules. The values of the method are passed by the names of the
/// parameters, in the way that Harmony has made known: `__instance`, the names of arguments, `ref __result`, `___field`,
/// `__state`. Classes with Harmony's attributes are found by them, and need no Harmony at run time:
///
/// ```csharp
/// [HarmonyPatch(typeof(Store), "Sell")]
/// static class Discount
/// {
///     static void Postfix(ref Money __result) => __result = new Money(__result.Cents / 2);
/// }
/// ```
///
/// Classes without attributes get a [pattern](Self::class):
///
/// ```no_run
/// use clr_profiler::instrumentation::Instrumentation;
/// use clr_profiler::patches::ManagedPatches;
/// use clr_profiler::prelude::*;
///
/// struct Discount;
///
/// #[profiler(clsid = "0C4C0C0E-9F2C-4C9B-8F0E-6C7B4F0D5A2D")]
/// impl Profiler for Discount {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let patches = ManagedPatches::open("/opt/shop/Patches.dll")?;
///         let patches = patches.class("Discount", "Shop.Store.Sell")?;
///         setup.attach(Instrumentation::new().managed_patches(patches))?;
///         Ok(Discount)
///     }
/// }
/// # fn main() {}
/// ```
///
/// The code of the method calls the patches directly. Methods of .NET that attributes name are patched at their calls in the program, or
/// [for all callers](Self::for_all_callers).
///
/// # Errors
///
/// [`open`](Self::open), [`in_memory`](Self::in_memory) and [`class`](Self::class) report all that is wrong with the patches
/// themselves. A patch that does not bind to a method is reported to [`Setup::on_failure`](crate::Setup::on_failure) when the
/// method's module is loaded, and in [`Outcomes::problems`](crate::instrumentation::Outcomes::problems); no patch of its class then
/// changes that method.
pub struct ManagedPatches {
    bytes: Cow<'static, [u8]>,
    path: Option<PathBuf>,
    /// The classes with patches, some of them twice.
    classes: Vec<PatchClass>,
    parts: Vec<Part>,
}

/// The patches of a class that have the same target.
#[derive(Clone)]
struct Part {
    /// The assembly of the patches, once it was read for the rules.
    helper: Option<HelperAssembly>,
    patterns: Arc<MethodPatterns>,
    /// The methods whose calls are patched.
    callees: Option<Arc<MethodPatterns>>,
    /// Of a target of .NET that attributes name: the patterns by which it is patched for all callers.
    of_all_callers: Option<Arc<MethodPatterns>>,
    methods: Vec<PatchMethod>,
}

impl Part {
    /// Whether methods of the core library may be patched themselves. Those of .NET Framework's are not, because several
    /// application domains share their code.
    fn is_of_core(&self) -> bool {
        let mut patterns = self.patterns.patterns().iter();
        self.callees.is_none()
            && patterns.any(|pattern| {
                pattern.assembly().is_some()
                    && !pattern.is_exclusion()
                    && pattern.matches_assembly(core_library::PRIVATE)
            })
    }
}

/// Where calls are patched.
const CALLERS: &str = "**; generated **";

impl ManagedPatches {
    /// The assembly in a file, with its classes that have Harmony's attributes.
    ///
    /// The program loads the file; if patches in it are not public, a copy in memory in which they are. The profiler never
    /// frees that copy, and files next to the assembly are not found by it.
    ///
    /// # Errors
    ///
    /// That the file cannot be read or is no assembly; everything in its patches that is not supported.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let problem = |problem: &dyn fmt::Display| {
            Error::other(format!("the patches {}: {problem}", path.display()))
        };
        let bytes = std::fs::read(path).map_err(|error| problem(&error))?;
        let patches = Self::read(Cow::Owned(bytes), Some(path.to_owned()));
        patches.map_err(|error| problem(&error))
    }

    /// The assembly with these bytes, with its classes that have Harmony's attributes.
    ///
    /// # Errors
    ///
    /// That this is no assembly; everything in its patches that is not supported.
    pub fn in_memory(bytes: &'static [u8]) -> Result<Self> {
        let patches = Self::read(Cow::Borrowed(bytes), None);
        patches.map_err(|error| Error::other(format!("the patches in memory: {error}")))
    }

    fn read(bytes: Cow<'static, [u8]>, path: Option<PathBuf>) -> Result<Self> {
        let assembly = Assembly::parse(&bytes).map_err(Error::other)?;
        let own = assembly.metadata.manifest().map_err(Error::other)?.name;
        let (classes, mut mistakes) = file::annotated(&assembly);
        let mut parts = Vec::new();
        for class in &classes {
            match of_targets(class, own) {
                Ok(found) => parts.extend(found),
                Err(mistake) => mistakes.push(format!("the class {}: {mistake}", class.name)),
            }
        }
        match mistakes.is_empty() {
            true => Ok(Self {
                bytes,
                path,
                classes,
                parts,
            }),
            false => Err(Error::other(mistakes.join("; "))),
        }
    }

    /// Adds the patches of a class without attributes, for the methods that [patterns](crate::il::pattern) select: those of its
    /// methods that are called `Prefix`, `Postfix` and `Finalizer`.
    ///
    /// The class is named with its namespace, and nested ones as `Outer/Inner`. Of a class with attributes, the patterns are in
    /// addition to them. Patterns without an assembly leave .NET alone, as in all rules.
    ///
    /// # Errors
    ///
    /// A mistake in the patterns; that there is no such class; everything in its patches that is not supported.
    pub fn class(self, name: &str, patterns: impl IntoPatterns) -> Result<Self> {
        let patterns = parsed_patterns(patterns)?;
        self.add(name, patterns, None)
    }

    /// Adds the patches of a class without attributes, for the calls of the methods that [patterns](crate::il::pattern) select, in
    /// all assemblies but .NET's: as [`class`](Self::class), and [`Patch::call`](crate::patches::Patch::call).
    ///
    /// The called methods do not change, and may be of .NET. A pattern with an assembly means the one to which the caller
    /// refers.
    ///
    /// # Errors
    ///
    /// Those of [`class`](Self::class).
    pub fn calls(self, name: &str, callees: impl IntoPatterns) -> Result<Self> {
        let callees = parsed_patterns(callees)?;
        self.add(name, parsed_patterns(CALLERS)?, Some(callees))
    }

    fn add(
        mut self,
        name: &str,
        patterns: Arc<MethodPatterns>,
        callees: Option<Arc<MethodPatterns>>,
    ) -> Result<Self> {
        let assembly = Assembly::parse(&self.bytes).map_err(Error::other)?;
        let class = assembly.metadata.find_type(name);
        let class = class.ok_or_else(|| {
            Error::other(format!("the assembly of the patches has no class {name}"))
        })?;
        let mut mistakes = Vec::new();
        let read = file::read(&assembly, class, &mut mistakes)?;
        if read.is_off {
            mistakes.push(format!("the class {name}: its `Prepare` returns false"));
        }
        if !mistakes.is_empty() {
            return Err(Error::other(mistakes.join("; ")));
        }
        self.parts.push(Part {
            helper: None,
            patterns,
            callees,
            of_all_callers: None,
            methods: read.methods.iter().map(|one| one.patch.clone()).collect(),
        });
        self.classes.push(read);
        Ok(self)
    }

    /// Has the classes whose attributes name methods of .NET change these methods, for all callers, instead of their calls in the
    /// program.
    ///
    /// Calls by .NET itself, by delegates and by reflection then run the patches, too. The core library cannot refer to other
    /// assemblies, so its methods call the patches by addresses, which the program stores when it loads the patches: before the first code of
    /// its own. Until then, the methods run their original code, and so they do in code that patches of methods of .NET call.
    /// [`MethodOutcome::ways`](crate::instrumentation::MethodOutcome::ways) says how each method is patched.
    ///
    /// Methods that the JIT replaces by instructions, such as `Math.Sqrt`, have no code that callers run: their calls alone can be
    /// patched.
    #[must_use]
    pub fn for_all_callers(mut self) -> Self {
        for part in &mut self.parts {
            if let Some(patterns) = part.of_all_callers.take() {
                (part.patterns, part.callees) = (patterns, None);
            }
        }
        self
    }

    /// The assembly to be loaded, in which the patches are public.
    fn helper(&self) -> Result<HelperAssembly> {
        if self.parts.is_empty() {
            return Err(Error::other(
                "the assembly has no patches: no class has the attribute `HarmonyPatch`, and \
                 `ManagedPatches::class` has named none",
            ));
        }
        let assembly = Assembly::parse(&self.bytes).map_err(Error::other)?;
        let unneeded = usage::unneeded_types(&assembly.metadata);
        let public = file::public(&self.bytes, &assembly, &self.classes)?;
        let helper = match (public, &self.path, &self.bytes) {
            (Some(public), ..) => HelperAssembly::in_memory(Vec::leak(public)),
            (None, Some(path), _) => HelperAssembly::open(path),
            (None, None, Cow::Borrowed(bytes)) => HelperAssembly::in_memory(bytes),
            (None, None, Cow::Owned(bytes)) => HelperAssembly::in_memory(bytes.clone().leak()),
        };
        let parts = self.parts.iter().filter(|part| part.is_of_core());
        let methods = parts.flat_map(|part| &part.methods);
        let methods = methods.map(|one| one.token);
        Ok(helper?.without(unneeded).with_slots(methods))
    }
}

/// The patches of a class with attributes, by their targets.
fn of_targets(class: &PatchClass, own: &str) -> Result<Vec<Part>> {
    let mut parts: Vec<(String, Part)> = Vec::new();
    // Helper methods of a class whose patches have targets of their own are none.
    let mut targets = Vec::new();
    for method in &class.methods {
        let annotations = match method.annotations.is_patch {
            true => &method.annotations,
            false => &class.annotations,
        };
        let of_class = class.targets.as_deref();
        for annotations in of_class.unwrap_or(std::slice::from_ref(annotations)) {
            let target = annotations.target(own)?;
            let (TargetPatterns::Methods(patterns)
            | TargetPatterns::Framework {
                callees: patterns, ..
            }) = &target;
            let key = patterns.patterns().iter().map(ToString::to_string);
            targets.push((key.collect::<Vec<_>>().join(";"), target, &method.patch));
        }
    }
    for (key, target, patch) in targets {
        if let Some((_, part)) = parts.iter_mut().find(|(known, _)| *known == key) {
            part.methods.push(patch.clone());
            continue;
        }
        let (patterns, callees, of_all_callers) = match target {
            TargetPatterns::Methods(patterns) => (patterns, None, None),
            TargetPatterns::Framework { callees, methods } => {
                (parsed_patterns(CALLERS)?, Some(callees), Some(methods))
            }
        };
        let part = Part {
            helper: None,
            patterns,
            callees,
            of_all_callers,
            methods: vec![patch.clone()],
        };
        parts.push((key, part));
    }
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

impl fmt::Debug for ManagedPatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patches = self.parts.iter().flat_map(|part| &part.methods);
        f.debug_struct("ManagedPatches")
            .field("path", &self.path)
            .field("patches", &patches.map(|one| &one.name).collect::<Vec<_>>())
            .finish()
    }
}

impl Instrumentation {
    /// Adds rules: patches in C#. Their assembly is a [helper](Self::helper) of the instrumentation. Several calls add
    /// several assemblies.
    ///
    /// Of several prefixes, or postfixes, or finalizers of one method, that with the highest priority runs first, and of those
    /// with the same one the first in the assembly, and that of the assembly that was added first. All of them together are one
    /// change, with the priority 0 of [`Patch`](crate::patches::Patch).
    ///
    /// An assembly without patches, one that cannot be loaded as a helper, or a second one of the same name is the error of
    /// [`Setup::attach`](crate::Setup::attach).
    pub fn managed_patches(mut self, patches: ManagedPatches) -> Self {
        let helper = patches.helper();
        let known = self.known_group().map(|group| &**group as &dyn Any);
        let known = known.and_then(|group| group.downcast_ref::<Parts>());
        let mut parts = known.map_or_else(Vec::new, |known| known.parts.clone());
        let (first, mut patterns) = (parts.len(), Vec::new());
        for mut part in patches.parts {
            if let Some(callees) = &part.callees {
                self = self.counts_calls(callees);
            }
            patterns.push(Arc::clone(&part.patterns));
            part.helper = helper.as_ref().ok().cloned();
            parts.push(part);
        }
        self.group(helper, (first, patterns), Arc::new(Parts { parts }))
    }
}

/// The patches of all assemblies.
struct Parts {
    parts: Vec<Part>,
}

impl Group for Parts {
    fn check(
        &self,
        part: usize,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
    ) -> Result<()> {
        let Some(part) = self.parts.get(part).filter(|part| part.callees.is_none()) else {
            return Ok(());
        };
        let target = target::of_method(info, module, method, None)?;
        let core = info.core_library();
        if target::assembly(info, module)? == core {
            slots::check(core, &target.name, &part.methods, part.is_of_core())?;
        }
        // Unknown base types are decided upon when the method is compiled.
        let is_base =
            |sig: &TypeSig, base: &str| target::derives(info, module, sig, base).unwrap_or(true);
        let problems = part.methods.iter().map(|one| one.bind(&target, &is_base));
        let problems = problems.filter_map(|one| one.err()).flatten();
        let problems: Vec<String> = problems.chain(state_problem(&part.methods)).collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Error::other(problems.join("; "))),
        }
    }

    fn apply(
        &self,
        parts: &[usize],
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
    ) -> Result<()> {
        let parts = parts.iter().filter_map(|index| self.parts.get(*index));
        let calls = parts.clone().filter_map(|part| {
            Some(OfCalls {
                helper: part.helper.as_ref()?,
                callees: part.callees.as_deref()?,
                methods: &part.methods,
            })
        });
        let calls: Vec<OfCalls<'_>> = calls.collect();
        if !calls.is_empty() {
            code::around_calls(&calls, body, cx)?;
        }
        let methods = parts.filter(|part| part.callees.is_none());
        let methods: Vec<&Part> = methods.collect();
        if methods.is_empty() {
            return Ok(());
        }
        let assembly = target::assembly(cx.info(), cx.module())?;
        let is_core = assembly == cx.info().core_library();
        let mut classes: Vec<OfClass<'_>> = Vec::new();
        for part in methods {
            let Some(helper) = &part.helper else {
                continue;
            };
            if !is_core {
                cx.refer_to(helper)?;
            }
            classes.push(OfClass {
                methods: &part.methods,
                slots: is_core.then_some(helper),
                is_guarded: is_framework(&assembly),
            });
        }
        match classes.is_empty() {
            true => Ok(()),
            false => code::around_method(&classes, body, cx),
        }
    }

    fn is_of_calls(&self, part: usize) -> bool {
        let part = self.parts.get(part);
        part.is_some_and(|part| part.callees.is_some())
    }
}
