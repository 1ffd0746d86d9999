//! Requests of closures to managed code.
//!
//! The argument for its `unsafe` code: the address of the function comes from the code of [`server`](super::server) alone, which
//! gets it from a delegate that is never freed. It uses the request, and calls [`take_text`] with it, before it returns.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::info::StringLayout;

/// The words of a request.
pub(super) mod word {
    pub(in super::super) const OPERATION: usize = 0;
    /// Whether the object is that of a handle, instead of one at an address.
    pub(in super::super) const IS_HANDLE: usize = 1;
    pub(in super::super) const OBJECT: usize = 2;
    /// The address and the length of a name.
    pub(in super::super) const NAME: usize = 3;
    pub(in super::super) const NAME_LENGTH: usize = 4;
    pub(in super::super) const INDEX: usize = 5;
    /// The kind of the value, or of the result.
    pub(in super::super) const KIND: usize = 6;
    /// A number, or a handle.
    pub(in super::super) const BITS: usize = 7;
    /// The address and the length of a text; of an object that is set, as of the object above.
    pub(in super::super) const TEXT: usize = 8;
    pub(in super::super) const TEXT_LENGTH: usize = 9;
    /// The size of a number; of an object, whether it is a struct.
    pub(in super::super) const SIZE: usize = 10;
    pub(in super::super) const COUNT: usize = 11;
}

/// The operations.
pub(super) mod operation {
    pub(in super::super) const GET_FIELD: u64 = 0;
    pub(in super::super) const GET_ELEMENT: u64 = 1;
    pub(in super::super) const SET_FIELD: u64 = 2;
    pub(in super::super) const SET_ELEMENT: u64 = 3;
    pub(in super::super) const FREE: u64 = 4;
    pub(in super::super) const TYPE_NAME: u64 = 5;
    pub(in super::super) const LENGTH: u64 = 6;
}

/// The kinds of values and results.
pub(super) mod kind {
    pub(in super::super) const NULL: u64 = 0;
    pub(in super::super) const TEXT: u64 = 1;
    pub(in super::super) const OBJECT: u64 = 2;
    /// An exception, whose type is the text.
    pub(in super::super) const FAILED: u64 = 3;
    /// There is no such field.
    pub(in super::super) const MISSING: u64 = 4;
    /// The field has another type: 0 or that of its number.
    pub(in super::super) const MISMATCH: u64 = 5;
    pub(in super::super) const DONE: u64 = 6;
    /// The first kind of numbers; the others are the `TypeCode` more. That of `Object` is a native integer, the next
    /// one an unsigned one.
    pub(in super::super) const NUMBER: u64 = 16;
}

#[repr(C)]
pub(super) struct Request {
    pub(super) words: [u64; word::COUNT],
    pub(super) text: Option<Vec<u16>>,
    strings: StringLayout,
}

/// The address of the managed code, or 0.
pub(super) static SERVER: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is in managed code for a request: then the code is itself patched.
    static IS_SERVED: Cell<bool> = const { Cell::new(false) };
}

/// Managed code calls it with its own address.
pub(super) extern "C" fn set_server(address: isize) {
    SERVER.store(address.cast_unsigned(), Ordering::Release);
}

/// Managed code calls it with a string that it has pinned.
pub(super) extern "C" fn take_text(request: *mut Request, text: *const u8) {
    let (Some(mut request), Some(text)) = (NonNull::new(request), NonNull::new(text.cast_mut()))
    else {
        return;
    };
    // SAFETY: the managed code passes on the address of the request, which the caller has borrowed mutably and does not use
    // meanwhile, and that of a string which does not move until this returns. The runtime has told where its length and its
    // characters are.
    unsafe {
        let request = request.as_mut();
        let layout = &request.strings;
        let length = text.add(layout.length_offset as usize).cast::<u32>();
        let units = text.add(layout.buffer_offset as usize).cast::<u16>();
        let units = NonNull::slice_from_raw_parts(units, length.read() as usize);
        request.text = Some(units.as_ref().to_vec());
    }
}

impl Request {
    pub(super) fn new(operation: u64, strings: &StringLayout) -> Self {
        let mut words = [0; word::COUNT];
        words[word::OPERATION] = operation;
        Self {
            words,
            text: None,
            strings: *strings,
        }
    }

    /// Has managed code do it.
    pub(super) fn serve(&mut self) -> Result<()> {
        let address = SERVER.load(Ordering::Acquire) as *const ();
        if address.is_null() {
            return Err(Error::other(
                "the code that reads objects could not be started",
            ));
        }
        // While a thread ends, there may be no thread-local.
        if IS_SERVED.try_with(|it| it.replace(true)).unwrap_or(true) {
            return Err(Error::other(
                "objects are not read in methods that read objects for a patch",
            ));
        }
        // SAFETY: the managed code has this type, and lives as long as the process. It catches all exceptions.
        let serve: extern "C" fn(u32, u32, *mut Self) = unsafe { std::mem::transmute(address) };
        serve(0, 0, self);
        let _ = IS_SERVED.try_with(|it| it.set(false));
        Ok(())
    }
}
