//! [`Patch`]: the description of a change.

use std::fmt;
use std::sync::{Arc, Mutex};

use super::around;
use super::call::Call;
use super::callers;
use super::counter::{Counter, Recorder};
use super::entry;
use super::hook::{After, Before, Exception};
use super::operations::Operation;
use super::site::{Hooks, Site};
use super::slot::Stage;
use crate::error::{Error, Result};
use crate::instrumentation::{Instrumentation, IntoPatterns, PatchWay, parsed_patterns};
use clr_profiler_il::pattern::MethodPatterns;

/// A change of methods by closures, which run before, after or instead of their code.
///
/// [`Instrumentation::patch`] adds it to the rules. The closures are called by the patched methods, on the threads of the
/// program, several at a time. They get a [`Call`] to read and write arguments and results:
///
/// ```
/// use clr_profiler::instrumentation::Instrumentation;
/// use clr_profiler::patches::Patch;
/// use clr_profiler::prelude::*;
///
/// struct Discount;
///
/// #[profiler(clsid = "0C4C0C0E-9F2C-4C9B-8F0E-6C7B4F0D5A21")]
/// impl Profiler for Discount {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         setup.attach(Instrumentation::new().patch(
///             Patch::method("Shop.Store.Price").after(|call| {
///                 let price: i32 = call.result()?;
///                 call.set_result(price / 2)
///             }),
///         ))?;
///         Ok(Discount)
///     }
/// }
///
/// register!(Discount);
/// ```
///
/// # Order
///
/// ```text
/// before
///     the method's code, unless it is skipped
/// on_exception, if the code throws
/// after, if the method returns: also if its code was skipped, or if its exception was swallowed
/// ```
///
/// If several patches select a method, that with the highest [`priority`](Self::priority) is around all others, and of two with
/// the same one the later: it can skip the others together with the code.
///
/// # Limits
///
/// Values of generic parameters, of generic structs, spans and pointers are not passed.
/// Methods that return by a `tail.` call and runtime-async methods are refused; of an async method or an iterator, the
/// part that runs when it is called is patched. A selected method is not inlined.
#[must_use = "it does nothing until it is added to an `Instrumentation`"]
pub struct Patch {
    patterns: Result<Arc<MethodPatterns>>,
    hooks: Hooks,
    fields: Vec<Box<str>>,
    operations: Vec<Operation>,
    priority: i32,
    /// The methods whose calls are patched, instead of the methods themselves.
    callees: Option<Result<Arc<MethodPatterns>>>,
}

impl Patch {
    /// A patch without closures of the methods that [patterns](crate::il::pattern) select.
    ///
    /// Patterns without an assembly leave those of .NET alone: `System.Private.CoreLib!System.DateTime.get_UtcNow`.
    pub fn method(patterns: impl IntoPatterns) -> Self {
        Self {
            patterns: parsed_patterns(patterns),
            hooks: Hooks::default(),
            fields: Vec::new(),
            operations: Vec::new(),
            priority: 0,
            callees: None,
        }
    }

    /// A patch without closures of the calls of methods that patterns select, in methods of the program.
    ///
    /// The called methods do not change: other callers get the original ones. These may be of .NET, and without IL. A pattern with an assembly means the one to which the caller refers: `System.Runtime!System.DateTime.get_UtcNow`. The calls in
    /// all assemblies but .NET's are patched, those in lambdas included, or those that [`within`](Self::within) selects.
    ///
    /// Of a constructor, the instructions that make objects are patched, too: their result is the object.
    ///
    /// All methods of these assemblies are read for calls, and are not inlined unless
    /// [`at_module_load`](Instrumentation::at_module_load) is set. Calls on values of a generic parameter (`constrained.`), those in tail
    /// position of F# and those by delegates or reflection are not patched, and `on_exception` and fields are refused.
    pub fn call(patterns: impl IntoPatterns) -> Self {
        Self {
            callees: Some(parsed_patterns(patterns)),
            ..Self::method("**; generated **")
        }
    }

    /// Sets the methods whose calls are patched, of a patch of [calls](Self::call); of another one, the methods.
    pub fn within(mut self, patterns: impl IntoPatterns) -> Self {
        self.patterns = parsed_patterns(patterns);
        self
    }

    /// Runs a closure before the method's code. A second one replaces the first.
    pub fn before(
        mut self,
        hook: impl Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.before = Some(entry::at::<Before>(hook));
        self.hooks.replaces = false;
        self
    }

    /// Runs a closure instead of the method's code. The method returns the result that it sets, otherwise zero or null.
    ///
    /// If the closure fails, the method's code runs. It takes the place of `before`. Of several patches that replace the code of a
    /// method, the outermost runs, and its [outcome](crate::instrumentation::MethodOutcome::conflict) says so.
    pub fn replace(
        mut self,
        hook: impl Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.before = Some(entry::at::<Before>(hook));
        self.hooks.replaces = true;
        self
    }

    /// Runs a closure when the method returns to its caller. A second one replaces the first.
    pub fn after(
        mut self,
        hook: impl Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.after = Some(entry::at::<After>(hook));
        self
    }

    /// Runs a closure when an exception leaves the method's code, which then continues to the caller, unless the closure
    /// [swallows](Call::swallow) it. A second one replaces the first.
    pub fn on_exception(
        mut self,
        hook: impl Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.exception = Some(entry::at::<Exception>(hook));
        self
    }

