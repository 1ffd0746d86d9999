//! Instrumentation: a description of which methods are changed and how, and a component that does it.
//!
//! [`Instrumentation`] does the work that all profilers share that change methods: it finds the methods in modules that are
//! loaded now or later, has a helper assembly loaded, rewrites, keeps the JIT from copying the methods into their
//! callers, rejects precompiled code that has copies of them, and keeps the outcome of each method. Its documentation has
//! an example.

mod answers;
mod component;
mod into_patterns;
mod late;
mod outcome;
mod rules;
mod search;
mod selected;
mod shared;
mod table;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::rejit::Rejit;
use crate::rewrite::{HelperAssembly, RewriteContext, Rewritten};
use crate::runtime::{ProfilerInfo, lock};
use crate::worker::Worker;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::pattern::MethodPatterns;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::MethodDef;
use clr_profiler_il::wrap::Wrap;

pub use into_patterns::IntoPatterns;
pub(crate) use into_patterns::parsed_patterns;
pub use outcome::{MethodOutcome, MethodState, Outcomes, PatchWay, PatternMatches};
pub(crate) use rules::Group;
pub use selected::SelectedMethod;

use rules::{Change, Description};
use shared::Shared;
use table::{Removed, Switched, Timing};

/// Changes the methods that patterns select: at load time, and by ReJIT in a running program.
///
/// The methods are described once, by rules of patterns with a change, and the component does the rest:
///
/// | | |
/// |---|---|
/// | Modules | All that are loaded now or later, collectible and dynamic ones, too. Patterns without an assembly (`Shop.**`) leave .NET's own assemblies alone; those with one (`System.Linq!**`) reach them. |
/// | Generic code | All instances of a type or method share its IL, and change together. |
/// | Inlining | The JIT does not inline selected methods, because the copies would have the original IL. |
/// | Precompiled code | That of selected methods is not used, nor that of methods that have inlined one, which the image records. All other code of the module is. |
/// | Helper | Each module with selected methods loads the [helper](Self::helper) before its first code runs, and gets a reference to it. |
/// | Left alone | The helper's own methods, all types and members that this library has added, and the methods of `<Module>`, unless a pattern names that. |
///
/// Rules apply in their order to methods that several of them select. If one fails, the method keeps its IL.
/// [`outcomes`](Self::outcomes) has the result for each method, also as a table and as JSON. At the end, patterns that
/// have matched no method are reported to
/// [`Setup::on_failure`](crate::Setup::on_failure).
///
/// # In a running program
///
/// A profiler that is attached gives the same methods their IL by ReJIT. With [`switchable`](Self::switchable),
/// [`off`](Self::off) and [`on`](Self::on) give methods their original IL and back while the program runs.
/// **A method with ReJITted code is never inlined again**, not even with its original IL: on a benchmark of small methods, a
/// program whose methods were all switched off by ReJIT took 2.4 times the time. [`remove`](Self::remove) avoids that where
/// nothing has to be switched on again.
///
/// In modules that were loaded before the profiler was attached, the first call of a selected method loads the
/// [helper](Self::helper), and the methods get their new IL after that.
///
/// # Limits
///
/// Code of another module that was compiled together with a selected method in one version bubble, and has inlined
/// it, keeps its copy: only .NET itself is compiled so, unless a program asks for it. In an attached profiler, this applies to
/// the methods of .NET that are marked for it. A helper cannot be loaded by modules that the program builds at run time: their
/// methods call it once another module has loaded it.
///
/// **Events**: [`MONITOR_MODULE_LOADS`](crate::EventMask::MONITOR_MODULE_LOADS),
/// [`MONITOR_JIT_COMPILATION`](crate::EventMask::MONITOR_JIT_COMPILATION),
/// [`MONITOR_CACHE_SEARCHES`](crate::EventMask::MONITOR_CACHE_SEARCHES) unless attached, and
/// [`ENABLE_REJIT`](crate::EventMask::ENABLE_REJIT) if attached or switchable: then no other component can use
/// ReJIT.
///
/// ```
/// use clr_profiler::il::fragment::Fragment;
/// use clr_profiler::il::symbol::MethodSymbol;
/// use clr_profiler::instrumentation::Instrumentation;
/// use clr_profiler::prelude::*;
///
/// struct Announcer;
///
/// #[profiler(clsid = "6B0F7C6E-2B8C-4C53-9D0B-0B6C5F3C7A11")]
/// impl Profiler for Announcer {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
///         setup.attach(Instrumentation::new().edit(
///             "Shop!Shop.Store.*; -**.ToString",
///             move |body, cx| {
///                 body.prologue(Fragment::new().ldstr(cx.full_name()).call(&write))?;
///                 Ok(())
///             },
///         ))?;
///         Ok(Announcer)
///     }
/// }
///
/// register!(Announcer);
/// ```
#[derive(Default)]
#[must_use = "it does nothing until it is attached"]
pub struct Instrumentation {
    description: Description,
    /// Set when it is attached.
    shared: OnceLock<Arc<Shared>>,
    rejit: OnceLock<Rejit>,
    worker: OnceLock<Worker>,
}

