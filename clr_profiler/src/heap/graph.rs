//! [`HeapGraph`]: objects and their references.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use super::columns::{Addresses, Chunks, PlaceColumn, Small};
use super::record::{Places, Record};
use super::texts::{HeapText, Texts};
use crate::error::{Error, Result};
use crate::events::payload::RootFlags;
use crate::events::reasons::RootKind;
use crate::ids::ClassId;
use crate::runtime::release_memory;

/// The unit of sizes and places, in bytes.
pub(super) const UNIT: usize = size_of::<usize>();

/// The place of a reference that is not in the memory of its object.
pub(super) const NO_PLACE: u32 = u32::MAX;

/// The objects of a managed heap and their references, as of the end of a collection.
///
/// Objects are numbered from 0, in the order in which the runtime walked the heap. The numbers are
/// unrelated to addresses, which the next collection may change. The graph takes 8 bytes per
/// object and 6 per reference, or 4 without places; while it is built, 12 and 8 or less.
///
/// Returned by [`HeapRecorder::record`](super::HeapRecorder::record). The crate
/// `clr_profiler_tools` finds dominators and paths in it.
#[derive(Clone, Debug)]
pub struct HeapGraph {
    classes: Vec<HeapClass>,
    class_of: Small,
    units: Small,
    /// The index of the first reference of each object, and one more entry for the end.
    first: Chunks<u32>,
    targets: Chunks<u32>,
    places: PlaceColumn,
    /// Keys and values of conditional weak tables, sorted.
    attached: Vec<(u32, u32)>,
    roots: Vec<HeapRoot>,
    /// The functions on whose behalf stacks hold objects.
    functions: HashMap<usize, String>,
    texts: Texts,
    lost: u64,
    pause: Duration,
}

/// An object of a [`HeapGraph`].
///
/// Returned by [`HeapGraph::object`] and [`HeapGraph::objects`].
#[derive(Clone, Copy)]
pub struct HeapObject<'a> {
    graph: &'a HeapGraph,
    /// Less than the graph's length.
    number: u32,
}

/// A type of objects in a [`HeapGraph`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeapClass {
    /// The type, which may have been unloaded by now.
    pub id: ClassId,
    /// Its full name, such as `System.Collections.Generic.List<string>`.
    pub name: String,
    /// The layout of the elements, if it is an array.
    pub elements: Option<Elements>,
    /// Offsets of fields in bytes, ascending, with their names.
    pub fields: Vec<(u32, String)>,
}

/// The layout of the elements of an array type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elements {
    /// The offset of the first element in bytes.
    pub offset: u32,
    /// The size of an element in bytes, at least 1.
    pub size: u32,
}

/// A root that refers to an object in a [`HeapGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapRoot {
    /// The number of the object.
    pub object: u32,
    /// The kind of the root.
    pub kind: RootKind,
    /// The flags of the root.
    pub flags: RootFlags,
    /// A handle or a function, depending on `kind`; zero if there is neither.
    pub id: usize,
}

impl HeapRoot {
    /// Whether it keeps its object alive.
    #[must_use]
    pub fn is_strong(&self) -> bool {
        !self.flags.contains(RootFlags::WEAK)
    }
}

/// A reference of an object in a [`HeapGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapReference {
    /// The number of the object that is referred to.
    pub target: u32,
    /// The place of the reference.
    pub place: ReferencePlace,
}

/// The place of a reference. `clr_profiler_tools::heap::PlaceName` gives it a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReferencePlace {
    /// In the memory of the object, at this offset in bytes.
    Offset(u64),
    /// In a conditional weak table: the object is a key, and the target is its value.
    WeakTable,
    /// In no field: an object of a collectible type refers to the `LoaderAllocator` of its type, which the
    /// runtime reports as a reference, too. Before .NET Core 3.0, and [without places](super::HeapRecorder::without_places), all
    /// places are unknown.
    Unknown,
}

