//! A map from numbers to numbers, which calls read without a lock.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::{mem, ptr};

use super::in_flight::InFlight;

/// The map, with open addressing. Zero is not a key, and as a value it means none.
///
/// There is one writer at a time, which has the [`Writer`].
pub(super) struct Map(AtomicPtr<Slots>);

struct Slots(Box<[Slot]>);

#[derive(Default)]
struct Slot {
    key: AtomicUsize,
    value: AtomicU32,
}

/// The result of a look at a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Value(u32),
    /// It had a value since the slots were last replaced.
    Removed,
    Never,
}

/// Slots that were replaced, and may still be read by calls that began before this was taken.
#[must_use]
#[allow(clippy::vec_box, reason = "readers have the address")]
pub(super) struct Retired(Vec<Box<Slots>>);

/// The state that the writer needs; the default is that of an empty map.
pub(super) struct Writer {
    /// The number of slots with a key, including those without a value.
    used: usize,
    /// Slots that were replaced by larger ones, and may still be read.
    #[allow(clippy::vec_box, reason = "readers have the address")]
    retired: Vec<Box<Slots>>,
}

impl Writer {
    pub(super) const fn new() -> Self {
        Self {
            used: 0,
            retired: Vec::new(),
        }
    }

    /// Takes the slots that were replaced so far: to be dropped when the calls in flight have returned.
    pub(super) fn take_retired(&mut self) -> Retired {
        Retired(mem::take(&mut self.retired))
    }

    /// Keeps slots for whose readers nobody has waited.
    pub(super) fn keep_retired(&mut self, mut retired: Retired) {
        self.retired.append(&mut retired.0);
    }
}

impl Slots {
    fn new(capacity: usize) -> Box<Self> {
        Box::new(Self((0..capacity).map(|_| Slot::default()).collect()))
    }

    /// The slot of a key, or the free slot for it.
    #[inline]
    fn find(&self, key: usize) -> Option<&Slot> {
        // The number of slots is a power of two, and at least one is free.
        let mask = self.0.len().wrapping_sub(1);
        // Addresses differ in their middle bits.
        let hash = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut index = hash as usize & mask;
        loop {
            let slot = self.0.get(index)?;
            let here = slot.key.load(Ordering::Acquire);
            if here == key || here == 0 {
                return Some(slot);
            }
            index = (index + 1) & mask;
        }
    }

    fn live(&self) -> impl Iterator<Item = (usize, u32)> {
        let all = self.0.iter();
        all.map(|slot| {
            (
                slot.key.load(Ordering::Relaxed),
                slot.value.load(Ordering::Relaxed),
            )
        })
        .filter(|(key, value)| *key != 0 && *value != 0)
    }

    fn put(&self, key: usize, value: u32) {
        if let Some(slot) = self.find(key) {
            slot.value.store(value, Ordering::Release);
            slot.key.store(key, Ordering::Release);
        }
    }
}

impl Map {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value of a key.
    #[inline]
    pub(super) fn get(&self, key: usize, call: &InFlight) -> Option<u32> {
        match self.find(key, call) {
            Found::Value(value) => Some(value),
            Found::Removed | Found::Never => None,
        }
    }

    /// The value of a key, or whether it had one.
    #[inline]
    pub(super) fn find(&self, key: usize, _: &InFlight) -> Found {
        // SAFETY: null, or slots that are freed only after all calls have ended that began before they were
        // replaced; this read is in such a call, or sees their replacement.
        let slots = unsafe { self.0.load(Ordering::Acquire).as_ref() };
        let Some(slot) = slots.and_then(|slots| slots.find(key)) else {
            return Found::Never;
        };
        // A key follows its first value.
        if slot.key.load(Ordering::Acquire) != key {
            return Found::Never;
        }
        match slot.value.load(Ordering::Acquire) {
            0 => Found::Removed,
            value => Found::Value(value),
        }
    }

    /// Sets the value of a key; zero removes it.
    pub(super) fn set(&self, writer: &mut Writer, key: usize, value: u32) {
        if key == 0 {
            return;
        }
        let current = self.0.load(Ordering::Acquire);
        // SAFETY: null, or slots that only this writer could replace and retire.
        let slots = unsafe { current.as_ref() };
        let (capacity, known) = match slots {
            Some(slots) => {
                let slot = slots.find(key);
                let known = slot.filter(|slot| slot.key.load(Ordering::Relaxed) == key);
                (slots.0.len(), known)
            }
            None => (0, None),
        };
        if let Some(slot) = known {
            slot.value.store(value, Ordering::Release);
            return;
        }
        if value == 0 {
            return;
        }
        if let Some(slots) = slots
            && (writer.used + 1) * 2 <= capacity
        {
            slots.put(key, value);
            writer.used += 1;
            return;
        }
        let live: Vec<_> = slots
            .map(|slots| slots.live().collect())
            .unwrap_or_default();
        let bigger = Slots::new(((live.len() + 1) * 4).next_power_of_two().max(64));
        for (key, value) in live.iter().copied().chain([(key, value)]) {
            bigger.put(key, value);
        }
        writer.used = live.len() + 1;
        self.0.store(Box::into_raw(bigger), Ordering::Release);
        if !current.is_null() {
            // SAFETY: it was made by `Box::into_raw` above, and is no longer in the map. The box is only
            // read, as by threads that still have the address.
            writer.retired.push(unsafe { Box::from_raw(current) });
        }
    }

