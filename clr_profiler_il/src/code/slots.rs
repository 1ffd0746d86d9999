use std::fmt;
use std::ops::{Deref, DerefMut};

/// A vector whose slots stay initialised when it is cleared.
///
/// Many values can be written in a row without a capacity check for each one, and without
/// initialising the room first.
pub(crate) struct Slots<T> {
    /// The values, followed by initialised slots with leftovers of earlier values.
    all: Vec<T>,
    length: usize,
}

impl<T: Copy> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self {
            all: Vec::new(),
            length: 0,
        }
    }

    pub(crate) const fn clear(&mut self) {
        self.length = 0;
    }

    /// The value in an initialised slot. After the last value, it is a leftover.
    #[inline]
    pub(crate) fn slot(&self, index: usize) -> Option<&T> {
        self.all.get(index)
    }

    /// As [`slot`](Self::slot), mutable.
    #[inline]
    pub(crate) fn slot_mut(&mut self, index: usize) -> Option<&mut T> {
        self.all.get_mut(index)
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        match self.all.get_mut(self.length) {
            Some(slot) => *slot = value,
            None => self.all.push(value),
        }
        self.length += 1;
    }

    /// The values, followed by initialised slots for this many more, for
    /// [`extend_to`](Self::extend_to).
    #[inline]
    pub(crate) fn with_room(&mut self, count: usize, filling: T) -> &mut [T] {
        let end = self.length + count;
        if self.all.len() < end {
            self.grow(end, filling);
        }
        &mut self.all
    }

    /// Sets the number of values: the initialised slots before this number.
    #[inline]
    pub(crate) fn extend_to(&mut self, length: usize) {
        self.length = length.min(self.all.len());
    }

    #[cold]
    fn grow(&mut self, size: usize, filling: T) {
        self.all.resize(size, filling);
    }
}

impl<T: Copy> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Clone for Slots<T> {
    /// Omits the leftovers.
    fn clone(&self) -> Self {
        Self {
            all: self.to_vec(),
            length: self.length,
        }
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Copy> Deref for Slots<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.all.get(..self.length).unwrap_or(&[])
    }
}

impl<T: Copy> DerefMut for Slots<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.all.get_mut(..self.length).unwrap_or(&mut [])
    }
}
