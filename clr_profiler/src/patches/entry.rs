//! The functions that IL calls.
//!
//! The argument for its `unsafe` code: the IL of [`code`](super::code) alone calls these functions; it passes the address of
//! a [`Site`] that lives as long as the library, and that of a local that has as many words as the site says.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use super::call::Call;
use super::frame::Frame;
use super::site::Site;
use super::slot::Stage;
use crate::error::Error;
use crate::profiler::{FailureCause, patch_failed};
use crate::runtime::message_of_panic;

/// Runs the hook of a stage. Returns the [`bits`](super::slot::bits) by which the IL continues: 0 if the hook has failed, so that the
/// method runs as without it.
///
/// # Safety
///
/// As of the module.
#[inline(always)]
unsafe fn run<S: AtStage>(site: usize, frame: *mut u64) -> u64 {
    let (Some(site), Some(first)) = (NonNull::new(site as *mut Site), NonNull::new(frame)) else {
        return 0;
    };
    // SAFETY: the IL has the address of a site, which is never freed or changed.
    let site: &Site = unsafe { site.as_ref() };
    // SAFETY: the IL passes a local with so many words; it is not accessed until this function returns.
    let frame = unsafe { Frame::new(first, site.layout.words) };
    // Broken state of a hook affects only the hook. The thread is not marked as in `runtime::catch`, which would take longer than
    // the rest: `site` has panics silenced on threads of the program.
    let ran = catch_unwind(AssertUnwindSafe(move || {
        let mut call = Call::new(&site.layout, frame, S::STAGE, site.hooks.keeps(S::STAGE));
        // Neither the result nor the call is moved: the copies would take longer than all the rest.
        if let Some(hook) = site.hooks.of(S::STAGE)
            && let Err(error) = hook(&mut call)
        {
            return failed(site, &mut call, &error);
        }
        call.end() | site.hooks.always(S::STAGE)
    }));
    match ran {
        Ok(bits) => bits,
        Err(panic) => panicked(site, panic),
    }
}

#[cold]
fn failed(site: &Site, call: &mut Call<'_>, error: &Error) -> u64 {
    call.fail();
    let text = format!("in a call of {}: {error}", site.layout.method);
    patch_failed(FailureCause::Error(Error::other(text)));
    0
}

#[cold]
fn panicked(site: &Site, panic: Box<dyn Any + Send>) -> u64 {
    let message = message_of_panic(panic);
    let text = format!("in a call of {}: {message}", site.layout.method);
    patch_failed(FailureCause::Panic(text));
    0
}

/// A stage, of which each has code of its own.
trait AtStage {
    const STAGE: Stage;
}

/// A row: the function of a stage.
macro_rules! stages {
    ($($name:ident $stage:ident;)*) => {$(
        struct $stage;

        impl AtStage for $stage {
            const STAGE: Stage = Stage::$stage;
        }

        pub(super) extern "C" fn $name(site: i64, frame: *mut u64) -> i64 {
            // SAFETY: IL of this crate alone calls it, with these arguments.
            unsafe { run::<$stage>(site as usize, frame) }.cast_signed()
        }
    )*};
}

stages! {
    before Before;
    after After;
    exception Exception;
    abandoned Abandoned;
}
