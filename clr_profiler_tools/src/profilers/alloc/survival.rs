//! The survivors of collections, by type.

use std::collections::HashMap;
use std::ops::Range;

use clr_profiler::info::{Generation, GenerationRange};
use clr_profiler::prelude::*;

/// The generations that objects survive in: 0 to 2, large objects, pinned ones.
pub(crate) const GENERATIONS: [&str; 5] = ["gen0", "gen1", "gen2", "large", "pinned"];

pub(crate) type Bytes = [u64; GENERATIONS.len()];

/// Types with the bytes of their objects that have survived, in all collections together.
#[derive(Default)]
pub(crate) struct Survival {
    /// The numbers of types that were named.
    types: HashMap<ClassId, u64>,
    /// Where objects were before the current collection.
    bounds: Vec<GenerationRange>,
    /// Where survivors are now, with the index of their former generation.
    survivors: Vec<(Range<usize>, usize)>,
    is_sorted: bool,
    by_type: HashMap<u64, Bytes>,
    pub(crate) collections: u64,
}

fn index(generation: Generation) -> Option<usize> {
    match generation {
        Generation::Gen0 => Some(0),
        Generation::Gen1 => Some(1),
        Generation::Gen2 => Some(2),
        Generation::LargeObjectHeap => Some(3),
        Generation::PinnedObjectHeap => Some(4),
        _ => None,
    }
}

impl Survival {
    pub(crate) fn named(&mut self, class: ClassId, number: u64) {
        self.types.insert(class, number);
    }

    pub(crate) fn forget(&mut self) {
        self.types.clear();
    }

    pub(crate) fn began(&mut self, bounds: Vec<GenerationRange>) {
        self.bounds = bounds;
        self.survivors.clear();
        self.is_sorted = false;
        self.collections += 1;
    }

    /// Objects from `old` on are now at these addresses.
    pub(crate) fn survived(&mut self, old: usize, now: Range<usize>) {
        let bounds = self.bounds.iter().find(|bounds| bounds.contains(old));
        if let Some(generation) = bounds.and_then(|bounds| index(bounds.generation)) {
            self.survivors.push((now, generation));
        }
    }

    /// An object that is in the heap after the collection; its size is queried if it survived.
    pub(crate) fn lives(
        &mut self,
        address: usize,
        class: ClassId,
        size: impl FnOnce() -> Result<usize>,
    ) -> Result<()> {
        if !self.is_sorted {
            self.survivors
                .sort_unstable_by_key(|(range, _)| range.start);
            self.is_sorted = true;
        }
        let after = self
            .survivors
            .partition_point(|(range, _)| range.start <= address);
        let before = after.checked_sub(1).and_then(|at| self.survivors.get(at));
        if let Some((range, generation)) = before
            && range.contains(&address)
            // The others have no recorded allocation: the runtime allocated them earlier.
            && let Some(number) = self.types.get(&class)
        {
            self.by_type.entry(*number).or_default()[*generation] += size()? as u64;
        }
        Ok(())
    }

    pub(crate) fn bytes(&self) -> HashMap<u64, Bytes> {
        self.by_type.clone()
    }
}
