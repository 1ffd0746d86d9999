//! The frame, arguments and returned value of a hooked call.

use std::fmt;
use std::marker::PhantomData;
use std::mem::offset_of;

use crate::error::{Hresult, Result};
use crate::info::FrameInfo;
use crate::native::clear_to;
use clr_profiler_sys as sys;
use sys::{COR_PRF_FUNCTION_ARGUMENT_INFO, COR_PRF_FUNCTION_ARGUMENT_RANGE};

/// The handle that a hook of the third generation receives for queries about its call.
#[doc(alias = "COR_PRF_ELT_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EltInfo(usize);

impl EltInfo {
    /// Creates the handle from its native number.
    #[must_use]
    pub const fn from_raw(raw: usize) -> Self {
        Self(raw)
    }

    /// The native number.
    #[must_use]
    pub const fn raw(self) -> usize {
        self.0
    }
}

/// A block of memory that holds an argument or a returned value.
#[doc(alias = "COR_PRF_FUNCTION_ARGUMENT_RANGE")]
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct MemoryRange<'hook>(COR_PRF_FUNCTION_ARGUMENT_RANGE, PhantomData<&'hook ()>);

impl MemoryRange<'_> {
    /// The range that the runtime returned, if any.
    pub(super) fn optional(range: COR_PRF_FUNCTION_ARGUMENT_RANGE) -> Option<Self> {
        (range.startAddress != 0).then_some(Self(range, PhantomData))
    }

    /// The start address.
    #[must_use]
    pub fn start(&self) -> usize {
        self.0.startAddress
    }

    /// The length in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.length as usize
    }
}

impl fmt::Debug for MemoryRange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}, {} bytes", self.start(), self.size())
    }
}

/// The frame and arguments of a call, on entry.
#[doc(alias = "COR_PRF_FUNCTION_ARGUMENT_INFO")]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EnterInfo<'hook> {
    /// The frame, if [`ENABLE_FRAME_INFO`](crate::EventMask::ENABLE_FRAME_INFO) is set.
    pub frame: Option<FrameInfo<'hook>>,
    /// The memory of the arguments from left to right, `this` first; empty unless
    /// [`ENABLE_FUNCTION_ARGS`](crate::EventMask::ENABLE_FUNCTION_ARGS) is set.
    pub arguments: &'hook [MemoryRange<'hook>],
}

/// The frame and returned value of a call, on leaving.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LeaveInfo<'hook> {
    /// The frame, if [`ENABLE_FRAME_INFO`](crate::EventMask::ENABLE_FRAME_INFO) is set.
    pub frame: Option<FrameInfo<'hook>>,
    /// The memory of the returned value, if there is one and
    /// [`ENABLE_FUNCTION_RETVAL`](crate::EventMask::ENABLE_FUNCTION_RETVAL) is set.
    pub value: Option<MemoryRange<'hook>>,
}

/// A reusable buffer for the memory ranges of a call's arguments.
pub struct ArgumentBuffer {
    /// Aligned like the structure that the runtime writes. The ranges in it are at an offset that is not a
    /// multiple of their size, so all of the memory must be initialised.
    memory: Vec<u64>,
}

/// The offset of the ranges in the structure that the runtime writes.
const RANGES: usize = offset_of!(COR_PRF_FUNCTION_ARGUMENT_INFO, ranges);
const RANGE: usize = size_of::<COR_PRF_FUNCTION_ARGUMENT_RANGE>();
const WORD: usize = size_of::<u64>();
const _: () = assert!(
    RANGES <= 2 * WORD
        && align_of::<COR_PRF_FUNCTION_ARGUMENT_INFO>() <= align_of::<u64>()
        && align_of::<COR_PRF_FUNCTION_ARGUMENT_RANGE>() <= align_of::<u64>()
);

impl ArgumentBuffer {
    /// A buffer that is large enough for most calls. It grows if necessary.
    #[must_use]
    pub fn new() -> Self {
        Self {
            memory: vec![0; 36],
        }
    }

