//! Runs closures.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::call::Call;
use super::frame::Frame;
use super::slot::{Layout, Stage};
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

/// The closure of a stage in one patched method.
pub(super) struct Bound<S, F> {
    pub(super) layout: &'static Layout,
    pub(super) hook: Arc<F>,
    /// The decisions that do not depend on the closure.
    pub(super) always: u64,
    /// Whether a state that one closure keeps can be used by another; otherwise frames have none.
    pub(super) has_state: bool,
    pub(super) stage: PhantomData<S>,
}

impl<S: AtStage, F: Fn(&mut Call<'_>) -> Result<()>> Bound<S, F> {
    /// Calls the closure. Returns the [`bits`](super::slot::bits) by which the IL continues: 0 if it has failed, so that the method
    /// runs as without it.
    #[inline(always)]
    pub(super) fn run(&self, frame: Frame<'_>) -> u64 {
        if self.has_state && frame.has_state() {
            return self.run_with_state(frame);
        }
        let call = Call::new(self.layout, frame, S::STAGE, self.has_state);
        run::<_, false>(call, self.always, &*self.hook)
    }

    /// Apart, so that the code of other calls needs no address of the [`Call`] unless the closure does.
    #[inline(never)]
    fn run_with_state(&self, frame: Frame<'_>) -> u64 {
        let call = Call::new(self.layout, frame, S::STAGE, true);
        run::<_, true>(call, self.always, &*self.hook)
    }
}

/// Frees the state of a call that ends by an exception.
pub(super) fn abandon(layout: &Layout, frame: Frame<'_>) {
    let call = Call::new(layout, frame, Stage::Abandoned, true);
    run::<_, true>(call, 0, &|_| Ok(()));
}

/// The parts of a run.
struct Run<'a, 'c, F> {
    call: Call<'c>,
    always: u64,
    hook: &'a F,
}

#[inline(always)]
fn run<F, const TAKES_STATE: bool>(call: Call<'_>, always: u64, hook: &F) -> u64
where
    F: Fn(&mut Call<'_>) -> Result<()>,
{
    let mut run = Run { call, always, hook };
    // One pointer is passed on, if the compiler does not inline the function: copies of the parts would take longer than all the rest.
    let parts = &mut run;
    // Broken state of a hook affects only the hook. The thread is not marked as in `runtime::catch`, which would take longer than
    // the rest: `site` has panics silenced on threads of the program.
    let ran = catch_unwind(AssertUnwindSafe(move || {
        if TAKES_STATE {
            parts.call.take_state();
        }
        if let Err(error) = (parts.hook)(&mut parts.call) {
            return failed(&mut parts.call, &error);
        }
        parts.call.end() | parts.always
    }));
    match ran {
        Ok(bits) => bits,
        Err(panic) => panicked(&mut run.call, panic),
    }
}

#[cold]
#[inline(never)]
fn failed(call: &mut Call<'_>, error: &Error) -> u64 {
    call.fail();
    let text = format!("in a call of {}: {error}", call.method());
    patch_failed(FailureCause::Error(Error::other(text)));
    0
}

#[cold]
#[inline(never)]
fn panicked(call: &mut Call<'_>, panic: Box<dyn Any + Send>) -> u64 {
    call.drop_state();
    let message = message_of_panic(panic);
    let text = format!("in a call of {}: {message}", call.method());
    patch_failed(FailureCause::Panic(text));
    0
}
