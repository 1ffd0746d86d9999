//! The processor time of threads.

use std::time::Duration;

/// The processor time of this process, all its threads together.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn of_process() -> Option<Duration> {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The processor time of this thread.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn of_this_thread() -> Option<Duration> {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The processor time of a thread of this process, by the operating system's id of the thread;
/// `None` if the thread has ended.
#[cfg(target_os = "linux")]
pub(super) fn of_thread(os_thread: u32) -> Option<Duration> {
    // The clock id that Linux derives from a thread's id: the complement of the id, then the bits
    // for "of one thread" (4) and "as the scheduler counts" (2).
    let thread = libc::clockid_t::try_from(os_thread).ok()?;
    read((!thread << 3) | 6)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes a `timespec` to the given address; a clock that does not exist is an
    // error.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    Some(Duration::new(seconds, nanoseconds))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_thread(_os_thread: u32) -> Option<Duration> {
    None
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn of_process() -> Option<Duration> {
    None
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn of_this_thread() -> Option<Duration> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_thread_that_works_uses_time_and_one_that_waits_does_not() {
        // SAFETY: `gettid` only returns a number.
        let this = unsafe { libc::gettid() } as u32;
        let before = of_thread(this).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let slept = of_thread(this).unwrap();
        assert!(slept - before < Duration::from_millis(20));
        let end = Instant::now() + Duration::from_secs(5);
        while of_thread(this).unwrap() - slept < Duration::from_millis(20) {
            assert!(Instant::now() < end, "the clock does not advance");
        }
        let own = of_this_thread().unwrap();
        assert!(own >= slept && own <= of_process().unwrap());
        assert_eq!(of_thread(u32::MAX), None);
    }
}