    /// Fills the buffer by a native call. The call takes the size in bytes, and corrects it if it is too
    /// small, and the address to write to.
    pub(super) fn fill<'hook>(
        &'hook mut self,
        mut call: impl FnMut(&mut u32, *mut COR_PRF_FUNCTION_ARGUMENT_INFO) -> Result<Hresult>,
    ) -> Result<&'hook [MemoryRange<'hook>]> {
        // Clears the count of an earlier call: the runtime writes nothing unless arguments are enabled.
        if let Some(first) = self.memory.first_mut() {
            *first = 0;
        }
        let capacity = self.memory.len() * WORD;
        let mut size = capacity as u32;
        let first = call(&mut size, self.memory.as_mut_ptr().cast());
        if let Err(error) = first {
            if size as usize <= capacity {
                return Err(error);
            }
            let needed = (size as usize).div_ceil(WORD);
            clear_to(&mut self.memory, needed)?;
            size = (needed * WORD) as u32;
            call(&mut size, self.memory.as_mut_ptr().cast())?;
        }
        let start = self.memory.as_ptr();
        // SAFETY: the buffer is at least as large and as aligned as the structure without ranges,
        // and all of it is initialised.
        let count = unsafe { (*start.cast::<COR_PRF_FUNCTION_ARGUMENT_INFO>()).numRanges } as usize;
        let room = (self.memory.len() * WORD - RANGES) / RANGE;
        // SAFETY: `room` ranges fit after the start of the structure, all initialised; a `MemoryRange` is a
        // transparent wrapper, and the buffer is borrowed for its lifetime.
        Ok(unsafe {
            std::slice::from_raw_parts(
                start.byte_add(RANGES).cast::<MemoryRange<'hook>>(),
                count.min(room),
            )
        })
    }
}

impl Default for ArgumentBuffer {
    fn default() -> Self {
        Self::new()
    }
}

opaque! { ArgumentBuffer }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// A call with that many arguments, written as the runtime does.
    fn runtime(
        count: u32,
    ) -> impl FnMut(&mut u32, *mut COR_PRF_FUNCTION_ARGUMENT_INFO) -> Result<Hresult> {
        move |size, arguments| {
            let needed = size_of::<COR_PRF_FUNCTION_ARGUMENT_INFO>() + count as usize * RANGE;
            if (*size as usize) < needed {
                *size = needed as u32;
                return Err(Error::call("X::Y", Hresult::E_FAIL));
            }
            // SAFETY: the buffer has room for all of it.
            unsafe {
                (*arguments).numRanges = count;
                let ranges =
                    (&raw mut (*arguments).ranges).cast::<COR_PRF_FUNCTION_ARGUMENT_RANGE>();
                for index in 0..count {
                    ranges
                        .add(index as usize)
                        .write(COR_PRF_FUNCTION_ARGUMENT_RANGE {
                            startAddress: 0x1000 + index as usize,
                            length: index + 1,
                        });
                }
            }
            Ok(Hresult::S_OK)
        }
    }

    #[test]
    fn any_number_of_arguments_fits() {
        let mut buffer = ArgumentBuffer::new();
        for count in [0, 1, 16, 17, 300, 2] {
            let ranges = buffer.fill(runtime(count)).unwrap();
            assert_eq!(ranges.len(), count as usize);
            for (index, range) in ranges.iter().enumerate() {
                assert_eq!((range.start(), range.size()), (0x1000 + index, index + 1));
            }
        }
    }

    #[test]
    fn arguments_that_were_not_asked_for_are_none() {
        let mut buffer = ArgumentBuffer::new();
        buffer.fill(runtime(3)).unwrap();
        let none = buffer.fill(|_, _| Ok(Hresult::S_OK)).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn places_that_the_runtime_did_not_write_are_zero() {
        let mut buffer = ArgumentBuffer::new();
        let ranges = buffer.fill(|_, arguments| {
            // SAFETY: the buffer has room for the structure.
            unsafe { (*arguments).numRanges = 1000 };
            Ok(Hresult::S_OK)
        });
        let ranges = ranges.unwrap();
        // As many as fit after the two numbers.
        assert_eq!(ranges.len(), (36 * WORD - RANGES) / RANGE);
        assert!(
            ranges
                .iter()
                .all(|range| (range.start(), range.size()) == (0, 0))
        );
    }

    #[test]
    fn a_failure_is_a_failure() {
        let mut buffer = ArgumentBuffer::new();
        let answer = buffer.fill(|_, _| Err(Error::call("X::Y", Hresult::E_FAIL)));
        assert!(answer.is_err());
    }
}
