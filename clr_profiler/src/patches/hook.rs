//! Runs closures.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::call::Call;
use super::frame::Frame;
use super::site::{Hook, Site};
use super::slot::Stage;
use crate::error::{Error, Result};
use crate::profiler::{FailureCause, patch_failed};
use crate::runtime::message_of_panic;

/// A stage, of which each has code of its own.
pub(super) trait AtStage: Send + Sync {
    const STAGE: Stage;
}

/// A row: a stage.
macro_rules! stages {
    ($($stage:ident)*) => {$(
        pub(super) struct $stage;

        impl AtStage for $stage {
            const STAGE: Stage = Stage::$stage;
        }
    )*};
}

stages! { Before After Exception }

/// The closure of a stage.
struct Staged<S, F> {
    hook: F,
    stage: PhantomData<S>,
}

/// The closure of a stage, for the sites.
pub(super) fn at<S: AtStage + 'static>(
    hook: impl Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
) -> Box<dyn Hook> {
    let stage = PhantomData::<S>;
    Box::new(Staged { hook, stage })
}

impl<S: AtStage, F> Hook for Staged<S, F>
where
    F: Fn(&mut Call<'_>) -> Result<()> + Send + Sync,
{
    fn run(&self, site: &Site, frame: Frame<'_>) -> u64 {
        run(site, frame, S::STAGE, &self.hook)
    }
}

/// Frees the state of a call that ends by an exception.
pub(super) fn abandon(site: &Site, frame: Frame<'_>) {
    run(site, frame, Stage::Abandoned, |_| Ok(()));
}

#[inline(always)]
fn run(
    site: &Site,
    frame: Frame<'_>,
    stage: Stage,
    hook: impl Fn(&mut Call<'_>) -> Result<()>,
) -> u64 {
    // Broken state of a hook affects only the hook. The thread is not marked as in `runtime::catch`, which would take longer than
    // the rest: `site` has panics silenced on threads of the program.
    let ran = catch_unwind(AssertUnwindSafe(move || {
        let mut call = Call::new(&site.layout, frame, stage, site.has_state);
        // Neither the result nor the call is moved: the copies would take longer than all the rest.
        if let Err(error) = hook(&mut call) {
            return failed(site, &mut call, &error);
        }
        call.end() | site.hooks.always(stage)
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
