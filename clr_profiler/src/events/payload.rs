//! The parameters of callbacks that are not ids: views of the runtime's arrays, valid during the callback.

use std::ops::Range;

use uuid::Uuid;

use crate::events::reasons::RootKind;
use crate::ids::{ClassId, EventPipeProviderId, GcHandleId, ObjectId, ObjectIds, ThreadId};
use crate::native::native_flags;
use clr_profiler_sys as sys;

/// The lengths of ranges of objects: the older callbacks deliver them in 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RangeLengths<'a> {
    Bits32(&'a [u32]),
    Native(&'a [usize]),
}

impl RangeLengths<'_> {
    fn get(&self, index: usize) -> usize {
        match self {
            Self::Bits32(lengths) => lengths.get(index).map_or(0, |length| *length as usize),
            Self::Native(lengths) => lengths.get(index).copied().unwrap_or(0),
        }
    }
}

/// A contiguous range of objects that was moved as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MovedRange {
    /// The address of the first object before the collection.
    pub old_start: usize,
    /// The address of the first object after the collection.
    pub new_start: usize,
    /// The length of the range in bytes.
    pub length: usize,
}

/// The ranges of objects that a compacting collection moved.
#[derive(Clone, Copy, Debug)]
pub struct MovedRanges<'a> {
    old: &'a [usize],
    new: &'a [usize],
    lengths: RangeLengths<'a>,
}

impl<'a> MovedRanges<'a> {
    pub(crate) fn new(old: &'a [usize], new: &'a [usize], lengths: RangeLengths<'a>) -> Self {
        Self { old, new, lengths }
    }

    /// The ranges, in the order of the runtime.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = MovedRange> + '_ {
        let lengths = self.lengths;
        self.old
            .iter()
            .zip(self.new)
            .enumerate()
            .map(move |(index, (old, new))| MovedRange {
                old_start: *old,
                new_start: *new,
                length: lengths.get(index),
            })
    }
}

/// The ranges of addresses whose objects a collection did not move.
#[derive(Clone, Copy, Debug)]
pub struct SurvivingRanges<'a> {
    starts: &'a [usize],
    lengths: RangeLengths<'a>,
}

impl<'a> SurvivingRanges<'a> {
    pub(crate) fn new(starts: &'a [usize], lengths: RangeLengths<'a>) -> Self {
        Self { starts, lengths }
    }

    /// The ranges of addresses, in the order of the runtime.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        let lengths = self.lengths;
        self.starts
            .iter()
            .enumerate()
            .map(move |(index, start)| *start..start.saturating_add(lengths.get(index)))
    }
}

/// How many objects of each type were allocated.
#[derive(Clone, Copy, Debug)]
pub struct AllocationsByClass<'a> {
    classes: &'a [usize],
    counts: &'a [u32],
}

impl<'a> AllocationsByClass<'a> {
    pub(crate) fn new(classes: &'a [usize], counts: &'a [u32]) -> Self {
        Self { classes, counts }
    }

    /// Each type with the number of its objects.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ClassId, u32)> + 'a {
        let classes = self.classes.iter().copied().map(ClassId::from_runtime);
        classes.zip(self.counts.iter().copied())
    }
}

/// The objects that roots point to; a root may point to nothing.
#[derive(Clone, Copy, Debug)]
pub struct RootIds<'a> {
    objects: ObjectIds<'a>,
}

impl<'a> RootIds<'a> {
    pub(crate) fn new(objects: &'a [usize]) -> Self {
        Self {
            objects: ObjectIds::new(objects),
        }
    }

    /// The object of each root, or `None`.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<ObjectId<'a>>> + 'a {
        self.objects.optional()
    }
}

native_flags! {
    /// The properties of a root of the managed heap.
    RootFlags = COR_PRF_GC_ROOT_FLAGS {
        /// The object must not be moved.
        PINNING = COR_PRF_GC_ROOT_PINNING,
        /// The root does not keep the object alive.
        WEAK = COR_PRF_GC_ROOT_WEAKREF,
        /// The root points into the object.
        INTERIOR = COR_PRF_GC_ROOT_INTERIOR,
        /// A reference count decides whether the root keeps the object alive.
        REFCOUNTED = COR_PRF_GC_ROOT_REFCOUNTED,
        _ = !0,
    }
}

/// A root of the managed heap.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Root<'a> {
    /// The object, or `None`: a root may refer to nothing.
    pub object: Option<ObjectId<'a>>,
    /// The kind of storage that holds it.
    pub kind: RootKind,
    /// The properties of the root.
    pub flags: RootFlags,
    /// The number of a handle or a function, depending on `kind`; otherwise zero.
    pub id: usize,
}

/// The roots of the managed heap.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a> {
    objects: ObjectIds<'a>,
    kinds: &'a [u32],
    flags: &'a [u32],
    ids: &'a [usize],
}

impl<'a> Roots<'a> {
    pub(crate) fn new(
        objects: &'a [usize],
        kinds: &'a [u32],
        flags: &'a [u32],
        ids: &'a [usize],
    ) -> Self {
        Self {
            objects: ObjectIds::new(objects),
            kinds,
            flags,
            ids,
        }
    }

