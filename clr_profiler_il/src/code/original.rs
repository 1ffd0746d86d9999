use super::Node;

/// So many bytes can be read from the beginning of any instruction.
pub(crate) const PADDING: usize = 8;

/// What a body was decoded from, and where it is no longer like that.
///
/// Instructions that were not touched are written by copying their bytes, many at once. The nodes of
/// the decoded instructions come first in the code, and keep their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Original {
    /// The code, and [`PADDING`] behind it.
    pub(crate) bytes: Vec<u8>,
    /// The size of the code.
    pub(crate) size: usize,
    /// The number of instructions: their nodes are those from 1 to this one.
    pub(crate) count: u32,
    /// Their branches and switches, in order.
    pub(crate) branches: Vec<u32>,
    /// By offset, the node of the instruction that begins there. Where none begins, anything.
    pub(crate) starts: Vec<u32>,
    /// Instructions that are not to be written as their bytes were, or that another one follows now.
    pub(crate) touched: Vec<u32>,
}

impl Original {
    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.size = 0;
        self.count = 0;
        self.branches.clear();
        self.touched.clear();
    }

    /// Whether a node is one that was decoded.
    #[inline]
    pub(crate) const fn contains(&self, node: u32) -> bool {
        node.wrapping_sub(1) < self.count
    }

    /// Notes that an instruction or its successor changes.
    #[inline]
    pub(super) fn touch(&mut self, node: u32) {
        if self.contains(node) {
            self.touched.push(node);
        }
    }

    /// The offset of a decoded instruction; behind the last one, the size of the code.
    #[inline]
    pub(crate) fn offset(&self, node: u32, nodes: &[Node]) -> usize {
        if self.contains(node) {
            nodes
                .get(node as usize)
                .map_or(0, |node| node.offset as usize)
        } else {
            self.size
        }
    }
}
