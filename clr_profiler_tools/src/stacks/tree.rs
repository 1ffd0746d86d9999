//! A tree of stacks.

use std::collections::HashMap;

use clr_profiler::il::token::HashTokens;

/// A node of the tree; valid for the tree that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node(pub(crate) u32);

/// Stacks with weights, and how often each was added.
#[derive(Debug, Clone)]
pub struct Stacks {
    nodes: Vec<Data>,
    children: HashMap<(Node, u64), Node, HashTokens>,
    limit: usize,
    /// The weight of frames for which there was no room.
    cut: u64,
}

#[derive(Debug, Clone)]
struct Data {
    frame: u64,
    parent: Node,
    /// The weight of the stacks that end here.
    weight: u64,
    count: u64,
}

impl Stacks {
    /// The node at which all stacks begin. It is not a frame.
    pub const ROOT: Node = Node(0);

    /// The frame that stands for callers for which there is no room.
    pub const OTHERS: u64 = u64::MAX;

    /// An empty tree that grows to `limit` nodes, of some 80 bytes each. Frames beyond that
    /// are left out: their weight counts for the caller.
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
            children: HashMap::default(),
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
        self.push(parent, frame)
    }

    /// The node of a frame that is called from `parent`; of a full tree, below [`Self::OTHERS`].
    pub(crate) fn place(&mut self, parent: Node, frame: u64) -> Node {
        if let Some(node) = self.child(parent, frame) {
            return node;
        }
        let others = match self.children.get(&(Self::ROOT, Self::OTHERS)) {
            Some(others) => Some(*others),
            None => self.push(Self::ROOT, Self::OTHERS),
        };
        let others = others.unwrap_or(Self::ROOT);
        match self.children.get(&(others, frame)) {
            Some(node) => *node,
            None => self.push(others, frame).unwrap_or(others),
        }
    }

    /// Makes room for as many nodes again.
    pub(crate) fn double(&mut self) {
        self.limit = self.limit.saturating_mul(2);
    }

    fn push(&mut self, parent: Node, frame: u64) -> Option<Node> {
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

    /// Adds a stack, its outermost frame first, and returns the node at which it ends.
    pub fn add(&mut self, frames: impl IntoIterator<Item = u64>, weight: u64) -> Node {
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
        node
    }

    /// Adds to the stack that ends at a node.
    pub fn add_to(&mut self, node: Node, weight: u64) {
        self.add_times(node, weight, 1);
    }

    /// Adds to the stack that ends at a node, as if it were added `count` times.
    pub(crate) fn add_times(&mut self, node: Node, weight: u64, count: u64) {
        if let Some(data) = self.nodes.get_mut(node.0 as usize) {
            data.weight += weight;
            data.count += count;
        }
    }

    /// The weight of all stacks.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.nodes.iter().map(|node| node.weight).sum()
    }

    /// The weight of the stacks that were truncated because the tree is full.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// The stacks, outermost frame first, each with its weight and how often it was added. Those
    /// that were never added, only passed through, are left out.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<u64>, u64, u64)> + '_ {
        let ends = self.nodes.iter().filter(|node| node.count > 0);
        ends.map(|end| (self.frames(end), end.weight, end.count))
    }

    /// As [`iter`](Self::iter), with the nodes at which the stacks end.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Node, Vec<u64>, u64, u64)> + '_ {
        let nodes = (0_u32..).map(Node).zip(&self.nodes);
        let ends = nodes.filter(|(_, data)| data.count > 0);
        ends.map(|(node, end)| (node, self.frames(end), end.weight, end.count))
    }

    /// For each frame, the weight of the stacks that end in it, and of those that pass through it,
    /// each counted once.
    #[must_use]
    pub fn by_frame(&self) -> HashMap<u64, (u64, u64)> {
        let mut sums: HashMap<u64, (u64, u64)> = HashMap::new();
        // Callers precede their callees.
        let mut weights: Vec<u64> = self.nodes.iter().map(|node| node.weight).collect();
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1).rev() {
            weights[node.parent.0 as usize] += weights[index];
            below[node.parent.0 as usize].push(index as u32);
        }
        // How often a frame is on the path from the root to the current node.
        let mut open: HashMap<u64, u32> = HashMap::new();
        let mut walk: Vec<(u32, bool)> = below[0].iter().map(|child| (*child, false)).collect();
        while let Some((index, is_done)) = walk.pop() {
            let node = &self.nodes[index as usize];
            let open = open.entry(node.frame).or_default();
            if is_done {
                *open -= 1;
                continue;
            }
            let sum = sums.entry(node.frame).or_default();
            sum.0 += node.weight;
            if *open == 0 {
                sum.1 += weights[index as usize];
            }
            *open += 1;
            walk.push((index, true));
            walk.extend(below[index as usize].iter().map(|child| (*child, false)));
        }
        sums
    }

    /// The frames as a tree in rows, each with its depth and the weight of the stacks that pass through it: callers before
    /// callees, heavier ones first. Those with less than `least` are left out, and so are rows beyond `limit`.
    #[must_use]
    pub fn rows(&self, least: u64, limit: usize) -> Vec<(usize, u64, u64)> {
        let mut weights: Vec<u64> = self.nodes.iter().map(|node| node.weight).collect();
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1).rev() {
            weights[node.parent.0 as usize] += weights[index];
            below[node.parent.0 as usize].push(index as u32);
        }
        for children in &mut below {
            children.retain(|child| weights[*child as usize] >= least.max(1));
            // The walk takes the last one first.
            children.sort_by_key(|child| (weights[*child as usize], std::cmp::Reverse(*child)));
        }
        let mut rows = Vec::new();
        let mut walk: Vec<(usize, u32)> = below[0].iter().map(|child| (0, *child)).collect();
        while let Some((depth, index)) = walk.pop()
            && rows.len() < limit
        {
            rows.push((
                depth,
                self.nodes[index as usize].frame,
                weights[index as usize],
            ));
            walk.extend(
                below[index as usize]
                    .iter()
                    .map(|child| (depth + 1, *child)),
            );
        }
        rows
    }

    /// For each frame, how often stacks that end in it were added.
    #[must_use]
    pub fn calls_by_frame(&self) -> HashMap<u64, u64> {
        let mut calls: HashMap<u64, u64> = HashMap::new();
        for node in self.nodes.iter().skip(1).filter(|node| node.count > 0) {
            *calls.entry(node.frame).or_default() += node.count;
        }
        calls
    }

    /// How often stacks were added for whose callers there was no room.
    #[must_use]
    pub fn calls_below_others(&self) -> u64 {
        match self.children.get(&(Self::ROOT, Self::OTHERS)) {
            Some(others) => {
                let below = self.nodes.iter().filter(|node| node.parent == *others);
                below.map(|node| node.count).sum()
            }
            None => 0,
        }
    }

    /// The same stacks, each with the number of times that it was added as its weight.
    #[must_use]
    pub fn by_count(&self) -> Self {
        let mut same = self.clone();
        for node in &mut same.nodes {
            node.weight = node.count;
        }
        same
    }

    /// Multiplies all weights, to convert them to another unit.
    pub fn scale(&mut self, factor: f64) {
        for node in &mut self.nodes {
            node.weight = (node.weight as f64 * factor) as u64;
        }
    }

    /// The stack that ends at a node, outermost frame first.
    pub(super) fn frames_of(&self, node: Node) -> Vec<u64> {
        let end = self.nodes.get(node.0 as usize);
        end.map_or_else(Vec::new, |end| self.frames(end))
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
    fn rows_have_the_heaviest_callee_first() {
        let mut stacks = Stacks::with_limit(100);
        stacks.add([1, 2], 5);
        stacks.add([1, 3, 4], 10);
        stacks.add([5], 1);
        stacks.add([6], 20);
        let rows = [(0, 6, 20), (0, 1, 15), (1, 3, 10), (2, 4, 10), (1, 2, 5)];
        assert_eq!(stacks.rows(2, 10), rows);
        assert_eq!(stacks.rows(2, 3), rows[..3]);
        assert_eq!(stacks.rows(0, 10).len(), 6);
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