fn same_name(helper: &HelperAssembly) -> Error {
    Error::other(format!(
        "two assemblies are called {}, and the program can load one: compile the patches to assemblies of different names, or \
         open one once, with all of its classes",
        helper.props().name
    ))
}

impl Instrumentation {
    /// A description without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule: wraps the bodies of these methods.
    pub fn wrap(mut self, patterns: impl IntoPatterns, wrap: Wrap) -> Self {
        self.description.add(patterns, Change::Wrap(Box::new(wrap)));
        self
    }

    /// Adds a rule: wraps the bodies of these methods, each in a wrap that `make` builds for it.
    ///
    /// `make` runs when the method is compiled. Its error refuses the method.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::symbol::MethodSymbol;
    /// use clr_profiler::il::wrap::Wrap;
    /// use clr_profiler::instrumentation::Instrumentation;
    ///
    /// # fn described() -> Instrumentation {
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
    /// Instrumentation::new().wrap_each("Shop!Shop.Store.*", move |cx| {
    ///     let (name, write) = (cx.full_name().to_owned(), write.clone());
    ///     Ok(Wrap::new().finally(move |code, _| {
    ///         code.ldstr(&name).call(&write);
    ///     }))
    /// })
    /// # }
    /// ```
    pub fn wrap_each(
        mut self,
        patterns: impl IntoPatterns,
        make: impl Fn(&mut RewriteContext<'_>) -> Result<Wrap> + Send + Sync + 'static,
    ) -> Self {
        let change = Change::WrapEach(Arc::new(make));
        self.description.add(patterns, change);
        self
    }

    /// Adds a rule: edits the bodies of these methods, as
    /// [`Method::rewrite`](crate::Method::rewrite) does.
    ///
    /// `edit` runs when the method is compiled, and again for each ReJIT. Its error refuses the method.
    pub fn edit(
        mut self,
        patterns: impl IntoPatterns,
        edit: impl Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.description.add(patterns, Change::Edit(Arc::new(edit)));
        self
    }

    /// Adds a rule as [`edit`](Self::edit) does, whose code needs no new token, as by [`without_new_tokens`](Self::without_new_tokens)
    /// for all rules. A module whose methods are selected by such rules alone is not opened for writing.
    ///
    /// The code cannot call the [helper](Self::helper), so that this is also for modules that cannot load it, such as the core library, in
    /// the same component.
    pub fn edit_without_new_tokens(
        mut self,
        patterns: impl IntoPatterns,
        edit: impl Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let change = Change::Edit(Arc::new(edit));
        self.description.add_without_new_tokens(patterns, change);
        self
    }

    /// Adds a rule as [`edit`](Self::edit) does, for methods of libraries that a program need not have: patterns that match
    /// nothing are not reported.
    pub fn edit_where_present(
        mut self,
        patterns: impl IntoPatterns,
        edit: impl Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let change = Change::Edit(Arc::new(edit));
        self.description.add_optional(patterns, change);
        self
    }

    /// Adds a rule of a patch, after those with a lower priority or the same one: [`edit`](Self::edit) has the priority 0. It says
    /// whether the rule keeps the code of the method from running.
    pub(crate) fn edit_with_priority(
        mut self,
        order: (i32, bool),
        way: PatchWay,
        patterns: Result<Arc<MethodPatterns>>,
        edit: impl Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let change = Change::Edit(Arc::new(edit));
        self.description
            .add_with(order, Some(way), patterns, change);
        self
    }

    /// Has the [outcomes](Self::outcomes) count the calls that these patterns match.
    pub(crate) fn counts_calls(mut self, callees: &Arc<MethodPatterns>) -> Self {
        self.description.callees.push(Arc::clone(callees));
        self
    }

    /// The group that changes methods, if there is one.
    pub(crate) fn known_group(&self) -> Option<&Arc<dyn Group>> {
        self.description.group()
    }

    /// Adds the parts of a group from the first new one on, each a rule, which call a helper. The group has the parts of the one before.
    pub(crate) fn group(
        mut self,
        helper: Result<HelperAssembly>,
        (first, patterns): (usize, Vec<Arc<MethodPatterns>>),
        group: Arc<dyn Group>,
    ) -> Self {
        match helper {
            Ok(helper) => self.add_helper(helper),
            Err(mistake) => self.description.refuse(&mistake),
        }
        self.description.replace_group(&group);
        for (part, patterns) in (first..).zip(patterns) {
            let change = Change::Part(Arc::clone(&group), part);
            let patterns = Ok(patterns);
            self.description
                .add_with((0, false), None, patterns, change);
        }
        self
    }

    /// Declares methods that the rules insert calls of, so that a mistake is noticed before any of them is inserted.
    ///
    /// Closures hide their symbols, which are otherwise resolved when a method is compiled. Here a mistake in a signature is an
    /// error of [`Setup::attach`](crate::Setup::attach). When the first module with selected methods is loaded, each method is looked
    /// up in the file of its assembly, loaded or not; for one that is missing,
    /// [`Setup::on_failure`](crate::Setup::on_failure) gets the error, and it is in
    /// [`Outcomes::problems`]. Methods that no file tells of are accepted: of programs that are compiled to one native file, of instances of generic
    /// types, and of types that may inherit them.
    ///
    /// Methods of the [helper](Self::helper) need no declaration:
    /// [`HelperAssembly::method`] looks them up.
    ///
    /// ```
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    /// use clr_profiler::instrumentation::Instrumentation;
    ///
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
    /// let instrumentation = Instrumentation::new().uses([write.clone()]).edit("Shop.**", move |body, cx| {
    ///     body.prologue(Fragment::new().ldstr(cx.full_name()).call(&write))?;
    ///     Ok(())
    /// });
    /// ```
    pub fn uses(mut self, methods: impl IntoIterator<Item = MethodSymbol>) -> Self {
        self.description.uses.extend(methods);
        self
    }

    /// Lets patterns without an assembly reach .NET's own assemblies, too.
    ///
    /// Nearly all of them are precompiled, so the program starts more slowly: the code of each selected method is compiled anew.
    pub fn framework(mut self) -> Self {
        self.description.has_framework = true;
        self
    }

    /// Has the modules with selected methods load a helper assembly, to which the methods then refer. A second helper
    /// replaces the first. The assemblies of [patches in C#](Self::managed_patches) are helpers in addition to it, and their names differ:
    /// otherwise attaching fails.
    ///
    /// Methods of modules that cannot load it, such as the core library, are
    /// [failed](MethodState::Failed). In modules that were loaded before the profiler was attached, methods
    /// [await](MethodState::AwaitsHelper) it: one that is called loads it.
    pub fn helper(mut self, helper: &HelperAssembly) -> Self {
        self.check_name(helper);
        self.description.helper = Some(helper.clone());
        self
    }

    fn add_helper(&mut self, helper: HelperAssembly) {
        self.check_name(&helper);
        if let Some(known) = &self.description.helper
            && known
                .props()
                .name
                .eq_ignore_ascii_case(&helper.props().name)
        {
            self.description.refuse(&same_name(&helper));
        }
        self.description.helpers_of_groups.push(helper);
    }

    /// Refuses a helper with the name of an assembly of patches: a program has one assembly of a name.
    fn check_name(&mut self, helper: &HelperAssembly) {
        let name = &helper.props().name;
        let mut known = self.description.helpers_of_groups.iter();
        if known.any(|known| known.props().name.eq_ignore_ascii_case(name)) {
            self.description.refuse(&same_name(helper));
        }
    }

    /// Passes each method to `report` when the rules have been applied to it, with the bodies before and after if that
    /// succeeded. It runs in the callback, once for each compilation by which the IL changes.
    pub fn report(
        mut self,
        report: impl Fn(&MethodOutcome, Option<&Rewritten>) + Send + Sync + 'static,
    ) -> Self {
        self.description.report = Some(Arc::new(report));
        self
    }

    /// As [`report`](Self::report), for the methods alone to which the rules could not be applied.
    ///
    /// For rules with thousands of methods: the name of a method is looked up when it is needed, here or by
    /// [`outcomes`](Self::outcomes).
    pub fn report_problems(
        mut self,
        report: impl Fn(&MethodOutcome) + Send + Sync + 'static,
    ) -> Self {
        self.description.reports_problems_alone = true;
        self.report(move |outcome, _| report(outcome))
    }

    /// Has a function choose the methods of a module that are changed, among those that the patterns select.
    ///
    /// For selections that depend on a module as a whole, such as on its PDB. It runs once for each module with selected methods, when the
    /// module is loaded or the profiler was attached, and before any of its methods is changed. Methods that it leaves out stay as
    /// if no pattern had matched them, and so does the whole module if it fails. For methods of modules that the program builds at run time
    /// it is not asked.
    ///
    /// ```
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::instrumentation::Instrumentation;
    /// use clr_profiler::prelude::*;
    ///
    /// // Only modules whose lines are known.
    /// let instrumentation = Instrumentation::new()
    ///     .choose(|info, module, methods| {
    ///         let path = info.module_info(module)?.name;
    ///         let has_pdb = std::path::Path::new(&path).with_extension("pdb").exists();
    ///         Ok(if has_pdb { methods.to_vec() } else { Vec::new() })
    ///     })
    ///     .edit("Shop.**", |body, _| {
    ///         body.prologue(Fragment::new().nop())?;
    ///         Ok(())
    ///     });
    /// ```
    pub fn choose(
        mut self,
        choose: impl Fn(&ProfilerInfo, ModuleId, &[MethodDef]) -> Result<Vec<MethodDef>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.description.choice = Some(Arc::new(choose));
        self
    }

    /// Leaves those selected methods alone for which `is_excepted` returns true, as if no pattern matched them: they may be inlined, and keep their
    /// precompiled code. It runs when a module is loaded, for each selected method.
    /// Rules [without new tokens](Self::edit_without_new_tokens) change their methods nevertheless.
    ///
    /// ```
    /// use clr_profiler::instrumentation::Instrumentation;
    ///
    /// let instrumentation = Instrumentation::new()
    ///     .except(|method| method.il_body().is_ok_and(|body| body.len() < 16));
    /// ```
    pub fn except(
        mut self,
        is_excepted: impl Fn(&SelectedMethod<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.description.except = Some(Arc::new(is_excepted));
        self
    }

    /// Sets the bodies when a module is loaded, instead of when a method is first compiled.
    ///
    /// The JIT may then inline selected methods, because the copies have the new IL: small methods that are called often stay
    /// fast. All selected methods are rewritten, also those that are never called. Methods of dynamic modules, and those that ReJIT
    /// changes, are changed as without this call.
    ///
    /// Attaching fails with a [helper](Self::helper), which is not loaded at that time, and if it is
    /// [switchable](Self::switchable): ReJIT does not change copies.
    pub fn at_module_load(mut self) -> Self {
        self.description.timing = Timing::Load;
        self
    }

    /// Sets the body of a method when it is first compiled, or when the JIT first asks whether to inline it: a run may call few of
    /// the methods of a module.
    ///
    /// The JIT may inline selected methods. A copy is refused if the JIT may have read the IL before the body was set: mostly the first
    /// one. If the JIT asks for the first code of a method, the code is not tiered, and no later one will have the copy that was refused.
    /// Then all small methods of the module get their bodies at once, if it has at most 4,000 selected ones.
    ///
    /// Attaching fails as with [`at_module_load`](Self::at_module_load), which this replaces.
    pub fn at_first_use(mut self) -> Self {
        self.description.timing = Timing::FirstUse;
        self
    }

    /// Promises that no edit needs a new token: modules are not opened for writing.
    ///
    /// For edits that insert stores to memory, arithmetic, or calls by references that their modules have. Locals, strings, generic
    /// instances and signatures for `calli` are new tokens. An open module takes more memory, and the runtime and rewriting are
    /// slower with it. An edit that needs such a token nevertheless fails, and its method keeps its body. Attaching fails with a [helper](Self::helper), to which modules have no references.
    pub fn without_new_tokens(mut self) -> Self {
        self.description.adds_no_tokens = true;
        self
    }

    /// Promises that the edits neither ask for [locals](MethodBody::locals) nor add some, so that their types are not decoded for each method.
    pub fn without_locals(mut self) -> Self {
        self.description.needs_no_locals = true;
        self
    }

    /// Leaves methods alone that are compiled while `is_deferred` returns true, until they are compiled again.
    ///
    /// A change costs the more the more methods run once: each takes some time, and longer code takes longer to compile. This is for
    /// changes that a program can do without at first. A method that is left alone keeps its precompiled code, and may be inlined.
    /// It is changed when it is compiled for its next tier, after about thirty calls, if `is_deferred` returns false then.
    /// That applies to the rules so far: methods that a later one selects do not wait.
    ///
    /// On .NET 7 and later a method with a loop that has waited is refused, because it
    /// [may be in the loop](clr_profiler_il::edit::NotInstrumentable::MayBeInLoop) while it is compiled. A method that is compiled once, such as
    /// each without tiers, keeps its IL. Methods that ReJIT changes, and those of modules that the program builds at run time, do not wait.
    ///
    /// Attaching fails together with [`at_module_load`](Self::at_module_load) or [`switchable`](Self::switchable), and on .NET Framework,
    /// which has no tiers.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::instrumentation::Instrumentation;
    ///
    /// // The first thousand methods at once, others when they are called often.
    /// let changed = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&changed);
    /// let instrumentation = Instrumentation::new()
    ///     .edit("Shop.**", move |body, _| {
    ///         counted.fetch_add(1, Ordering::Relaxed);
    ///         body.prologue(Fragment::new().nop())?;
    ///         Ok(())
    ///     })
    ///     .defer(move || changed.load(Ordering::Relaxed) > 1000);
    /// ```
    pub fn defer(mut self, is_deferred: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.description.let_wait(Arc::new(is_deferred));
        self
    }

    /// Allows [`off`](Self::off) and [`on`](Self::on), by ReJIT. An attached profiler has them without this call.
    pub fn switchable(mut self) -> Self {
        self.description.is_switchable = true;
        self
    }

    /// Gives all methods their original IL, from their next calls on. It is a no-op if they have it.
    ///
    /// Methods that are compiled first while the rules are off are not changed. Runtimes do not rejit methods of modules that can
    /// be unloaded: these keep the code that they have. On .NET Core 3.1, an attached profiler switches nothing after the program
    /// has unloaded modules: the methods have [failed](MethodState::Failed). Selected methods are still not inlined.
    ///
    /// **Context**: any.
    ///
    /// # Errors
    ///
    /// That the component is not [switchable](Self::switchable), or not attached.
    pub fn off(&self) -> Result<()> {
        self.switch("Instrumentation::off", false)
    }

    /// Gives all methods their new IL again, from their next calls on. It is a no-op if they have it.
    ///
    /// **Context**: any.
    ///
    /// # Errors
    ///
    /// As of [`off`](Self::off).
    pub fn on(&self) -> Result<()> {
        self.switch("Instrumentation::on", true)
    }

    fn switch(&self, call: &'static str, is_on: bool) -> Result<()> {
        let (Some(shared), Some(rejit)) = (self.shared.get(), self.rejit.get()) else {
            return Err(Error::rule(call, "it is not attached, or not switchable"));
        };
        let Switched { request, revert } = {
            let mut table = lock(&shared.table);
            if table.is_removed() {
                return Err(Error::rule(call, "its changes were removed for good"));
            }
            table.switch(is_on)
        };
        rejit.revert(revert);
        rejit.request(request);
        Ok(())
    }

    /// Gives all methods their original IL for good, without ReJIT, so that they can be inlined again. A second call is a no-op.
    ///
    /// The bodies are set back at once, and serve the next compilation: of a method's next tier, and of callers, which may
    /// inline it. Code that exists keeps the new IL until then: with tiered compilation, a method that is called often soon loses
    /// it, and one that has its last tier keeps it. [`outcomes`](Self::outcomes) tells which were compiled
    /// since: they are [`Off`](MethodState::Off). Methods that ReJIT has changed are reverted by it.
    ///
    /// For profilers that look at the first calls only, such as coverage: a loop of getters then inlines them, if the loop is not compiled to
    /// its last tier before. After [`off`](Self::off), it never does.
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: any but during a GC, and not in a rule.
    ///
    /// # Errors
    ///
    /// That the component is not attached. The outcome of a method has the error if another component or profiler has edited it
    /// later, or if it has a loop on .NET 7 or newer, in the middle of which its code [may be
    /// replaced](ProfilerInfo::rewrite_method_again): it keeps the new IL.
    pub fn remove(&self) -> Result<()> {
        let Some(shared) = self.shared.get() else {
            return Err(Error::rule("Instrumentation::remove", "it is not attached"));
        };
        let Removed { set_back, revert } = lock(&shared.table).begin_removal();
        if let Some(rejit) = self.rejit.get() {
            rejit.revert(revert);
        }
        shared.set_back(set_back);
        Ok(())
    }

    /// Applies the rules to methods again that they have changed, for the next compilations: of later tiers, for example.
    ///
    /// The closures of the rules may decide differently than before. A method that they leave alone gets its original IL, and may be
    /// inlined by code that is compiled later. Code that exists keeps its IL until its method is compiled again, as after
    /// [`remove`](Self::remove). Methods with loops on .NET 7 and newer, methods that ReJIT changes, and those of a profiler that is
    /// attached to a running program, stay as they are: the methods that are returned have the new IL.
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: any but during a GC, and not in a rule.
    ///
    /// # Errors
    ///
    /// That the component is not attached. Errors of single methods are among the [problems](Outcomes::problems).
    pub fn renew(&self, methods: &[(ModuleId, MethodDef)]) -> Result<Vec<(ModuleId, MethodDef)>> {
        let Some(shared) = self.shared.get() else {
            return Err(Error::rule("Instrumentation::renew", "it is not attached"));
        };
        Ok(shared.renew(methods))
    }
}

impl fmt::Debug for Instrumentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instrumentation")
            .field("rules", &self.description.rules.len())
            .field("helpers", &self.description.helpers().collect::<Vec<_>>())
            .field("is_switchable", &self.description.is_switchable)
            .finish_non_exhaustive()
    }
}
