//! [`HeapGraph`]: objects and what they refer to.

use std::collections::HashMap;

use super::record::{Chunks, Places, Record};
use crate::callbacks::payload::RootFlags;
use crate::callbacks::reasons::RootKind;
use crate::error::{Error, Result};
use crate::ids::ClassId;

/// What sizes and places are multiples of.
pub(super) const UNIT: usize = size_of::<usize>();

/// The place of a reference that is in no place of its object.
pub(super) const NO_PLACE: u32 = u32::MAX;
/// The objects of a managed heap and what they refer to, as they were at the end of a collection.
///
/// An object is a number from 0 on, in the order in which the runtime walked the heap; it says nothing
/// about addresses, which the next collection may change. The graph takes 12 bytes an object and 8 a
/// reference; while it is made, up to twice that.
///
/// From [`HeapRecorder::record`](super::HeapRecorder::record).
#[derive(Clone, Debug)]
pub struct HeapGraph {
    pub(super) classes: Vec<HeapClass>,
    class_of: Chunks<u32>,
    units: Chunks<u32>,
    /// Where the references of each object begin; one more in the end.
    first: Chunks<u32>,
    /// Targets in the upper half, places in the lower one.
    references: Chunks<u64>,
    /// Keys and values of weak tables, ordered.
    attached: Vec<(u32, u32)>,
    roots: Vec<HeapRoot>,
    /// The functions on whose behalf stacks hold objects.
    functions: HashMap<usize, String>,
    lost: u64,
}

/// A type of objects in a [`HeapGraph`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeapClass {
    /// The type, which may have been unloaded by now.
    pub id: ClassId,
    /// Its full name, such as `System.Collections.Generic.List<string>`.
    pub name: String,
    /// Where elements are, if it is an array.
    pub elements: Option<Elements>,
    /// Offsets of fields in bytes, rising, with their names.
    pub fields: Vec<(u32, String)>,
}

/// Where the elements of arrays are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elements {
    /// How many bytes are before the first.
    pub offset: u32,
    /// The size of one in bytes, at least 1.
    pub size: u32,
}

/// A root of the managed heap, of an object in a [`HeapGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapRoot {
    /// The object.
    pub object: u32,
    /// What holds it.
    pub kind: RootKind,
    /// What is special about it.
    pub flags: RootFlags,
    /// A handle or a function, by `kind`; zero where there is neither.
    pub id: usize,
}

impl HeapRoot {
    /// Whether it keeps its object.
    pub fn is_strong(&self) -> bool {
        !self.flags.contains(RootFlags::WEAK)
    }
}

/// A reference of an object in a [`HeapGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapReference {
    /// The object that is referred to.
    pub target: u32,
    /// Where the reference is.
    pub place: ReferencePlace,
}

/// Where a reference is: see [`HeapGraph::place_name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReferencePlace {
    /// So many bytes after the beginning of the object.
    Offset(u64),
    /// In a conditional weak table, of which the object is a key and the other one its value.
    WeakTable,
    /// In the runtime: an object refers to what its type was loaded with. Or not known (before .NET
    /// Core 3.0).
    Unknown,
}

/// The name of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceName<'a> {
    /// A field; not zero is how many bytes into it the reference is, where its type is a structure.
    Field(&'a str, u32),
    /// An element of an array, of several dimensions in the order in which they are in memory, and
    /// how many bytes into it.
    Element(u64, u32),
    /// The value that a conditional weak table attaches.
    WeakTable,
    /// The place has no name.
    Unknown,
}

impl std::fmt::Display for PlaceName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let within = match self {
            PlaceName::Field(name, within) => {
                f.write_str(name)?;
                *within
            }
            PlaceName::Element(index, within) => {
                write!(f, "[{index}]")?;
                *within
            }
            PlaceName::WeakTable => return f.write_str("(weak table)"),
            PlaceName::Unknown => return f.write_str("(runtime)"),
        };
        match within {
            0 => Ok(()),
            within => write!(f, "+{within}"),
        }
    }
}

