//! The functions and objects of the caller that the fake runtime calls during a call.

use std::cell::RefCell;
use std::ffi::c_void;
use std::{mem, ptr};

use clr_profiler_sys as sys;
use stand_in::Call;
use sys::{HRESULT, Interface};

use crate::answers::{Answer, FIRST};

/// Calls the function or object that was passed to the call, once for each element.
pub(crate) fn call_back(call: &Call<'_>, name: &str, answer: &Answer) {
    match name {
        "IMetaDataEmit::SaveToStream" | "IMetaDataEmit2::SaveDeltaToStream" => {
            save(call.pointer(0), answer);
        }
        "IMetaDataDispenserEx::GetOption" => {
            // SAFETY: a `VARIANT` is passed there: `VT_UI4`, three reserved numbers, the value.
            unsafe {
                call.pointer::<u16>(1).write(19);
                call.pointer::<u32>(1).add(2).write(OPTION);
            }
        }
        "IMetaDataEmit::SetHandler" => keep(call.pointer(0), answer),
        "IMetaDataValidate::ValidatorInit" => keep(call.pointer(1), answer),
        "IMetaDataEmit::Merge" => {
            let map: *mut c_void = call.pointer(1);
            // SAFETY: an `IMapToken` is passed there, or null.
            if let Some(map) = unsafe { sys::IMapToken::from_raw_borrowed(&map) } {
                // As the declared interface: without a query.
                map_tokens(map, answer.elements);
                let map = ask_for(map);
                KEPT.with_borrow_mut(|kept| kept.push((map, answer.elements)));
            }
            keep(call.pointer(2), answer);
        }
        _ => walk(call, name, answer.elements),
    }
}

/// The value of every option of a dispenser.
pub(crate) const OPTION: u32 = 0xABCD;

thread_local! {
    /// Objects that this thread's runtime holds, with the number of elements that it reports to them.
    static KEPT: RefCell<Vec<(sys::IUnknown, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Reports to an object of the caller, and holds a reference to it.
fn keep(object: *mut c_void, answer: &Answer) {
    // SAFETY: an `IUnknown` is passed there, or null.
    if let Some(object) = unsafe { sys::IUnknown::from_raw_borrowed(&object) } {
        tell(object, answer.elements);
        KEPT.with_borrow_mut(|kept| kept.push((object.clone(), answer.elements)));
    }
}

/// Reports to the held objects once more, and releases them.
pub(crate) fn let_go() {
    for (object, elements) in KEPT.take() {
        tell(&object, elements);
    }
}

/// Calls an object through each interface that it implements.
fn tell(object: &sys::IUnknown, elements: usize) {
    let map: sys::IMapToken = ask_for(object);
    let error: sys::IMetaDataError = ask_for(object);
    let filter: sys::IHostFilter = ask_for(object);
    map_tokens(&map, elements);
    for index in 0..elements as u32 {
        // SAFETY: numbers are passed to interfaces that are alive.
        unsafe {
            assert_eq!(error.OnError(sys::E_FAIL, FIRST + index), sys::S_OK);
            assert_eq!(filter.MarkToken(FIRST + index), sys::S_OK);
        }
    }
    let mut other = ptr::dangling_mut();
    // SAFETY: QueryInterface with arguments that COM allows, and with null, which it has to refuse.
    unsafe {
        let answer = object.query(&sys::ICeeGen::IID, &mut other);
        assert_eq!((answer, other), (sys::E_NOINTERFACE, ptr::null_mut()));
        let answer = object.query(&sys::IMapToken::IID, ptr::null_mut());
        assert_eq!(answer, sys::E_POINTER);
        assert_eq!(object.query(ptr::null(), &mut other), sys::E_POINTER);
    }
}

fn map_tokens(map: &sys::IMapToken, elements: usize) {
    for index in 0..elements as u32 {
        // SAFETY: numbers are passed to an interface that is alive.
        let answer = unsafe { map.Map(FIRST + index, FIRST + index + 1) };
        assert_eq!(answer, sys::S_OK);
    }
}

fn ask_for<I: Interface>(object: &impl Interface) -> I {
    let mut other = ptr::null_mut();
    // SAFETY: the IID is that of `I`; a success gives a reference.
    unsafe {
        assert_eq!(object.query(&I::IID, &mut other), sys::S_OK);
        I::from_raw(other)
    }
}

/// The functions of the walks.
fn walk(call: &Call<'_>, name: &str, elements: usize) {
    // A callback and its data are passed on unchanged: as words.
    let function = |parameter| ptr::with_exposed_provenance::<c_void>(call.argument(parameter));
    for index in 0..elements {
        let id = FIRST as usize + index;
        // SAFETY: the callback has the type of the method's parameter, is not null, and may
        // be called on this thread until the method returns; the data is the one passed with it.
        let goes_on = unsafe {
            match name {
                "ICorProfilerInfo2::DoStackSnapshot" => {
                    let callback: sys::StackSnapshotCallback = mem::transmute(function(1));
                    callback(id, 0x77, 0x78, 0, ptr::null_mut(), call.pointer(3)) == sys::S_OK
                }
                "ICorProfilerInfo10::EnumerateObjectReferences" => {
                    let callback: sys::ObjectReferenceCallback = mem::transmute(function(1));
                    let mut reference = id;
                    callback(0x81, &mut reference, call.pointer(2)).as_bool()
                }
                "ICorProfilerInfo15::EnumerateGCHeapObjects" => {
                    let callback: sys::ObjectCallback = mem::transmute(function(0));
                    callback(id, call.pointer(1)).as_bool()
                }
                _ => return,
            }
        };
        assert!(goes_on, "{name}: the walk was ended at {index}");
    }
}

/// The beginning of `ISequentialStream`.
#[repr(C)]
struct StreamVtable {
    base__: sys::IUnknown_Vtbl,
    read: usize,
    write: unsafe extern "system" fn(*mut c_void, *const c_void, u32, *mut u32) -> HRESULT,
}

/// Writes as many bytes to a stream as there are elements, in pieces of a given size.
fn save(stream: *mut c_void, answer: &Answer) {
    let bytes: Vec<u8> = (0..answer.elements)
        .map(|index| (FIRST as usize + index) as u8)
        .collect();
    // SAFETY: an `IStream` is passed there, which lives until the call has returned; it is queried for
    // its interface and written to according to the rules of COM.
    unsafe {
        let given = sys::IUnknown::from_raw_borrowed(&stream).expect("a stream is passed");
        let iid = sys::GUID::from_u128(0x0C733A30_2A1C_11CE_ADE5_00AA0044773D);
        let mut stream = ptr::null_mut();
        assert_eq!(given.query(&iid, &mut stream), sys::S_OK);
        let held = sys::IUnknown::from_raw(stream);
        let vtable: *const StreamVtable = (*stream.cast::<*const c_void>()).cast();
        let write = (*vtable).write;
        for part in bytes.chunks(answer.batch.min(bytes.len()).max(1)) {
            let mut written = 0;
            let answer = write(
                stream,
                part.as_ptr().cast(),
                part.len() as u32,
                &mut written,
            );
            assert_eq!((answer, written as usize), (sys::S_OK, part.len()));
        }
        // An empty write, without an address for the written length.
        assert_eq!(write(stream, ptr::null(), 0, ptr::null_mut()), sys::S_OK);
        drop(held);
    }
}
