//! [`Components`]: the components that are attached to a profiler.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::traits::Component;
use crate::error::{Error, Result};
use crate::event_mask::EventMask;
use crate::events::{Callback, CallbackSet};
use crate::runtime::{Owner, ProfilerInfo, catch, owned_by};
use clr_profiler_macros::component;

/// A component with its callbacks and events.
pub(crate) struct Attached {
    component: Arc<dyn Component>,
    name: Arc<str>,
    callbacks: CallbackSet,
    events: EventMask,
    panics: AtomicU32,
    panic_limit: u32,
}

impl Attached {
    pub(super) fn new(
        component: Arc<dyn Component>,
        name: Arc<str>,
        callbacks: CallbackSet,
        events: EventMask,
    ) -> Self {
        Self {
            panics: AtomicU32::new(0),
            panic_limit: component.panic_limit().max(1),
            component,
            name,
            callbacks,
            events,
        }
    }

    /// A component of the library itself.
    pub(super) fn of_library(component: Arc<dyn Component>) -> Self {
        let callbacks = component.callbacks();
        Self::new(
            component,
            "clr_profiler".into(),
            callbacks,
            EventMask::empty(),
        )
    }

    pub(crate) fn component(&self) -> &dyn Component {
        &*self.component
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn events(&self) -> EventMask {
        self.events
    }

    /// Whether it has panicked less often than its limit.
    pub(crate) fn is_enabled(&self) -> bool {
        self.panics.load(Ordering::Relaxed) < self.panic_limit
    }

    /// Counts a panic, and returns whether it was the one that disables the component.
    pub(crate) fn count_panic(&self) -> bool {
        let before = self.panics.fetch_add(1, Ordering::Relaxed);
        before.saturating_add(1) == self.panic_limit
    }
}

/// The component's own `drop` is user code. A panic of it ends here: together with a panic of the profiler or
/// of another component, it would end the process.
impl Drop for Attached {
    fn drop(&mut self) {
        let component = mem::replace(&mut self.component, Arc::new(Dropped));
        let _ = catch(move || drop(component));
    }
}

/// Replaces a component while it is dropped.
struct Dropped;

#[component(crate = crate)]
impl Component for Dropped {}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The components of a profiler, in their order.
pub(crate) struct Components {
    /// The callbacks that any component wants. Testing it is all that a callback costs without components.
    wanted: CallbackSet,
    all: Box<[Attached]>,
    /// The library's own components, which get their callbacks whatever events are requested.
    own: Box<[Attached]>,
}

/// The facts about components that are available with nothing but the runtime's handle.
#[derive(Debug, Default)]
struct Registered {
    /// Names and events.
    components: OnceLock<Vec<(Arc<str>, EventMask)>>,
    /// The events of the profiler itself.
    profiler: OnceLock<EventMask>,
}

impl Components {
    /// Sorts the components of a profiler that itself needs these events.
    pub(super) fn new(
        info: &ProfilerInfo,
        mut all: Vec<Attached>,
        events: EventMask,
        own: Vec<Attached>,
    ) -> Self {
        all.sort_by_key(|attached| attached.component.order());
        let components = all
            .iter()
            .map(|attached| (Arc::clone(&attached.name), attached.events));
        let known = info.extension::<Registered>();
        let _ = known.components.set(components.collect());
        let _ = known.profiler.set(events);
        let wanted = |set: CallbackSet, attached: &Attached| set.union(attached.callbacks);
        Self {
            wanted: all.iter().chain(&own).fold(CallbackSet::EMPTY, wanted),
            all: all.into(),
            own: own.into(),
        }
    }

    /// Whether any component wants the callback.
    #[inline]
    pub(crate) fn want(&self, callback: Callback) -> bool {
        self.wanted.contains(callback)
    }

    /// The enabled components that want the callback, in the order in which they get it.
    pub(crate) fn of(&self, callback: Callback) -> impl Iterator<Item = (Owner, &Attached)> {
        let count = self.all.len();
        let is_backwards = callback.reaches_components_last();
        let indices = (0..count).map(move |n| if is_backwards { count - 1 - n } else { n });
        let all = indices.filter_map(|index| Some((Owner::component(index), self.all.get(index)?)));
        // All components are started and shut down.
        all.filter(move |(_, attached)| {
            let is_wanted = matches!(callback, Callback::Initialize | Callback::Shutdown)
                || attached.callbacks.contains(callback);
            is_wanted && attached.is_enabled()
        })
    }

    /// The library's own components that want the callback. They get it before all others, and after them if
    /// [the callback says so](Callback::reaches_the_library_last).
    pub(crate) fn of_library(&self, callback: Callback) -> impl Iterator<Item = &Attached> {
        let own = self.own.iter();
        own.filter(move |attached| attached.callbacks.contains(callback))
    }

    /// Starts the components: the runtime has the events.
    pub(crate) fn start(&self, info: &ProfilerInfo) -> Result<()> {
        for (owner, attached) in self.of(Callback::Initialize) {
            owned_by(owner, || attached.component.start(info))
                .map_err(|error| Error::of_component(&attached.name, error))?;
        }
        Ok(())
    }
}

/// Whether there are components other than the library's own ones.
pub(crate) fn has_components(info: &ProfilerInfo) -> bool {
    let known = info.extension::<Registered>().components.get();
    known.is_some_and(|known| !known.is_empty())
}

/// The events that the profiler and the components need, except for this owner.
pub(crate) fn needed_without(info: &ProfilerInfo, owner: Owner) -> EventMask {
    let known = info.extension::<Registered>();
    let components = known.components.get().into_iter().flatten().enumerate();
    let others = components.filter(|(index, _)| owner.index() != Some(*index));
    let own = known.profiler.get().copied().unwrap_or_default();
    others.fold(own, |all, (_, (_, events))| all | *events)
}

/// The owner as a text: the profiler, or the name of the component.
pub(crate) fn name_of(info: &ProfilerInfo, owner: Owner) -> String {
    let known = info.extension::<Registered>().components.get();
    let index = owner.index();
    let known = index.zip(known).and_then(|(index, known)| known.get(index));
    described(known.map(|(name, _)| name))
}

/// The text for the component of this name, or for the profiler.
pub(super) fn described(component: Option<&Arc<str>>) -> String {
    match component {
        Some(name) => format!("the component `{name}`"),
        None => "the profiler".to_owned(),
    }
}
