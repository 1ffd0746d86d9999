//! Signal masks: neither a write nor a thread of the profiler changes the signals that the program gets.

#[cfg(target_os = "linux")]
pub(crate) use linux::{spawning, without_sigxfsz};

#[cfg(not(target_os = "linux"))]
pub(crate) fn without_sigxfsz<R>(write: impl FnOnce() -> std::io::Result<R>) -> std::io::Result<R> {
    write()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn spawning<R>(spawn: impl FnOnce() -> R) -> R {
    spawn()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::mem::MaybeUninit;
    use std::ptr;

    use libc::{c_int, sigset_t};

    /// Signals that are for the program's threads. Those for faults of the thread itself
    /// are not among them, nor those that the runtime sends to single threads.
    const OF_THE_PROGRAM: [c_int; 13] = [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGQUIT,
        libc::SIGHUP,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGALRM,
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGPIPE,
        libc::SIGTSTP,
        libc::SIGWINCH,
        libc::SIGXFSZ,
    ];

    /// Writes, while a write beyond the process's largest file size is an error instead of a signal, which
    /// would end the program. The system sends that signal to the writing thread.
    pub(crate) fn without_sigxfsz<R>(write: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let set = set(&[libc::SIGXFSZ]);
        let before = block(&set);
        let was_pending = contains(&before, libc::SIGXFSZ) && is_pending();
        let written = write();
        if written.is_err() && !was_pending {
            take(&set);
        }
        restore(&before);
        written
    }

    /// Starts threads that do not receive the program's signals: a thread of the program gets them.
    pub(crate) fn spawning<R>(spawn: impl FnOnce() -> R) -> R {
        let before = block(&set(&OF_THE_PROGRAM));
        let spawned = spawn();
        restore(&before);
        spawned
    }

    fn set(signals: &[c_int]) -> sigset_t {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the first call initialises the set, the others add valid signals to it.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), *signal);
            }
            set.assume_init()
        }
    }

    fn contains(set: &sigset_t, signal: c_int) -> bool {
        // SAFETY: the set is initialised, the signal is valid.
        unsafe { libc::sigismember(set, signal) == 1 }
    }

    /// Blocks signals on this thread; returns the previous mask.
    fn block(set: &sigset_t) -> sigset_t {
        let mut before = self::set(&[]);
        // SAFETY: both sets are initialised; only this thread's mask changes.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set, &raw mut before) };
        before
    }

    fn restore(before: &sigset_t) {
        // SAFETY: the set is initialised; only this thread's mask changes.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
    }

    fn is_pending() -> bool {
        let mut pending = set(&[]);
        // SAFETY: the set is writable.
        unsafe { libc::sigpending(&raw mut pending) };
        contains(&pending, libc::SIGXFSZ)
    }

    /// Takes the pending ones of these signals, without waiting.
    fn take(set: &sigset_t) {
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the set and the time are initialised; nothing is written.
        unsafe { libc::sigtimedwait(set, ptr::null_mut(), &raw const now) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_mask_is_as_it_was_and_the_signal_is_gone() {
            let mask = || block(&set(&[]));
            let before = mask();
            let failed = without_sigxfsz(|| {
                // SAFETY: the signal is valid, and blocked on this thread.
                unsafe { libc::raise(libc::SIGXFSZ) };
                assert!(is_pending());
                io::Result::<()>::Err(io::ErrorKind::FileTooLarge.into())
            });
            assert!(failed.is_err() && !is_pending());
            let after = mask();
            assert!((1..64).all(|signal| contains(&before, signal) == contains(&after, signal)));
        }

        #[test]
        fn a_signal_that_was_pending_stays_so() {
            std::thread::spawn(|| {
                block(&set(&[libc::SIGXFSZ]));
                // SAFETY: the signal is valid, and blocked on this thread.
                unsafe { libc::raise(libc::SIGXFSZ) };
                let _ =
                    without_sigxfsz(|| io::Result::<()>::Err(io::ErrorKind::FileTooLarge.into()));
                assert!(is_pending());
            })
            .join()
            .unwrap();
        }
    }
}
