//! The time for rewriting methods, and the time of the runtime for compiling them.

mod answers;

use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clr_profiler::il::body::{EncodeBuffers, MethodBody};
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::{NoTokens, Reference, Resolver};
use clr_profiler::il::verify::{MethodContext, VerifyBuffers};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;
use scenario_support::{clsid, log};

use answers::{Recorder, Replay};

/// Inserts a prologue and an epilogue without effect into every method that is compiled.
///
/// All times are CPU times of the thread. With `MEMORY=again` the measured work uses
/// memory that the thread had used for the previous method. For every other method the parts are measured,
/// for the others the whole, alternately with and without a map of the offsets: a repeated measurement would
/// find resolved references.
pub(crate) struct JitShare {
    again: bool,
    /// Decides on the measurement of the next method.
    turn: AtomicU32,
    sums: Mutex<Sums>,
    /// The time of reading the clock.
    look: Duration,
    code: Fragment,
}

#[derive(Default)]
struct Sums {
    /// The number of methods that were rewritten and compiled.
    methods: u32,
    refused: u32,
    /// The numbers of methods measured in parts, and as a whole, without and with a map.
    in_parts: u32,
    whole: u32,
    mapped: u32,
    bytes: usize,
    /// Decoding, editing and encoding.
    edit: Duration,
    /// Verifying the encoded body, with a resolver that costs nothing.
    check: Duration,
    /// The additional time with the library's resolver, when all references are in its cache.
    metadata: Duration,
    /// The additional time of the first verification: references that are not in the cache yet, and the processor's
    /// caches, which a compilation has filled with other code and data.
    first: Duration,
    /// The time of the full name of the method, and of the same once more.
    name: Duration,
    name_again: Duration,
    /// For the others, `Method::rewrite` from its beginning to its end: all of that, and the calls of the
    /// runtime that read and set the body. Without a map of the offsets, and with one.
    rewrite: Duration,
    rewrite_mapped: Duration,
    /// From the end of the callback before the compilation to the start of the one after it.
    compilation: Duration,
}

/// The times of one method.
struct Took {
    edit: Duration,
    check: Duration,
    metadata: Duration,
    first: Duration,
    name: Duration,
    name_again: Duration,
}

/// The memory that a thread can reuse for method after method.
struct Memory {
    body: MethodBody,
    buffers: EncodeBuffers,
    out: Vec<u8>,
    checked: MethodBody,
    verifying: VerifyBuffers,
}

/// An active compilation. Another one may begin on the same thread before it ends.
struct Compilation {
    entered: Duration,
    began: Duration,
    /// The time of nested compilations.
    nested: Duration,
    is_rewritten: bool,
}

thread_local! {
    static MEMORY: Cell<Option<Memory>> = const { Cell::new(None) };
    static COMPILATIONS: RefCell<Vec<Compilation>> = const { RefCell::new(Vec::new()) };
}

