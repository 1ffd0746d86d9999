//! The memory that IL shares with a hook, and the functions that IL calls.
//!
//! The only `unsafe` code of patches is here. Its argument: the code of [`code`](super::code) alone calls these functions; it
//! passes the address of a [`Site`] that lives as long as the library, and that of a local of the patched method that has at
//! least as many words as the site says. The local does not move, and no other thread has its address.

use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::call::{Call, Stage};
use super::slot::{Site, bits, words};
use crate::profiler::{native_call_failed, native_call_panicked};
use crate::runtime::catch;

thread_local! {
    /// Strings that IL copies after a hook has returned, with the address of the frame that they are for.
    static OUTGOING: RefCell<Vec<(usize, Vec<u16>)>> = const { RefCell::new(Vec::new()) };
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
    unsafe fn new(first: NonNull<u64>, words: u16) -> Self {
        Self {
            first,
            words,
            lifetime: PhantomData,
        }
    }

    pub(super) fn word(&self, index: u16) -> u64 {
        if index >= self.words {
            return 0;
        }
        // SAFETY: it is one of the words.
        unsafe { self.first.add(usize::from(index)).read() }
    }

    pub(super) fn set_word(&mut self, index: u16, value: u64) {
        if index < self.words {
            // SAFETY: it is one of the words, which nothing else accesses during the hook.
            unsafe { self.first.add(usize::from(index)).write(value) }
        }
    }

    /// The address of so many bytes from an offset after a word on, if they are in the frame.
    fn bytes(&self, word: u16, offset: u32, size: u32) -> Option<NonNull<u8>> {
        let start = usize::from(word) * 8 + offset as usize;
        let is_inside = size <= 8 && start + size as usize <= usize::from(self.words) * 8;
        // SAFETY: the bytes are in the frame.
        is_inside.then(|| unsafe { self.first.cast::<u8>().add(start) })
    }

    /// Reads an integer of at most eight bytes; zero-extended.
    pub(super) fn integer(&self, word: u16, offset: u32, size: u32) -> u64 {
        let mut value = [0; 8];
        if let Some(from) = self.bytes(word, offset, size) {
            // SAFETY: `bytes` has checked that they are in the frame, and that there are at most eight. Any bits are an
            // integer.
            unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut value).cast(), size as usize) };
        }
        u64::from_le_bytes(value)
    }

    pub(super) fn set_integer(&mut self, word: u16, offset: u32, size: u32, value: u64) {
        let value = value.to_le_bytes();
        if let Some(to) = self.bytes(word, offset, size) {
            // SAFETY: as in `integer`.
            unsafe { to.copy_from_nonoverlapping(NonNull::from(&value).cast(), size as usize) };
        }
    }

    /// The string that IL has pinned for this hook; `None` if it is null.
    pub(super) fn pinned_text(&self, word: u16, site: &Site) -> Option<Vec<u16>> {
        let object = NonNull::new(self.word(word) as usize as *mut u8)?;
        let layout = &site.strings;
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
            outgoing.push((frame, text));
        });
    }

    /// The characters of a string that this hook has set.
    pub(super) fn outgoing_text(&self, word: u16) -> Option<Vec<u16>> {
        let address = self.word(word) as usize;
        OUTGOING.with_borrow(|outgoing| {
            let of_address = |text: &&(usize, Vec<u16>)| text.1.as_ptr().addr() == address;
            let (_, text) = outgoing.iter().find(of_address)?;
            text.split_last().map(|(_, units)| units.to_vec())
        })
    }

    /// Keeps a state until the last hook of the call.
    pub(super) fn set_state(&mut self, state: Box<dyn Any>) {
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

    /// The state, which is no longer kept.
    pub(super) fn take_state(&mut self) -> Option<Box<dyn Any>> {
        let number = self.word(words::STATE);
        if number == 0 {
            return None;
        }
        self.set_word(words::STATE, 0);
        STATES.with_borrow_mut(|states| {
            let position = states.kept.iter().rposition(|kept| kept.number == number)?;
            Some(states.kept.remove(position).state)
        })
    }

    /// Keeps a state that was taken.
    pub(super) fn put_state_back(&mut self, state: Option<Box<dyn Any>>) {
        if let Some(state) = state {
            self.set_state(state);
        }
    }
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
fn forget_outgoing(frame: NonNull<u64>) {
    let frame = frame.addr().get();
    let _ = OUTGOING.try_with(|outgoing| {
        // Stacks grow towards lower addresses: the calls in which this one is nested have higher frames.
        if let Ok(mut outgoing) = outgoing.try_borrow_mut()
            && !outgoing.is_empty()
        {
            outgoing.retain(|(of, _)| *of > frame);
        }
    });
}

/// Runs the hook of a stage. Returns the [`bits`] by which the IL continues: 0 if the hook has failed, so that the
/// method runs as without it.
///
/// # Safety
///
/// As of the module.
unsafe fn run(site: usize, frame: *mut u64, stage: Stage) -> u64 {
    let (Some(site), Some(first)) = (NonNull::new(site as *mut Site), NonNull::new(frame)) else {
        return 0;
    };
    // SAFETY: the IL has the address of a site, which is never freed or changed.
    let site: &Site = unsafe { site.as_ref() };
    forget_outgoing(first);
    // SAFETY: the IL passes a local with so many words; it is not accessed until this function returns.
    let frame = unsafe { Frame::new(first, site.words) };
    let ran = catch(move || {
        let mut call = Call::new(site, frame, stage);
        let result = match site.hooks.of(stage) {
            Some(hook) => hook(&mut call),
            None => Ok(()),
        };
        call.end(result)
    });
    match ran {
        Ok(Ok(bits)) => bits,
        Ok(Err(error)) => {
            let text = format!("the patch of {}: {error}", site.method);
            native_call_failed(crate::Error::other(text));
            0
        }
        Err(message) => {
            native_call_panicked(format!("the patch of {}: {message}", site.method));
            0
        }
    }
}

/// A row: the function of a stage.
macro_rules! stages {
    ($($name:ident $stage:ident;)*) => {$(
        pub(super) extern "C" fn $name(site: i64, frame: *mut u64) -> i64 {
            // SAFETY: IL of this module alone calls it, with these arguments.
            unsafe { run(site as usize, frame, Stage::$stage) }.cast_signed()
        }
    )*};
}

stages! {
    before Before;
    after After;
    exception Exception;
    abandoned Abandoned;
}

/// Whether a number has the bit of a slot.
pub(super) fn is_changed(mask: u64, index: usize) -> bool {
    bits::slot(index).is_some_and(|bit| mask & bit != 0)
}
