//! The changes of the core library, by which spans follow the execution context although no call writes it.
//!
//! All code of the program that starts work elsewhere captures the context by `ExecutionContext.Capture`: the context is
//! written there. Code runs in a context that was captured by a few methods, which are boundaries for the spans of their thread.
//!
//! The core library refers to no helper, and must not get new tokens either: the runtime is slower with it once it is open for writing, which
//! short programs notice. It has no signature for a call of a function of the profiler. So its methods call delegates of
//! the helper, and the boundaries are kept on the stack of the thread instead of in locals.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

use crate::spans::threads::{self, Change};

const CAPTURE: &str = "System.Private.CoreLib!System.Threading.ExecutionContext.Capture()";

const RUN: &str = "\
    System.Private.CoreLib!System.Threading.ExecutionContext.RunInternal\n\
    System.Private.CoreLib!System.Threading.ExecutionContext.RunFromThreadPoolDispatchLoop\n\
    System.Private.CoreLib!System.Threading.ExecutionContext.RunForThreadPoolUnsafe";

/// Since .NET 8.
const CONTINUE: &str = "System.Private.CoreLib!\
    System.Threading.Tasks.Sources.ManualResetValueTaskSourceCoreShared.InvokeContinuationWithContext";
/// Of .NET 5 to 7.
const CONTINUE_BEFORE: &str =
    "System.Private.CoreLib!System.Threading.Tasks.Sources.*.InvokeContinuationWithContext";
const RESTORE: &str = "System.Private.CoreLib!System.Threading.ExecutionContext.RestoreInternal";

/// Adds the changes.
pub(super) fn follow(
    instrumentation: Instrumentation,
    info: &ProfilerInfo,
) -> Result<Instrumentation> {
    let instrumentation = instrumentation
        .edit_without_new_tokens(CAPTURE, prologue(Change::Captures))
        .edit_without_new_tokens(RUN, boundary);
    // .NET Core 3.1 reports version 4.
    let major = info.runtime_information()?.major;
    let continues = match major {
        8.. => CONTINUE,
        5.. => CONTINUE_BEFORE,
        _ => return Ok(instrumentation),
    };
    Ok(instrumentation
        .edit_without_new_tokens(continues, boundary)
        .edit_without_new_tokens(RESTORE, prologue(Change::Restores)))
}

/// Calls the delegate for a change, once the helper is loaded.
fn call(change: Change) -> Fragment {
    let mut code = Fragment::new();
    let (missing, done) = (code.label(), code.label());
    let invoke = MethodSymbol::new("[corelib]System.Action", "Invoke", "instance void ()");
    // A handle is the address of its reference.
    code.ldc_i8(threads::change_cell(change).cast_signed() as i64)
        .conv_i()
        .ldind_i()
        .dup()
        .brfalse(missing)
        .ldind_ref()
        .callvirt(&invoke)
        .br(done)
        .mark(missing)
        .pop()
        .mark(done);
    code
}

fn prologue(
    change: Change,
) -> impl Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> + Send + Sync {
    move |body, _| {
        body.prologue(&call(change))?;
        Ok(())
    }
}

fn boundary(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let wrap = Wrap::new()
        .before(|code, _| {
            code.append(&call(Change::Enters));
        })
        .finally(|code, _| {
            code.append(&call(Change::Leaves));
        });
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}
