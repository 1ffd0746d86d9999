//! The names of instructions, places and pieces of code.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names an instruction of one body. It stays the same whatever is inserted or removed around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionId(pub(crate) u32);

/// Names a place that branches go to, in one body or fragment.
///
/// A label belongs to the body or fragment that made it, and to copies that were cloned from that since:
/// elsewhere it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// Its number there.
    pub(crate) index: u32,
    pub(crate) owner: Owner,
}

/// Names one body or fragment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Owner(u32);

impl Owner {
    /// Nobody in particular.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        // After four billion they come again: by then nobody has labels of the first ones.
        Self(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1))
    }
}

impl fmt::Debug for Owner {
    /// Without its number, which tells copies apart that are alike.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner")
    }
}

/// A place between instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// Before this instruction.
    Before(InstructionId),
    /// After the last instruction.
    End,
}