impl HeapGraph {
    /// How many objects there are.
    pub fn len(&self) -> u32 {
        // `build` has seen to it that they fit.
        self.class_of.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many references there are, those of weak tables included.
    pub fn reference_count(&self) -> u32 {
        (self.references.len() + self.attached.len()) as u32
    }

    /// References and roots to what is no known object: none, unless the runtime does not show
    /// everything. They are left out.
    pub fn lost_references(&self) -> u64 {
        self.lost
    }

    /// The types of the objects.
    pub fn classes(&self) -> &[HeapClass] {
        &self.classes
    }

    /// The type of an object, as an index of [`classes`](Self::classes).
    ///
    /// # Panics
    ///
    /// There is no such object.
    pub fn class_index(&self, object: u32) -> usize {
        known(self.class_of.get(object as usize)) as usize
    }

    /// The type of an object.
    ///
    /// # Panics
    ///
    /// There is no such object.
    pub fn class(&self, object: u32) -> &HeapClass {
        &self.classes[self.class_index(object)]
    }

    /// The bytes that an object takes, its header and what it is rounded up by included.
    ///
    /// # Panics
    ///
    /// There is no such object.
    pub fn size(&self, object: u32) -> u64 {
        u64::from(known(self.units.get(object as usize))) * UNIT as u64
    }

    /// What an object refers to.
    ///
    /// # Panics
    ///
    /// There is no such object.
    pub fn references(&self, object: u32) -> impl Iterator<Item = HeapReference> + '_ {
        let own = self.range(object);
        let own = own.filter_map(|index| self.references.get(index));
        let own = own.map(|reference| HeapReference {
            target: (reference >> 32) as u32,
            place: match reference as u32 {
                NO_PLACE => ReferencePlace::Unknown,
                place => ReferencePlace::Offset(u64::from(place) * UNIT as u64),
            },
        });
        let attached = self.attached(object).iter();
        own.chain(attached.map(|(_, value)| HeapReference {
            target: *value,
            place: ReferencePlace::WeakTable,
        }))
    }

    /// What an object refers to, by the number of the reference.
    pub(super) fn target(&self, object: u32, number: u32) -> Option<u32> {
        let own = self.range(object);
        let index = own.start + number as usize;
        if index < own.end {
            return self.references.get(index).map(|found| (found >> 32) as u32);
        }
        let attached = self.attached(object).get(index - own.end);
        attached.map(|(_, value)| *value)
    }

    /// The objects that an object refers to.
    pub(super) fn targets(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        (0..).map_while(move |number| self.target(object, number))
    }

    fn range(&self, object: u32) -> std::ops::Range<usize> {
        let object = object as usize;
        let [start, end] = [object, object + 1].map(|index| known(self.first.get(index)) as usize);
        start..end
    }

    fn attached(&self, object: u32) -> &[(u32, u32)] {
        if self.attached.is_empty() {
            return &[];
        }
        let start = self.attached.partition_point(|(key, _)| *key < object);
        let end = self.attached.partition_point(|(key, _)| *key <= object);
        &self.attached[start..end]
    }

    /// The roots, in the order of the runtime, also those that keep nothing.
    pub fn roots(&self) -> &[HeapRoot] {
        &self.roots
    }

    /// The function on whose behalf a stack holds an object, by its full name; none for roots of other
    /// kinds, dynamic methods, and the runtime's own.
    pub fn function_name(&self, root: &HeapRoot) -> Option<&str> {
        if root.kind != RootKind::Stack {
            return None;
        }
        self.functions.get(&root.id).map(String::as_str)
    }

