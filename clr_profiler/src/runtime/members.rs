//! [`Members`]: the profilers that run as one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::thread_state::Owner;
use crate::event_mask::EventMask;

/// The number of a profiler among those that are composed; [`MemberIndex::NONE`] in all other handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberIndex(u32);

impl MemberIndex {
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// The profilers that are composed and run, in their order; none if the profiler is a single one.
#[derive(Default)]
pub(super) struct Members(OnceLock<Box<[RunningMember]>>);

/// One profiler of a composed one.
pub(crate) struct RunningMember {
    index: MemberIndex,
    name: Arc<str>,
    /// The owner of its own code, which follows the owners of its components.
    owner: Owner,
    /// The events that it and its components have requested.
    events: AtomicU64,
}

impl RunningMember {
    pub(crate) fn new(index: MemberIndex, name: Arc<str>, owner: Owner, events: EventMask) -> Self {
        Self {
            index,
            name,
            owner,
            events: AtomicU64::new(events.bits()),
        }
    }

    fn events(&self) -> EventMask {
        EventMask::from_bits_retain(self.events.load(Ordering::Relaxed))
    }
}

impl Members {
    pub(super) fn set(&self, members: Vec<RunningMember>) {
        let _ = self.0.set(members.into());
    }

    fn all(&self) -> &[RunningMember] {
        self.0.get().map_or(&[], |all| all)
    }

    /// The names of the profilers, if there are several.
    pub(super) fn names(&self) -> Option<String> {
        let names: Vec<String> = self
            .all()
            .iter()
            .map(|it| format!("`{}`", it.name))
            .collect();
        (names.len() > 1).then(|| names.join(" and "))
    }

    /// The owner of code of this profiler outside of callbacks.
    pub(super) fn owner_of(&self, index: MemberIndex) -> Owner {
        let member = self.all().iter().find(|member| member.index == index);
        member.map_or(Owner::PROFILER, |member| member.owner)
    }

    /// The events of the profilers other than that of this owner.
    pub(super) fn events_of_others(&self, owner: Owner) -> EventMask {
        let own = self.of(owner).map(|member| member.index);
        let others = self.all().iter().filter(|it| Some(it.index) != own);
        others.fold(EventMask::empty(), |all, other| all | other.events())
    }

    /// Records the events that the profiler of this owner requests. It may have read them from the runtime, so
    /// those that only the others have requested are not its own.
    pub(super) fn request(&self, owner: Owner, events: EventMask) {
        if let Some(member) = self.of(owner) {
            let of_others = self.events_of_others(owner) - member.events();
            let own = events - of_others;
            member.events.store(own.bits(), Ordering::Relaxed);
        }
    }

    /// The profiler to which the owner belongs.
    fn of(&self, owner: Owner) -> Option<&RunningMember> {
        if owner == Owner::PROFILER {
            return None;
        }
        self.all().iter().find(|member| owner <= member.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profiler_changes_its_own_events() {
        let [jit, gc] = [EventMask::MONITOR_JIT_COMPILATION, EventMask::MONITOR_GC];
        let members = Members::default();
        assert_eq!(
            members.events_of_others(Owner::PROFILER),
            EventMask::empty()
        );
        let [first, second] = [1, 4].map(Owner::component);
        let member = |index, name: &str, owner, events| {
            RunningMember::new(MemberIndex::new(index), name.into(), owner, events)
        };
        members.set(vec![member(0, "a", first, jit), member(2, "b", second, gc)]);
        assert_eq!(members.names().as_deref(), Some("`a` and `b`"));
        assert_eq!(members.owner_of(MemberIndex::new(2)), second);
        assert_eq!(members.owner_of(MemberIndex::NONE), Owner::PROFILER);
        // A component of the second.
        let component = Owner::component(3);
        assert_eq!(members.events_of_others(component), jit);
        assert_eq!(members.events_of_others(first), gc);
        assert_eq!(members.events_of_others(Owner::PROFILER), jit | gc);
        // It has read the events of both.
        members.request(component, jit);
        assert_eq!(members.events_of_others(first), EventMask::empty());
        members.request(first, gc);
        assert_eq!(members.events_of_others(second), gc);
    }
}
