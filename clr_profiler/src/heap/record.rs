//! The callbacks of a collection, recorded in the order in which they arrive.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Duration;

use super::columns::{Addresses, Chunks, Small};
use super::graph::{HeapRoot, NO_PLACE, UNIT};
use super::texts::{Texts, Wanted};
use crate::error::Result;
use crate::events::payload::{Roots, WeakTableElements};
use crate::ids::{ClassId, ObjectId, ObjectIds};
use crate::info::GcScope;

/// The bits of a recorded reference that hold its place: the distance from the place of the
/// previous reference, plus `NEAR`. The upper bits hold the target address in units.
const PLACE_BITS: u32 = 20;
const NEAR: i64 = 1 << (PLACE_BITS - 1);
/// Sentinel: the distance does not fit, and the place is in `Record::far`.
const FAR: u64 = (1 << PLACE_BITS) - 2;
/// Sentinel: the reference has no place.
const NOWHERE: u64 = (1 << PLACE_BITS) - 1;

/// Reads the places of references in the order in which they were recorded.
#[derive(Debug)]
pub(super) struct Places {
    far: std::vec::IntoIter<u32>,
    before: u32,
}

impl Places {
    pub(super) fn new(far: Vec<u32>) -> Self {
        Self {
            far: far.into_iter(),
            before: 0,
        }
    }

    /// Begins the references of the next object.
    pub(super) fn next_object(&mut self) {
        self.before = 0;
    }

    /// The target address of a reference, and its place.
    pub(super) fn decode(&mut self, reference: u64) -> (usize, u32) {
        let target = (reference >> PLACE_BITS) as usize * UNIT;
        let place = match reference & NOWHERE {
            NOWHERE => return (target, NO_PLACE),
            FAR => self.far.next().unwrap_or(NO_PLACE),
            near => (i64::from(self.before) + near as i64 - NEAR) as u32,
        };
        self.before = place;
        (target, place)
    }
}

/// A heap as the runtime walked it, in which references are still addresses. Takes 12 bytes per
/// object and 8 per reference.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) classes: Vec<ClassId>,
    class_indices: HashMap<ClassId, u32>,
    /// The last result of `class_index`: adjacent objects often have the same type.
    last_class: Option<(ClassId, u32)>,
    pub(super) addresses: Addresses,
    pub(super) class_of: Small,
    /// Sizes in units of [`UNIT`].
    pub(super) units: Small,
    /// The number of references of each object.
    pub(super) counts: Chunks<u32>,
    pub(super) references: Chunks<u64>,
    /// The places that are too far from the previous one.
    pub(super) far: Vec<u32>,
    before: u32,
    /// The roots, with the addresses of their objects.
    pub(super) roots: Vec<(usize, HeapRoot)>,
    /// Keys and values of conditional weak tables.
    pub(super) weak_elements: Vec<(usize, usize)>,
    /// Whether the places of references are recorded.
    pub(super) has_places: bool,
    /// How long the program was suspended.
    pub(super) pause: Duration,
    /// The texts to record, and those that were.
    pub(super) wanted: Option<Wanted>,
    pub(super) texts: Texts,
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

    /// Adds an object with its references.
    pub(super) fn add(
        &mut self,
        gc: &GcScope,
        object: ObjectId<'_>,
        class: ClassId,
        references: ObjectIds<'_>,
    ) -> Result<()> {
        let size = gc.object_size(object)?;
        let mut count = 0;
        if references.is_empty() {
            // No references to enumerate, so that it may be a string.
            if let Some(wanted) = &mut self.wanted
                && wanted.is_string(gc, class)
            {
                self.texts
                    .add(gc, object, self.addresses.len() as u32, wanted);
            }
        } else if gc.version() < 10 || !self.has_places {
            for reference in references.iter() {
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

    /// Adds an object whose references were added before.
    pub(super) fn object(&mut self, address: usize, class: ClassId, size: usize, count: u32) {
        let class = self.class_index(class);
        self.addresses.push(address);
        self.class_of.push(class);
        self.units
            .push(u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX));
        self.counts.push(count);
        self.before = 0;
    }

    /// Adds a reference of the object that is added next.
    pub(super) fn refer(&mut self, target: usize, place: u32) {
        let step = i64::from(place) - i64::from(self.before) + NEAR;
        let code = match u64::try_from(step) {
            _ if place == NO_PLACE => NOWHERE,
            Ok(step) if step < FAR => step,
            _ => {
                self.far.push(place);
                FAR
            }
        };
        if place != NO_PLACE {
            self.before = place;
        }
        // Longer addresses, which only exist if a program asks for them, are not found.
        let unit = (target / UNIT) as u64;
        let unit = if unit >> (64 - PLACE_BITS) == 0 {
            unit
        } else {
            0
        };
        self.references.push(unit << PLACE_BITS | code);
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
            // There are fewer types than objects, and fewer than 2^32 objects: see `build`.
            classes.len() as u32 - 1
        });
        self.last_class = Some((class, index));
        index
    }
}

/// The place of a reference. Objects of unloadable types also refer to their loader, by a reference
/// that is not in their memory.
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
    fn references_are_read_as_they_were_written() {
        let mut record = Record::default();
        let references = [
            (0x7fff_ffff_fff8, 3),
            (8, 1),
            (16, u32::MAX - 2),
            (24, NO_PLACE),
            (32, u32::MAX - 3),
            (40, 0),
            (48, 1 << 19),
            (56, 1),
        ];
        for (target, place) in references {
            record.refer(target, place);
        }
        record.object(64, ClassId::from_runtime(1), 24, references.len() as u32);
        record.refer(8, 5);
        assert_eq!(record.far.len(), 3);
        let mut places = Places::new(std::mem::take(&mut record.far));
        let mut read = record.references.iter();
        for expected in references {
            assert_eq!(places.decode(read.next().unwrap()), expected);
        }
        places.next_object();
        assert_eq!(places.decode(read.next().unwrap()), (8, 5));
    }
}
