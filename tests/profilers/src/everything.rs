//! Everything mode: every method that can be is instrumented, those of the framework included.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::il::edit::NotInstrumentable;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::{NativeCall, RewriteError};

use crate::log;

/// Calls that began, that returned, and that an exception has left.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static RETURNED: AtomicU64 = AtomicU64::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);
/// Calls of methods of the core library.
static CORE: AtomicU64 = AtomicU64::new(0);

fn begun() {
    BEGUN.fetch_add(1, Ordering::Relaxed);
}

fn returned() {
    RETURNED.fetch_add(1, Ordering::Relaxed);
}

fn left() {
    LEFT.fetch_add(1, Ordering::Relaxed);
}

fn in_core() {
    CORE.fetch_add(1, Ordering::Relaxed);
}

/// What has become of the methods that were compiled.
#[derive(Default)]
struct Outcomes {
    /// Those with IL, by the outcome.
    wrapped: u64,
    prologues: u64,
    refused: BTreeMap<String, u64>,
}

/// Wraps all methods: before, at returns and at exceptions they call this library. Methods of the
/// core library call it before their code.
pub(crate) struct Everything {
    outcomes: Mutex<Outcomes>,
}

impl Everything {
    fn outcomes(&self) -> MutexGuard<'_, Outcomes> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[profiler(clsid = crate::clsid("Everything"))]
impl Profiler for Everything {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        // What is precompiled would never be compiled here.
        setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
        Ok(Self {
            outcomes: Mutex::default(),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let is_core = method.assembly_name()? == "System.Private.CoreLib";
        let rewritten = match is_core {
            false => method.rewrite(|body, cx| {
                let before = cx.call_native(&NativeCall::new(begun))?;
                let on_return = cx.call_native(&NativeCall::new(returned))?;
                let on_exception = cx.call_native(&NativeCall::new(left))?;
                let wrap = Wrap::new()
                    .before(move |code, _| {
                        code.append(&before);
                    })
                    .on_return(move |code, _| {
                        code.append(&on_return);
                    })
                    .observe_exception(move |code, _, _| {
                        code.append(&on_exception);
                    });
                body.wrap(&wrap, &cx.shape()?)?;
                Ok(())
            }),
            true => method.rewrite(|body, cx| {
                let call = cx.call_native(&NativeCall::new(in_core))?;
                body.prologue(&call)?;
                Ok(())
            }),
        };
        let mut outcomes = self.outcomes();
        match rewritten {
            Ok(rewritten) if !rewritten.is_first() => {}
            Ok(_) if is_core => outcomes.prologues += 1,
            Ok(_) => outcomes.wrapped += 1,
            Err(error) => {
                let reason = RewriteError::of(&error).and_then(RewriteError::reason);
                let reason = match reason {
                    // Not of those with IL.
                    Some(
                        NotInstrumentable::Abstract
                        | NotInstrumentable::PInvoke
                        | NotInstrumentable::InternalCall
                        | NotInstrumentable::Runtime
                        | NotInstrumentable::Extern,
                    ) => return Ok(()),
                    // Without the instruction.
                    Some(reason) => {
                        let reason = format!("{reason:?}");
                        reason.split('(').next().unwrap_or_default().to_owned()
                    }
                    None => {
                        log::line(&error);
                        "other".to_owned()
                    }
                };
                *outcomes.refused.entry(reason).or_default() += 1;
            }
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let outcomes = self.outcomes();
        log::line(format_args!("wrapped {}", outcomes.wrapped));
        log::line(format_args!("prologues {}", outcomes.prologues));
        for (reason, count) in &outcomes.refused {
            log::line(format_args!("refused {reason} {count}"));
        }
        for (name, count) in [
            ("begun", &BEGUN),
            ("returned", &RETURNED),
            ("left", &LEFT),
            ("core", &CORE),
        ] {
            log::line(format_args!("{name} {}", count.load(Ordering::Relaxed)));
        }
        Ok(())
    }
}
