//! What comes in during a collection, as it comes.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::graph::{HeapRoot, NO_PLACE, UNIT};
use crate::callbacks::payload::{Roots, WeakTableElements};
use crate::error::Result;
use crate::ids::{ClassId, ObjectId};
use crate::info::{CorProfilerInfo10, GcScope, ProfilerInfo};

/// How many entries grow at a time.
const CHUNK: usize = 1 << 16;

/// A list that grows without being moved, and has no room that it does not need.
#[derive(Debug)]
pub(super) struct Chunks<T>(Vec<Vec<T>>);

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Chunks<T> {
    pub(super) fn push(&mut self, value: T) {
        match self.0.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(value),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(value);
                self.0.push(chunk);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self.0.split_last() {
            Some((last, full)) => full.len() * CHUNK + last.len(),
            None => 0,
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<T> {
        self.0.get(index / CHUNK)?.get(index % CHUNK).copied()
    }

    /// From the first to the last; memory is given back on the way.
    pub(super) fn into_iter(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flatten()
    }
}

/// A heap as it was walked: references are addresses still. 20 bytes an object, 12 a reference.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) classes: Vec<ClassId>,
    class_indices: HashMap<ClassId, u32>,
    /// Neighbours are often of one type.
    last_class: Option<(ClassId, u32)>,
    pub(super) addresses: Chunks<usize>,
    pub(super) class_of: Chunks<u32>,
    /// Sizes in units of [`UNIT`].
    pub(super) units: Chunks<u32>,
    /// How many references each object has.
    pub(super) counts: Chunks<u32>,
    pub(super) targets: Chunks<usize>,
    /// Where in its object each reference is, in units.
    pub(super) places: Chunks<u32>,
    /// The objects of roots by address.
    pub(super) roots: Vec<(usize, HeapRoot)>,
    /// Keys and values of conditional weak tables.
    pub(super) weak_elements: Vec<(usize, usize)>,
}

impl Record {
    pub(super) fn add_roots(&mut self, roots: Roots<'_>) {
        for root in roots.iter() {
            if let Some(object) = root.object {
                let root = HeapRoot {
                    object: 0,
                    kind: root.kind,
                    flags: root.flags,
                    id: root.id,
                };
                self.roots.push((object.address(), root));
            }
        }
    }

    pub(super) fn add_weak_elements(&mut self, elements: WeakTableElements<'_>) {
        for element in elements.iter() {
            if let (Some(key), Some(value)) = (element.key, element.value) {
                self.weak_elements.push((key.address(), value.address()));
            }
        }
    }

    /// An object with what it refers to.
    pub(super) fn add(
        &mut self,
        gc: &GcScope,
        object: ObjectId<'_>,
        class: ClassId,
        references: &[ObjectId<'_>],
    ) -> Result<()> {
        let size = gc.object_size(object)?;
        let mut count = 0;
        if references.is_empty() {
            // Nothing to ask for.
        } else if gc.version() < 10 {
            for reference in references {
                self.refer(reference.address(), NO_PLACE);
                count += 1;
            }
        } else {
            // The same references, with their places.
            gc.enumerate_object_references(object, |reference| {
                let place = place(object, size, reference.place);
                self.refer(reference.target.address(), place);
                count += 1;
                ControlFlow::Continue(())
            })?;
        }
        self.object(object.address(), class, size, count);
        Ok(())
    }

    /// An object that is never collected, which collections therefore do not walk over.
    pub(super) fn add_frozen(
        &mut self,
        info: &ProfilerInfo,
        object: ObjectId<'_>,
        class: ClassId,
        size: usize,
    ) -> Result<()> {
        let mut count = 0;
        info.enumerate_object_references(object, |reference| {
            let place = place(object, size, reference.place);
            self.refer(reference.target.address(), place);
            count += 1;
            ControlFlow::Continue(())
        })?;
        self.object(object.address(), class, size, count);
        Ok(())
    }

    /// An object; its references came before.
    pub(super) fn object(&mut self, address: usize, class: ClassId, size: usize, count: u32) {
        let class = self.class_index(class);
        self.addresses.push(address);
        self.class_of.push(class);
        self.units
            .push(u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX));
        self.counts.push(count);
    }

    /// A reference of the object that comes next.
    pub(super) fn refer(&mut self, target: usize, place: u32) {
        self.targets.push(target);
        self.places.push(place);
    }

    fn class_index(&mut self, class: ClassId) -> u32 {
        if let Some((last, index)) = self.last_class
            && last == class
        {
            return index;
        }
        let classes = &mut self.classes;
        let index = *self.class_indices.entry(class).or_insert_with(|| {
            classes.push(class);
            // There are fewer types than objects, and of these fewer than 2^32: see `build`.
            classes.len() as u32 - 1
        });
        self.last_class = Some((class, index));
        index
    }
}

/// The place of a reference; objects of types that can be unloaded refer to their loader, too, which
/// is in no place of theirs.
fn place(object: ObjectId<'_>, size: usize, address: usize) -> u32 {
    match address.checked_sub(object.address()) {
        Some(offset) if offset < size && offset.is_multiple_of(UNIT) => {
            u32::try_from(offset / UNIT).unwrap_or(NO_PLACE)
        }
        _ => NO_PLACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_one_list() {
        let mut chunks = Chunks::default();
        let count = CHUNK * 2 + 3;
        for number in 0..count {
            chunks.push(number);
        }
        assert_eq!(chunks.len(), count);
        assert_eq!(chunks.get(CHUNK), Some(CHUNK));
        assert_eq!(chunks.get(count - 1), Some(count - 1));
        assert_eq!(chunks.get(count), None);
        assert!(chunks.into_iter().eq(0..count));
        assert_eq!(Chunks::<u32>::default().len(), 0);
    }
}
