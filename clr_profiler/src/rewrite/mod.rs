//! Rewriting the IL of methods, and the functions and assemblies that rewritten IL calls.
//!
//! [`Method::rewrite`](crate::Method::rewrite) edits a method before it is compiled, and has an example;
//! [`FunctionControl::rewrite`](crate::events::FunctionControl::rewrite) does so for a method that is compiled again. The
//! steps: the original IL is decoded, a closure of the profiler edits it as [`il`](crate::il) describes, its symbols become tokens of the module, the bytes are
//! verified, and the runtime gets them. If a step fails, the method keeps its IL. Rewritten IL calls
//! functions of the profiler by [`NativeCall`] and managed code of the profiler by [`HelperAssembly`]; a
//! [`ReentrancyGuard`] keeps it from calling itself.

mod access;
mod boxing;
mod calli;
mod check;
mod completion;
mod context;
mod declared;
mod error;
mod guard;
mod helper;
mod identity;
mod import;
mod layout;
mod lookup;
mod members;
mod method;
mod module_metadata;
mod names;
mod offsets;
mod paths;
mod replacement;
mod store;
mod subject;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo7, IlMapEntry, refuse_hot_reload};
use crate::profiler::has_components;
use crate::runtime::{ProfilerInfo, lock};
use clr_profiler_il::body::{BodyError, EncodeBuffers, EncodeError, MethodBody};
use clr_profiler_il::edit::{OffsetMapping, OffsetPair};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::metadata::MetadataResolver;
use clr_profiler_il::token::MethodDef;
use clr_profiler_il::usage::Usage;
use clr_profiler_il::verify::VerifyBuffers;

pub use calli::{NativeCall, NativeFunction, NativeFunctionPointer, NativeReturn, NativeValue};
pub use clr_profiler_il::boxing::{Boxed, BoxedArguments, Boxing, NotBoxable, TypedArguments};
pub use clr_profiler_il::completion::{Completion, TaskResult, Unobservable};
pub use clr_profiler_il::declaration::{NewField, NewType};
pub use context::RewriteContext;
pub(crate) use declared::{DeclaredMethod, methods_in_file, missing_methods, mistake};
pub use error::RewriteError;
pub use guard::ReentrancyGuard;
pub use helper::{HelperAssembly, HelperLoader};
pub(crate) use layout::{Leaf, Primitive, ValueLayout};
pub use members::{NativeLibrary, TypeBuilder};
pub use names::IlNames;
pub(crate) use offsets::set_offset_map;
pub use paths::PathStep;
pub(crate) use store::{Unloads, add_editor, held_bytes};

use module_metadata::ModuleMetadata;
use store::{Body, Module};
use subject::{Subject, unnamed};

/// A method body before and after a rewrite by the profiler or one of its components.
///
/// To read the IL as text, print [`before`](Self::before) and [`after`](Self::after); with
/// [`Method::il_names`](crate::Method::il_names) the text has names instead of tokens.
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

/// A body for the runtime.
struct NewBody {
    bytes: Vec<u8>,
    /// Empty if no map is wanted, or the map would be empty.
    map: Vec<OffsetPair>,
}

/// Whether the types of a body's locals are read before it is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalTypes {
    Read,
    /// The edit does not need them.
    Unread,
}