impl HeapGraph {
    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> u32 {
        // `build` has checked that it fits.
        self.class_of.len() as u32
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of references, including those of weak tables.
    #[must_use]
    pub fn reference_count(&self) -> u32 {
        (self.targets.len() + self.attached.len()) as u32
    }

    /// The number of references and roots whose target is not a known object, which are left out of
    /// the graph. Zero unless the runtime does not report all objects.
    #[must_use]
    pub fn lost_references(&self) -> u64 {
        self.lost
    }

    /// The time of the collection in which the heap was recorded. The program was suspended for it, and also while its threads were
    /// suspended before and resumed after.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Frees the references, for the memory of an analysis that needs them no more: as if no object had any. Roots and
    /// texts remain.
    ///
    /// With glibc, where the lists of them were longer than 16 MB, the allocator returns free memory to the system: that of the whole
    /// process, whose threads wait meanwhile when they allocate native memory (`malloc_trim`).
    pub fn clear_references(&mut self) {
        let freed = self.first.bytes() + self.targets.bytes() + self.places.bytes();
        self.first = Chunks::default();
        self.targets = Chunks::default();
        self.places = PlaceColumn::default();
        self.attached = Vec::new();
        release_memory(freed);
    }

    /// The types of the objects.
    #[must_use]
    pub fn classes(&self) -> &[HeapClass] {
        &self.classes
    }

    /// An object by its number; `None` if the graph has no such object.
    #[must_use]
    pub fn object(&self, number: u32) -> Option<HeapObject<'_>> {
        (number < self.len()).then_some(HeapObject {
            graph: self,
            number,
        })
    }

    /// The objects by ascending number.
    #[must_use]
    pub fn objects(&self) -> impl ExactSizeIterator<Item = HeapObject<'_>> {
        (0..self.len()).map(|number| HeapObject {
            graph: self,
            number,
        })
    }

    /// The roots in the order of the runtime, including weak ones.
    #[must_use]
    pub fn roots(&self) -> &[HeapRoot] {
        &self.roots
    }

    /// The full name of the function on whose behalf a stack holds an object; `None` for roots of
    /// other kinds, dynamic methods, and the runtime's own.
    #[must_use]
    pub fn function_name(&self, root: &HeapRoot) -> Option<&str> {
        if root.kind != RootKind::Stack {
            return None;
        }
        self.functions.get(&root.id).map(String::as_str)
    }

    /// Builds a graph from a record, in which references are addresses.
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
            references,
            far,
            mut roots,
            weak_elements,
            texts,
            has_places,
            pause,
            ..
        } = record;
        let total = references.len() + weak_elements.len();
        let freed = references.bytes() + addresses.bytes();
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

        // The chunks of the record are freed one after the other.
        let mut recorded = references.into_entries();
        let (mut targets, mut places) = (Chunks::default(), PlaceColumn::default());
        let mut first = counts;
        let mut decoded = Places::new(far);
        for object in 0..first.len() {
            let count = first.get(object).ok_or_else(unfinished)?;
            first.set(object, targets.len() as u32);
            decoded.next_object();
            places.next_object();
            for _ in 0..count {
                let reference = recorded.next().ok_or_else(unfinished)?;
                let (address, place) = decoded.decode(reference);
                match index.find(address) {
                    Some(target) => {
                        targets.push(target);
                        if has_places {
                            places.push(place);
                        }
                    }
                    None => lost += 1,
                }
            }
        }
        first.push(targets.len() as u32);
        drop(index);
        drop(addresses);
        release_memory(freed);
        Ok(Self {
            classes,
            class_of,
            units,
            first,
            targets,
            places,
            attached,
            roots: roots.into_iter().map(|(_, root)| root).collect(),
            functions,
            texts,
            lost,
            pause,
        })
    }
}

impl<'a> HeapObject<'a> {
    /// The object's number in the graph.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// The index of its type in [`HeapGraph::classes`].
    #[must_use]
    pub fn class_index(self) -> usize {
        self.graph.class_of.get(self.index()).unwrap_or_default() as usize
    }

