use super::Slots;

/// So many bytes can be read from the beginning of any instruction.
pub(crate) const PADDING: usize = 32;

/// What a body was decoded from, and where it is no longer like that.
///
/// Instructions that did not change are written by copying their bytes, many at once. The nodes of
/// the decoded instructions come first in the code, and keep their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Original {
    /// The code, and [`PADDING`] after it.
    pub(crate) bytes: Vec<u8>,
    /// The size of the code.
    pub(crate) size: usize,
    /// The number of instructions: their nodes are those from 1 to this one.
    pub(crate) count: u32,
    /// Their branches and switches, and the `ret` and `jmp` instructions, in order.
    pub(crate) jumps: Slots<u32>,
    /// Those of the branches that are long.
    pub(crate) long: Vec<u32>,
    /// By offset, the node of the instruction that begins there. Where none begins, anything.
    pub(crate) starts: Vec<u32>,
    /// In any order, with repetitions.
    pub(crate) changes: Vec<Change>,
}

/// A decoded instruction for which the bytes are no longer all. They are ordered as the instructions
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change(u64);

impl Change {
    /// The instruction is not to be written as it was.
    pub(crate) const fn written(node: u32) -> Self {
        Self((node as u64) << 1)
    }

    /// It is to be written as it was, but another one follows it.
    pub(crate) const fn followed(node: u32) -> Self {
        Self(((node as u64) << 1) | 1)
    }

    pub(crate) const fn node(self) -> u32 {
        (self.0 >> 1) as u32
    }

    pub(crate) const fn is_followed(self) -> bool {
        self.0 & 1 != 0
    }
}

impl Original {
    /// Forgets everything but the memory.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.size = 0;
        self.count = 0;
        self.jumps.clear();
        self.long.clear();
        self.changes.clear();
    }

    /// The instructions that are not to be written as they were, perhaps repeatedly.
    pub(super) fn written(&self) -> impl Iterator<Item = u32> {
        let changes = self.changes.iter();
        changes
            .filter(|change| !change.is_followed())
            .map(|change| change.node())
    }

    /// Whether a node is one that was decoded.
    #[inline]
    pub(crate) const fn contains(&self, node: u32) -> bool {
        node.wrapping_sub(1) < self.count
    }

    /// Notes a change, if the instruction is one that was decoded.
    #[inline]
    pub(super) fn note(&mut self, change: Change) {
        if self.contains(change.node()) {
            self.changes.push(change);
        }
    }
}