/// Edits the body of a method, verifies it and sets it.
fn work(
    info: &ProfilerInfo,
    (module, method): (ModuleId, MethodDef),
    (cached, locals): (&Module, LocalTypes),
    begin: impl FnOnce(&Subject<'_>) -> Result<Body>,
    edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    set: impl FnOnce(&NewBody, bool) -> Result<()>,
) -> Result<(Rewritten, Body), RewriteError> {
    let worked = work_uncounted(info, (module, method), (cached, locals), begin, edit, set);
    match &worked {
        Ok((rewritten, _)) if !rewritten.is_changed() => {}
        worked => info.costs().rewrote(worked.is_ok()),
    }
    worked
}

fn work_uncounted(
    info: &ProfilerInfo,
    (module, method): (ModuleId, MethodDef),
    (cached, locals): (&Module, LocalTypes),
    begin: impl FnOnce(&Subject<'_>) -> Result<Body>,
    edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    set: impl FnOnce(&NewBody, bool) -> Result<()>,
) -> Result<(Rewritten, Body), RewriteError> {
    let _mark = DepthGuard::mark();
    let subject = Subject::new(info, module, method)
        .map_err(|error| RewriteError::from_error(unnamed(module, method), &error))?;
    let editable = refuse_hot_reload(info, "SetILFunctionBody", module);
    let worked = editable.and_then(|()| begin(&subject)).and_then(|before| {
        let mut memory = Memory::of_thread();
        memory
            .body
            .decode_lazily_into(&before.bytes)
            .map_err(Error::other)?;
        let of = (cached, locals);
        let mut new = edited(&subject, of, &mut memory, &before.bytes, edit)?;
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
    (cached, locals): (&Module, LocalTypes),
    memory: &mut Memory,
    before: &[u8],
    edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
) -> Result<NewBody> {
    let Subject { info, module, .. } = *subject;
    let Memory {
        body,
        buffers,
        checked,
        verifying,
    } = memory;
    let module_metadata = ModuleMetadata::like(info, module, &subject.metadata)?;
    if locals == LocalTypes::Read && body.locals_token().is_some() {
        body.resolve_locals(&MetadataResolver::new(
            &module_metadata,
            &cached.resolutions,
        ))?;
    }
    let mut context = RewriteContext {
        module_metadata: &module_metadata,
        module: cached,
        resolver: MetadataResolver::new(&module_metadata, &cached.resolutions),
        subject,
        map_offsets: true,
    };
    edit(body, &mut context)?;
    let is_mapped = context.map_offsets;
    let mut bytes = Vec::with_capacity(before.len() * 2);
    let used = {
        let mut tokens = lock(&cached.tokens);
        let mut importer = tokens.importer(&module_metadata);
        body.encode_with(buffers, &mut importer, &mut bytes)
            .map_err(|error| match error {
                EncodeError::Tokens(error) => error,
                other => Error::other(other.to_string()),
            })?;
        let used = Usage::of(body, &mut importer)?;
        if module_metadata.take_changed() && info.version() >= 7 {
            info.apply_metadata(module)?;
        }
        used
    };
    let resolver = MetadataResolver::new(&module_metadata, &cached.resolutions);
    // Only for an error, because both take long.
    let names = || {
        let map = body.instrumented_code_map();
        IlNames::of_new(subject, module_metadata.metadata(), map)
    };
    check::check(
        body,
        (&bytes, before),
        subject,
        &resolver,
        &cached.references,
        (checked, verifying),
        names,
    )?;
    access::check(&used, subject, &module_metadata, cached, || {
        let new = MethodBody::decode(&bytes);
        new.map_or_else(
            |error| error.to_string(),
            |new| new.named(&names()).to_string(),
        )
    })?;
    let map = match is_mapped && bytes != before {
        true => body.encoded_code_map(buffers),
        false => Vec::new(),
    };
    Ok(NewBody { bytes, map })
}

/// Code that pushes an address of this process as a native integer.
pub(crate) fn address(address: usize) -> Fragment {
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
    /// The new body, or its inserted code, decoded as the JIT reads it.
    checked: MethodBody,
    verifying: VerifyBuffers,
}

impl Memory {
    /// The size from which on the memory of a body is freed: such bodies are rare.
    const LARGE: usize = 0x2000;

    /// The memory that this thread has kept; new memory for a nested rewrite.
    fn of_thread() -> Box<Self> {
        let kept = MEMORY.try_with(Cell::take);
        kept.ok().flatten().unwrap_or_default()
    }

    fn keep(self: Box<Self>, bytes: &[u8]) {
        if bytes.len() < Self::LARGE {
            // A thread that is about to end keeps nothing.
            let _ = MEMORY.try_with(|kept| kept.set(Some(self)));
        }
    }
}

thread_local! {
    static MEMORY: Cell<Option<Box<Memory>>> = const { Cell::new(None) };

    /// How many rewrites this thread is in.
    static REWRITE_DEPTH: Cell<u32> = const { Cell::new(0) };
}

fn is_rewriting() -> bool {
    REWRITE_DEPTH.get() > 0
}

struct DepthGuard;

impl DepthGuard {
    fn mark() -> Self {
        REWRITE_DEPTH.set(REWRITE_DEPTH.get().saturating_add(1));
        Self
    }
}

impl Drop for DepthGuard {
    fn drop(&mut self) {
        REWRITE_DEPTH.set(REWRITE_DEPTH.get().saturating_sub(1));
    }
}