    /// Its type.
    #[must_use]
    pub fn class(self) -> &'a HeapClass {
        &self.graph.classes[self.class_index()]
    }

    /// Its size in bytes, including its header and padding.
    #[must_use]
    pub fn size(self) -> u64 {
        u64::from(self.graph.units.get(self.index()).unwrap_or_default()) * UNIT as u64
    }

    /// Its references: those in its memory, then the values that weak tables attach to it.
    pub fn references(self) -> impl Iterator<Item = HeapReference> + 'a {
        (0..).map_while(move |number| self.reference(number))
    }

    /// One of its [`references`](Self::references), by its number from 0.
    #[must_use]
    pub fn reference(self, number: u32) -> Option<HeapReference> {
        let target = self.target(number)?;
        let (first, end) = self.range();
        let index = first + number as usize;
        let place = match self.graph.places.get(index, first) {
            _ if index >= end => ReferencePlace::WeakTable,
            None | Some(NO_PLACE) => ReferencePlace::Unknown,
            Some(place) => ReferencePlace::Offset(u64::from(place) * UNIT as u64),
        };
        Some(HeapReference { target, place })
    }

    /// The number of the object to which one of its [`references`](Self::references) leads: as
    /// [`reference`](Self::reference), but faster.
    #[must_use]
    pub fn target(self, number: u32) -> Option<u32> {
        let (first, end) = self.range();
        let index = first + number as usize;
        match index < end {
            true => self.graph.targets.get(index),
            false => self.attached().get(index - end).map(|(_, value)| *value),
        }
    }

    /// Its text, if it is a string and texts were [recorded](super::HeapRecorder::with_texts).
    #[must_use]
    pub fn text(self) -> Option<HeapText<'a>> {
        self.graph.texts.get(self.number)
    }

    /// The indices of its references, without those of weak tables.
    fn range(self) -> (usize, usize) {
        let first = |object| self.graph.first.get(object).unwrap_or_default() as usize;
        (first(self.index()), first(self.index() + 1))
    }

    fn index(self) -> usize {
        self.number as usize
    }

    fn attached(self) -> &'a [(u32, u32)] {
        let attached = &self.graph.attached;
        let start = attached.partition_point(|(key, _)| *key < self.number);
        let end = attached.partition_point(|(key, _)| *key <= self.number);
        &attached[start..end]
    }
}

impl fmt::Debug for HeapObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeapObject").field(&self.number).finish()
    }
}

/// The error for a record that ends within an object.
fn unfinished() -> Error {
    Error::other("the record of the heap has fewer references than its objects")
}

/// Finds objects by their addresses.
///
/// The runtime walks the regions of the heap in any order, but each from its beginning to its end:
/// it is enough to sort pieces of regions.
struct AddressIndex<'a> {
    addresses: &'a Addresses,
    /// By ascending address, without overlaps.
    pieces: Vec<Piece>,
}

/// Consecutive objects at ascending addresses, whose upper parts are equal.
#[derive(Clone, Copy)]
struct Piece {
    /// In units.
    start: u64,
    first: u32,
    len: u32,
}

/// The maximum number of objects in a piece.
const PIECE: u32 = 64;
/// Pieces end where the bits of an address in units change from this one up: another region may be in between.
const BLOCK: u32 = 17;

impl<'a> AddressIndex<'a> {
    fn of(addresses: &'a Addresses) -> Self {
        let pieces = pieces(addresses, PIECE).unwrap_or_else(|| {
            // Every object is its own piece. No known runtime walks the heap in such an order.
            pieces(addresses, 1).unwrap_or_default()
        });
        Self { addresses, pieces }
    }

    fn find(&self, address: usize) -> Option<u32> {
        let unit = (address / UNIT) as u64;
        let after = self.pieces.partition_point(|piece| piece.start <= unit);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        if unit >> BLOCK != piece.start >> BLOCK {
            return None;
        }
        let (_, lower) = Addresses::parts(address);
        let (mut low, mut high) = (piece.first, piece.first + piece.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.addresses.lower(middle as usize)?.cmp(&lower) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Pieces of at most `most` objects; `None` if they overlap.
fn pieces(addresses: &Addresses, most: u32) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before = 0;
    for (object, unit) in addresses.units().enumerate() {
        match pieces.last_mut() {
            Some(piece)
                if piece.len < most && unit > before && unit >> BLOCK == piece.start >> BLOCK =>
            {
                piece.len += 1;
            }
            _ => pieces.push(Piece {
                start: unit,
                first: object as u32,
                len: 1,
            }),
        }
        before = unit;
    }
    pieces.sort_unstable_by_key(|piece| piece.start);
    let is_apart = pieces.is_sorted_by(|one, next| {
        if most == 1 || one.start >> BLOCK != next.start >> BLOCK {
            return true;
        }
        let last = (one.first + one.len) as usize - 1;
        let last = addresses.lower(last);
        last.is_some_and(|last| last < next.start as u32)
    });
    is_apart.then_some(pieces)
}
