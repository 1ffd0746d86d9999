//! The memory of a loaded module: the only code that reads it.

use clr_metadata::Source;

/// The memory from the address at which the runtime has loaded an image.
///
/// Copies are made by the system, which refuses addresses that cannot be read: the pages of an image can change
/// while they are read, and the headers may name any address.
pub(super) struct Memory {
    base: usize,
}

impl Source for Memory {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> bool {
        let address = usize::try_from(offset).ok();
        let address = address.and_then(|offset| self.base.checked_add(offset));
        address.is_some_and(|address| system::copy(address, out))
    }
}

/// Copies memory of this process from an address; false if it cannot be read.
#[cfg(all(feature = "sampling", target_os = "linux", target_env = "gnu"))]
pub(crate) fn read_memory(address: usize, out: &mut [u8]) -> bool {
    super::pipe::copy(address, out).unwrap_or_else(|| system::copy(address, out))
}

impl Memory {
    pub(super) fn at(base: usize) -> Self {
        Self { base }
    }

    /// A range, if all of its pages can be read.
    ///
    /// # Safety
    ///
    /// The range is that of the metadata of a loaded module, as the module's headers give it, and the slice is
    /// not used after the module is unloaded.
    pub(super) unsafe fn slice(&self, offset: u64, size: usize) -> Option<&'static [u8]> {
        let start = self.base.checked_add(usize::try_from(offset).ok()?)?;
        let last = start.checked_add(size.checked_sub(1)?)?;
        // Both ends can be read, and nothing between them is missing. Runtimes map a section with one protection.
        let is_readable = system::copy(start, &mut [0])
            && system::copy(last, &mut [0])
            && system::is_mapped(start, size);
        if !is_readable || isize::try_from(size).is_err() {
            return None;
        }
        // SAFETY: the pages were just found to be readable, and the runtime keeps them as long as the module is
        // loaded, because it reads its metadata there. It writes to an image only where the image has
        // relocations and imports, of which metadata has none: additions to metadata are made to a copy.
        Some(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(start), size) })
    }
}

#[cfg(target_os = "linux")]
mod system {
    /// Copies memory of this process; false if it cannot be read.
    pub(super) fn copy(address: usize, out: &mut [u8]) -> bool {
        let here = libc::iovec {
            iov_base: out.as_mut_ptr().cast(),
            iov_len: out.len(),
        };
        let there = libc::iovec {
            iov_base: std::ptr::without_provenance_mut(address),
            iov_len: out.len(),
        };
        // SAFETY: the call writes to `out` alone, and checks the other address itself.
        let copied = unsafe { libc::process_vm_readv(libc::getpid(), &here, 1, &there, 1, 0) };
        usize::try_from(copied) == Ok(out.len())
    }

    /// Whether each page of a range is mapped.
    pub(super) fn is_mapped(start: usize, size: usize) -> bool {
        // SAFETY: the call has no memory effects.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0);
        let Some(mask) = page.checked_sub(1) else {
            return false;
        };
        let first = start & !mask;
        let length = start - first + size;
        let mut pages = vec![0; length.div_ceil(page)];
        // SAFETY: the call writes one byte for each page of the range to the vector, which has that length, and
        // checks the range itself.
        let answer = unsafe {
            libc::mincore(
                std::ptr::without_provenance_mut(first),
                length,
                pages.as_mut_ptr(),
            )
        };
        answer == 0
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::c_void;

    const COMMITTED: u32 = 0x1000;
    const NO_ACCESS: u32 = 1;
    const GUARD: u32 = 0x100;

    /// `MEMORY_BASIC_INFORMATION`.
    #[repr(C)]
    struct Region {
        start: usize,
        allocation: usize,
        protection_of_allocation: u32,
        #[cfg(target_pointer_width = "64")]
        partition: u32,
        size: usize,
        state: u32,
        protection: u32,
        kind: u32,
    }

    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentProcess() -> *mut c_void;
        fn ReadProcessMemory(
            process: *mut c_void,
            address: *const c_void,
            out: *mut c_void,
            size: usize,
            copied: *mut usize,
        ) -> i32;
        fn VirtualQuery(address: *const c_void, out: *mut Region, size: usize) -> usize;
    }

    /// Copies bytes of this process; `false` if they cannot be read.
    pub(super) fn copy(address: usize, out: &mut [u8]) -> bool {
        let mut copied = 0;
        // SAFETY: the call writes to `out` and `copied` alone, and checks the other address itself.
        let is_copied = unsafe {
            ReadProcessMemory(
                GetCurrentProcess(),
                std::ptr::without_provenance(address),
                out.as_mut_ptr().cast(),
                out.len(),
                &mut copied,
            )
        };
        is_copied != 0 && copied == out.len()
    }

    /// Whether all of this range can be read.
    pub(super) fn is_mapped(start: usize, size: usize) -> bool {
        let Some(end) = start.checked_add(size) else {
            return false;
        };
        let mut at = start;
        while at < end {
            let Some(region) = region(at) else {
                return false;
            };
            let is_readable =
                region.state == COMMITTED && region.protection & (NO_ACCESS | GUARD) == 0;
            match region.start.checked_add(region.size) {
                Some(next) if is_readable && next > at => at = next,
                _ => return false,
            }
        }
        true
    }

    /// The pages of one protection from the one with this address on.
    fn region(address: usize) -> Option<Region> {
        let mut region = std::mem::MaybeUninit::<Region>::uninit();
        let size = size_of::<Region>();
        // SAFETY: the call writes at most so many bytes to `region`, and does not access the address.
        let written = unsafe {
            VirtualQuery(
                std::ptr::without_provenance(address),
                region.as_mut_ptr(),
                size,
            )
        };
        // SAFETY: all of its fields were written.
        (written == size).then(|| unsafe { region.assume_init() })
    }
}

/// No memory can be read without a way to find out whether that is possible.
#[cfg(not(any(target_os = "linux", windows)))]
mod system {
    pub(super) fn copy(_address: usize, _out: &mut [u8]) -> bool {
        false
    }

    pub(super) fn is_mapped(_start: usize, _size: usize) -> bool {
        false
    }
}

#[cfg(all(test, any(target_os = "linux", windows)))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_cannot_be_read_is_refused() {
        let bytes = vec![7_u8; 3 << 20];
        let memory = Memory::at(bytes.as_ptr().expose_provenance());
        let mut out = [0; 16];
        assert!(memory.read_at(1 << 20, &mut out) && out == [7; 16]);
        // SAFETY: the vector lives, and nobody writes to it.
        let slice = unsafe { memory.slice(1, bytes.len() - 1) };
        assert_eq!(slice, bytes.get(1..));
        for bad in [Memory::at(0), Memory::at(usize::MAX - 8)] {
            assert!(!bad.read_at(16, &mut out));
            // SAFETY: there is no such memory, so there is no slice.
            assert_eq!(unsafe { bad.slice(0, 100) }, None);
        }
        // SAFETY: this range exceeds the memory of a process, so there is no slice.
        assert_eq!(unsafe { memory.slice(0, usize::MAX >> 2) }, None);
    }
}
