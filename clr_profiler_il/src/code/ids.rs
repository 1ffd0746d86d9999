//! Ids of instructions, labels and pieces of code, and positions.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// The id of an instruction in one body. Edits around the instruction do not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionId(pub(crate) u32);

/// A branch target in one body or fragment.
///
/// A label belongs to the body or fragment that made it, and to clones made since; any other
/// refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// Its index in its owner.
    pub(crate) index: u32,
    pub(crate) owner: Owner,
}

/// The id of one body or fragment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Owner(u32);

impl Owner {
    /// No owner.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        // After four billion the ids repeat: no labels of the first owners are in use by then.
        Self(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1))
    }
}

impl fmt::Debug for Owner {
    /// Omits the id, which differs between otherwise equal copies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner")
    }
}

/// A position between instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// Before this instruction.
    Before(InstructionId),
    /// After the last instruction.
    End,
}
