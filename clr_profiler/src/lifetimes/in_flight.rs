//! [`InFlight`]: which threads are in a native call, for those who have to wait for them.
//!
//! Who takes something away from under the calls (the runtime's side at a detach) first says so where
//! each call looks when it begins, and then waits for the calls that have begun before. A call must
//! not pay for that: each thread has a slot of its own, which it alone writes to.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, compiler_fence};
use std::thread;
use std::time::{Duration, Instant};

/// What a thread writes down. Slots are never freed: those of threads that have ended are used again.
// A line of the cache, so that no thread's calls slow down another's.
#[repr(align(64))]
struct Slot {
    /// Odd while the thread is in a call.
    calls: AtomicUsize,
    /// The managed thread that the call asks about; zero for none, [`SEVERAL`] for more than one.
    subject: AtomicUsize,
    is_taken: AtomicBool,
    /// Set before the slot is in the list.
    next: AtomicPtr<Slot>,
}

/// What a slot has for the managed threads that a call asks about where it asks about several, by calls
/// within it.
const SEVERAL: usize = usize::MAX;

/// The list of all slots.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

fn slots() -> impl Iterator<Item = &'static Slot> {
    let mut next = SLOTS.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: the list has null at its end and slots that were leaked, whole before they came in.
        let slot: &'static Slot = unsafe { next.as_ref() }?;
        next = slot.next.load(Ordering::Relaxed);
        Some(slot)
    })
}

impl Slot {
    fn take() -> &'static Self {
        let free = slots().find(|slot| {
            let taken = &slot.is_taken;
            !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
        });
        free.unwrap_or_else(|| {
            let slot = Box::leak(Box::new(Self {
                calls: AtomicUsize::new(0),
                subject: AtomicUsize::new(0),
                is_taken: AtomicBool::new(true),
                next: AtomicPtr::default(),
            }));
            let _ = SLOTS.fetch_update(Ordering::Release, Ordering::Relaxed, |first| {
                slot.next.store(first, Ordering::Relaxed);
                Some(ptr::from_mut(slot))
            });
            slot
        })
    }

    fn give_back(&self) {
        self.is_taken.store(false, Ordering::Release);
    }
}

/// The slot of a thread, from its first call to its end.
struct Own(Cell<Option<&'static Slot>>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(slot) = self.0.get() {
            slot.give_back();
        }
    }
}

thread_local! {
    static OWN: Own = const { Own(Cell::new(None)) };
}

/// A call of this thread, until it is dropped.
pub(crate) struct InFlight {
    /// None inside of another call, which has said it already.
    slot: Option<&'static Slot>,
    /// Whether the slot is for this call alone.
    is_borrowed: bool,
}

impl InFlight {
    /// A call begins. What is read afterwards is what those see who wait, or newer.
    #[inline]
    pub(crate) fn begin() -> Self {
        match OWN.try_with(|own| own.0.get()) {
            Ok(Some(slot)) => Self::in_slot(slot, false),
            own => Self::first(own.is_ok()),
        }
    }

