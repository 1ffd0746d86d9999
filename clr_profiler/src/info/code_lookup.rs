//! [`find_code`]: what has to be done on .NET Core 3.1 before it is asked for a map of native code.

use std::thread;

use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::{Error, Result};
use crate::runtime::{Reach, may_wait};
use clr_profiler_sys as sys;

/// The newest interface of .NET Core 3.1.
const NEWEST: u8 = 11;

/// Has the runtime find code before this thread asks which IL it came from.
///
/// When it is first asked, .NET Core 3.1 finds code with a lock held, and for precompiled code a thread
/// that it knows then waits for a collection that is about to begin. That in turn waits for the threads
/// of the program, and one of them may wait for the lock: for ever. A thread that the runtime does not
/// know waits for no collection, so such a one asks first, with no room for an answer.
pub(super) fn find_code(
    info: &ProfilerInfo,
    call: &'static str,
    ask: impl FnOnce() -> Result<()> + Send,
) -> Result<()> {
    if info.version() > NEWEST {
        return Ok(());
    }
    // Refused as the call itself would be, before anything is waited for.
    drop(info.native::<sys::ICorProfilerInfo>(call, Reach::Collection)?);
    // Where a thread may not wait for others, it does not wait for a collection either.
    if !may_wait() || info.current_thread_id().is_err() {
        return Ok(());
    }
    thread::scope(|scope| {
        let asking = thread::Builder::new().spawn_scoped(scope, ask)?;
        match asking.join() {
            // What goes wrong there goes wrong here, too.
            Ok(_) => Ok(()),
            Err(_) => Err(Error::other("a thread of the library panicked")),
        }
    })
}
