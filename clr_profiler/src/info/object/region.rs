//! The memory of an object, read within its bounds.

use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::ids::GcTriggerCount;
use crate::native::zeroed;

/// The operation that error messages name in place of a native call.
const READING: &str = "reading an object";

/// The memory of an object or a static field.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    start: usize,
    size: usize,
    looked_up: GcTriggerCount,
    object: PhantomData<&'a ()>,
    /// Objects can be read only on this thread.
    stays_here: PhantomData<*const ()>,
}

impl<'a> Region<'a> {
    /// # Safety
    ///
    /// The `size` bytes from `start` are readable on this thread until a call that may trigger a GC, at
    /// most during `'a`.
    pub(super) unsafe fn new(start: usize, size: usize) -> Self {
        Self {
            start,
            size,
            looked_up: GcTriggerCount::now(),
            object: PhantomData,
            stays_here: PhantomData,
        }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The part of `size` bytes from `offset`, or up to the end for `None`.
    pub(super) fn part(&self, offset: usize, size: Option<usize>) -> Result<Region<'a>> {
        let rest = self.size.checked_sub(offset);
        let size = size.or(rest);
        match (rest, size) {
            (Some(rest), Some(size)) if size <= rest => Ok(Self {
                start: self.start + offset,
                size,
                ..*self
            }),
            _ => Err(Error::invalid(
                READING,
                format_args!(
                    "{} bytes at the offset {offset} are not within its {} bytes",
                    size.unwrap_or(0),
                    self.size
                ),
            )),
        }
    }

    /// A copy of the first bytes.
    pub(super) fn read<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.part(0, Some(N))?.copy_to(&mut bytes)?;
        Ok(bytes)
    }

    /// A copy of all bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = zeroed(self.size)?;
        self.copy_to(&mut bytes)?;
        Ok(bytes)
    }

    fn copy_to(&self, bytes: &mut [u8]) -> Result<()> {
        if !self.looked_up.is_now() {
            return Err(Error::rule(
                READING,
                "a call that may trigger a GC was made since the object was looked up, and may have moved it",
            ));
        }
        let length = bytes.len().min(self.size);
        let start: *const u8 = std::ptr::with_exposed_provenance(self.start);
        // SAFETY: the region has `length` bytes, which nothing moves: since its creation, this thread made
        // no call that may trigger a GC, and a collection waits for this thread. Bytes have no alignment;
        // managed threads write whole values at the same time.
        unsafe { start.copy_to_nonoverlapping(bytes.as_mut_ptr(), length) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_beyond_the_end() {
        let memory = [1u8, 2, 3, 4, 5];
        // SAFETY: the array lives until the end.
        let region = unsafe { Region::new(memory.as_ptr().expose_provenance(), memory.len()) };
        assert_eq!(region.bytes().unwrap(), memory);
        assert_eq!(region.part(3, None).unwrap().read::<2>().unwrap(), [4, 5]);
        assert_eq!(region.part(5, None).unwrap().size(), 0);
        assert!(region.part(3, None).unwrap().read::<3>().is_err());
        for (offset, size) in [(6, None), (0, Some(6)), (5, Some(1)), (usize::MAX, Some(1))] {
            assert!(region.part(offset, size).is_err(), "{offset} {size:?}");
        }
    }
}
