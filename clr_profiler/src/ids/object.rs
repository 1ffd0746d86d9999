//! Ids of objects, which are valid until the garbage collector may move the objects.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

thread_local! {
    static GC_TRIGGERS: Cell<u64> = const { Cell::new(0) };
}

/// The number of calls on this thread that may have triggered a GC. It is meaningful only on its thread, so
/// types that contain one stay on their thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GcTriggerCount(u64);

impl GcTriggerCount {
    /// The current number.
    pub(crate) fn now() -> Self {
        Self(GC_TRIGGERS.get())
    }

    /// Records a call of this thread that may trigger a GC.
    pub(crate) fn count_one() {
        GC_TRIGGERS.set(GC_TRIGGERS.get().wrapping_add(1));
    }

    /// Whether there was no such call since.
    pub(crate) fn is_now(self) -> bool {
        self == Self::now()
    }
}

/// An object on the managed heap, named by its address.
///
/// The garbage collector moves objects, so an id is valid only during the callback that delivered it, on
/// its thread: because of its lifetime, keeping it longer or using it on another thread does not compile.
/// After a call of this thread that may trigger a GC, all calls with the id are refused. Ids are equal if
/// their addresses are.
///
/// The native type is `ObjectID`.
#[doc(alias = "ObjectID")]
#[derive(Clone, Copy)]
pub struct ObjectId<'callback> {
    address: usize,
    delivered: GcTriggerCount,
    /// A collection waits for the thread of the callback, and for no other.
    callback: PhantomData<(&'callback (), *const ())>,
}

impl ObjectId<'_> {
    /// The id of an object that the runtime passes now.
    pub(crate) fn from_callback(address: usize) -> Self {
        Self::at(address, GcTriggerCount::now())
    }

    /// The id of an object that the runtime passes now; `None` for zero.
    pub(crate) fn optional(address: usize) -> Option<Self> {
        (address != 0).then(|| Self::from_callback(address))
    }

    const fn at(address: usize, delivered: GcTriggerCount) -> Self {
        Self {
            address,
            delivered,
            callback: PhantomData,
        }
    }

    /// The address of the object when it was delivered, for logs and comparisons. Do not read from it.
    #[must_use]
    pub const fn address(self) -> usize {
        self.address
    }

    /// Whether the object cannot have moved since it was delivered.
    pub(crate) fn is_in_place(self) -> bool {
        self.delivered.is_now()
    }
}

impl PartialEq for ObjectId<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Eq for ObjectId<'_> {}

impl PartialOrd for ObjectId<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectId<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.address.cmp(&other.address)
    }
}

impl Hash for ObjectId<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address.hash(state);
    }
}

impl fmt::Debug for ObjectId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({:#x})", self.address)
    }
}

/// Objects that a callback delivers.
#[derive(Clone, Copy)]
pub struct ObjectIds<'a> {
    addresses: &'a [usize],
    delivered: GcTriggerCount,
    stays_here: PhantomData<*const ()>,
}

impl<'a> ObjectIds<'a> {
    pub(crate) fn new(addresses: &'a [usize]) -> Self {
        Self {
            addresses,
            delivered: GcTriggerCount::now(),
            stays_here: PhantomData,
        }
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The objects, in the runtime's order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ObjectId<'a>> + 'a {
        let delivered = self.delivered;
        self.addresses
            .iter()
            .map(move |address| ObjectId::at(*address, delivered))
    }

    /// The objects; `None` for null references.
    pub(crate) fn optional(&self) -> impl ExactSizeIterator<Item = Option<ObjectId<'a>>> + 'a {
        self.iter()
            .map(|object| (object.address != 0).then_some(object))
    }
}

impl fmt::Debug for ObjectIds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_moves_objects_ends_the_ids_before_it_only() {
        assert_eq!(ObjectId::optional(0), None);
        let addresses = [16, 0];
        let before = ObjectIds::new(&addresses);
        let object = ObjectId::from_callback(16);
        assert!(object.is_in_place());
        std::thread::spawn(GcTriggerCount::count_one)
            .join()
            .unwrap();
        assert!(object.is_in_place());
        GcTriggerCount::count_one();
        assert!(!object.is_in_place());
        assert!(before.iter().all(|object| !object.is_in_place()));
        let after = ObjectId::from_callback(16);
        assert!(after.is_in_place());
        assert_eq!(object, after);
        let optional: Vec<_> = ObjectIds::new(&addresses).optional().collect();
        assert_eq!(optional, [Some(after), None]);
    }
}