    /// Passes a field of the type that declares the method, or of one of its base types, to the closures: `this.` and its name.
    ///
    /// It may be private, and static. Of several fields of one name, it is that of the nearest type. Private static fields of base types are
    /// not passed, nor are fields of base types that are generic. A method whose type has no such field keeps its IL, and
    /// its outcome names the field.
    pub fn field(mut self, name: &str) -> Self {
        self.fields.push(name.into());
        self
    }

    /// Passes only the values with these names to the closures, instead of all: nothing is copied for the others.
    ///
    /// It makes calls cheaper, above all if the method has strings or many parameters. A part of a struct needs the name of the
    /// struct; the exception and [fields](Self::field) are always passed. A method without a value of such a name keeps
    /// its IL, and its outcome says so.
    ///
    /// ```
    /// use clr_profiler::patches::Patch;
    ///
    /// let patch = Patch::method("Shop.Store.Sell").values(["count"]).before(|call| {
    ///     let count: i32 = call.get("count")?;
    ///     call.set("count", count.min(10))
    /// });
    /// # drop(patch);
    /// ```
    pub fn values<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.hooks.values = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Passes the objects and arrays of the call to the closures: see [`Call::object`].
    ///
    /// The module of each patched method gets a static class `clr_profiler.Objects` with the code that reads and writes objects. A
    /// method of an assembly that can be unloaded keeps its IL, and its outcome says so.
    pub fn objects(mut self) -> Self {
        self.hooks.has_objects = true;
        self
    }

    /// Counts the calls of the methods, before any closure runs.
    ///
    /// The patched method does it itself, by one atomic addition: no GC transition, and no call of the profiler. It is for
    /// methods that are called many million times a second, in which a closure would take too long.
    ///
    /// ```
    /// use clr_profiler::instrumentation::Instrumentation;
    /// use clr_profiler::patches::{Counter, Patch, Recorder};
    ///
    /// let (sales, amounts) = (Counter::new(), Recorder::new());
    /// let patch = Patch::method("Shop.Store.Sell").count(&sales).record("count", &amounts);
    /// let all = Instrumentation::new().patch(patch);
    /// // Later, on any thread:
    /// println!("{} sales, at most {:?} at once", sales.count(), amounts.max());
    /// # drop(all);
    /// ```
    pub fn count(mut self, counter: &Counter) -> Self {
        self.operations.push(Operation::Count(counter.clone()));
        self
    }

    /// Records an integer of each call, without a GC transition as [`count`](Self::count): an argument before any closure has
    /// changed it, a [field](Self::field) then, or the result when the method returns to its caller.
    ///
    /// Bools, chars, enumerations and structs of one integer are recorded as integers, an `ulong` as the `long` of the same bits. A method
    /// that has no such integer keeps its IL, and its outcome says why.
    pub fn record(mut self, name: &str, recorder: &Recorder) -> Self {
        let operation = Operation::Record(name.into(), recorder.clone());
        self.operations.push(operation);
        self
    }

    /// Sets the priority among the patches of one method; 0 without this.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patch")
            .field("patterns", &self.patterns.is_ok())
            .field("calls", &self.callees.is_some())
            .field("before", &self.hooks.has(Stage::Before))
            .field("replaces", &self.hooks.replaces)
            .field("after", &self.hooks.has(Stage::After))
            .field("on_exception", &self.hooks.has(Stage::Exception))
            .field("objects", &self.hooks.has_objects)
            .field("fields", &self.fields)
            .field("values", &self.hooks.values)
            .field("operations", &self.operations)
            .field("priority", &self.priority)
            .finish()
    }
}

impl Instrumentation {
    /// Adds a rule: runs the closures of a [`Patch`].
    ///
    /// A mistake in its patterns is the error of [`Setup::attach`](crate::Setup::attach).
    pub fn patch(mut self, patch: Patch) -> Self {
        let (hooks, fields) = (Arc::new(patch.hooks), patch.fields);
        let operations = patch.operations;
        let (callees, patterns) = match patch.callees {
            None => (None, patch.patterns),
            Some(Ok(_))
                if hooks.has(Stage::Exception) || !fields.is_empty() || !operations.is_empty() =>
            {
                let rule = "a patch of calls has neither `on_exception`, nor fields, counters or recorders";
                (None, Err(Error::rule("Instrumentation::patch", rule)))
            }
            Some(Ok(callees)) => (Some(callees), patch.patterns),
            Some(Err(mistake)) => (None, Err(mistake)),
        };
        if let Some(callees) = &callees {
            self = self.counts_calls(callees);
        }
        let order = (patch.priority, hooks.replaces && callees.is_none());
        // Methods are rewritten again by ReJIT, and for each module: equal sites are one.
        let sites: Mutex<Vec<&'static Site>> = Mutex::default();
        let way = match &callees {
            Some(_) => PatchWay::Calls,
            None => PatchWay::Method,
        };
        self.edit_with_priority(order, way, patterns, move |body, cx| match &callees {
            Some(callees) => callers::apply(body, cx, &hooks, callees, &sites),
            None => around::apply(body, cx, &hooks, &fields, &operations, &sites),
        })
    }
}
