//! The events that a profiler may have, depending on how it was loaded and on the version of the runtime.
//!
//! The runtime refuses a whole mask with one code for every mistake. These checks name the wrong flags
//! before the native call.

use super::EventMask;
use clr_profiler_sys as sys;

/// How the runtime loaded the profiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loaded {
    /// Whether it was attached to a running program, instead of loaded at start-up.
    pub(crate) by_attach: bool,
    /// Whether it is a notification profiler, which can run next to a main profiler.
    pub(crate) as_notification: bool,
}

/// Flags that are mutable from .NET 10 on, also after an attach; .NET 9.0.7 refuses them.
const MUTABLE_SINCE_10: EventMask =
    EventMask::DISABLE_INLINING.union(EventMask::DISABLE_OPTIMIZATIONS);

/// The flags that a notification profiler can have.
const ALLOWED_FOR_NOTIFICATION: EventMask = EventMask::from_halves(
    sys::COR_PRF_ALLOWABLE_NOTIFICATION_PROFILER,
    sys::COR_PRF_HIGH_ALLOWABLE_NOTIFICATION_PROFILER,
);

/// The flags that only `initialize` can set.
fn immutable(runtime_major: u16) -> EventMask {
    let newest = EventMask::from_halves(
        sys::COR_PRF_MONITOR_IMMUTABLE,
        sys::COR_PRF_HIGH_MONITOR_IMMUTABLE,
    );
    if runtime_major >= 10 {
        newest
    } else {
        newest | MUTABLE_SINCE_10
    }
}

/// The flags that an attached profiler can have.
fn allowed_after_attach(runtime_major: u16) -> EventMask {
    let newest = EventMask::from_halves(
        sys::COR_PRF_ALLOWABLE_AFTER_ATTACH,
        sys::COR_PRF_HIGH_ALLOWABLE_AFTER_ATTACH,
    );
    match runtime_major {
        10.. => newest,
        5.. => newest - MUTABLE_SINCE_10,
        // .NET Core 3.1, which has no EventPipe for profilers, reports 4.
        _ => newest - MUTABLE_SINCE_10 - EventMask::HIGH_MONITOR_EVENT_PIPE,
    }
}

/// The problem with these events for a profiler that starts, if any.
pub(crate) fn problem_at_start(
    events: EventMask,
    loaded: Loaded,
    runtime_major: u16,
) -> Option<String> {
    let wrong = events - ALLOWED_FOR_NOTIFICATION;
    if loaded.as_notification && !wrong.is_empty() {
        return Some(format!(
            "a notification profiler cannot have {}; load it as the main profiler, or remove them \
             from its `Setup`",
            names(wrong)
        ));
    }
    let wrong = events - allowed_after_attach(runtime_major);
    let is_wrong = loaded.by_attach && !wrong.is_empty();
    is_wrong.then(|| {
        format!(
            "a profiler that is attached to a running program cannot have {}; load it at start-up, \
             or remove them from its `Setup`",
            names(wrong)
        )
    })
}

/// The problem with changing the events after the start, if any.
pub(crate) fn problem_with_change(
    before: EventMask,
    after: EventMask,
    loaded: Loaded,
    runtime_major: u16,
) -> Option<String> {
    let changed = before ^ after;
    let wrong = changed & immutable(runtime_major);
    if wrong.is_empty() {
        return problem_at_start(changed & after, loaded, runtime_major);
    }
    Some(format!(
        "only `initialize` can change {}; set or remove them in its `Setup`",
        names(wrong)
    ))
}

/// The flags that a version of `ICorProfilerInfo` added, newest first.
const SINCE: [(EventMask, u8); 2] = [
    (
        EventMask::HIGH_MONITOR_EVENT_PIPE.union(EventMask::HIGH_MONITOR_PINNEDOBJECT_ALLOCATED),
        12,
    ),
    (EventMask::from_halves(0, u32::MAX), 5),
];

/// One of these flags that a runtime with this version of `ICorProfilerInfo` does not support, and the
/// version that does.
pub(crate) fn unknown_to(events: EventMask, version: u8) -> Option<(&'static str, u8)> {
    let (flags, needs) = SINCE
        .iter()
        .find(|(flags, needs)| version < *needs && events.intersects(*flags))?;
    let (name, _) = (events & *flags).iter_names().next()?;
    Some((name, *needs))
}