    #[inline]
    fn in_slot(slot: &'static Slot, is_borrowed: bool) -> Self {
        let calls = slot.calls.load(Ordering::Relaxed);
        if calls % 2 == 1 {
            return Self {
                slot: None,
                is_borrowed,
            };
        }
        if barrier::is_there() {
            slot.calls.store(calls.wrapping_add(1), Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
        } else {
            slot.calls.store(calls.wrapping_add(1), Ordering::SeqCst);
        }
        Self {
            slot: Some(slot),
            is_borrowed,
        }
    }

    /// The first call of a thread, or one at its end, when it has no slot any more.
    #[cold]
    fn first(is_there: bool) -> Self {
        let slot = Slot::take();
        if is_there {
            OWN.with(|own| own.0.set(Some(slot)));
        } else {
            // Nobody will find it to say about which.
            slot.subject.store(SEVERAL, Ordering::Relaxed);
        }
        Self::in_slot(slot, !is_there)
    }
}

impl Drop for InFlight {
    #[inline]
    fn drop(&mut self) {
        let Some(slot) = self.slot else {
            return;
        };
        slot.subject.store(0, Ordering::Relaxed);
        let calls = slot.calls.load(Ordering::Relaxed);
        slot.calls.store(calls.wrapping_add(1), Ordering::Release);
        if self.is_borrowed {
            slot.give_back();
        }
    }
}

/// The call that this thread is in asks about this managed thread. What is read afterwards is what those
/// see who wait for it, or newer.
#[inline]
pub(crate) fn asks_about_thread(thread: usize) {
    // The slot of a call at a thread's end cannot be found, and says so from the beginning.
    let Ok(Some(slot)) = OWN.try_with(|own| own.0.get()) else {
        return;
    };
    let subject = match slot.subject.load(Ordering::Relaxed) {
        0 => thread,
        other if other == thread => return,
        _ => SEVERAL,
    };
    if barrier::is_there() {
        slot.subject.store(subject, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    } else {
        slot.subject.store(subject, Ordering::SeqCst);
    }
}

/// That somebody has waited for all calls.
pub(crate) struct Waited(());

/// Waits until all calls of other threads have returned that have begun, and may not have seen what
/// was stored before this. Not longer than so long, if there is a limit: then it is none.
pub(crate) fn wait_for_calls(patience: Option<Duration>) -> Option<Waited> {
    wait_for(patience, |_| true).then_some(Waited(()))
}

/// The same for the calls that ask about this managed thread.
pub(crate) fn wait_for_calls_with_thread(thread: usize, patience: Duration) -> bool {
    wait_for(Some(patience), |slot| {
        let subject = slot.subject.load(Ordering::SeqCst);
        subject == thread || subject == SEVERAL
    })
}

fn wait_for(patience: Option<Duration>, is_meant: impl Fn(&Slot) -> bool) -> bool {
    barrier::of_all_threads();
    let own = OWN.try_with(|own| own.0.get()).ok().flatten();
    let mut end = None;
    for slot in slots() {
        if own.is_some_and(|own| ptr::eq(own, slot)) {
            continue;
        }
        let calls = slot.calls.load(Ordering::SeqCst);
        if calls % 2 == 0 || !is_meant(slot) {
            continue;
        }
        while slot.calls.load(Ordering::Acquire) == calls {
            let now = Instant::now();
            let end = *end.get_or_insert_with(|| patience.map(|patience| now + patience));
            if end.is_some_and(|end| now >= end) {
                return false;
            }
            thread::sleep(Duration::from_micros(50));
        }
    }
    true
}

/// A barrier for memory on all threads of the process, which the one who waits pays for and not the
/// calls.
mod barrier {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, fence};

    /// Whether there is one. Said once: all calls and all who wait have to do the same.
    #[inline]
    pub(super) fn is_there() -> bool {
        static IS_THERE: OnceLock<bool> = OnceLock::new();
        *IS_THERE.get_or_init(system::register)
    }

    pub(super) fn of_all_threads() {
        fence(Ordering::SeqCst);
        if is_there() {
            system::run();
        }
        fence(Ordering::SeqCst);
    }

    #[cfg(target_os = "linux")]
    mod system {
        fn membarrier(command: libc::c_int) -> bool {
            // SAFETY: the call takes numbers alone, and changes no memory.
            unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
        }

        /// Since Linux 4.14; some sandboxes forbid it.
        pub(super) fn register() -> bool {
            membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
        }

        pub(super) fn run() {
            // It can fail only in a process that is not registered.
            let done = membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
            debug_assert!(done);
        }
    }

    #[cfg(not(target_os = "linux"))]
    mod system {
        pub(super) fn register() -> bool {
            false
        }

        pub(super) fn run() {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc;

    use super::*;

    /// Whether a thread that waits for calls has ended within so long.
    fn waits(patience: Duration) -> (thread::JoinHandle<()>, bool) {
        let (sender, done) = mpsc::channel();
        let waiter = thread::spawn(move || {
            wait_for_calls(None);
            let _ = sender.send(());
        });
        let is_done = done.recv_timeout(patience).is_ok();
        (waiter, !is_done)
    }

    #[test]
    fn calls_are_waited_for_and_those_inside_of_them_do_not_end_them() {
        let call = InFlight::begin();
        drop(InFlight::begin());
        let (waiter, is_waiting) = waits(Duration::from_millis(50));
        assert!(is_waiting);
        drop(call);
        waiter.join().unwrap();
        // One's own call is not waited for.
        let _own = InFlight::begin();
        let _inner = InFlight::begin();
        wait_for_calls(None);
    }

    #[test]
    fn what_is_taken_away_is_not_used_afterwards() {
        static GONE: AtomicBool = AtomicBool::new(false);
        static USED: AtomicU32 = AtomicU32::new(0);
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let callers: Vec<_> = (0..4)
            .map(|_| {
                thread::spawn(|| {
                    loop {
                        let _call = InFlight::begin();
                        if GONE.load(Ordering::SeqCst) {
                            break;
                        }
                        USED.fetch_add(1, Ordering::Relaxed);
                        CALLS.fetch_add(1, Ordering::Relaxed);
                        USED.fetch_sub(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        while CALLS.load(Ordering::Relaxed) < 10_000 {
            thread::yield_now();
        }
        GONE.store(true, Ordering::SeqCst);
        wait_for_calls(None);
        let (used, calls) = (USED.load(Ordering::Relaxed), CALLS.load(Ordering::Relaxed));
        assert_eq!(used, 0);
        for caller in callers {
            caller.join().unwrap();
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), calls);
    }

    #[test]
    fn slots_of_ended_threads_are_used_again() {
        for _ in 0..200 {
            thread::spawn(|| drop(InFlight::begin())).join().unwrap();
        }
        assert!(slots().count() < 150, "{}", slots().count());
    }

    #[test]
    fn a_thread_calls_at_its_end_too() {
        struct Late;
        impl Drop for Late {
            fn drop(&mut self) {
                let call = InFlight::begin();
                drop(InFlight::begin());
                drop(call);
            }
        }
        thread_local! {
            static LATE: Late = const { Late };
        }
        thread::spawn(|| {
            LATE.with(|_| ());
            drop(InFlight::begin());
        })
        .join()
        .unwrap();
        wait_for_calls(None);
    }
}
