//! Copies of memory through a pipe.
//!
//! When a program writes to a pipe, the system reads from the address that it is given, and answers with an error where nothing can be
//! read. The two calls take half of the time of `process_vm_readv`, which looks up the process and each page.

use std::cell::Cell;
use std::io::{PipeReader, PipeWriter, Read};
use std::marker::PhantomData;
use std::os::fd::AsRawFd;

/// The bytes that each pipe has room for.
const ROOM: usize = 4096;

thread_local! {
    static PIPE: Cell<Option<(PipeReader, PipeWriter)>> = const { Cell::new(None) };
}

/// Until it is dropped, its thread copies memory through a pipe.
#[derive(Debug)]
pub(crate) struct CopyByPipe {
    /// The thread has the pipe.
    _is_of_thread: PhantomData<*const ()>,
}

impl CopyByPipe {
    pub(crate) fn begin() -> Self {
        // Without one, memory is copied in the other way.
        PIPE.set(std::io::pipe().ok());
        Self {
            _is_of_thread: PhantomData,
        }
    }
}

impl Drop for CopyByPipe {
    fn drop(&mut self) {
        PIPE.set(None);
    }
}

/// Copies memory of this process; `None` if this thread has no pipe for that.
pub(super) fn copy(address: usize, out: &mut [u8]) -> Option<bool> {
    if out.len() > ROOM {
        return None;
    }
    let (mut reader, writer) = PIPE.take()?;
    // SAFETY: the call reads from the address alone, and checks it itself; the descriptor is open.
    let written = unsafe {
        libc::write(
            writer.as_raw_fd(),
            std::ptr::without_provenance(address),
            out.len(),
        )
    };
    let is_refused =
        written < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    let in_pipe = match usize::try_from(written) {
        Ok(written) => out.get_mut(..written)?,
        Err(_) if is_refused => &mut [],
        Err(_) => return None,
    };
    // Bytes that stay in a pipe would be taken for the next copy: such a pipe is closed.
    reader.read_exact(in_pipe).ok()?;
    let is_whole = in_pipe.len() == out.len();
    PIPE.set(Some((reader, writer)));
    Some(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pages, of which the second cannot be read.
    fn page_before_a_hole() -> *mut libc::c_void {
        // SAFETY: new memory, which nothing else uses.
        let pages = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                2 * ROOM,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(pages, libc::MAP_FAILED);
        // SAFETY: the second page is that of this function.
        let protected = unsafe { libc::mprotect(pages.byte_add(ROOM), ROOM, libc::PROT_NONE) };
        assert_eq!(protected, 0);
        pages
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no pipes")]
    fn memory_is_copied_as_far_as_it_can_be_read() {
        let pages = page_before_a_hole();
        let hole = pages.expose_provenance() + ROOM;
        let mut out = [0; 16];
        assert_eq!(copy(hole - 16, &mut out), None);
        let by_pipe = CopyByPipe::begin();
        for number in 1..=3_u8 {
            // SAFETY: the last bytes of the first page.
            unsafe {
                pages
                    .byte_add(ROOM - 16)
                    .cast::<[u8; 16]>()
                    .write([number; 16])
            };
            assert_eq!(copy(hole - 16, &mut out), Some(true));
            assert_eq!(out, [number; 16]);
            // A part of a copy must not be left in the pipe.
            assert_eq!(copy(hole - 8, &mut out), Some(false));
            assert_eq!(copy(hole, &mut out), Some(false));
            assert_eq!(copy(16, &mut out), Some(false));
        }
        assert_eq!(copy(hole - ROOM, &mut [0; ROOM]), Some(true));
        assert_eq!(copy(hole - ROOM, &mut [0; ROOM + 1]), None);
        drop(by_pipe);
        assert_eq!(copy(hole - 16, &mut out), None);
        // SAFETY: both pages are those of this test.
        let unmapped = unsafe { libc::munmap(pages, 2 * ROOM) };
        assert_eq!(unmapped, 0);
    }
}
