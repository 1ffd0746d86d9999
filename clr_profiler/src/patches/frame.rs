//! The memory that IL shares with a hook: [`Frame`].
//!
//! The argument for its `unsafe` code: the IL of [`code`](super::code) passes the address of a local of the patched method that
//! has at least as many words as the [`Layout`] of the method says. The local does not move, and no other thread has its address.

use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::slot::{Layout, words};
use crate::runtime::catch;

/// The strings of one thread that IL copies after a hook has returned, each with the address of the frame that it is for.
struct Outgoing(Vec<(usize, Vec<u16>)>);

/// The number of strings in all [`Outgoing`]. While it is zero, no thread looks at its own.
static OUTGOING_COUNT: AtomicUsize = AtomicUsize::new(0);

impl Outgoing {
    fn push(&mut self, frame: usize, text: Vec<u16>) {
        self.0.push((frame, text));
        OUTGOING_COUNT.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps the strings of frames above an address.
    fn forget(&mut self, frame: usize) {
        let before = self.0.len();
        self.0.retain(|(of, _)| *of > frame);
        OUTGOING_COUNT.fetch_sub(before - self.0.len(), Ordering::Relaxed);
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        OUTGOING_COUNT.fetch_sub(self.0.len(), Ordering::Relaxed);
    }
}

thread_local! {
    static OUTGOING: RefCell<Outgoing> = const { RefCell::new(Outgoing(Vec::new())) };
}

/// The words of a patched method's local, during one hook.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    first: NonNull<u64>,
    words: u16,
    lifetime: PhantomData<&'a mut u64>,
}

impl<'a> Frame<'a> {
    /// # Safety
    ///
    /// `first` is the first of `words` words that live for `'a`, and that nothing else accesses meanwhile.
    #[inline]
    pub(super) unsafe fn new(first: NonNull<u64>, words: u16) -> Self {
        // The strings that an earlier hook of the call has set were copied.
        if OUTGOING_COUNT.load(Ordering::Relaxed) > 0 {
            forget_outgoing(first);
        }
        Self {
            first,
            words,
            lifetime: PhantomData,
        }
    }

    #[inline]
    pub(super) fn word(&self, index: u16) -> u64 {
        if index >= self.words {
            return 0;
        }
        // SAFETY: it is one of the words.
        unsafe { self.first.add(usize::from(index)).read() }
    }

    #[inline]
    pub(super) fn set_word(&mut self, index: u16, value: u64) {
        if index < self.words {
            // SAFETY: it is one of the words, which nothing else accesses during the hook.
            unsafe { self.first.add(usize::from(index)).write(value) }
        }
    }

    /// The address of so many bytes from an offset after a word on, if they are in the frame.
    #[inline]
    fn bytes(&self, word: u16, offset: u32, size: u32) -> Option<NonNull<u8>> {
        let start = usize::from(word) * 8 + offset as usize;
        let is_inside = size <= 8 && start + size as usize <= usize::from(self.words) * 8;
        // SAFETY: the bytes are in the frame.
        is_inside.then(|| unsafe { self.first.cast::<u8>().add(start) })
    }

    /// Reads an integer of 1, 2, 4 or 8 bytes; zero-extended.
    #[inline]
    pub(super) fn integer(&self, word: u16, offset: u32, size: u32) -> u64 {
        let Some(from) = self.bytes(word, offset, size) else {
            return 0;
        };
        // SAFETY: `bytes` has checked that so many are in the frame. Any bits are an integer.
        unsafe {
            match size {
                1 => u64::from(from.read()),
                2 => u64::from(from.cast::<u16>().read_unaligned()),
                4 => u64::from(from.cast::<u32>().read_unaligned()),
                8 => from.cast::<u64>().read_unaligned(),
                _ => 0,
            }
        }
    }

    #[inline]
    pub(super) fn set_integer(&mut self, word: u16, offset: u32, size: u32, value: u64) {
        let Some(to) = self.bytes(word, offset, size) else {
            return;
        };
        // SAFETY: as in `integer`.
        unsafe {
            match size {
                1 => to.write(value as u8),
                2 => to.cast::<u16>().write_unaligned(value as u16),
                4 => to.cast::<u32>().write_unaligned(value as u32),
                8 => to.cast::<u64>().write_unaligned(value),
                _ => {}
            }
        }
    }

