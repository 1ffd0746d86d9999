//! A mapping, and the clock of perf.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A page of a file that is mapped as code, which perf records together with the name of the file.
pub(crate) struct Marker {
    address: usize,
}

const PAGE: usize = 4096;

impl Marker {
    pub(crate) fn map(file: &File) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: the system chooses an address that nothing else is at. Nobody reads the page, so the file may become shorter.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                access,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        match address == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Self {
                address: address.expose_provenance(),
            }),
        }
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        let address = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: `map` has mapped this page, which only the marker knows.
        unsafe { libc::munmap(address, PAGE) };
    }
}

/// The nanoseconds of the monotonic clock, which perf uses with `-k mono`.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes to `time` alone, which is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
