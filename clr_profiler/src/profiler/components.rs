//! [`Components`]: the components that are attached to a profiler.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::failure::Failure;
use super::failures::report;
use super::member::Member;
use super::setup::FailureHook;
use super::traits::Component;
use crate::error::{Error, Result};
use crate::event_mask::EventMask;
use crate::events::{Callback, CallbackSet};
use crate::runtime::{Owner, ProfilerInfo, RunningMember, catch, owned_by};
use clr_profiler_macros::component;

/// A component with its callbacks and events.
pub(crate) struct Attached {
    component: Arc<dyn Component>,
    /// The handle of its profiler.
    info: ProfilerInfo,
    /// The profiler to which it belongs, if several run as one.
    member: Option<Arc<Member>>,
    /// Whether it is that profiler.
    is_profiler: bool,
    name: Arc<str>,
    callbacks: CallbackSet,
    events: EventMask,
    panics: AtomicU32,
    panic_limit: u32,
}

impl Attached {
    pub(super) fn new(
        info: &ProfilerInfo,
        component: Arc<dyn Component>,
        name: Arc<str>,
        callbacks: CallbackSet,
        events: EventMask,
    ) -> Self {
        Self {
            info: info.clone(),
            member: None,
            is_profiler: false,
            panics: AtomicU32::new(0),
            panic_limit: component.panic_limit().max(1),
            component,
            name,
            callbacks,
            events,
        }
    }

    /// A component of the library itself.
    pub(super) fn of_library(info: &ProfilerInfo, component: Arc<dyn Component>) -> Self {
        let callbacks = component.callbacks();
        Self::new(
            info,
            component,
            "clr_profiler".into(),
            callbacks,
            EventMask::empty(),
        )
    }

    pub(crate) fn component(&self) -> &dyn Component {
        &*self.component
    }

    /// The handle of its profiler.
    pub(crate) fn info(&self) -> &ProfilerInfo {
        &self.info
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Makes it a component of this profiler, or the profiler itself.
    pub(super) fn belongs_to(&mut self, member: &Arc<Member>, is_profiler: bool) {
        self.member = Some(Arc::clone(member));
        self.is_profiler = is_profiler;
    }

    /// Reports one of its failures to the hook of its profiler, which is `hook` unless several run as one.
    #[cold]
    pub(crate) fn report(&self, hook: Option<&FailureHook>, failure: Failure) {
        let component = (!self.is_profiler).then(|| Arc::clone(&self.name));
        let failure = Failure {
            component,
            ..failure
        };
        match &self.member {
            Some(member) => member.report(failure),
            None => report(hook, failure),
        }
    }

    /// It as a text: a component, or a profiler that runs as one with others.
    fn described(&self) -> String {
        let member = self.member.as_ref().map(|member| member.name());
        described((!self.is_profiler).then_some(&self.name), member)
    }

    pub(super) fn events(&self) -> EventMask {
        self.events
    }

    /// Whether it has panicked less often than its limit, and its profiler could start.
    pub(crate) fn is_enabled(&self) -> bool {
        let has_failed = self.member.as_ref().is_some_and(|it| it.has_failed());
        self.panics.load(Ordering::Relaxed) < self.panic_limit && !has_failed
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
    /// Texts and events.
    components: OnceLock<Vec<(String, EventMask)>>,
    /// The events of the profiler itself.
    profiler: OnceLock<EventMask>,
}

impl Components {
    /// The components of a profiler that itself needs these events, in their order.
    pub(crate) fn new(
        info: &ProfilerInfo,
        all: Vec<Attached>,
        events: EventMask,
        own: Vec<Arc<dyn Component>>,
    ) -> Self {
        let own = own.into_iter().map(|it| Attached::of_library(info, it));
        let own: Vec<Attached> = own.collect();
        let components = all
            .iter()
            .map(|attached| (attached.described(), attached.events));
        let members = all.iter().enumerate().filter_map(|(index, attached)| {
            let member = attached.member.as_ref().filter(|_| attached.is_profiler)?;
            let (name, owner) = (Arc::clone(&member.name), Owner::component(index));
            Some(RunningMember::new(member.index, name, owner, member.events))
        });
        info.set_members(members.collect());
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

    /// Starts the components: the runtime has the events. If several profilers run as one, an error disables
    /// only the profiler of the component, and is passed to `failed`, unless it is the last one.
    pub(crate) fn start(&self, failed: impl Fn(&Member, Error)) -> Result<()> {
        for (owner, attached) in self.of(Callback::Initialize) {
            let started = owned_by(owner, || attached.component.start(&attached.info));
            let Err(error) = started else {
                continue;
            };
            let error = Error::of_component(&attached.name, error);
            match &attached.member {
                None => return Err(error),
                Some(member) => {
                    member.fail();
                    if !self.all.iter().any(Attached::is_enabled) {
                        return Err(error);
                    }
                    failed(member, error);
                }
            }
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

/// The owner as a text: a profiler, or a component.
pub(crate) fn name_of(info: &ProfilerInfo, owner: Owner) -> String {
    let known = info.extension::<Registered>().components.get();
    let index = owner.index();
    let known = index.zip(known).and_then(|(index, known)| known.get(index));
    known.map_or_else(|| described(None, None), |(text, _)| text.clone())
}

/// The text for the component of this name, or for the profiler, which has a name if several run as one.
pub(super) fn described(component: Option<&Arc<str>>, profiler: Option<&Arc<str>>) -> String {
    match (component, profiler) {
        (Some(name), Some(profiler)) => {
            format!("the component `{name}` of the profiler `{profiler}`")
        }
        (Some(name), None) => format!("the component `{name}`"),
        (None, Some(profiler)) => format!("the profiler `{profiler}`"),
        (None, None) => "the profiler".to_owned(),
    }
}
