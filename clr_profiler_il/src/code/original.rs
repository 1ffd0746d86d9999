use super::Slots;

/// The number of bytes that can be read from the start of any instruction.
pub(crate) const PADDING: usize = 32;

/// The decoded bytes of a body, and the changes since.
///
/// Unchanged instructions are written by copying their bytes, many at once. The nodes of the
/// decoded instructions are the first ones in the code and keep their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Original {
    /// The code, followed by [`PADDING`] bytes.
    pub(crate) bytes: Vec<u8>,
    /// The size of the code.
    pub(crate) size: usize,
    /// The number of instructions: their nodes are 1 up to this number.
    pub(crate) count: u32,
    /// The nodes of branches, switches, `ret` and `jmp`, in order.
    pub(crate) jumps: Slots<u32>,
    /// The nodes of long branches.
    pub(crate) long: Vec<u32>,
    /// The node of the instruction at each offset. Offsets without an instruction hold any value.
    pub(crate) starts: Vec<u32>,
    /// Unordered, with duplicates.
    pub(crate) changes: Vec<Change>,
}

/// A decoded instruction that cannot simply be copied. Changes are ordered as the instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change(u64);

impl Change {
    /// The instruction itself changed.
    pub(crate) const fn written(node: u32) -> Self {
        Self((node as u64) << 1)
    }

    /// The instruction is unchanged, but another one follows it.
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
    /// Clears everything but keeps the memory.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.size = 0;
        self.count = 0;
        self.jumps.clear();
        self.long.clear();
        self.changes.clear();
    }

    /// The changed instructions, possibly repeated.
    pub(super) fn written(&self) -> impl Iterator<Item = u32> {
        let changes = self.changes.iter();
        changes
            .filter(|change| !change.is_followed())
            .map(|change| change.node())
    }

    /// Whether a node was decoded.
    #[inline]
    pub(crate) const fn contains(&self, node: u32) -> bool {
        node.wrapping_sub(1) < self.count
    }

    /// Records a change, if the instruction was decoded.
    #[inline]
    pub(super) fn note(&mut self, change: Change) {
        if self.contains(change.node()) {
            self.changes.push(change);
        }
    }
}

/// Copies bytes when [`PADDING`] more may be read and written. Copying all of them at once is
/// faster than counting when there are few.
#[inline]
pub(crate) fn copy_padded(from: &[u8], start: usize, to: &mut [u8], at: usize, length: usize) {
    if length <= PADDING {
        let from = from.get(start..).and_then(|rest| rest.first_chunk());
        let to = to.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
        if let (Some(from), Some(to)) = (from, to) {
            let from: &[u8; PADDING] = from;
            *to = *from;
        }
    } else if let Some(from) = from.get(start..start + length)
        && let Some(to) = to.get_mut(at..at + length)
    {
        to.copy_from_slice(from);
    }
}
