//! The way from a root to an object.

use super::graph::{HeapGraph, HeapRoot, ReferencePlace};

/// A shortest way from a root to an object: see [`HeapGraph::path_to`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapPath {
    /// The root, which holds the first object of `steps` or the end itself.
    pub root: HeapRoot,
    /// The objects before the last one, each with the place of its reference to the next one.
    pub steps: Vec<(u32, ReferencePlace)>,
    /// The object in the end.
    pub object: u32,
}

impl HeapGraph {
    /// A shortest way from a strong root to one of the objects that are looked for; none if no root
    /// keeps any.
    pub fn path_to(&self, is_looked_for: impl Fn(u32) -> bool) -> Option<HeapPath> {
        const UNSEEN: u32 = u32::MAX;
        const HELD: u32 = u32::MAX - 1;
        let mut from = vec![UNSEEN; self.len() as usize];
        let mut queue = Vec::new();
        for object in self.held() {
            if from[object as usize] == UNSEEN {
                from[object as usize] = HELD;
                queue.push(object);
            }
        }
        let mut next = 0;
        let found = loop {
            let object = *queue.get(next)?;
            if is_looked_for(object) {
                break object;
            }
            next += 1;
            for target in self.targets(object) {
                if from[target as usize] == UNSEEN {
                    from[target as usize] = object;
                    queue.push(target);
                }
            }
        };
        let mut steps = Vec::new();
        let mut object = found;
        while from[object as usize] != HELD {
            let before = from[object as usize];
            let place = self
                .references(before)
                .find(|reference| reference.target == object)
                .map_or(ReferencePlace::Unknown, |reference| reference.place);
            steps.push((before, place));
            object = before;
        }
        steps.reverse();
        let root = self
            .roots()
            .iter()
            .find(|root| root.is_strong() && root.object == object)?;
        Some(HeapPath {
            root: *root,
            steps,
            object: found,
        })
    }
}
