//! [`Callback`], the name of a callback, and [`CallbackSet`], the callbacks that a profiler overrides.

use super::with_callbacks;
use crate::error::Hresult;
use crate::event_mask::EventMask;

macro_rules! define_callback {
    ($(
        interface $interface:ident: $base:ident
        lifecycle { $($special:ident = $handler:ident,)* }
        { $(
            $(#[$doc:meta])*
            $rust:ident = $native:ident($($raw:ident: $raw_type:ty),*)
            [$($event:ident)|*] $context:ident
            ($($arg:ident: $arg_type:ty = $conversion:expr),*) $(-> $out:ident)?;
        )* }
    )*) => {
        /// A callback of the profiling API, by its native name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the methods of `Profiler` document them")]
        pub enum Callback {
            $($($special,)* $($native,)*)*
        }

        impl Callback {
            /// All callbacks, in the order of the native interfaces.
            pub const ALL: &'static [Self] = &[$($(Self::$special,)* $(Self::$native,)*)*];

            /// The method of [`Profiler`](crate::Profiler) that receives it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$special => stringify!($handler),)* $(Self::$native => stringify!($rust),)*)*
                }
            }

            /// The native name, with its interface.
            #[must_use]
            pub const fn native_name(self) -> &'static str {
                match self {
                    $($(Self::$special => concat!(stringify!($interface), "::", stringify!($special)),)*
                      $(Self::$native => concat!(stringify!($interface), "::", stringify!($native)),)*)*
                }
            }

            /// The events without which the runtime does not call it.
            #[must_use]
            pub const fn events(self) -> EventMask {
                match self {
                    $($(Self::$special => EventMask::empty(),)*
                      $(Self::$native => EventMask::empty()$(.union(EventMask::$event))*,)*)*
                }
            }
        }
    };
}

with_callbacks!(define_callback);

impl Callback {
    /// Whether the runtime calls it in cooperative mode, so that a collection waits for its thread. Not
    /// meaningful for callbacks that are called while the runtime is suspended.
    pub(crate) const fn is_cooperative(self) -> bool {
        // `HandleCreated` may be called in preemptive mode if the handle has no object yet.
        matches!(
            self,
            Self::ObjectAllocated | Self::ExceptionThrown | Self::ExceptionCatcherEnter
        )
    }

    /// Whether it reaches components after the profiler, in reverse order, because it reports an end. All
    /// others reach components before the profiler, in their order.
    pub(crate) const fn reaches_components_last(self) -> bool {
        ENDINGS.contains(self)
    }

    /// Whether the runtime calls it for a profiler with these events.
    pub(crate) fn is_enabled_by(self, events: EventMask) -> bool {
        let needed = self.events();
        let also = match self {
            Self::GarbageCollectionStarted | Self::GarbageCollectionFinished => {
                EventMask::MONITOR_GC
            }
            Self::MovedReferences
            | Self::MovedReferences2
            | Self::SurvivingReferences
            | Self::SurvivingReferences2 => EventMask::HIGH_MONITOR_GC_MOVED_OBJECTS,
            Self::ObjectAllocated => EventMask::HIGH_MONITOR_LARGEOBJECT_ALLOCATED,
            _ => EventMask::empty(),
        };
        needed.is_empty() || events.intersects(needed | also)
    }

    /// Whether it reports that a module or an assembly is still being loaded.
    pub(crate) const fn is_loading(self) -> bool {
        matches!(
            self,
            Self::AssemblyLoadStarted
                | Self::AssemblyLoadFinished
                | Self::ModuleLoadStarted
                | Self::ModuleLoadFinished
                | Self::ModuleAttachedToAssembly
        )
    }

    /// Whether it may come so often that measuring its time each time would be noticed: the others come with
    /// work of the runtime that takes much longer.
    pub(crate) const fn is_frequent(self) -> bool {
        matches!(
            self,
            Self::ObjectAllocated
                | Self::ObjectReferences
                | Self::ManagedToUnmanagedTransition
                | Self::UnmanagedToManagedTransition
                | Self::HandleCreated
                | Self::HandleDestroyed
                | Self::FinalizeableObjectQueued
                | Self::JITInlining
                | Self::JITCachedFunctionSearchStarted
                | Self::JITCachedFunctionSearchFinished
                | Self::ClassLoadStarted
                | Self::ClassLoadFinished
                | Self::EventPipeEventDelivered
        )
    }

    /// Whether the library's own components get it after all others: they record loaded things first, and
    /// remove unloaded things when all others have been notified.
    pub(crate) const fn reaches_the_library_last(self) -> bool {
        self.reaches_components_last() && !matches!(self, Self::ModuleLoadFinished)
    }

    /// The HRESULT that the runtime gets when the profiler failed in this callback.
    pub(crate) const fn code_of_failure(self) -> Hresult {
        match self {
            // A failure code here would make the runtime report a ReJIT error for the method.
            Self::GetReJITParameters => Hresult::S_FALSE,
            Self::Initialize | Self::InitializeForAttach => Hresult::E_FAIL,
            _ => Hresult::S_OK,
        }
    }

