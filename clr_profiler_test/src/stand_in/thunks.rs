//! The functions in the slots of a vtable, one for each slot and number of words.

use std::ffi::c_void;

use super::face::dispatch;

/// How many slots a vtable can have.
const SLOTS: usize = 128;

/// The addresses of one thunk for every slot.
macro_rules! for_every_slot {
    ($thunk:ident) => {
        for_every_slot! { @list $thunk
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
            20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39
            40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
            60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79
            80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99
            100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119
            120 121 122 123 124 125 126 127
        }
    };
    (@list $thunk:ident $($slot:literal)*) => {
        [$($thunk::<$slot> as *const () as usize),*]
    };
}

/// Declares the thunks, and calls through a vtable, for each number of words.
///
/// Five words are in registers on every platform of this crate: a method with fewer gets the thunk
/// for five, and ignores registers that the caller did not set.
macro_rules! thunks {
    ($($thunk:ident $count:literal ($($word:ident)*);)*) => {
        $(
            extern "C" fn $thunk<const SLOT: usize>(
                this: *mut c_void,
                $($word: usize),*
            ) -> usize {
                dispatch(this, SLOT, &[$($word),*])
            }
        )*

        /// The address of the function for a slot whose method has this many words of arguments.
        pub(super) fn thunk(slot: usize, words: usize) -> usize {
            let by_slot: [usize; SLOTS] = match words.max(5) {
                $($count => for_every_slot!($thunk),)*
                more => panic!("a method with {more} words of arguments"),
            };
            by_slot[slot]
        }

        /// Calls a function of that many words.
        ///
        /// # Safety
        ///
        /// `function` is a function of the platform's C convention, whose arguments are `this` and
        /// these words, or as many of them as it has.
        pub(super) unsafe fn invoke(function: usize, this: *mut c_void, words: &[usize]) -> usize {
            let mut five = [0; 5];
            let words = if words.len() < 5 {
                five[..words.len()].copy_from_slice(words);
                &five[..]
            } else {
                words
            };
            match words {
                $(
                    &[$($word),*] => {
                        // SAFETY: as the caller promises. Integers and pointers are passed alike,
                        // words in registers that the function does not read do no harm, and a
                        // narrower result is the low part of the word that is returned.
                        unsafe {
                            let function: extern "C" fn(
                                *mut c_void $(, for_each!($word, usize))*
                            ) -> usize = std::mem::transmute(function);
                            function(this, $($word),*)
                        }
                    }
                )*
                _ => panic!("a call with {} words of arguments", words.len()),
            }
        }
    };
}

/// The second of its arguments, once for each first one.
macro_rules! for_each {
    ($word:ident, $type:ty) => {
        $type
    };
}

thunks! {
    words5 5 (a b c d e);
    words6 6 (a b c d e f);
    words7 7 (a b c d e f g);
    words8 8 (a b c d e f g h);
    words9 9 (a b c d e f g h i);
    words10 10 (a b c d e f g h i j);
    words11 11 (a b c d e f g h i j k);
    words12 12 (a b c d e f g h i j k l);
    words13 13 (a b c d e f g h i j k l m);
    words14 14 (a b c d e f g h i j k l m n);
    words15 15 (a b c d e f g h i j k l m n o);
    words16 16 (a b c d e f g h i j k l m n o p);
}