    /// The bytes of the slots, including those that may still be read.
    pub(super) fn held_bytes(&self, writer: &Writer) -> usize {
        // SAFETY: null, or slots that only the writer could replace.
        let slots = unsafe { self.0.load(Ordering::Acquire).as_ref() };
        let retired = writer.retired.iter().map(|slots| slots.0.len());
        let slots = slots.map_or(0, |slots| slots.0.len()) + retired.sum::<usize>();
        slots * size_of::<Slot>()
    }

    /// All keys with their values, for the writer.
    pub(super) fn all(&self, _: &Writer) -> Vec<(usize, u32)> {
        // SAFETY: null, or slots that only the writer could replace.
        let slots = unsafe { self.0.load(Ordering::Acquire).as_ref() };
        slots
            .map(|slots| slots.live().collect())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::in_flight::drop_after_calls;
    use super::*;
    use std::collections::HashMap;

    fn free_retired(writer: &mut Writer) {
        let freed = drop_after_calls(None, writer.take_retired());
        assert!(freed.is_ok());
    }

    #[test]
    fn it_holds_what_a_map_of_the_standard_library_holds() {
        let (map, mut writer) = (Map::new(), Writer::new());
        let mut expected = HashMap::new();
        let mut random = 1u64;
        for step in 0..100_000u32 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Few enough keys to repeat, in steps like those of addresses.
            let key = 0x7f00_0000_0000 + ((random >> 40) as usize % 4_000) * 8;
            let value = if step % 3 == 0 { 0 } else { step };
            map.set(&mut writer, key, value);
            if value == 0 {
                expected.remove(&key);
            } else {
                expected.insert(key, value);
            }
            if step % 1_000 == 0 {
                free_retired(&mut writer);
            }
        }
        let call = InFlight::begin();
        for index in 0..4_000 {
            let key = 0x7f00_0000_0000 + index * 8;
            assert_eq!(map.get(key, &call), expected.get(&key).copied());
        }
        assert_eq!(map.all(&writer).len(), expected.len());
        let [kept, other] = [0x10, 0x20];
        map.set(&mut writer, kept, 1);
        map.set(&mut writer, kept, 0);
        let found = [kept, other].map(|key| map.find(key, &call));
        assert_eq!(found, [Found::Removed, Found::Never]);
    }

    #[test]
    fn slots_that_are_replaced_during_a_wait_are_not_freed_by_it() {
        let (map, mut writer) = (Map::new(), Writer::new());
        let grow = |writer: &mut Writer, keys: usize| {
            for key in 1..=keys {
                map.set(writer, key * 8, 1);
            }
        };
        grow(&mut writer, 100);
        let before = writer.take_retired();
        assert!(!before.0.is_empty());
        // As other threads do during the wait.
        grow(&mut writer, 1_000);
        assert!(drop_after_calls(None, before).is_ok());
        assert!(!writer.retired.is_empty());
    }

    #[test]
    fn what_comes_and_goes_takes_no_more_room() {
        let (map, mut writer) = (Map::new(), Writer::new());
        for key in 1..200_000 {
            map.set(&mut writer, key * 16, 1);
            map.set(&mut writer, key * 16, 0);
            free_retired(&mut writer);
        }
        // SAFETY: there is no writer.
        let slots = unsafe { map.0.load(Ordering::Acquire).as_ref() }.unwrap();
        assert!(slots.0.len() <= 64, "{}", slots.0.len());
    }

    #[test]
    fn readers_see_each_value_while_the_map_grows() {
        static MAP: Map = Map::new();
        let mut writer = Writer::new();
        MAP.set(&mut writer, 8, 7);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..200_000 {
                            let call = InFlight::begin();
                            assert_eq!(MAP.get(8, &call), Some(7));
                        }
                    })
                })
                .collect();
            let mut key = 16;
            while !readers
                .iter()
                .all(std::thread::ScopedJoinHandle::is_finished)
            {
                key += 8;
                MAP.set(&mut writer, key, 1);
                if key % 1024 == 0 {
                    for old in (16..=key).step_by(8) {
                        MAP.set(&mut writer, old, 0);
                    }
                    free_retired(&mut writer);
                }
                if key > 1 << 20 {
                    key = 16;
                }
            }
        });
    }
}
