//! A library to preload (`LD_PRELOAD`): the wall clock of the program jumps by hours, back and forth, as when
//! somebody sets it. The other clocks are left alone: those of a system do not jump either.

#![cfg(target_os = "linux")]

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_void, clockid_t, time_t, timespec, timeval};

/// The seconds by which the clock is wrong, in turn.
const JUMPS: [time_t; 4] = [0, 3 * 3600, -2 * 3600, 24 * 3600];
/// The number of calls between two jumps.
const CALLS: u32 = 16;

static CALLED: AtomicU32 = AtomicU32::new(0);

fn jump() -> time_t {
    let called = CALLED.fetch_add(1, Ordering::Relaxed);
    let index = (called / CALLS) as usize % JUMPS.len();
    JUMPS.get(index).copied().unwrap_or(0)
}

/// The system's own answer.
fn real(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: the caller of this library passes the pointer of a caller of `clock_gettime`; the system refuses others.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int }
}

/// The wall clock, which is wrong.
fn wall(clock: clockid_t) -> timespec {
    let mut time = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    real(clock, &raw mut time);
    time.tv_sec += jump();
    time
}

/// As that of the system, but wrong for the wall clock.
///
/// # Safety
///
/// As for that of the system.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if !matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) || time.is_null() {
        return real(clock, time);
    }
    // SAFETY: the caller guarantees that it can be written.
    unsafe { time.write(wall(clock)) };
    0
}

/// As that of the system, but wrong.
///
/// # Safety
///
/// As for that of the system.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, _zone: *mut c_void) -> c_int {
    if !time.is_null() {
        let now = wall(libc::CLOCK_REALTIME);
        // SAFETY: the caller guarantees that it can be written.
        unsafe {
            time.write(timeval {
                tv_sec: now.tv_sec,
                tv_usec: now.tv_nsec / 1000,
            });
        }
    }
    0
}

/// As that of the system, but wrong.
///
/// # Safety
///
/// As for that of the system.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(result: *mut time_t) -> time_t {
    let now = wall(libc::CLOCK_REALTIME).tv_sec;
    if !result.is_null() {
        // SAFETY: the caller guarantees that it can be written.
        unsafe { result.write(now) };
    }
    now
}