    /// The string that IL has pinned for this hook; `None` if it is null.
    pub(super) fn pinned_text(&self, word: u16, values: &Layout) -> Option<Vec<u16>> {
        let object = NonNull::new(self.word(word) as usize as *mut u8)?;
        let layout = &values.strings;
        // SAFETY: the IL stores a string in a pinned local, and its address in this word, before each hook; it does not change
        // while the hook runs, and strings are immutable. The runtime has told where its length and its characters are.
        unsafe {
            let length = object.add(layout.length_offset as usize).cast::<u32>();
            let units = object.add(layout.buffer_offset as usize).cast::<u16>();
            let units = NonNull::slice_from_raw_parts(units, length.read() as usize);
            Some(units.as_ref().to_vec())
        }
    }

    /// Passes a string to the IL, which copies it when the hook has returned: its address and length are in two words.
    pub(super) fn set_text(&mut self, word: u16, text: Option<Vec<u16>>) {
        let Some(mut text) = text else {
            self.set_word(word, 0);
            self.set_word(word + 1, 0);
            return;
        };
        let length = text.len().min(i32::MAX as usize);
        // So that an empty string has an address of its own.
        text.push(0);
        let frame = self.first.addr().get();
        OUTGOING.with_borrow_mut(|outgoing| {
            self.set_word(word, text.as_ptr().addr() as u64);
            self.set_word(word + 1, length as u64);
            // The characters of a vector do not move with it.
            outgoing.push(frame, text);
        });
    }

    /// The characters of a string that this hook has set.
    pub(super) fn outgoing_text(&self, word: u16) -> Option<Vec<u16>> {
        let address = self.word(word) as usize;
        OUTGOING.with_borrow(|outgoing| {
            let of_address = |text: &&(usize, Vec<u16>)| text.1.as_ptr().addr() == address;
            let (_, text) = outgoing.0.iter().find(of_address)?;
            text.split_last().map(|(_, units)| units.to_vec())
        })
    }

    /// Keeps a state until the last hook of the call.
    fn set_state(&mut self, state: Box<dyn Any>) {
        drop(self.take_state());
        let frame = self.first.addr().get();
        let (number, ended) = STATES.with_borrow_mut(|states| {
            let ended = states.of_ended_calls(frame);
            states.last += 1;
            states.kept.push(KeptState {
                number: states.last,
                frame,
                state,
            });
            (states.last, ended)
        });
        drop_each(ended);
        self.set_word(words::STATE, number);
    }

    /// Whether a state is kept.
    #[inline]
    pub(super) fn has_state(&self) -> bool {
        self.word(words::STATE) != 0
    }

    /// The state, which is no longer kept.
    pub(super) fn take_state(&mut self) -> Option<Box<dyn Any>> {
        let number = self.word(words::STATE);
        if number == 0 {
            return None;
        }
        self.set_word(words::STATE, 0);
        state_with(number)
    }

    /// Keeps a state that was taken.
    pub(super) fn put_state_back(&mut self, state: Option<Box<dyn Any>>) {
        if let Some(state) = state {
            self.set_state(state);
        }
    }
}

/// Takes the state with a number.
fn state_with(number: u64) -> Option<Box<dyn Any>> {
    STATES.with_borrow_mut(|states| {
        let position = states.kept.iter().rposition(|kept| kept.number == number)?;
        Some(states.kept.remove(position).state)
    })
}

/// The states of the calls on a thread.
struct States {
    last: u64,
    kept: Vec<KeptState>,
}

struct KeptState {
    number: u64,
    /// The address of the frame of its call.
    frame: usize,
    state: Box<dyn Any>,
}

impl States {
    /// Takes the states of calls that have ended by an exception: no hook has taken them.
    fn of_ended_calls(&mut self, frame: usize) -> Vec<KeptState> {
        // Stacks grow towards lower addresses: the calls in which this one is nested have higher frames.
        let running = self.kept.iter().rposition(|kept| kept.frame > frame);
        self.kept.split_off(running.map_or(0, |last| last + 1))
    }
}

/// Those of calls that have ended by an exception may be left when the thread ends.
impl Drop for States {
    fn drop(&mut self) {
        drop_each(self.kept.drain(..));
    }
}

/// Drops states, whose code is the user's.
fn drop_each(states: impl IntoIterator<Item = KeptState>) {
    for kept in states {
        // A panic would end the process where a thread ends.
        let _ = catch(move || drop(kept.state));
    }
}

thread_local! {
    static STATES: RefCell<States> = const {
        RefCell::new(States { last: 0, kept: Vec::new() })
    };
}

/// Frees the strings of calls on this thread that have ended, and of this one, whose IL has copied them.
#[cold]
fn forget_outgoing(frame: NonNull<u64>) {
    let frame = frame.addr().get();
    let _ = OUTGOING.try_with(|outgoing| {
        // Stacks grow towards lower addresses: the calls in which this one is nested have higher frames.
        if let Ok(mut outgoing) = outgoing.try_borrow_mut() {
            outgoing.forget(frame);
        }
    });
}
