//! Interfaces that the caller implements, called by the fake runtime.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use clr_profiler::Hresult;
use clr_profiler::il::token::Token;
use clr_profiler::info::ComObject;
use clr_profiler::metadata::{MetadataEvents, MetadataHandler};
use clr_profiler::prelude::*;
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

use crate::answers::{Answer, FIRST};
use crate::rows::{Row, Run};
use crate::stage::play;

thread_local! {
    /// The calls that objects of this thread received.
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Whether they panic on a call.
    static PANICS: Cell<bool> = const { Cell::new(false) };
    /// How many of them there are.
    static LIVE: Cell<u32> = const { Cell::new(0) };
}

/// How many objects of this thread are still alive.
pub(crate) fn live() -> u32 {
    LIVE.get()
}

struct Events;

impl Drop for Events {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}

impl MetadataEvents for Events {
    fn token_mapped(&self, from: Token, to: Token) {
        told(format!("{from} is {to}"));
    }

    fn error(&self, error: Hresult, token: Token) {
        told(format!("{error} at {token}"));
    }

    fn token_marked(&self, token: Token) {
        told(format!("keep {token}"));
    }
}

fn told(what: String) {
    TOLD.with_borrow_mut(|told| told.push(what));
    assert!(!PANICS.get(), "as it was told to");
}

/// An object for calls that take one.
pub(crate) fn handler() -> MetadataHandler {
    LIVE.set(LIVE.get() + 1);
    MetadataHandler::new(Events)
}

/// A native method that the caller implements, and a row whose call makes the runtime call it.
struct Implemented {
    native: &'static str,
    row: Row,
    /// The record of a call with a token.
    tells: fn(u32) -> String,
}

const fn writer(native: &'static str, run: fn(&MetadataWriter<'_>) -> Result<String>) -> Row {
    Row {
        native,
        hides: &[],
        run: Run::Writer(run),
    }
}

const IMPLEMENTED: &[Implemented] = &[
    Implemented {
        native: "IMapToken::Map",
        row: writer("IMetaDataEmit::Merge", |it| {
            it.merge(it, Some(&handler()), None).map(|()| String::new())
        }),
        tells: |token| format!("0x{token:08x} is 0x{:08x}", token + 1),
    },
    Implemented {
        native: "IMapToken::Map",
        row: writer("IMetaDataEmit::SetHandler", set_handler),
        tells: |token| format!("0x{token:08x} is 0x{:08x}", token + 1),
    },
    Implemented {
        native: "IMetaDataError::OnError",
        row: writer("IMetaDataEmit::Merge", |it| {
            it.merge(it, None, Some(&handler())).map(|()| String::new())
        }),
        tells: |token| format!("E_FAIL (0x80004005) at 0x{token:08x}"),
    },
    Implemented {
        native: "IMetaDataError::OnError",
        row: writer("IMetaDataValidate::ValidatorInit", |it| {
            it.validator_init(1, &handler()).map(|()| String::new())
        }),
        tells: |token| format!("E_FAIL (0x80004005) at 0x{token:08x}"),
    },
    Implemented {
        native: "IHostFilter::MarkToken",
        row: writer("IMetaDataEmit::SetHandler", set_handler),
        tells: |token| format!("keep 0x{token:08x}"),
    },
];

fn set_handler(it: &MetadataWriter<'_>) -> Result<String> {
    it.set_handler(Some(&handler())).map(|()| String::new())
}

/// The native methods that are checked here.
pub(crate) fn implemented() -> impl Iterator<Item = &'static str> {
    IMPLEMENTED.iter().map(|row| row.native)
}

#[test]
fn what_the_caller_implements_is_told_everything() {
    for implemented in IMPLEMENTED {
        for elements in [0, 1, 50] {
            for panics in [false, true] {
                TOLD.take();
                PANICS.set(panics);
                let answer = Answer {
                    elements,
                    ..Answer::default()
                };
                let played = play(&implemented.row, answer);
                PANICS.set(false);
                let native = implemented.native;
                played
                    .outcome
                    .unwrap_or_else(|error| panic!("{native}: {error}"));
                // Once during the call, and once when the caller has released it.
                let expected: Vec<String> = (0..elements as u32)
                    .chain(0..elements as u32)
                    .map(|index| (implemented.tells)(FIRST + index))
                    .collect();
                let told: Vec<String> = TOLD
                    .take()
                    .into_iter()
                    .filter(|line| expected.contains(line))
                    .collect();
                assert_eq!(told, expected, "{native} by {}", implemented.row.native);
            }
        }
    }
}

#[test]
fn a_runtime_that_fails_has_not_kept_what_it_was_given() {
    for implemented in IMPLEMENTED {
        TOLD.take();
        let answer = Answer {
            hresult: sys::E_FAIL,
            ..Answer::default()
        };
        let played = play(&implemented.row, answer);
        assert!(played.outcome.is_err(), "{}", implemented.row.native);
        assert_eq!(TOLD.take(), [""; 0]);
    }
}

/// A minimal `ITypeInfo`: an object that claims to be one.
#[repr(C)]
struct TypeInfo {
    vtable: &'static IUnknown_Vtbl,
    references: AtomicU32,
}

/// An object that is an `ITypeInfo`.
pub(crate) fn type_info() -> ComObject {
    const VTABLE: &IUnknown_Vtbl = &IUnknown_Vtbl {
        QueryInterface: query,
        AddRef: add_ref,
        Release: release,
    };
    LIVE.set(LIVE.get() + 1);
    let object = Box::new(TypeInfo {
        vtable: VTABLE,
        references: AtomicU32::new(1),
    });
    debug_assert!(ptr::eq(object.vtable, VTABLE));
    // SAFETY: a COM object with one reference, which is given away.
    unsafe { ComObject::from_raw(Box::into_raw(object).cast()) }.expect("an object")
}

unsafe extern "system" fn query(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    const ITYPE_INFO: GUID = GUID::from_u128(0x00020401_0000_0000_C000_000000000046);
    // SAFETY: COM: the caller passes a GUID and the address of a pointer, and holds a reference.
    unsafe {
        let known = [IUnknown::IID, ITYPE_INFO].contains(&*iid);
        out.write(if known { this } else { ptr::null_mut() });
        if !known {
            return sys::E_NOINTERFACE;
        }
        add_ref(this);
    }
    sys::S_OK
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    let object = unsafe { &*this.cast::<TypeInfo>() };
    object.references.fetch_add(1, Ordering::SeqCst) + 1
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: the caller gives up a reference; after the last one the box is reclaimed.
    unsafe {
        let left = (*this.cast::<TypeInfo>())
            .references
            .fetch_sub(1, Ordering::SeqCst)
            - 1;
        if left == 0 {
            drop(Box::from_raw(this.cast::<TypeInfo>()));
            LIVE.set(LIVE.get() - 1);
        }
        left
    }
}
