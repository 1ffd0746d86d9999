//! The profilers of this library that the runtime tells about an unload, one after the other: ids stay valid until the
//! last one was told.
//!
//! A profiler leaves before it stops to get callbacks. So an unload of which all others were told is either told to it, or
//! it was the last one when it left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::locks::lock;

/// The target that is about to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaving {
    Module(usize),
    Thread(usize),
}

/// A profiler, by the address of its handle.
type Profiler = usize;

static AUDIENCE: Mutex<Audience> = Mutex::new(Audience {
    profilers: BTreeSet::new(),
    untold: BTreeMap::new(),
});

struct Audience {
    /// The profilers that get callbacks.
    profilers: BTreeSet<Profiler>,
    /// The profilers that were not told yet.
    untold: BTreeMap<Leaving, BTreeSet<Profiler>>,
}

/// This profiler gets callbacks from now on.
pub(crate) fn join(profiler: Profiler) {
    lock(&AUDIENCE).profilers.insert(profiler);
}

/// This profiler was told. Whether it was the last one.
pub(crate) fn told(profiler: Profiler, leaving: Leaving) -> bool {
    let audience = &mut *lock(&AUDIENCE);
    let is_member = audience.profilers.contains(&profiler);
    let is_alone = is_member && audience.profilers.len() == 1;
    if !is_alone && is_member {
        let untold = audience.untold.entry(leaving);
        let untold = untold.or_insert_with(|| audience.profilers.clone());
        untold.remove(&profiler);
        if !untold.is_empty() {
            return false;
        }
    }
    audience.untold.remove(&leaving);
    true
}

/// Nobody needs to be told about this anymore.
pub(crate) fn has_left(leaving: Leaving) {
    lock(&AUDIENCE).untold.remove(&leaving);
}

/// This profiler is about to get no callbacks anymore. Returns the targets that all others were told about; `None` if it
/// got no callbacks before.
pub(crate) fn leave(profiler: Profiler) -> Option<Vec<Leaving>> {
    let audience = &mut *lock(&AUDIENCE);
    if !audience.profilers.remove(&profiler) {
        return None;
    }
    let mut told = Vec::new();
    audience.untold.retain(|leaving, untold| {
        untold.remove(&profiler);
        if untold.is_empty() {
            told.push(*leaving);
        }
        !untold.is_empty()
    });
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, because there is one audience in a process. No profiler has such an address.
    #[test]
    fn the_last_one_that_is_told() {
        let [a, b, c] = [1, 3, 5];
        let (module, thread) = (Leaving::Module(8), Leaving::Thread(8));
        assert!(told(a, module), "not a member");
        join(a);
        assert!(told(a, module), "alone");
        join(b);
        assert!(!told(a, module));
        // This one may have begun too late to be told.
        join(c);
        assert!(told(b, module));
        assert!(!told(c, thread));
        assert!(!told(a, thread));
        // It was the last one for this thread, not for the module.
        assert!(!told(c, module));
        assert_eq!(leave(b), Some(vec![thread]));
        assert_eq!(leave(b), None);
        assert!(told(b, module), "has left");
        assert!(!told(c, module));
        has_left(module);
        assert_eq!(leave(a), Some(Vec::new()));
        assert!(told(c, module));
        assert_eq!(leave(c), Some(Vec::new()));
    }
}
