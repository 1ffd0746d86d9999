//! How often each method was called, in a file that is up to date at any moment.
//!
//! The counters are the file, mapped into memory: however the process ends, nothing is lost
//! and nothing has to be done at its end.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use clr_profiler_test::stand_in::{NativeMethod, methods};

/// The header before the counters: three lines of text, padded with zeros.
const HEADER: usize = 4096;

/// Counters of every method.
#[derive(Debug)]
pub struct Recording {
    /// For each method the calls and the successful ones.
    counters: &'static [AtomicU64],
}

impl Recording {
    /// Counts in a new file of this name.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn create(path: &Path, runtime: &str, scenario: &str) -> io::Result<Self> {
        let counters = 2 * methods().len();
        let length = HEADER + counters * size_of::<u64>();
        let header = format!("{}\n{runtime}\n{scenario}\n", methods().len());
        if header.len() > HEADER {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "too long a name",
            ));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        file.write_all(header.as_bytes())?;
        file.set_len(length as u64)?;
        // SAFETY: a new mapping of a file that is that long.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping is never undone, its counters are aligned, and this process alone
        // changes them, only as atomics. A reader in another process may see any intermediate state.
        let counters = unsafe {
            std::slice::from_raw_parts(mapped.byte_add(HEADER).cast::<AtomicU64>(), counters)
        };
        Ok(Self { counters })
    }

    /// Counts without a file.
    pub fn nowhere() -> Self {
        let counters: Vec<AtomicU64> = (0..2 * methods().len())
            .map(|_| AtomicU64::new(0))
            .collect();
        Self {
            counters: counters.leak(),
        }
    }

    /// A call has begun.
    pub fn called(&self, method: &NativeMethod) {
        self.counters[2 * method.index].fetch_add(1, Ordering::Relaxed);
    }

    /// A call has returned.
    pub fn answered(&self, method: &NativeMethod, returned: usize) {
        if method.succeeded(returned) {
            self.counters[2 * method.index + 1].fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// How often one method was called.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// The method.
    pub method: &'static NativeMethod,
    /// How often it was called.
    pub calls: u64,
    /// How often it succeeded.
    pub successes: u64,
}

/// The recording of one process.
#[derive(Debug)]
pub struct Recorded {
    /// The runtime's name.
    pub runtime: String,
    /// The scenario's name.
    pub scenario: String,
    /// The methods that were called.
    pub counts: Vec<Count>,
}

impl Recorded {
    /// Reads the file of a [`Recording`].
    ///
    /// # Errors
    ///
    /// If it cannot be read, or was written with other tables of methods.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bad = || {
            let message = format!("{} is no recording of these methods", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let bytes = fs::read(path)?;
        let (header, counters) = bytes.split_at_checked(HEADER).ok_or_else(bad)?;
        let header = String::from_utf8_lossy(header);
        let mut lines = header.lines();
        let mut line = || lines.next().map(str::to_owned).ok_or_else(bad);
        if line()? != methods().len().to_string() || counters.len() != 16 * methods().len() {
            return Err(bad());
        }
        let (runtime, scenario) = (line()?, line()?);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        let counts = methods()
            .iter()
            .zip(counters.chunks_exact(16))
            .map(|(method, pair)| Count {
                method,
                calls: number(&pair[..8]),
                successes: number(&pair[8..]),
            })
            .filter(|count| count.calls > 0)
            .collect();
        Ok(Self {
            runtime,
            scenario,
            counts,
        })
    }
}
