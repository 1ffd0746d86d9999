//! The timers of threads, and facts about threads that only the system has.

use std::io;
use std::mem;
use std::ptr;
use std::time::Duration;

use libc::{c_int, c_long};

use super::signal::SIGNAL;
use super::slot::Key;
use crate::pending_signals;

/// A timer that expires when a thread has used processor time.
#[derive(Debug)]
pub(super) struct Timer(c_int);

impl Timer {
    /// Creates the timer of a thread of this process, which sends it the signal with the key. It does not run yet.
    fn create(os_thread: u32, key: Key) -> io::Result<Self> {
        let thread = c_int::try_from(os_thread)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // The clock of a thread: the complement of its id, then the bits for "of one thread" (4) and "as the scheduler
        // counts" (2).
        let clock = (!thread << 3) | 6;
        // SAFETY: all zeros are a valid `sigevent`.
        let mut event: libc::sigevent = unsafe { mem::zeroed() };
        event.sigev_value.sival_ptr = ptr::without_provenance_mut(key.to_signal() as usize);
        event.sigev_signo = SIGNAL;
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = thread;
        let mut id: c_int = -1;
        // SAFETY: the call reads the event and writes the timer's id; the kernel refuses clocks and threads that are not
        // those of this process.
        let result = unsafe {
            libc::syscall(
                libc::SYS_timer_create,
                c_long::from(clock),
                &raw mut event,
                &raw mut id,
            )
        };
        match result {
            0 => Ok(Self(id)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Has the timer expire at each interval from now on.
    pub(super) fn start(&self, interval: Duration) -> io::Result<()> {
        let interval = libc::timespec {
            tv_sec: interval.as_secs() as libc::time_t,
            tv_nsec: interval.subsec_nanos() as _,
        };
        let times = libc::itimerspec {
            it_interval: interval,
            it_value: interval,
        };
        // SAFETY: the call reads the times; it refuses a timer that does not exist.
        let result = unsafe {
            libc::syscall(
                libc::SYS_timer_settime,
                c_long::from(self.0),
                0 as c_long,
                &raw const times,
                ptr::null_mut::<libc::itimerspec>(),
            )
        };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Creates a timer if the system can queue more signals than the runtime needs to stop all threads: each timer takes one of
/// them for as long as it is there.
pub(super) fn create_with_reserve(os_thread: u32, key: Key) -> io::Result<Timer> {
    let timer = Timer::create(os_thread, key)?;
    if pending_signals::are_scarce() {
        return Err(io::Error::other(
            "the signals that it may queue for this user (`RLIMIT_SIGPENDING`, `ulimit -i`) are left to the runtime",
        ));
    }
    Ok(timer)
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer is this value's own.
        unsafe { libc::syscall(libc::SYS_timer_delete, c_long::from(self.0)) };
    }
}

/// The system's id of this thread.
pub(super) fn this_thread() -> u32 {
    // SAFETY: the call only returns a number.
    u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap_or(0)
}

/// The bounds of this thread's stack, low and high.
pub(super) fn own_stack() -> Option<(usize, usize)> {
    // SAFETY: all bytes of the structure are written by `pthread_getattr_np` before they are used.
    let mut attributes: libc::pthread_attr_t = unsafe { mem::zeroed() };
    // SAFETY: the calls read and write `attributes`, the first of them successfully before the others.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut start, mut size) = (ptr::null_mut(), 0);
        let result = libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        let low = start.expose_provenance();
        (result == 0 && low > 0).then(|| (low, low.saturating_add(size) & !7))
    }
}

/// The address of the thread's own structure in the C library, which is at the end of the stacks that the library makes.
/// It is a read of a register, so that handlers may call it.
pub(super) fn own_structure() -> usize {
    // SAFETY: the call only returns the address.
    unsafe { libc::pthread_self() as usize }
}

/// Copies words of this process, as far as they are mapped; returns how many. Handlers may call it.
pub(super) fn copy_mapped(from: usize, to: &mut [u64]) -> usize {
    let local = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: size_of_val(to),
    };
    let remote = libc::iovec {
        iov_base: ptr::with_exposed_provenance_mut(from),
        iov_len: size_of_val(to),
    };
    // SAFETY: the kernel writes to the slice alone, and refuses addresses that are not mapped. The call of a handler
    // leaves `errno` as it was.
    let bytes = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let bytes = libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0);
        *errno = before;
        bytes
    };
    usize::try_from(bytes).unwrap_or(0) / size_of::<u64>()
}

/// A clock that handlers may read, in nanoseconds.
pub(super) fn ticks() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time; POSIX lists it among those that handlers may call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000) + time.tv_nsec as u64
}

/// A signal of the sampler that is on its way to this thread, which has blocked it, until the value is dropped.
#[cfg(test)]
pub(super) struct OnItsWay(libc::sigset_t);

#[cfg(test)]
impl OnItsWay {
    pub(super) fn new() -> Self {
        // SAFETY: all zeros are a valid set.
        let mut set = unsafe { mem::zeroed() };
        // SAFETY: the calls read and write the set, and change this thread alone, which has the signal blocked when it is sent.
        unsafe {
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, SIGNAL);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            libc::pthread_kill(libc::pthread_self(), SIGNAL);
        }
        Self(set)
    }
}

#[cfg(test)]
impl Drop for OnItsWay {
    fn drop(&mut self) {
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call reads the set and the time, and takes the signal.
        unsafe { libc::sigtimedwait(&raw const self.0, ptr::null_mut(), &raw const now) };
    }
}
