//! What a library offers to the runtime: the classes of its profilers.

use std::fmt;

use uuid::Uuid;

use crate::error::Result;
use crate::events::CallbackSet;
use crate::profiler::{Profiler, Setup};
use crate::runtime::ProfilerInfo;

/// The part of a profiler that `#[profiler]` writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be registered: its `impl Profiler` has no `#[profiler]`",
    label = "not a registered profiler",
    note = "write `#[profiler(clsid = \"...\")]` above `impl Profiler for {Self}`, with a GUID of your own"
)]
pub trait ProfilerClass: Profiler {
    /// The class id under which the runtime asks for it.
    const CLSID: Uuid;
    /// The callbacks that its author wrote.
    const OVERRIDDEN: CallbackSet;
}

/// A profiler that was made.
pub(super) type Made = Result<Box<dyn Profiler>>;

/// A profiler of a library: its class id, and its constructors.
///
/// All else is the same code for each profiler, compiled once with this crate.
#[derive(Clone, Copy)]
pub struct Class {
    pub(super) clsid: Uuid,
    pub(super) overridden: CallbackSet,
    pub(super) initialize: fn(&ProfilerInfo, &mut Setup) -> Made,
    pub(super) initialize_for_attach: fn(&ProfilerInfo, &mut Setup, &[u8]) -> Made,
    pub(super) load_as_notification_only: fn() -> bool,
}

impl Class {
    /// The class of the profiler `P`.
    #[must_use]
    pub const fn of<P: ProfilerClass>() -> Self {
        Self {
            clsid: P::CLSID,
            overridden: P::OVERRIDDEN,
            initialize: |info, setup| Ok(Box::new(P::initialize(info, setup)?)),
            initialize_for_attach: |info, setup, client_data| {
                Ok(Box::new(P::initialize_for_attach(
                    info,
                    setup,
                    client_data,
                )?))
            },
            load_as_notification_only: P::load_as_notification_only,
        }
    }

    /// Whether two of these classes share a class id, so that one could never be reached.
    #[must_use]
    pub const fn any_clsid_twice(classes: &[Self]) -> bool {
        let mut first = 0;
        while first < classes.len() {
            let mut second = first + 1;
            while second < classes.len() {
                if classes[first].clsid.as_u128() == classes[second].clsid.as_u128() {
                    return true;
                }
                second += 1;
            }
            first += 1;
        }
        false
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Class").field(&self.clsid).finish()
    }
}
