//! The processor time and the memory of a program, for the benchmarks that compare programs.

use std::error::Error;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The usage of a process with all its threads.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "each benchmark needs other fields")]
pub(crate) struct Usage {
    /// The processor time in user mode.
    pub(crate) user: Duration,
    /// That in the system.
    pub(crate) system: Duration,
    /// The largest resident memory, on Linux in bytes.
    pub(crate) memory: u64,
}

impl Usage {
    /// Runs a program without input and output, which has to end with this code.
    #[allow(dead_code, reason = "not all benchmarks start programs here")]
    pub(crate) fn of(command: &mut Command, code: i32) -> Result<Self, Box<dyn Error>> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn()?;
        let id = libc::pid_t::try_from(child.id())?;
        let mut status = 0;
        // SAFETY: a structure of numbers, of which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to locals; the child is ours, and nothing else waits for it: `child` is dropped without
        // waiting.
        if unsafe { libc::wait4(id, &mut status, 0, &mut usage) } != id {
            return Err(io::Error::last_os_error().into());
        }
        if status != code << 8 {
            return Err(format!("{command:?} ended with the status {status:#x}").into());
        }
        Self::read(&usage)
    }

    /// That of all children that were waited for.
    #[allow(dead_code, reason = "most benchmarks run one program at a time")]
    pub(crate) fn of_ended() -> Result<Self, Box<dyn Error>> {
        // SAFETY: as in `of`.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a local.
        match unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) } {
            0 => Self::read(&usage),
            _ => Err(io::Error::last_os_error().into()),
        }
    }

    fn read(usage: &libc::rusage) -> Result<Self, Box<dyn Error>> {
        let time = |time: libc::timeval| {
            Duration::new(time.tv_sec.unsigned_abs(), 0)
                + Duration::from_micros(time.tv_usec.unsigned_abs())
        };
        Ok(Self {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            memory: u64::try_from(usage.ru_maxrss)? * 1024,
        })
    }
}
