//! The classes of a library's profilers.

use std::fmt;

use uuid::Uuid;

use crate::error::Result;
use crate::events::CallbackSet;
use crate::profiler::{Profiler, Setup};
use crate::runtime::ProfilerInfo;

/// The part of a profiler that `#[profiler]` generates.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be registered: its `impl Profiler` has no `#[profiler]`",
    label = "not a registered profiler",
    note = "write `#[profiler(clsid = \"...\")]` above `impl Profiler for {Self}`, with a GUID of your own"
)]
pub trait ProfilerClass: Profiler {
    /// The class id by which the runtime requests it.
    const CLSID: Uuid;
    /// The callbacks that are implemented.
    const OVERRIDDEN: CallbackSet;
}

/// The result of a constructor.
pub(super) type NewProfiler = Result<Box<dyn Profiler>>;

/// A profiler of a library: its class id and its constructors.
///
/// Only these differ between profilers; all other code is compiled once with this crate.
#[derive(Clone, Copy)]
pub struct Class {
    pub(super) clsid: Uuid,
    pub(super) overridden: CallbackSet,
    pub(super) initialize: fn(&ProfilerInfo, &mut Setup) -> NewProfiler,
    pub(super) initialize_for_attach: fn(&ProfilerInfo, &mut Setup, &[u8]) -> NewProfiler,
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

    /// Whether two of these classes have the same class id, so that one of them is unreachable.
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
