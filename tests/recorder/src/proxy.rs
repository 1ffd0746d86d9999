//! Proxies of the real objects.
//!
//! A proxy has no state but the address of its real object: references are counted by the real
//! object alone, and `Release` on a proxy is `Release` on the real object. So a proxy may live
//! forever, and serves any object that is allocated at that address next.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler_sys::GUID;
use stand_in::{Call, Face, Handler, Interface, forward, interface_of};

use crate::faults::{self, Fault};
use crate::library;
use crate::record::recording;
use crate::rules::{self, Rule};

/// Passes calls on to the object at this address.
struct Proxy(usize);

impl Handler for Proxy {
    fn call(&self, call: &Call<'_>) -> usize {
        let record = recording();
        record.called(call.method);
        let fault = faults::strike(call.method);
        if let Some(Fault::Returns(broken)) = fault {
            return broken;
        }
        let target = ptr::with_exposed_provenance_mut(self.0);
        let rules = rules::of(call.method);
        let returned = if rules.is_empty() {
            // SAFETY: a proxy of an interface is only created for objects that have it; the caller of
            // the proxy holds a reference to the real object, and passes the arguments that the method requires.
            unsafe { forward(target, call.method, call.words) }
        } else {
            let mut words = call.words.to_vec();
            exchange_arguments(call, rules, &mut words);
            // SAFETY: as above; the exchanged argument is an interface of the same kind.
            let returned = unsafe { forward(target, call.method, &words) };
            if call.method.succeeded(returned) {
                exchange_results(call, rules);
            }
            returned
        };
        if fault == Some(Fault::Short) && call.method.succeeded(returned) {
            faults::cut_signatures(call);
        }
        record.answered(call.method, returned);
        returned
    }
}

fn exchange_arguments(call: &Call<'_>, rules: &[Rule], words: &mut [usize]) {
    for rule in rules {
        match *rule {
            Rule::Hands {
                argument,
                interface,
            } => {
                let given: *mut c_void = call.pointer(argument);
                // SAFETY: only the runtime passes interfaces in, and this is one.
                unsafe { library::runtime_has(given) };
                words[call.method.position(argument)] =
                    proxy_of(given, interface).expose_provenance();
            }
            Rule::HandsBack { argument } => {
                words[call.method.position(argument)] = real_of(call.argument(argument));
            }
            Rule::GivesByIid { .. } | Rule::Gives { .. } => {}
        }
    }
}

fn exchange_results(call: &Call<'_>, rules: &[Rule]) {
    for rule in rules {
        match *rule {
            Rule::GivesByIid { iid, out } => {
                let (iid, out) = (call.pointer::<GUID>(iid), call.pointer::<*mut c_void>(out));
                if !iid.is_null() && !out.is_null() {
                    // SAFETY: the method has succeeded: the GUID was read, and the output is set.
                    unsafe { exchange_by_iid(out, &*iid) };
                }
            }
            Rule::Gives { out, interface } => {
                let out: *mut *mut c_void = call.pointer(out);
                if !out.is_null() {
                    // SAFETY: the method has succeeded, and its result is of that type.
                    unsafe { *out = proxy_of(*out, interface) };
                }
            }
            Rule::Hands { .. } | Rule::HandsBack { .. } => {}
        }
    }
}

/// Replaces an interface by its proxy, if this crate knows it.
///
/// # Safety
///
/// `out` points to null or an interface with this identifier.
pub(crate) unsafe fn exchange_by_iid(out: *mut *mut c_void, iid: &GUID) {
    if let Some(interface) = interface_of(iid) {
        // SAFETY: as the caller promises.
        unsafe { *out = proxy_of(*out, interface) };
    }
}

/// All proxies, by their real objects.
#[derive(Default)]
struct Proxies {
    by_real: HashMap<(usize, &'static str), usize>,
    real_of: HashMap<usize, usize>,
}

fn proxies() -> MutexGuard<'static, Option<Proxies>> {
    static PROXIES: Mutex<Option<Proxies>> = Mutex::new(None);
    PROXIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The proxy of an object's interface; null for null.
fn proxy_of(real: *mut c_void, interface: &'static Interface) -> *mut c_void {
    if real.is_null() {
        return real;
    }
    let real = real.expose_provenance();
    let mut proxies = proxies();
    let proxies = proxies.get_or_insert_default();
    let proxy = *proxies
        .by_real
        .entry((real, interface.name))
        .or_insert_with(|| {
            let face: &'static Face =
                Box::leak(Box::new(Face::new(interface, Box::new(Proxy(real)))));
            let proxy = face.as_raw().expose_provenance();
            proxies.real_of.insert(proxy, real);
            proxy
        });
    ptr::with_exposed_provenance_mut(proxy)
}

/// The real object of a proxy; any other address is returned unchanged.
fn real_of(address: usize) -> usize {
    let proxies = proxies();
    let real = proxies
        .as_ref()
        .and_then(|proxies| proxies.real_of.get(&address).copied());
    real.unwrap_or(address)
}
