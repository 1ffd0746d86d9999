//! The functions that IL calls.
//!
//! Each type of closure has a function of its own, of which the closure is a part: no pointer to a function is read during a call.
//!
//! The argument for its `unsafe` code: the IL of [`code`](super::code) alone calls these functions; it passes the address of
//! an [`Entry`], which lives as long as the library, and that of a local that has as many words as the layout says.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::call::Call;
use super::frame::Frame;
use super::hook::{self, AtStage, Bound};
use super::slot::{Layout, Stage};
use crate::error::Result;
use crate::rewrite::NativeCall;

/// A function for IL, with the address that is its first argument. The second one is that of the frame.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) stage: Stage,
    pub(super) function: NativeCall,
    pub(super) bound: i64,
}

/// A closure of a patch.
pub(super) trait Hook: Send + Sync {
    /// The function that calls the closure in methods with these values.
    fn entry(&self, layout: &'static Layout, always: u64, has_state: bool) -> Entry;
}

/// The closure of a stage.
struct Staged<S, F> {
    hook: Arc<F>,
    stage: PhantomData<S>,
}

/// The closure of a stage, for any method.
pub(super) fn at<S: AtStage + 'static>(
    hook: impl Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
) -> Box<dyn Hook> {
    Box::new(Staged {
        hook: Arc::new(hook),
        stage: PhantomData::<S>,
    })
}

impl<S, F> Hook for Staged<S, F>
where
    S: AtStage + 'static,
    F: Fn(&mut Call<'_>) -> Result<()> + Send + Sync + 'static,
{
    fn entry(&self, layout: &'static Layout, always: u64, has_state: bool) -> Entry {
        let bound: &'static Bound<S, F> = Box::leak(Box::new(Bound {
            layout,
            hook: Arc::clone(&self.hook),
            always,
            has_state,
            stage: PhantomData,
        }));
        Entry {
            stage: S::STAGE,
            function: NativeCall::raw(run::<S, F> as extern "C" fn(i64, *mut u64) -> i64),
            bound: std::ptr::from_ref(bound).addr() as i64,
        }
    }
}

/// The function that frees the state of a call that ends by an exception.
pub(super) fn abandoned(layout: &'static Layout) -> Entry {
    Entry {
        stage: Stage::Abandoned,
        function: NativeCall::raw(abandon as extern "C" fn(i64, *mut u64) -> i64),
        bound: std::ptr::from_ref(layout).addr() as i64,
    }
}

extern "C" fn run<S, F>(bound: i64, frame: *mut u64) -> i64
where
    S: AtStage,
    F: Fn(&mut Call<'_>) -> Result<()>,
{
    // SAFETY: the IL has the address that `Hook::entry` has returned together with this function: that of a value of this type, which
    // is never freed or changed.
    let bound = unsafe { &*(bound as usize as *const Bound<S, F>) };
    // SAFETY: the IL passes the address of a local with so many words; it is not accessed until the function returns.
    let frame = unsafe { Frame::new(NonNull::new_unchecked(frame), bound.layout.words) };
    bound.run(frame).cast_signed()
}

extern "C" fn abandon(layout: i64, frame: *mut u64) -> i64 {
    // SAFETY: the IL has the address from `abandoned`: that of a layout, which is never freed or changed.
    let layout = unsafe { &*(layout as usize as *const Layout) };
    // SAFETY: as in `run`.
    let frame = unsafe { Frame::new(NonNull::new_unchecked(frame), layout.words) };
    hook::abandon(layout, frame);
    0
}
