//! Rewriting the IL of methods, and the functions and assemblies that rewritten IL calls.
//!
//! [`Method::rewrite`] edits a method before it is compiled, and has an example; [`FunctionControl::rewrite`]
//! does so for a method that is compiled again. The steps: the original IL is decoded, a closure of the
//! profiler edits it as [`il`](crate::il) describes, its symbols become tokens of the module, the bytes are
//! verified, and the runtime gets them. If a step fails, the method keeps its IL. Rewritten IL calls
//! functions of the profiler by [`NativeCall`] and managed code of the profiler by [`HelperAssembly`]; a
//! [`ReentrancyGuard`] keeps it from calling itself.

mod access;
mod boxing;
mod calli;
mod check;
mod completion;
mod context;
mod error;
mod guard;
mod helper;
mod import;
mod lookup;
mod members;
mod scope;
mod store;
mod subject;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::function_control::FunctionControl;
use crate::info::method::Method;
use crate::info::{CorProfilerInfo, CorProfilerInfo7, IlMapEntry};
use crate::profiler::{has_components, name_of};
use crate::runtime::{ProfilerInfo, lock, owner};
use clr_profiler_il::body::{BodyError, EncodeBuffers, EncodeError, MethodBody};
use clr_profiler_il::edit::{NotInstrumentable, OffsetMapping, OffsetPair};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::metadata::MetadataResolver;
use clr_profiler_il::token::MethodDef;
use clr_profiler_il::usage::Usage;

pub use calli::{NativeCall, NativeFunction, NativeFunctionPointer, NativeReturn, NativeValue};
pub use clr_profiler_il::boxing::{Boxed, BoxedArguments, Boxing, NotBoxable, TypedArguments};
pub use clr_profiler_il::completion::{Completion, TaskResult, Unobservable};
pub use clr_profiler_il::declaration::{NewField, NewType};
pub use context::RewriteContext;
pub use error::RewriteError;
pub use guard::ReentrancyGuard;
pub use helper::{HelperAssembly, HelperLoader};
pub use members::{NativeLibrary, TypeBuilder};
pub(crate) use store::Unloads;

use scope::Scope;
use store::{Body, Module, Turn, store};
use subject::{Subject, unnamed};

/// A method body before and after a rewrite by the profiler or one of its components.
///
/// To read the IL as text, print [`before`](Self::before) and [`after`](Self::after).
#[derive(Clone, PartialEq, Eq)]
pub struct Rewritten {
    before: Arc<[u8]>,
    after: Arc<[u8]>,
    first: bool,
}

impl Rewritten {
    /// Whether this call did the work; later calls for the same method, such as for another instance of
    /// generic code, find it done.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.first
    }

    /// Whether the new body differs from the one before.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.before != self.after
    }

    /// The bytes of the body before the edit: the original IL, unless an earlier component has edited it.
    #[must_use]
    pub fn before_bytes(&self) -> &[u8] {
        &self.before
    }

    /// The bytes of the body that was given to the runtime.
    #[must_use]
    pub fn after_bytes(&self) -> &[u8] {
        &self.after
    }

    /// The body before the edit: the original IL, unless an earlier component has edited it.
    ///
    /// # Errors
    ///
    /// None: it has been decoded before. The signature is that of decoding.
    pub fn before(&self) -> Result<MethodBody, BodyError> {
        MethodBody::decode(&self.before)
    }

    /// The body that was given to the runtime.
    ///
    /// # Errors
    ///
    /// None: it has been decoded before. The signature is that of decoding.
    pub fn after(&self) -> Result<MethodBody, BodyError> {
        MethodBody::decode(&self.after)
    }
}

impl fmt::Debug for Rewritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewritten")
            .field("before", &self.before.len())
            .field("after", &self.after.len())
            .field("first", &self.first)
            .finish()
    }
}

