//! The signals, forks and timers of others around the sampler that interrupts threads.

use std::time::{Duration, Instant};
use std::{mem, ptr};

/// A signal that the sampler does not use, and the one that it shares.
const OTHER: libc::c_int = libc::SIGPROF;
const SHARED: libc::c_int = 34;

/// The timers of another library: one with a signal and a handler of its own, and one with the shared signal.
pub(super) struct Others {
    timer: libc::timer_t,
}

impl Others {
    pub(super) fn start() -> Self {
        // SAFETY: all zeros are valid values of these structures; the handler has the signature that the flags name, and
        // stays loaded as this library does.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            libc::sigaction(OTHER, &raw const action, ptr::null_mut());
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = SHARED;
            event.sigev_value.sival_ptr = ptr::without_provenance_mut(0x7F00_1234_5678);
            let mut timer = ptr::null_mut();
            libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            let others = Self { timer };
            others.set(3);
            others
        }
    }

    fn set(&self, milliseconds: i64) {
        let often = libc::timeval {
            tv_sec: 0,
            tv_usec: milliseconds * 1000,
        };
        let every = libc::itimerval {
            it_interval: often,
            it_value: often,
        };
        let often = libc::timespec {
            tv_sec: 0,
            tv_nsec: milliseconds * 1_000_000,
        };
        let times = libc::itimerspec {
            it_interval: often,
            it_value: often,
        };
        // SAFETY: the calls read the times; the timer is this value's own.
        unsafe {
            libc::setitimer(libc::ITIMER_PROF, &raw const every, ptr::null_mut());
            libc::timer_settime(self.timer, 0, &raw const times, ptr::null_mut());
        }
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        self.set(0);
        // SAFETY: the timer is this value's own.
        unsafe { libc::timer_delete(self.timer) };
    }
}

/// Takes so long that it is often interrupted by the sampler.
unsafe extern "C" fn handle(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_micros(50) {}
}

/// Starts a copy of this process, which ends at once.
pub(super) fn fork() {
    // SAFETY: the child calls nothing but `_exit`; the parent waits for exactly this child.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(0),
            child => libc::waitpid(child, ptr::null_mut(), 0),
        };
    }
}