    /// The field or element at a place of an object.
    ///
    /// # Panics
    ///
    /// There is no such object.
    pub fn place_name(&self, object: u32, place: ReferencePlace) -> PlaceName<'_> {
        let offset = match place {
            ReferencePlace::Offset(offset) => offset,
            ReferencePlace::WeakTable => return PlaceName::WeakTable,
            ReferencePlace::Unknown => return PlaceName::Unknown,
        };
        let class = self.class(object);
        if let Some(elements) = class.elements {
            let size = u64::from(elements.size.max(1));
            return match offset.checked_sub(u64::from(elements.offset)) {
                Some(offset) => PlaceName::Element(offset / size, (offset % size) as u32),
                None => PlaceName::Unknown,
            };
        }
        let after = class
            .fields
            .partition_point(|(start, _)| u64::from(*start) <= offset);
        match after
            .checked_sub(1)
            .and_then(|field| class.fields.get(field))
        {
            Some((start, name)) => PlaceName::Field(name, (offset - u64::from(*start)) as u32),
            None => PlaceName::Unknown,
        }
    }

    /// Makes numbers of the addresses of a record.
    pub(super) fn build(
        record: Record,
        classes: Vec<HeapClass>,
        functions: HashMap<usize, String>,
    ) -> Result<Self> {
        let Record {
            addresses,
            class_of,
            units,
            counts,
            mut references,
            far,
            mut roots,
            weak_elements,
            ..
        } = record;
        let total = references.len() + weak_elements.len();
        if addresses.len() >= NO_PLACE as usize || total >= NO_PLACE as usize {
            return Err(Error::other(
                "the heap has more objects or references than a HeapGraph holds: 2^32",
            ));
        }
        let index = AddressIndex::of(&addresses);
        let mut lost = 0;
        roots.retain_mut(|(address, root)| match index.find(*address) {
            Some(object) => {
                root.object = object;
                true
            }
            None => {
                lost += 1;
                false
            }
        });
        let mut attached = Vec::with_capacity(weak_elements.len());
        for (key, value) in weak_elements {
            match (index.find(key), index.find(value)) {
                (Some(key), Some(value)) => attached.push((key, value)),
                _ => lost += 1,
            }
        }
        attached.sort_unstable();

        // In the memory that is there: what is known takes no more than what is read.
        let mut first = counts;
        let (mut read, mut written) = (0, 0);
        let mut places = Places::new(far);
        for object in 0..first.len() {
            let count = first.get(object).ok_or_else(unfinished)?;
            first.set(object, written as u32);
            places.next_object();
            for _ in 0..count {
                let reference = references.get(read).ok_or_else(unfinished)?;
                let (address, place) = places.decode(reference);
                read += 1;
                match index.find(address) {
                    Some(target) => {
                        references.set(written, u64::from(target) << 32 | u64::from(place));
                        written += 1;
                    }
                    None => lost += 1,
                }
            }
        }
        first.push(written as u32);
        references.truncate(written);
        drop(index);
        Ok(Self {
            classes,
            class_of,
            units,
            first,
            references,
            attached,
            roots: roots.into_iter().map(|(_, root)| root).collect(),
            functions,
            lost,
        })
    }
}

/// The record ends within an object.
fn unfinished() -> Error {
    Error::other("the record of the heap has fewer references than its objects")
}

/// What is at an index that whoever asks has got from the graph.
fn known<T>(found: Option<T>) -> T {
    found.expect("the graph has no object of that number")
}

/// Finds objects by their addresses.
///
/// Regions of the heap are walked one by one, in any order, and each from its beginning to its end: it
/// is enough to sort pieces of them.
struct AddressIndex<'a> {
    addresses: &'a Chunks<usize>,
    /// By rising address; none overlaps another.
    pieces: Vec<Piece>,
}

/// Objects that follow each other, at rising addresses.
#[derive(Clone, Copy)]
struct Piece {
    start: usize,
    first: u32,
    len: u32,
}

/// How many objects a piece has at most.
const PIECE: u32 = 64;
/// Pieces end where these bits of the address change: another region may lie between.
const BLOCK: u32 = 20;

impl<'a> AddressIndex<'a> {
    fn of(addresses: &'a Chunks<usize>) -> Self {
        let pieces = pieces(addresses, PIECE).unwrap_or_else(|| {
            // Every object for itself: no known runtime walks so.
            pieces(addresses, 1).unwrap_or_default()
        });
        Self { addresses, pieces }
    }

    fn find(&self, address: usize) -> Option<u32> {
        let after = self.pieces.partition_point(|piece| piece.start <= address);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        let (mut low, mut high) = (piece.first, piece.first + piece.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.addresses.get(middle as usize)?.cmp(&address) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Pieces of at most so many objects; none if they overlap.
fn pieces(addresses: &Chunks<usize>, most: u32) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before = 0;
    for (object, address) in addresses.iter().enumerate() {
        match pieces.last_mut() {
            Some(piece)
                if piece.len < most
                    && address > before
                    && address >> BLOCK == piece.start >> BLOCK =>
            {
                piece.len += 1;
            }
            _ => pieces.push(Piece {
                start: address,
                first: object as u32,
                len: 1,
            }),
        }
        before = address;
    }
    pieces.sort_unstable_by_key(|piece| piece.start);
    let is_apart = pieces.windows(2).all(|two| match two {
        [one, next] => {
            let last = (one.first + one.len) as usize - 1;
            addresses.get(last).is_some_and(|last| last < next.start) || most == 1
        }
        _ => true,
    });
    is_apart.then_some(pieces)
}