    /// Whether it may wait for another thread. In cooperative mode it must not, because a suspension of the
    /// runtime waits for the callback.
    pub(crate) const fn may_wait(self) -> bool {
        // All callbacks of exceptions, because on .NET 10 each of them can be in cooperative mode.
        const EXCEPTIONS: EventMask =
            EventMask::MONITOR_EXCEPTIONS.union(EventMask::MONITOR_CLR_EXCEPTIONS);
        let can_be = matches!(
            self,
            Self::HandleCreated
                | Self::HandleDestroyed
                | Self::FinalizeableObjectQueued
                | Self::ThreadAssignedToOSThread
                | Self::ModuleLoadStarted
                | Self::AssemblyLoadStarted
                | Self::AssemblyLoadFinished
                | Self::DynamicMethodUnloaded
                | Self::EventPipeEventDelivered
        );
        // The thread that ends another one holds a lock that others wait for.
        let has_lock = matches!(self, Self::ThreadDestroyed);
        let is_cooperative = self.is_cooperative() || self.events().intersects(EXCEPTIONS);
        !is_cooperative && !can_be && !has_lock
    }
}

/// The callbacks that report an end, recognised by their names.
const ENDINGS: CallbackSet = {
    let mut endings = CallbackSet::EMPTY;
    let mut index = 0;
    while index < Callback::ALL.len() {
        let name = Callback::ALL[index].name();
        let is_end = has(name, "_finished") || has(name, "_unload") || has(name, "_destroyed");
        if is_end || has(name, "shutdown") {
            endings = endings.with(name);
        }
        index += 1;
    }
    endings
};

/// Whether a name contains this part.
const fn has(name: &str, part: &str) -> bool {
    let (mut name, part) = (name.as_bytes(), part.as_bytes());
    while name.len() >= part.len() {
        if equal(name.split_at(part.len()).0, part) {
            return true;
        }
        name = name.split_at(1).1;
    }
    false
}

/// A set of callbacks.
///
/// `#[profiler]` and `#[component]` make one of the callbacks that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallbackSet(u128);

// One bit for each callback.
const _: () = assert!(Callback::ALL.len() <= 128);

impl CallbackSet {
    /// No callback.
    pub const EMPTY: Self = Self(0);

    /// This set with the callback of this name; an unknown name is ignored.
    #[must_use]
    pub const fn with(self, name: &str) -> Self {
        let mut index = 0;
        while index < Callback::ALL.len() {
            let callback = Callback::ALL[index];
            if equal(callback.name().as_bytes(), name.as_bytes()) {
                return Self(self.0 | 1 << callback as u32);
            }
            index += 1;
        }
        self
    }

    /// The callbacks of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of the callbacks for which this is true.
    pub(crate) fn only(self, is_kept: impl Fn(Callback) -> bool) -> Self {
        let kept = self.iter().filter(|callback| is_kept(*callback));
        Self(kept.fold(0, |set, callback| set | 1 << callback as u32))
    }

    /// Whether the callback is in the set.
    #[must_use]
    pub const fn contains(self, callback: Callback) -> bool {
        self.0 & (1 << callback as u32) != 0
    }

    /// The callbacks in the set.
    pub fn iter(self) -> impl Iterator<Item = Callback> {
        Callback::ALL
            .iter()
            .copied()
            .filter(move |callback| self.contains(*callback))
    }

    /// The events that all of them need.
    #[must_use]
    pub fn events(self) -> EventMask {
        self.iter().fold(EventMask::empty(), |mask, callback| {
            mask | callback.events()
        })
    }
}

const fn equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_follows_from_the_callbacks() {
        let set = CallbackSet::EMPTY
            .with("jit_compilation_started")
            .with("object_allocated")
            .with("garbage_collection_started")
            .with("no_such_callback");
        assert_eq!(set.iter().count(), 3);
        assert_eq!(
            set.events(),
            EventMask::MONITOR_JIT_COMPILATION
                | EventMask::MONITOR_OBJECT_ALLOCATED
                | EventMask::ENABLE_OBJECT_ALLOCATED
                | EventMask::HIGH_BASIC_GC
        );
    }

    #[test]
    fn what_ends_something_reaches_components_last() {
        let last = |callback: Callback| callback.reaches_components_last();
        assert!(last(Callback::JITCompilationFinished) && last(Callback::ModuleUnloadStarted));
        assert!(last(Callback::AppDomainShutdownStarted) && last(Callback::Shutdown));
        assert!(last(Callback::DynamicMethodUnloaded) && last(Callback::ThreadDestroyed));
        assert!(!last(Callback::JITCompilationStarted) && !last(Callback::JITInlining));
        assert!(!last(Callback::ModuleAttachedToAssembly));
    }

    #[test]
    fn every_native_callback_is_in_the_table() {
        use clr_profiler_sys::*;
        macro_rules! names {
            ($($interface:ident)*) => {
                [$(($interface::NAME, $interface::METHODS)),*]
            };
        }
        let interfaces = names! {
            ICorProfilerCallback ICorProfilerCallback2 ICorProfilerCallback3 ICorProfilerCallback4
            ICorProfilerCallback5 ICorProfilerCallback6 ICorProfilerCallback7 ICorProfilerCallback8
            ICorProfilerCallback9 ICorProfilerCallback10 ICorProfilerCallback11
        };
        let mut natives: Vec<String> = interfaces
            .iter()
            .flat_map(|(name, methods)| methods.iter().map(move |m| format!("{name}::{}", m.name)))
            .collect();
        let mut table: Vec<_> = Callback::ALL
            .iter()
            .map(|c| c.native_name().to_owned())
            .collect();
        natives.sort();
        table.sort();
        assert_eq!(table, natives);
    }
}