    /// The roots, in the order of the runtime.
    pub fn iter(&self) -> impl Iterator<Item = Root<'a>> + 'a {
        let ids = self.objects.optional().zip(self.ids);
        let kinds = self.kinds.iter().zip(self.flags);
        ids.zip(kinds).map(|((object, id), (kind, flags))| Root {
            object,
            kind: RootKind::from_native(*kind),
            flags: RootFlags::from_bits_retain(*flags),
            id: *id,
        })
    }
}

/// The generations that a garbage collection collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GenerationSet(u32);

impl GenerationSet {
    pub(crate) fn new(collected: &[sys::BOOL]) -> Self {
        let bits = collected.iter().take(32).enumerate();
        Self(bits.fold(0, |set, (generation, is_collected)| {
            set | u32::from(is_collected.as_bool()) << generation
        }))
    }

    /// Whether this generation is collected: 0 to 2, 3 for large objects, 4 for pinned objects.
    #[must_use]
    pub fn contains(self, generation: u32) -> bool {
        generation < 32 && self.0 & (1 << generation) != 0
    }

    /// The highest of the generations 0 to 2 that is collected.
    #[must_use]
    pub fn oldest(self) -> Option<u32> {
        (0..3).rev().find(|generation| self.contains(*generation))
    }
}

/// The elements of conditional weak tables: key, value and handle of each.
#[derive(Clone, Copy, Debug)]
pub struct WeakTableElements<'a> {
    keys: ObjectIds<'a>,
    values: ObjectIds<'a>,
    handles: &'a [GcHandleId],
}

/// An element of a conditional weak table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WeakTableElement<'a> {
    /// The object that keeps the value alive.
    pub key: Option<ObjectId<'a>>,
    /// The value.
    pub value: Option<ObjectId<'a>>,
    /// The handle that connects them.
    pub handle: GcHandleId,
}

impl<'a> WeakTableElements<'a> {
    pub(crate) fn new(keys: &'a [usize], values: &'a [usize], handles: &'a [GcHandleId]) -> Self {
        Self {
            keys: ObjectIds::new(keys),
            values: ObjectIds::new(values),
            handles,
        }
    }

    /// The elements, in the order of the runtime.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = WeakTableElement<'a>> + 'a {
        let pairs = self.keys.optional().zip(self.values.optional());
        pairs
            .zip(self.handles)
            .map(|((key, value), handle)| WeakTableElement {
                key,
                value,
                handle: *handle,
            })
    }
}

/// An event that an EventPipe session of the profiler delivers.
///
/// User code can neither copy nor create one, so its fields, ids included, always are those from the runtime.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventPipeEvent<'a> {
    /// The provider that raised it.
    pub provider: EventPipeProviderId<'a>,
    /// The number of the event within its provider.
    pub id: u32,
    /// The version of its payload's layout.
    pub version: u32,
    /// The description of the payload, in EventPipe's binary form.
    pub metadata: &'a [u8],
    /// The fields of the event, in EventPipe's binary form.
    pub payload: &'a [u8],
    /// The activity in which it was raised.
    pub activity: Option<Uuid>,
    /// The activity that started that activity.
    pub related_activity: Option<Uuid>,
    /// The managed thread that raised it.
    pub thread: Option<ThreadId>,
    /// The instruction pointers of the stack, innermost first.
    pub stack: &'a [usize],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_ranges_pair_up_in_both_widths() {
        let (old, new) = ([0x10, 0x50], [0x20, 0x60]);
        let narrow = MovedRanges::new(&old, &new, RangeLengths::Bits32(&[8, 16]));
        let wide = MovedRanges::new(&old, &new, RangeLengths::Native(&[8, 1 << 33]));
        assert_eq!(
            narrow.iter().nth(1),
            Some(MovedRange {
                old_start: 0x50,
                new_start: 0x60,
                length: 16
            })
        );
        assert_eq!(
            wide.iter().map(|range| range.length).collect::<Vec<_>>(),
            [8, 1 << 33]
        );
        assert_eq!(narrow.iter().len(), 2);
    }

    #[test]
    fn surviving_ranges_cannot_wrap_around() {
        let starts = [usize::MAX - 4];
        let ranges = SurvivingRanges::new(&starts, RangeLengths::Native(&[100]));
        assert_eq!(ranges.iter().next(), Some(usize::MAX - 4..usize::MAX));
    }

    #[test]
    fn roots_may_be_empty_and_flags_unknown() {
        let roots = Roots::new(&[0, 0x40], &[1, 77], &[0, 0x8000_0001], &[5, 6]);
        let roots: Vec<_> = roots.iter().collect();
        assert_eq!(roots[0].object, None);
        assert_eq!(roots[0].kind, RootKind::Stack);
        assert_eq!(roots[1].kind, RootKind::Unknown(77));
        assert!(roots[1].flags.contains(RootFlags::PINNING));
        assert_eq!(roots[1].flags.bits(), 0x8000_0001);
    }

    #[test]
    fn generations() {
        let set = GenerationSet::new(&[true.into(), true.into(), false.into(), true.into()]);
        assert!(set.contains(0) && !set.contains(2) && set.contains(3) && !set.contains(99));
        assert_eq!(set.oldest(), Some(1));
        assert_eq!(GenerationSet::new(&[]).oldest(), None);
    }
}
