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

/// A kind of runtime, with the version on which rules depend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// .NET Framework.
    Framework,
    /// .NET or .NET Core of this major version; .NET Core 3.1 and older report 4.
    Core(u16),
}

/// The flags that a profiler can have after an attach to .NET Framework, by its documentation.
const ALLOWED_AFTER_ATTACH_TO_FRAMEWORK: EventMask = EventMask::MONITOR_THREADS
    .union(EventMask::MONITOR_MODULE_LOADS)
    .union(EventMask::MONITOR_ASSEMBLY_LOADS)
    .union(EventMask::MONITOR_APPDOMAIN_LOADS)
    .union(EventMask::ENABLE_STACK_SNAPSHOT)
    .union(EventMask::MONITOR_GC)
    .union(EventMask::MONITOR_SUSPENDS)
    .union(EventMask::MONITOR_CLASS_LOADS)
    .union(EventMask::MONITOR_JIT_COMPILATION)
    .union(EventMask::HIGH_IN_MEMORY_SYMBOLS_UPDATED);

/// Flags that are mutable from .NET 10 on, also after an attach; .NET 9.0.7 refuses them.
const MUTABLE_SINCE_10: EventMask =
    EventMask::DISABLE_INLINING.union(EventMask::DISABLE_OPTIMIZATIONS);

/// The flags that a notification profiler can have.
const ALLOWED_FOR_NOTIFICATION: EventMask = EventMask::from_halves(
    sys::COR_PRF_ALLOWABLE_NOTIFICATION_PROFILER,
    sys::COR_PRF_HIGH_ALLOWABLE_NOTIFICATION_PROFILER,
);

/// The flags that only `initialize` can set.
fn immutable(target: Target) -> EventMask {
    let newest = EventMask::from_halves(
        sys::COR_PRF_MONITOR_IMMUTABLE,
        sys::COR_PRF_HIGH_MONITOR_IMMUTABLE,
    );
    match target {
        Target::Framework => newest | MUTABLE_SINCE_10 | EventMask::ENABLE_REJIT,
        Target::Core(10..) => newest,
        Target::Core(_) => newest | MUTABLE_SINCE_10,
    }
}

/// The flags that an attached profiler can have.
fn allowed_after_attach(target: Target) -> EventMask {
    let newest = EventMask::from_halves(
        sys::COR_PRF_ALLOWABLE_AFTER_ATTACH,
        sys::COR_PRF_HIGH_ALLOWABLE_AFTER_ATTACH,
    );
    match target {
        Target::Framework => ALLOWED_AFTER_ATTACH_TO_FRAMEWORK,
        Target::Core(10..) => newest,
        Target::Core(5..) => newest - MUTABLE_SINCE_10,
        // .NET Core 3.1, which has no EventPipe for profilers, reports 4.
        Target::Core(_) => newest - MUTABLE_SINCE_10 - EventMask::HIGH_MONITOR_EVENT_PIPE,
    }
}

/// The problem with these events for a profiler that starts, if any.
pub(crate) fn problem_at_start(
    events: EventMask,
    loaded: Loaded,
    target: Target,
) -> Option<String> {
    let wrong = events - ALLOWED_FOR_NOTIFICATION;
    if loaded.as_notification && !wrong.is_empty() {
        return Some(format!(
            "a notification profiler cannot have {}; load it as the main profiler, or remove them \
             from its `Setup`",
            names(wrong)
        ));
    }
    let wrong = events - allowed_after_attach(target);
    if loaded.by_attach && !wrong.is_empty() {
        return Some(format!(
            "a profiler that is attached to a running program{} cannot have {}; load it at start-up, \
             or remove them from its `Setup`",
            match target {
                Target::Framework => " of .NET Framework",
                Target::Core(_) => "",
            },
            names(wrong)
        ));
    }
    let is_half = target == Target::Framework
        && events.contains(EventMask::ENABLE_REJIT)
        && !events.contains(EventMask::DISABLE_ALL_NGEN_IMAGES);
    is_half.then(|| {
        "on .NET Framework, ENABLE_REJIT needs DISABLE_ALL_NGEN_IMAGES; add it to the `Setup`"
            .to_owned()
    })
}

