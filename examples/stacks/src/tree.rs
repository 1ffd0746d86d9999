//! A tree of stacks.

use std::collections::HashMap;

/// A node of the tree; good for the tree that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node(u32);

/// Stacks with weights, and how often each was seen.
#[derive(Debug, Clone)]
pub struct Stacks {
    nodes: Vec<Data>,
    children: HashMap<(Node, u64), Node>,
    limit: usize,
    /// The weight of what found no place.
    cut: u64,
}

#[derive(Debug, Clone)]
struct Data {
    frame: u64,
    parent: Node,
    /// Of the stacks that end here.
    weight: u64,
    count: u64,
}

impl Stacks {
    /// The node that all stacks begin at. It is no frame.
    pub const ROOT: Node = Node(0);

    /// An empty tree that grows to so many nodes, of some 80 bytes each. Frames that find no place
    /// are left out then: their weight counts for the caller.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let root = Data {
            frame: 0,
            parent: Self::ROOT,
            weight: 0,
            count: 0,
        };
        Self {
            nodes: vec![root],
            children: HashMap::new(),
            limit: limit.clamp(1, u32::MAX as usize),
            cut: 0,
        }
    }

    /// The node of a frame that is called from `parent`.
    pub fn child(&mut self, parent: Node, frame: u64) -> Option<Node> {
        if let Some(node) = self.children.get(&(parent, frame)) {
            return Some(*node);
        }
        if self.nodes.len() > self.limit {
            return None;
        }
        let node = Node(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(Data {
            frame,
            parent,
            weight: 0,
            count: 0,
        });
        self.children.insert((parent, frame), node);
        Some(node)
    }

    /// Adds a stack, its outermost frame first.
    pub fn add(&mut self, frames: impl IntoIterator<Item = u64>, weight: u64) {
        let mut node = Self::ROOT;
        for frame in frames {
            match self.child(node, frame) {
                Some(child) => node = child,
                None => {
                    self.cut += weight;
                    break;
                }
            }
        }
        self.add_to(node, weight);
    }

    /// Adds to the stack that ends at a node.
    pub fn add_to(&mut self, node: Node, weight: u64) {
        if let Some(data) = self.nodes.get_mut(node.0 as usize) {
            data.weight += weight;
            data.count += 1;
        }
    }

    /// The weight of all stacks.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.nodes.iter().map(|node| node.weight).sum()
    }

    /// The weight of the stacks that were cut because the tree is full.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// The stacks, outermost frame first, each with its weight and how often it was added. Those
    /// that were never added, only passed, are left out.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<u64>, u64, u64)> + '_ {
        let ends = self.nodes.iter().filter(|node| node.count > 0);
        ends.map(|end| (self.frames(end), end.weight, end.count))
    }

    /// For each frame, the weight of the stacks that end in it, and of those that pass through it,
    /// each counted once.
    #[must_use]
    pub fn by_frame(&self) -> HashMap<u64, (u64, u64)> {
        let mut sums: HashMap<u64, (u64, u64)> = HashMap::new();
        for (mut frames, weight, _) in self.iter() {
            if let Some(last) = frames.last() {
                sums.entry(*last).or_default().0 += weight;
            }
            frames.sort_unstable();
            frames.dedup();
            for frame in frames {
                sums.entry(frame).or_default().1 += weight;
            }
        }
        sums
    }

    fn frames(&self, end: &Data) -> Vec<u64> {
        let mut frames = Vec::new();
        let mut data = end;
        // The root is its own parent.
        while !std::ptr::eq(data, &raw const self.nodes[0]) {
            frames.push(data.frame);
            data = &self.nodes[data.parent.0 as usize];
        }
        frames.reverse();
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_begin_alike_share_nodes() {
        let mut stacks = Stacks::with_limit(100);
        stacks.add([1, 2, 3], 10);
        stacks.add([1, 2], 5);
        stacks.add([1, 2, 3], 1);
        stacks.add([], 2);
        assert_eq!(stacks.nodes.len(), 4);
        let mut all: Vec<_> = stacks.iter().collect();
        all.sort();
        assert_eq!(
            all,
            [(vec![], 2, 1), (vec![1, 2], 5, 1), (vec![1, 2, 3], 11, 2)]
        );
        assert_eq!((stacks.total(), stacks.cut()), (18, 0));
    }

    #[test]
    fn recursion_counts_once_for_its_frame() {
        let mut stacks = Stacks::with_limit(100);
        stacks.add([1, 2, 2, 2], 10);
        stacks.add([1, 2, 1], 1);
        let sums = stacks.by_frame();
        assert_eq!(sums[&1], (1, 11));
        assert_eq!(sums[&2], (10, 11));
    }

    #[test]
    fn a_full_tree_keeps_the_weight() {
        let mut stacks = Stacks::with_limit(2);
        stacks.add([1, 2, 3, 4], 10);
        stacks.add([1, 2], 1);
        stacks.add([5], 3);
        assert_eq!((stacks.total(), stacks.cut()), (14, 13));
        assert_eq!(stacks.nodes.len(), 3);
    }
}
