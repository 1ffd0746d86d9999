//! Calls arrive at the handler unchanged, through the vtable of any interface.

#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use clr_profiler_sys as sys;
use stand_in::{Call, Face, Handler, Object, Offers, forward, interfaces};
use sys::Interface;

/// Keeps the last call, and answers with its number.
#[derive(Default)]
struct Keeps {
    last: Mutex<(String, Vec<usize>)>,
    calls: AtomicUsize,
}

struct Shared(Arc<Keeps>);

impl Handler for Shared {
    fn call(&self, call: &Call<'_>) -> usize {
        *self.0.last.lock().unwrap() = (call.method.name(), call.words.to_vec());
        self.0.calls.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[test]
fn every_method_of_every_interface_arrives_with_its_words() {
    let keeps = Arc::new(Keeps::default());
    let mut expected = 0;
    for interface in interfaces() {
        let face = Face::new(interface, Box::new(Shared(Arc::clone(&keeps))));
        for method in &interface.slots {
            let count = method
                .facts
                .parameters
                .iter()
                .enumerate()
                .map(|(index, parameter)| method.position(index) + parameter.size.div_ceil(8))
                .max()
                .unwrap_or(0);
            let words: Vec<usize> = (0..count).map(|word| usize::MAX - word * 0x101).collect();
            // SAFETY: the handler follows no pointer among the arguments.
            let returned = unsafe { forward(face.as_raw(), method, &words) };
            expected += 1;
            assert_eq!(returned, expected);
            let last = keeps.last.lock().unwrap();
            assert_eq!(*last, (method.name(), words));
        }
    }
    // All interfaces with all their inherited methods.
    assert!(expected > 2_000, "{expected}");
}

#[test]
fn typed_calls_arrive_with_their_arguments() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let object = Object::new(Offers::new(["ICorProfilerInfo15"]), move |call| {
        let parameters = call.method.facts.parameters;
        let mut seen = sees.lock().unwrap();
        seen.push((call.method.facts.name, Vec::new()));
        for (index, parameter) in parameters.iter().enumerate() {
            let by_value = parameter.size > 8 && cfg!(target_arch = "x86_64");
            let words = if by_value { parameter.size / 8 } else { 1 };
            let first = call.method.position(index);
            let arguments = &mut seen.last_mut().unwrap().1;
            match words {
                1 => arguments.push(call.argument(index)),
                _ => arguments.extend_from_slice(&call.words[first..][..words]),
            }
        }
        Call::hresult(sys::E_FAIL)
    });
    // SAFETY: the object offers that interface, and `give` has added a reference.
    let info =
        unsafe { sys::ICorProfilerInfo15::from_raw(object.give(&sys::ICorProfilerInfo15::IID)) };
    let config = sys::COR_PRF_EVENTPIPE_PROVIDER_CONFIG {
        providerName: ptr::without_provenance(0x11),
        keywords: 0x22,
        loggingLevel: 0x33,
        filterData: ptr::without_provenance(0x44),
    };
    // SAFETY: the handler follows no pointer.
    unsafe {
        assert_eq!(info.SetEventMask2(1, 2), sys::E_FAIL);
        assert_eq!(info.EventPipeAddProviderToSession(5, config), sys::E_FAIL);
        let null = ptr::null_mut();
        let answer = info.EventPipeDefineEvent(
            1,
            null,
            3,
            4,
            5,
            6,
            7,
            true.into(),
            9,
            ptr::null(),
            null.cast(),
        );
        assert_eq!(answer, sys::E_FAIL);
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], ("SetEventMask2", vec![1, 2]));
    if cfg!(target_arch = "x86_64") {
        // The level is followed by four bytes of padding.
        let (name, words) = &seen[1];
        assert_eq!(*name, "EventPipeAddProviderToSession");
        let words = [
            words[0],
            words[1],
            words[2],
            words[3] & 0xFFFF_FFFF,
            words[4],
        ];
        assert_eq!(words, [5, 0x11, 0x22, 0x33, 0x44]);
    }
    assert_eq!(
        seen[2],
        (
            "EventPipeDefineEvent",
            vec![1, 0, 3, 4, 5, 6, 7, 1, 9, 0, 0]
        )
    );
    assert_eq!(object.references(), 2);
    drop(info);
    assert_eq!(object.references(), 1);
}

#[test]
fn an_object_has_the_interfaces_that_it_offers_and_their_parents() {
    let offers = Offers::new(["IMetaDataImport2", "IMetaDataAssemblyImport"]);
    let object = Object::new(offers, |_| 0);
    let import = object.give(&sys::IMetaDataImport::IID);
    assert_eq!(import, object.give(&sys::IMetaDataImport2::IID));
    assert_eq!(import, object.give(&sys::IUnknown::IID));
    assert_ne!(import, object.give(&sys::IMetaDataAssemblyImport::IID));
    assert!(object.give(&sys::IMetaDataEmit::IID).is_null());
    assert_eq!(object.references(), 5);
    // SAFETY: each is an interface with a reference of its own.
    unsafe {
        let import = sys::IMetaDataImport2::from_raw(import);
        assert!(import.cast::<sys::IMetaDataAssemblyImport>().is_ok());
        assert_eq!(
            import.cast::<sys::IMetaDataEmit>().unwrap_err().code(),
            sys::E_NOINTERFACE
        );
    }
    assert_eq!(object.references(), 4);
}