#[profiler(clsid = clsid("JitShare"))]
impl Profiler for JitShare {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let looks = (0..1000).map(|_| {
            let first = now();
            now().saturating_sub(first)
        });
        Ok(Self {
            again: std::env::var_os("MEMORY").is_some_and(|memory| memory == "again"),
            turn: AtomicU32::new(0),
            sums: Mutex::default(),
            look: looks.min().unwrap_or_default(),
            code: Fragment::new().ldc_i4(7).pop().clone(),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let entered = now();
        let is_rewritten = self.rewrite(info, function);
        COMPILATIONS.with_borrow_mut(|compilations| {
            compilations.push(Compilation {
                entered,
                began: now(),
                nested: Duration::ZERO,
                is_rewritten: matches!(is_rewritten, Ok(true)),
            });
        });
        is_rewritten.map(drop)
    }

    fn jit_compilation_finished(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let ended = now();
        let ended_one = COMPILATIONS.with_borrow_mut(|compilations| {
            let ended_one = compilations.pop();
            if let (Some(one), Some(outer)) = (&ended_one, compilations.last_mut()) {
                outer.nested += ended.saturating_sub(one.entered);
            }
            ended_one
        });
        if let Some(one) = ended_one.filter(|one| one.is_rewritten) {
            let mut sums = self.sums.lock().map_err(|_| Error::other("a panic"))?;
            sums.methods += 1;
            sums.compilation += self.between(one.began, ended).saturating_sub(one.nested);
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let sums = self.sums.lock().map_err(|_| Error::other("a panic"))?;
        log::line(format_args!(
            "sums {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            sums.methods,
            sums.refused,
            sums.in_parts,
            sums.whole,
            sums.mapped,
            sums.bytes,
            sums.edit.as_nanos(),
            sums.check.as_nanos(),
            sums.metadata.as_nanos(),
            sums.first.as_nanos(),
            sums.name.as_nanos(),
            sums.name_again.as_nanos(),
            sums.rewrite.as_nanos(),
            sums.rewrite_mapped.as_nanos(),
            sums.compilation.as_nanos(),
        ));
        Ok(())
    }
}

impl JitShare {
    /// Whether the method was rewritten now and not before.
    fn rewrite(&self, info: &ProfilerInfo, function: FunctionId) -> Result<bool> {
        // A function without a token has no body in a module.
        let Ok(method) = info.method(function) else {
            return Ok(false);
        };
        let bytes = method.il_body()?;
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let (in_parts, is_mapped) = (turn.is_multiple_of(2), turn % 4 == 1);
        let mut took = None;
        let began = now();
        let rewritten = method.rewrite(|body, cx| {
            if in_parts {
                took = Some(self.measure(info, function, &bytes, cx)?);
            }
            cx.map_offsets(is_mapped);
            self.edit(body)
        });
        let rewrite = self.between(began, now());
        let mut sums = self.sums.lock().map_err(|_| Error::other("a panic"))?;
        match rewritten {
            Ok(rewritten) if rewritten.is_first() => {
                sums.bytes += bytes.len();
                if let Some(took) = took {
                    sums.in_parts += 1;
                    sums.edit += took.edit;
                    sums.check += took.check;
                    sums.metadata += took.metadata;
                    sums.first += took.first;
                    sums.name += took.name;
                    sums.name_again += took.name_again;
                } else if is_mapped {
                    sums.mapped += 1;
                    sums.rewrite_mapped += rewrite;
                } else {
                    sums.whole += 1;
                    sums.rewrite += rewrite;
                }
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(_) => {
                sums.refused += 1;
                Ok(false)
            }
        }
    }

    fn edit(&self, body: &mut MethodBody) -> Result<()> {
        body.prologue(&self.code).map_err(Error::other)?;
        body.before_ret(&self.code).map_err(Error::other)
    }

    /// Does the work of `Method::rewrite` on the body.
    fn measure(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        bytes: &[u8],
        cx: &RewriteContext<'_>,
    ) -> Result<Took> {
        let mut memory = MEMORY.take().filter(|_| self.again);
        let began = now();
        let reused = memory.get_or_insert_with(|| Memory {
            body: MethodBody::new(),
            buffers: EncodeBuffers::new(),
            out: Vec::with_capacity(bytes.len() * 2),
            checked: MethodBody::new(),
            verifying: VerifyBuffers::new(),
        });
        let (body, out) = (&mut reused.body, &mut reused.out);
        // As the library.
        body.decode_lazily_into(bytes).map_err(Error::other)?;
        self.edit(body)?;
        out.clear();
        let encoded = body.encode_with(&mut reused.buffers, &mut NoTokens, out);
        let edited = now();
        encoded.map_err(|error| Error::other(error.to_string()))?;

        let class = Reference::Token(cx.props().class.into());
        let context = MethodContext {
            this_is_pointer: matches!(cx.resolver().type_sig(class), Some(TypeSig::ValueType(_))),
            ..MethodContext::new(cx.signature())
        };
        let first = self.check(reused, bytes, &context, &cx.resolver())?;
        let recorder = Recorder::new(cx.resolver());
        let recorded = self.check(reused, bytes, &context, &recorder)?;
        let again = self.check(reused, bytes, &context, &cx.resolver())?;
        let alone = self.check(reused, bytes, &context, &Replay::new(recorder))?;
        let violations = [first, recorded, again, alone].map(|(_, violations)| violations);
        if violations != [alone.1; 4] {
            return Err(Error::other("the answers were not those of before"));
        }
        MEMORY.set(memory);
        let name = || {
            let began = now();
            let named = info.method(function)?.full_name();
            named.map(|_| self.between(began, now()))
        };
        Ok(Took {
            edit: self.between(began, edited),
            check: alone.0,
            metadata: again.0.saturating_sub(alone.0),
            first: first.0.saturating_sub(again.0),
            name: name()?,
            name_again: name()?,
        })
    }

    /// The time of a verification, and the number of violations.
    fn check(
        &self,
        memory: &mut Memory,
        bytes: &[u8],
        context: &MethodContext<'_>,
        resolver: &impl Resolver,
    ) -> Result<(Duration, usize)> {
        let Memory {
            body,
            out,
            checked,
            verifying,
            ..
        } = memory;
        if !self.again {
            (*checked, *verifying) = (MethodBody::new(), VerifyBuffers::new());
        }
        let began = now();
        let violations = body
            .verify_encoded_with(out, bytes, (checked, verifying), || *context, resolver)
            .map_err(Error::other)?
            .len();
        Ok((self.between(began, now()), violations))
    }

    /// Minus the time of reading the clock.
    fn between(&self, began: Duration, ended: Duration) -> Duration {
        ended.saturating_sub(began).saturating_sub(self.look)
    }
}

/// The CPU time of this thread.
#[cfg(unix)]
fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The time since the first call.
#[cfg(not(unix))]
fn now() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}
