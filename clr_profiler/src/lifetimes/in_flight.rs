//! [`InFlight`], a native call in progress, for which other threads can wait.
//!
//! A thread that removes something that calls use (the runtime's side at a detach) first publishes this
//! where each call checks it at its beginning, and then waits for the calls that have begun before. Calls
//! must not pay for that: each thread has its own slot, which only it writes to.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, compiler_fence};
use std::thread;
use std::time::{Duration, Instant};

/// The record of a thread. Slots are never freed: those of ended threads are reused.
// A cache line, so that no thread's calls slow down another's.
#[repr(align(64))]
struct Slot {
    /// Odd while the thread is in a call.
    calls: AtomicUsize,
    /// The managed thread that the call uses; zero for none, [`SEVERAL`] for more than one.
    subject: AtomicUsize,
    is_taken: AtomicBool,
    /// Set before the slot is in the list.
    next: AtomicPtr<Slot>,
}

/// The subject of a call that, with the calls nested in it, uses several managed threads.
const SEVERAL: usize = usize::MAX;

/// The list of all slots.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

fn slots() -> impl Iterator<Item = &'static Slot> {
    let mut next = SLOTS.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: the list ends with null, and its slots were leaked, and complete before they were added.
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

/// A call of this thread in flight, until it is dropped.
pub(crate) struct InFlight {
    /// `None` in a call that is nested in another one, which has the slot.
    slot: Option<&'static Slot>,
    /// Whether the slot is only for this call.
    is_borrowed: bool,
}

impl InFlight {
    /// Begins a call. Reads after this return the values that waiting threads have published, or newer
    /// ones.
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

    /// Begins the first call of a thread, or one at its end, when it no longer has a slot.
    #[cold]
    fn first(is_there: bool) -> Self {
        let slot = Slot::take();
        if is_there {
            OWN.with(|own| own.0.set(Some(slot)));
        } else {
            // `asks_about_thread` will not find the slot.
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

/// Records that the call in flight on this thread uses this managed thread. Reads after this return the
/// values that threads waiting for such calls have published, or newer ones.
#[inline]
pub(crate) fn asks_about_thread(thread: usize) {
    // The slot of a call at a thread's end cannot be found, and has `SEVERAL` from the start.
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

/// Waits until all calls of other threads have returned that began before, and may not have seen the values
/// stored before this. False if the time limit, if there is one, is exceeded.
pub(crate) fn wait_for_calls(patience: Option<Duration>) -> bool {
    wait_for(patience, |_| true)
}

/// Waits like [`wait_for_calls`], and then drops a value that calls cannot reach if they begin from now on. Returns it if
/// the time limit is exceeded.
///
/// It is taken before the wait: values that other threads put away meanwhile may be in use by calls that began later.
pub(super) fn drop_after_calls<T>(patience: Option<Duration>, unreachable: T) -> Result<(), T> {
    match wait_for_calls(patience) {
        true => {
            drop(unreachable);
            Ok(())
        }
        false => Err(unreachable),
    }
}

/// Waits like [`wait_for_calls`] for the calls that use this managed thread.
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

/// A memory barrier on all threads of the process, whose cost the waiting thread bears, not the calls.
mod barrier {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, fence};

    /// Whether the system has one. Determined once, because all calls and all waiting threads must agree.
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
            // SAFETY: the call takes only numbers, and changes no memory.
            unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
        }

        /// Available since Linux 4.14; some sandboxes forbid it.
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

    /// Whether a thread that waits for calls still waits after this time.
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
        // A thread does not wait for its own call.
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
