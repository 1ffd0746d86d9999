//! [`find_code`], which .NET Core 3.1 needs before a query for a map of native code.

use std::thread;

use super::{CorProfilerInfo, ProfilerInfo};
use crate::error::{Error, Result};
use crate::runtime::{CallKind, may_wait};
use clr_profiler_sys as sys;

/// The newest interface of .NET Core 3.1.
const NEWEST: u8 = 11;

/// Makes the runtime find code on another thread before this thread queries its IL mapping.
///
/// On the first query, .NET Core 3.1 finds code while it holds a lock. For precompiled code, a thread that
/// the runtime knows then waits for a collection that is about to begin. The collection waits for the
/// threads of the program, and one of them may wait for the lock: a deadlock. A thread that the runtime
/// does not know waits for no collection, so such a thread makes a first query, with a buffer of length 0.
pub(super) fn find_code(
    info: &ProfilerInfo,
    call: &'static str,
    ask: impl FnOnce() -> Result<()> + Send,
) -> Result<()> {
    if info.version() > NEWEST {
        return Ok(());
    }
    // Refused under the same conditions as the call itself, before anything waits.
    drop(info.native::<sys::ICorProfilerInfo>(call, CallKind::GcTriggers)?);
    // A thread that may not wait for others does not wait for a collection either.
    if !may_wait() || info.current_thread_id().is_err() {
        return Ok(());
    }
    thread::scope(|scope| {
        let asking = thread::Builder::new().spawn_scoped(scope, ask)?;
        match asking.join() {
            // An error there recurs in the call of this thread.
            Ok(_) => Ok(()),
            Err(_) => Err(Error::other("a thread of the library panicked")),
        }
    })
}