impl Method<'_> {
    /// Edits the body of the method before it is compiled.
    ///
    /// For [`jit_compilation_started`](crate::Profiler::jit_compilation_started). The closure gets the body
    /// from the module, and its result is verified before the runtime gets it; an unchanged body is not set.
    /// All instances of a generic method and all tiers of compilation share one body, so the closure runs
    /// once for a method: later calls return the result of the first, also if it is an error, and threads
    /// that call meanwhile wait for it. The result must depend on the method alone.
    ///
    /// The profiler and its [components](crate::Component) can all edit a method: each once, in the order in
    /// which they receive callbacks, and each gets the result of the one before.
    ///
    /// When a module is unloaded, the results for its methods are dropped. A method that is inlined into
    /// another one is inlined with the body that it has at that time: refuse it in
    /// [`jit_inlining`](crate::Profiler::jit_inlining) where that matters. To change a method again, or one
    /// that was compiled already, use [`FunctionControl::rewrite`].
    ///
    /// Calls `ICorProfilerInfo::SetILFunctionBody`. **Context**: in `jit_compilation_started` of the method,
    /// or before; not during a GC. Afterwards the profiler cannot be detached.
    ///
    /// # Errors
    ///
    /// A [`RewriteError`] that names the method and says that it has no IL, which rule the result breaks and
    /// where, or which call of the runtime failed, or that contains the error of the closure.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let text = format!("enter {}", cx.full_name());
    ///     body.prologue(Fragment::new().ldstr(&text).call(&write))?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "SetILFunctionBody")]
    pub fn rewrite(
        &self,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        let (info, module, method) = (self.info(), self.module(), self.token());
        let remembered = store(info).module(module);
        let slot = remembered.method(method);
        let owner = owner();
        let refuse =
            |problem: String| Err(RewriteError::new(unnamed(module, method), problem).into());
        let working = match slot.turn(owner, !at_work(), (module, method)) {
            Turn::Work(working) => working,
            Turn::Done(outcome) => {
                let after = outcome?.bytes;
                let before = slot.body_for(owner, || Ok(after.to_vec()))?.bytes;
                return Ok(Rewritten {
                    before,
                    after,
                    first: false,
                });
            }
            Turn::Busy => {
                return refuse(
                    "it is being rewritten, and this thread is rewriting as well: the code that \
                     edits must not lead to another rewrite"
                        .to_owned(),
                );
            }
            Turn::Late(later) => {
                return refuse(format!(
                    "{} comes before {}, which has edited it already: edit methods in \
                     `jit_compilation_started`, which all receive in their order",
                    name_of(info, owner),
                    name_of(info, later)
                ));
            }
        };
        let set = |new: &NewBody, is_changed: bool| {
            if is_changed {
                info.set_il_function_body(module, method, &new.bytes)?;
                if let Some(map) = new.entries() {
                    // An error is ignored: the map serves debuggers, and the body counts.
                    let _ = info.set_il_instrumented_code_map(self.function(), true, &map);
                }
            }
            Ok(())
        };
        let begin = |subject: &Subject<'_>| slot.body_for(owner, || subject.current_body());
        let outcome = work(info, module, method, &remembered, begin, edit, set);
        let (rewritten, made) = match outcome {
            Ok((rewritten, body)) => (Ok(rewritten), Ok(body)),
            Err(error) => (Err(error.clone().into()), Err(error)),
        };
        working.finish(made);
        rewritten
    }
}

impl FunctionControl<'_> {
    /// Edits the body that a method gets by ReJIT.
    ///
    /// For [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters), which names module and method.
    /// The closure gets the body from the module, without the edits that [`Method::rewrite`] of the same
    /// profiler or [component](crate::Component) or an earlier ReJIT has made; the edits of the others stay.
    /// It runs each time, because requests of ReJIT can differ. Otherwise it works like [`Method::rewrite`].
    ///
    /// Calls `ICorProfilerFunctionControl::SetILFunctionBody`.
    ///
    /// # Errors
    ///
    /// A [`RewriteError`] that names the method, as of [`Method::rewrite`]. The ReJIT then compiles the
    /// method with the IL that it has. Runtime-async methods are refused: .NET 10 reports that they were
    /// compiled, and calls their original code.
    #[doc(alias = "SetILFunctionBody")]
    pub fn rewrite(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<Rewritten> {
        let remembered = store(info).module(module);
        let slot = remembered.method(method);
        // Set also if it is the original IL: it may replace rewritten IL.
        let set = |new: &NewBody, _is_changed: bool| {
            self.set_il_function_body(&new.bytes)?;
            if let Some(map) = new.entries() {
                self.set_il_instrumented_code_map(&map)?;
            }
            Ok(())
        };
        let edit = |body: &mut MethodBody, cx: &mut RewriteContext<'_>| {
            if cx.shape()?.is_runtime_async() {
                return Err(NotInstrumentable::RuntimeAsyncRejit.into());
            }
            edit(body, cx)
        };
        let owner = owner();
        let begin = |subject: &Subject<'_>| {
            let body = slot.body_for_rejit(owner, || subject.current_body())?;
            body.map_err(|other| {
                Error::other(format!(
                    "{} has edited it when it was compiled, and {} after that: order the one that \
                     edits it by ReJIT last",
                    name_of(info, owner),
                    name_of(info, other)
                ))
            })
        };
        Ok(work(info, module, method, &remembered, begin, edit, set)?.0)
    }
}

/// A body for the runtime.
struct NewBody {
    bytes: Vec<u8>,
    /// Empty if no map is wanted, or the map would be empty.
    map: Vec<OffsetPair>,
}