/// The problem with changing the events after the start, if any.
pub(crate) fn problem_with_change(
    before: EventMask,
    after: EventMask,
    loaded: Loaded,
    target: Target,
) -> Option<String> {
    let changed = before ^ after;
    let wrong = changed & immutable(target);
    if wrong.is_empty() {
        return problem_at_start(changed & after, loaded, target);
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
        let problem =
            |major| problem_with_change(before, after, AT_STARTUP, Target::Core(major)).unwrap();
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
        assert_eq!(
            problem_with_change(before, after, AT_STARTUP, Target::Core(8)),
            None
        );
        let taken = problem_with_change(after, EventMask::empty(), AT_STARTUP, Target::Core(8));
        assert!(taken.unwrap().contains("MONITOR_CODE_TRANSITIONS"));
    }

    #[test]
    fn attached_profilers_get_less() {
        let events = EventMask::MONITOR_JIT_COMPILATION | EventMask::ENABLE_OBJECT_ALLOCATED;
        assert_eq!(problem_at_start(events, AT_STARTUP, Target::Core(8)), None);
        let problem = problem_at_start(events, BY_ATTACH, Target::Core(8)).unwrap();
        assert!(
            problem.contains("cannot have ENABLE_OBJECT_ALLOCATED;"),
            "{problem}"
        );
        let optimizations = EventMask::DISABLE_OPTIMIZATIONS;
        for major in [8, 9] {
            assert!(problem_at_start(optimizations, BY_ATTACH, Target::Core(major)).is_some());
        }
        assert_eq!(
            problem_at_start(optimizations, BY_ATTACH, Target::Core(10)),
            None
        );
        let pipes = EventMask::HIGH_MONITOR_EVENT_PIPE;
        assert!(problem_at_start(pipes, BY_ATTACH, Target::Core(4)).is_some());
        assert_eq!(problem_at_start(pipes, BY_ATTACH, Target::Core(5)), None);
        // After the start, too, but only for new flags.
        let later = problem_with_change(
            events,
            events | EventMask::MONITOR_CCW,
            BY_ATTACH,
            Target::Core(8),
        );
        assert!(later.unwrap().contains("cannot have MONITOR_CCW;"));
    }

    #[test]
    fn a_profiler_of_net_framework_gets_less_after_an_attach() {
        let framework = Target::Framework;
        let events = EventMask::MONITOR_JIT_COMPILATION | EventMask::MONITOR_GC;
        assert_eq!(problem_at_start(events, BY_ATTACH, framework), None);
        for flag in [
            EventMask::ENABLE_REJIT,
            EventMask::MONITOR_EXCEPTIONS,
            EventMask::HIGH_BASIC_GC,
        ] {
            let problem = problem_at_start(events | flag, BY_ATTACH, framework).unwrap();
            let expected = format!(
                "attached to a running program of .NET Framework cannot have {};",
                names(flag)
            );
            assert!(problem.contains(&expected), "{problem}");
            assert_eq!(
                problem_at_start(events | flag, BY_ATTACH, Target::Core(4)),
                None
            );
        }
    }

    #[test]
    fn rejit_on_net_framework_is_for_programs_without_precompiled_images() {
        let events = EventMask::ENABLE_REJIT | EventMask::MONITOR_JIT_COMPILATION;
        let problem = problem_at_start(events, AT_STARTUP, Target::Framework).unwrap();
        assert!(
            problem.contains("needs DISABLE_ALL_NGEN_IMAGES"),
            "{problem}"
        );
        assert_eq!(problem_at_start(events, AT_STARTUP, Target::Core(8)), None);
        let both = events | EventMask::DISABLE_ALL_NGEN_IMAGES;
        assert_eq!(problem_at_start(both, AT_STARTUP, Target::Framework), None);
        // It cannot be switched off later, as it can elsewhere.
        let later = problem_with_change(
            both,
            both - EventMask::ENABLE_REJIT,
            AT_STARTUP,
            Target::Framework,
        );
        assert!(later.unwrap().contains("change ENABLE_REJIT;"));
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
        let problem = problem_at_start(events, AS_NOTIFICATION, Target::Core(8)).unwrap();
        assert!(problem.contains("cannot have ENABLE_REJIT;"), "{problem}");
        let events = EventMask::MONITOR_JIT_COMPILATION | EventMask::HIGH_BASIC_GC;
        assert_eq!(
            problem_at_start(events, AS_NOTIFICATION, Target::Core(8)),
            None
        );
    }
}
