//! Stacks of frames with names.

use std::collections::HashMap;

use crate::stacks::{Frame, Node, Stacks};

/// The limit for nodes of the tree, some 16 MB.
const NODES: usize = 200_000;
/// The limit for frames.
const FRAMES: usize = 100_000;

/// The number of frames beyond the limit.
const OTHERS: u64 = u64::MAX - 1;

/// A tree of stacks, and the frames of its numbers.
#[derive(Clone)]
pub(crate) struct NamedStacks {
    numbers: HashMap<Frame, u64>,
    frames: Vec<Frame>,
    limit: usize,
    pub(crate) stacks: Stacks,
}

impl NamedStacks {
    pub(crate) fn new() -> Self {
        Self::with_limits(FRAMES, NODES)
    }

    fn with_limits(frames: usize, nodes: usize) -> Self {
        Self {
            numbers: HashMap::new(),
            frames: Vec::new(),
            limit: frames,
            stacks: Stacks::with_limit(nodes),
        }
    }

    /// The number of a frame.
    pub(crate) fn number(&mut self, frame: &Frame) -> u64 {
        if let Some(number) = self.numbers.get(frame) {
            return *number;
        }
        if self.frames.len() >= self.limit {
            return OTHERS;
        }
        let number = self.frames.len() as u64;
        self.frames.push(frame.clone());
        self.numbers.insert(frame.clone(), number);
        number
    }

    /// The node at which a stack ends, its innermost frame first, without adding to it. A full tree has the outer ones of its
    /// frames.
    pub(crate) fn node<'a>(&mut self, frames: impl DoubleEndedIterator<Item = &'a Frame>) -> Node {
        let mut node = Stacks::ROOT;
        for frame in frames.rev() {
            let number = self.number(frame);
            match self.stacks.child(node, number) {
                Some(child) => node = child,
                None => break,
            }
        }
        node
    }

    /// The frame of a number.
    pub(crate) fn frame(&self, number: u64) -> Frame {
        let frame = usize::try_from(number).ok();
        let frame = frame.and_then(|number| self.frames.get(number));
        frame.cloned().unwrap_or_else(|| named("(others)"))
    }
}

/// A frame without a line.
pub(crate) fn named(name: &str) -> Frame {
    Frame::from(std::sync::Arc::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_keep_their_outer_frames_beyond_the_limits() {
        let mut stacks = NamedStacks::with_limits(2, 2);
        let [a, b, c] = ["a", "b", "c"].map(named);
        let node = stacks.node([&b, &a].into_iter());
        stacks.stacks.add_to(node, 10);
        // There is no room for another frame, nor for another node.
        let node = stacks.node([&c, &b, &a].into_iter());
        stacks.stacks.add_to(node, 5);
        let all: Vec<_> = stacks.stacks.iter().collect();
        assert_eq!(all, [(vec![0, 1], 15, 2)]);
        assert_eq!(stacks.frame(1), b);
        assert_eq!(stacks.number(&c), OTHERS);
        assert_eq!(&*stacks.frame(OTHERS).name, "(others)");
    }
}
