//! The classes of a library's profilers.

use std::any::type_name;
use std::fmt;

use uuid::Uuid;

use crate::error::Result;
use crate::events::CallbackSet;
use crate::profiler::{NoCallbacks, Profiler, Setup};
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

/// The class id with this text.
///
/// # Panics
///
/// If it is not one: a compiler error where `register!` is written.
#[must_use]
pub const fn class_id(text: &str) -> Uuid {
    match Uuid::try_parse(text) {
        Ok(clsid) if !clsid.is_nil() => clsid,
        _ => panic!("a class id reads 8-4-4-4-12 hexadecimal digits, and is not all zeros"),
    }
}

/// The result of a constructor.
pub(super) type NewProfiler = Result<Box<dyn Profiler>>;

/// A profiler of a library: its class id and its constructors.
///
/// Only these differ between profilers; all other code is compiled once with this crate.
#[derive(Clone, Copy)]
pub struct Class {
    pub(super) clsid: Uuid,
    /// The path of the profiler's type.
    pub(super) name: fn() -> &'static str,
    /// The profilers that run as this one; none if it is a single one.
    pub(super) members: &'static [Self],
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
            name: type_name::<P>,
            members: &[],
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

    /// The class of the profiler `P` as a notification profiler, with a class id of its own.
    #[must_use]
    pub const fn notification<P: ProfilerClass>(clsid: Uuid) -> Self {
        Self {
            clsid,
            load_as_notification_only: || true,
            ..Self::of::<P>()
        }
    }

    /// The class of several profilers that run as one.
    #[must_use]
    pub const fn composed(clsid: Uuid, members: &'static [Self]) -> Self {
        Self {
            clsid,
            name: || "compose",
            members,
            overridden: CallbackSet::EMPTY,
            initialize: |_, _| Ok(Box::new(NoCallbacks)),
            initialize_for_attach: |_, _, _| Ok(Box::new(NoCallbacks)),
            load_as_notification_only: || false,
        }
    }

    /// The class of several profilers that run as one, with the class id of the first.
    #[must_use]
    pub const fn composed_as_first(members: &'static [Self]) -> Self {
        Self::composed(members[0].clsid, members)
    }

    /// Whether it can be loaded next to another profiler. Several that run as one can if each of them can.
    pub(super) fn loads_as_notification_only(&self) -> bool {
        match self.members {
            [] => (self.load_as_notification_only)(),
            members => members.iter().all(|it| (it.load_as_notification_only)()),
        }
    }

    /// The name for people: the paths of the profilers' types.
    #[cfg(windows)]
    pub(super) fn display_name(&self) -> String {
        match self.members {
            [] => (self.name)().to_owned(),
            members => {
                let names: Vec<String> = members.iter().map(Self::display_name).collect();
                names.join(", ")
            }
        }
    }

    /// Creates the profiler; `client_data` is that of an attach.
    pub(super) fn make(
        &self,
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: Option<&[u8]>,
    ) -> NewProfiler {
        match client_data {
            Some(client_data) => (self.initialize_for_attach)(info, setup, client_data),
            None => (self.initialize)(info, setup),
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
