use crate::code::{Code, END};

/// The ranks of the instructions in the order of the code.
#[derive(Debug)]
pub(crate) struct Ranks {
    by_node: Vec<u32>,
}

impl Ranks {
    /// The ranks of empty code.
    pub(crate) const NONE: Self = Self {
        by_node: Vec::new(),
    };

    pub(crate) fn new(code: &Code) -> Self {
        let mut by_node = vec![u32::MAX; code.nodes.len()];
        let nodes = code.instructions().map(|one| one.id.0).chain([END]);
        for (rank, node) in nodes.enumerate() {
            if let Some(slot) = by_node.get_mut(node as usize) {
                *slot = rank as u32;
            }
        }
        Self { by_node }
    }

    /// The rank of a node. The end ranks after all instructions, an unlinked node after the end.
    pub(crate) fn of(&self, node: u32) -> u32 {
        let rank = self.by_node.get(node as usize);
        rank.copied().unwrap_or(u32::MAX)
    }
}