/// The names of the flags; a flag that contains others precedes them.
pub(crate) fn names(events: EventMask) -> String {
    let names: Vec<&str> = events.iter_names().map(|(name, _)| name).collect();
    if names.is_empty() {
        format!("the flags {:#x}", events.bits())
    } else {
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_STARTUP: Loaded = Loaded {
        by_attach: false,
        as_notification: false,
    };
    const BY_ATTACH: Loaded = Loaded {
        by_attach: true,
        ..AT_STARTUP
    };
    const AS_NOTIFICATION: Loaded = Loaded {
        as_notification: true,
        ..AT_STARTUP
    };

    #[test]
    fn immutable_flags_are_named_by_version() {
        let before = EventMask::MONITOR_GC;
        let after = before | EventMask::DISABLE_INLINING | EventMask::MONITOR_CODE_TRANSITIONS;
        let problem = |major| problem_with_change(before, after, AT_STARTUP, major).unwrap();
        for major in [8, 9] {
            let text = problem(major);
            assert!(
                text.contains("change MONITOR_CODE_TRANSITIONS, DISABLE_INLINING;"),
                "{text}"
            );
        }
        assert!(problem(10).contains("change MONITOR_CODE_TRANSITIONS;"));
    }

    #[test]
    fn what_stays_as_it_is_may_be_immutable() {
        let before = EventMask::MONITOR_CODE_TRANSITIONS;
        let after = before | EventMask::MONITOR_GC;
        assert_eq!(problem_with_change(before, after, AT_STARTUP, 8), None);
        let taken = problem_with_change(after, EventMask::empty(), AT_STARTUP, 8);
        assert!(taken.unwrap().contains("MONITOR_CODE_TRANSITIONS"));
    }

    #[test]
    fn attached_profilers_get_less() {
        let events = EventMask::MONITOR_JIT_COMPILATION | EventMask::ENABLE_OBJECT_ALLOCATED;
        assert_eq!(problem_at_start(events, AT_STARTUP, 8), None);
        let problem = problem_at_start(events, BY_ATTACH, 8).unwrap();
        assert!(
            problem.contains("cannot have ENABLE_OBJECT_ALLOCATED;"),
            "{problem}"
        );
        let optimizations = EventMask::DISABLE_OPTIMIZATIONS;
        for major in [8, 9] {
            assert!(problem_at_start(optimizations, BY_ATTACH, major).is_some());
        }
        assert_eq!(problem_at_start(optimizations, BY_ATTACH, 10), None);
        let pipes = EventMask::HIGH_MONITOR_EVENT_PIPE;
        assert!(problem_at_start(pipes, BY_ATTACH, 4).is_some());
        assert_eq!(problem_at_start(pipes, BY_ATTACH, 5), None);
        // After the start, too, but only for new flags.
        let later = problem_with_change(events, events | EventMask::MONITOR_CCW, BY_ATTACH, 8);
        assert!(later.unwrap().contains("cannot have MONITOR_CCW;"));
    }

    #[test]
    fn flags_are_known_since_a_version() {
        let events = EventMask::HIGH_MONITOR_EVENT_PIPE | EventMask::HIGH_BASIC_GC;
        assert_eq!(unknown_to(events, 12), None);
        assert_eq!(
            unknown_to(events, 11),
            Some(("HIGH_MONITOR_EVENT_PIPE", 12))
        );
        assert_eq!(unknown_to(EventMask::HIGH_BASIC_GC, 11), None);
        assert_eq!(
            unknown_to(EventMask::HIGH_BASIC_GC, 4),
            Some(("HIGH_BASIC_GC", 5))
        );
    }

    #[test]
    fn notification_profilers_change_nothing() {
        let events = EventMask::MONITOR_JIT_COMPILATION | EventMask::ENABLE_REJIT;
        let problem = problem_at_start(events, AS_NOTIFICATION, 8).unwrap();
        assert!(problem.contains("cannot have ENABLE_REJIT;"), "{problem}");
        let events = EventMask::MONITOR_JIT_COMPILATION | EventMask::HIGH_BASIC_GC;
        assert_eq!(problem_at_start(events, AS_NOTIFICATION, 8), None);
    }
}
