//! The changes of the core library, by which spans follow the execution context although no call writes it.
//!
//! All code of the program that starts work elsewhere captures the context by `ExecutionContext.Capture`: the context is
//! written there. Code runs in a context that was captured by a few methods, which are boundaries for the spans of their thread.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::{MethodSig, TypeSig};
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

use super::native::Call;
use crate::spans::threads;

const CAPTURE: &str = "System.Private.CoreLib!System.Threading.ExecutionContext.Capture()";

const RUN: &str = "\
    System.Private.CoreLib!System.Threading.ExecutionContext.RunInternal\n\
    System.Private.CoreLib!System.Threading.ExecutionContext.RunFromThreadPoolDispatchLoop\n\
    System.Private.CoreLib!System.Threading.ExecutionContext.RunForThreadPoolUnsafe";

/// Since .NET 5.
const CONTINUE: &str =
    "System.Private.CoreLib!System.Threading.Tasks.Sources.*.InvokeContinuationWithContext";
const RESTORE: &str = "System.Private.CoreLib!System.Threading.ExecutionContext.RestoreInternal";

/// Adds the changes.
pub(super) fn follow(
    instrumentation: Instrumentation,
    info: &ProfilerInfo,
) -> Result<Instrumentation> {
    let instrumentation = instrumentation
        .edit_without_helper(CAPTURE, capture)
        .edit_without_helper(RUN, boundary);
    // .NET Core 3.1 reports version 4.
    Ok(match info.runtime_information()?.major {
        5.. => instrumentation
            .edit_without_helper(CONTINUE, boundary)
            .edit_without_helper(RESTORE, restore),
        _ => instrumentation,
    })
}

/// Writes the context before it is captured, if the innermost span is not in it. The core library refers to no
/// other assembly, but can call a method by its address.
fn capture(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let mut code = Fragment::new();
    let (written, done) = (code.label(), code.label());
    let publish = MethodSig::new(TypeSig::Void, vec![TypeSig::NativeInt]);
    code.append(&Call::Captures.code(cx)?)
        .dup()
        .brfalse(written)
        .ldc_i8(threads::publish_cell().cast_signed() as i64)
        .conv_i()
        .ldind_i()
        .calli(&publish)
        .br(done)
        .mark(written)
        .pop()
        .mark(done);
    body.prologue(&code)?;
    Ok(())
}

fn boundary(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let (enter, leave) = (Call::Enter.code(cx)?, Call::Leave.code(cx)?);
    let wrap = Wrap::new()
        .local(TypeSig::NativeInt)
        .before(move |code, method| {
            code.append(&enter).stloc(method.local(0));
        })
        .finally(move |code, method| {
            code.ldloc(method.local(0)).append(&leave);
        });
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

fn restore(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    body.prologue(&Call::Restore.code(cx)?)?;
    Ok(())
}