/// Edits the body of a method, verifies it and sets it.
fn work(
    info: &ProfilerInfo,
    module: ModuleId,
    method: MethodDef,
    remembered: &Module,
    begin: impl FnOnce(&Subject<'_>) -> Result<Body>,
    edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    set: impl FnOnce(&NewBody, bool) -> Result<()>,
) -> Result<(Rewritten, Body), RewriteError> {
    let _mark = AtWork::mark();
    let subject = Subject::new(info, module, method)
        .map_err(|error| RewriteError::from_error(unnamed(module, method), &error))?;
    let worked = begin(&subject).and_then(|before| {
        let mut memory = Memory::of_thread();
        memory
            .body
            .decode_into(&before.bytes)
            .map_err(Error::other)?;
        let mut new = edited(&subject, remembered, &mut memory, &before.bytes, edit)?;
        memory.keep(&new.bytes);
        let is_changed = *new.bytes != *before.bytes;
        new.map = match is_changed {
            true => before.offsets.then(new.map),
            false => before.offsets.map(),
        };
        set(&new, is_changed)?;
        let after: Arc<[u8]> = new.bytes.into();
        let offsets = match is_changed {
            false => before.offsets,
            true if new.map.is_empty() || !has_components(info) => OffsetMapping::Hidden,
            true => OffsetMapping::Mapped(new.map.into()),
        };
        let rewritten = Rewritten {
            before: before.bytes,
            after: Arc::clone(&after),
            first: true,
        };
        let bytes = after;
        Ok((rewritten, Body { bytes, offsets }))
    });
    worked.map_err(|error| RewriteError::from_error(subject.name().to_owned(), &error))
}

/// Edits the body in this memory, which was decoded from `before`; a body without code if `before` is empty.
fn edited(
    subject: &Subject<'_>,
    remembered: &Module,
    memory: &mut Memory,
    before: &[u8],
    edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
) -> Result<NewBody> {
    let Subject { info, module, .. } = *subject;
    let Memory {
        body,
        buffers,
        checked,
    } = memory;
    let scope = Scope::open(info, module)?;
    if body.locals_token().is_some() {
        body.resolve_locals(&MetadataResolver::new(&scope, &remembered.resolutions))?;
    }
    let mut context = RewriteContext {
        scope: &scope,
        module: remembered,
        resolver: MetadataResolver::new(&scope, &remembered.resolutions),
        subject,
        map_offsets: true,
    };
    edit(body, &mut context)?;
    let is_mapped = context.map_offsets;
    let mut bytes = Vec::with_capacity(before.len() * 2);
    let used = {
        let mut tokens = lock(&remembered.tokens);
        let mut importer = tokens.importer(&scope);
        body.encode_with(buffers, &mut importer, &mut bytes)
            .map_err(|error| match error {
                EncodeError::Tokens(error) => error,
                other => Error::other(other.to_string()),
            })?;
        let used = Usage::of(body, &mut importer)?;
        if scope.take_changed() && info.version() >= 7 {
            info.apply_metadata(module)?;
        }
        used
    };
    let resolver = MetadataResolver::new(&scope, &remembered.resolutions);
    check::check(
        &bytes,
        before,
        subject,
        &resolver,
        &remembered.references,
        checked,
    )?;
    access::check(&used, subject, &scope, remembered, || checked.to_string())?;
    let map = match is_mapped && bytes != before {
        true => body.instrumented_code_map(),
        false => Vec::new(),
    };
    Ok(NewBody { bytes, map })
}

/// Code that pushes an address of this process as a native integer.
fn address(address: usize) -> Fragment {
    let mut code = Fragment::new();
    if size_of::<usize>() == 8 {
        code.ldc_i8(address as i64);
    } else {
        code.ldc_i4(address as i32);
    }
    code.conv_i();
    code
}

impl NewBody {
    /// The map in the runtime's type, unless it is empty.
    fn entries(&self) -> Option<Vec<IlMapEntry>> {
        let entries = self.map.iter().map(|pair| IlMapEntry {
            old_offset: pair.old,
            new_offset: pair.new,
            is_accurate: pair.is_exact,
        });
        (!self.map.is_empty()).then(|| entries.collect())
    }
}

/// Memory for bodies, which a thread reuses: allocating it would take as long as the work in it.
#[derive(Default)]
struct Memory {
    body: MethodBody,
    buffers: EncodeBuffers,
    /// The new body, decoded as the JIT reads it.
    checked: MethodBody,
}

impl Memory {
    /// The size from which on the memory of a body is freed: such bodies are rare.
    const LARGE: usize = 0x2000;

    /// The memory that this thread has kept; new memory for a nested rewrite.
    fn of_thread() -> Self {
        let kept = MEMORY.try_with(Cell::take);
        *kept.ok().flatten().unwrap_or_default()
    }

    fn keep(self, bytes: &[u8]) {
        if bytes.len() < Self::LARGE {
            // A thread that is about to end keeps nothing.
            let _ = MEMORY.try_with(|kept| kept.set(Some(Box::new(self))));
        }
    }
}

thread_local! {
    static MEMORY: Cell<Option<Box<Memory>>> = const { Cell::new(None) };

    /// How many rewrites this thread is in.
    static AT_WORK: Cell<u32> = const { Cell::new(0) };
}

fn at_work() -> bool {
    AT_WORK.get() > 0
}

struct AtWork;

impl AtWork {
    fn mark() -> Self {
        AT_WORK.set(AT_WORK.get().saturating_add(1));
        Self
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.set(AT_WORK.get().saturating_sub(1));
    }
}
