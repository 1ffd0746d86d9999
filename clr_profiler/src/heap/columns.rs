//! Lists of numbers that take little memory, and never twice of it while they grow.

use super::graph::{NO_PLACE, UNIT};

/// The number of entries by which a list grows.
const CHUNK: usize = 1 << 16;

/// A list that grows without moving its entries, and has less than one chunk of spare capacity.
#[derive(Clone, Debug)]
pub(super) struct Chunks<T>(Vec<Vec<T>>);

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Chunks<T> {
    #[inline]
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

    /// The memory of the entries.
    pub(super) fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<T> {
        self.0.get(index / CHUNK)?.get(index % CHUNK).copied()
    }

    /// Replaces an existing entry.
    pub(super) fn set(&mut self, index: usize, value: T) {
        let chunk = self.0.get_mut(index / CHUNK);
        if let Some(entry) = chunk.and_then(|chunk| chunk.get_mut(index % CHUNK)) {
            *entry = value;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.0.iter().flatten().copied()
    }

    /// The entries. Each chunk is freed after its last one.
    pub(super) fn into_entries(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flatten()
    }
}

/// Numbers of which nearly all fit into 16 bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Small {
    numbers: Chunks<u16>,
    /// The others, by their indices.
    large: Vec<(u32, u32)>,
}

impl Small {
    /// Sentinel: the number is in `large`.
    const LARGE: u16 = u16::MAX;

    #[inline]
    pub(super) fn push(&mut self, number: u32) {
        let small = match u16::try_from(number) {
            Ok(small) if small != Self::LARGE => small,
            _ => {
                self.large.push((self.numbers.len() as u32, number));
                Self::LARGE
            }
        };
        self.numbers.push(small);
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<u32> {
        match self.numbers.get(index)? {
            Self::LARGE => {
                let large = self
                    .large
                    .binary_search_by_key(&(index as u32), |(at, _)| *at);
                Some(self.large.get(large.ok()?)?.1)
            }
            small => Some(u32::from(small)),
        }
    }
}

/// The places of references in their objects: the lower part of each, and the upper part where it changes.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceColumn {
    lower: Chunks<u16>,
    /// The upper parts from an index on, until the next one or the end of the object. It is zero at the beginning of an object.
    upper: Vec<(u32, u32)>,
    now: u32,
}

impl PlaceColumn {
    /// Sentinel: no place. It is also the number of lower parts.
    const NONE: u16 = u16::MAX;

    /// The memory of the lower parts.
    pub(super) fn bytes(&self) -> usize {
        self.lower.bytes()
    }

    /// Begins the places of the next object.
    pub(super) fn next_object(&mut self) {
        self.now = 0;
    }

    pub(super) fn push(&mut self, place: u32) {
        if place == NO_PLACE {
            return self.lower.push(Self::NONE);
        }
        let (upper, lower) = (place / u32::from(Self::NONE), place % u32::from(Self::NONE));
        if upper != self.now {
            self.upper.push((self.lower.len() as u32, upper));
            self.now = upper;
        }
        self.lower.push(lower as u16);
    }

    /// A place of an object whose first reference has the index `first`.
    pub(super) fn get(&self, index: usize, first: usize) -> Option<u32> {
        let lower = match self.lower.get(index)? {
            Self::NONE => return Some(NO_PLACE),
            lower => u32::from(lower),
        };
        let after = self.upper.partition_point(|(at, _)| *at as usize <= index);
        let upper = match after.checked_sub(1).and_then(|last| self.upper.get(last)) {
            Some((at, upper)) if *at as usize >= first => *upper,
            _ => 0,
        };
        Some(upper * u32::from(Self::NONE) + lower)
    }
}

/// Addresses of objects: the lower part of each, and the upper part where it changes, which is for each 32 GB.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// In units.
    lower: Chunks<u32>,
    upper: Vec<(u32, usize)>,
}

impl Addresses {
    #[inline]
    pub(super) fn push(&mut self, address: usize) {
        let (upper, lower) = Self::parts(address);
        if self.upper.last().is_none_or(|(_, last)| *last != upper) {
            self.upper.push((self.lower.len() as u32, upper));
        }
        self.lower.push(lower);
    }

    /// Both parts of an address.
    #[inline]
    pub(super) fn parts(address: usize) -> (usize, u32) {
        let unit = (address / UNIT) as u64;
        ((unit >> 32) as usize, unit as u32)
    }

    pub(super) fn len(&self) -> usize {
        self.lower.len()
    }

    /// The memory of the lower parts.
    pub(super) fn bytes(&self) -> usize {
        self.lower.bytes()
    }

    /// The lower part of an address.
    #[inline]
    pub(super) fn lower(&self, index: usize) -> Option<u32> {
        self.lower.get(index)
    }

    /// The addresses, in units.
    pub(super) fn units(&self) -> impl Iterator<Item = u64> + '_ {
        let mut upper = self.upper.iter().peekable();
        let mut now = 0;
        self.lower.iter().enumerate().map(move |(index, lower)| {
            while let Some((_, next)) = upper.next_if(|(at, _)| *at as usize <= index) {
                now = (*next as u64) << 32;
            }
            now | u64::from(lower)
        })
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
        assert!(chunks.iter().eq(0..count));
        assert!(chunks.clone().into_entries().eq(0..count));
        chunks.set(CHUNK + 1, 7);
        assert_eq!(chunks.get(CHUNK + 1), Some(7));
        assert_eq!(Chunks::<u32>::default().len(), 0);
    }

    #[test]
    fn large_numbers_are_kept() {
        let mut small = Small::default();
        let numbers = [0, 65_534, 65_535, 65_536, 1, u32::MAX, 2];
        numbers.iter().for_each(|number| small.push(*number));
        let read = (0..small.len()).map(|index| small.get(index));
        assert!(read.eq(numbers.map(Some)));
        assert_eq!(small.get(numbers.len()), None);
    }

    #[test]
    fn places_are_read_as_they_were_written() {
        let objects: [&[u32]; 4] = [
            &[1, 65_534, 65_535, 131_069, NO_PLACE, 131_070, 5],
            &[3, 65_533],
            &[1_000_000, 70_000, 2, NO_PLACE - 1],
            &[NO_PLACE, 9],
        ];
        let mut column = PlaceColumn::default();
        for object in objects {
            column.next_object();
            object.iter().for_each(|place| column.push(*place));
        }
        let mut first = 0;
        for object in objects {
            for (number, place) in object.iter().enumerate() {
                assert_eq!(column.get(first + number, first), Some(*place));
            }
            first += object.len();
        }
        assert_eq!(column.get(first, first), None);
    }

    #[test]
    fn addresses_are_read_as_they_were_written() {
        let mut addresses = Addresses::default();
        let written = [0x7fff_ffff_fff8, 8, 16, 0x8_0000_0000, 0x8_0000_0008, 24];
        let written = written.map(|address: usize| address / 8 * UNIT);
        written.iter().for_each(|address| addresses.push(*address));
        let read = addresses.units().map(|unit| unit as usize * UNIT);
        assert!(read.eq(written));
        for (index, address) in written.iter().enumerate() {
            assert_eq!(addresses.lower(index), Some(Addresses::parts(*address).1));
        }
    }
}
