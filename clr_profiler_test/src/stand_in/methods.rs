//! Every method of every interface, numbered, with the positions of its arguments.
//!
//! `EventPipeAddProviderToSession` alone takes a structure by value. On x86-64 it is in the
//! caller's stack arguments, whatever registers remain; on AArch64 its address is passed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler_sys as sys;
use sys::facts::INTERFACES;
use sys::{GUID, Method, Parameter};

use super::thunks;

/// How many words of arguments are passed in registers, after the object itself.
///
/// AArch64 has room for seven, but there nothing depends on the location of a word.
const REGISTERS: usize = 5;

/// One method of one interface.
#[derive(Debug)]
pub struct NativeMethod {
    /// The interface that declares it.
    pub interface: &'static str,
    /// Its name, slot and parameters.
    pub facts: &'static Method,
    /// Its index among all methods.
    pub index: usize,
    /// The first word of each parameter.
    positions: Vec<usize>,
    /// How many words there are.
    pub(super) words: usize,
}

impl NativeMethod {
    fn new(interface: &'static str, facts: &'static Method, index: usize) -> Self {
        let (mut registers, mut stack) = (0, 0);
        let mut positions = Vec::new();
        for parameter in facts.parameters {
            let on_stack = passed_on_stack(parameter);
            if registers < REGISTERS && !on_stack {
                positions.push(registers);
                registers += 1;
            } else {
                positions.push(REGISTERS + stack);
                stack += if on_stack {
                    parameter.size.div_ceil(8)
                } else {
                    1
                };
            }
        }
        let words = if stack == 0 {
            registers
        } else {
            REGISTERS + stack
        };
        Self {
            interface,
            facts,
            index,
            positions,
            words,
        }
    }

    /// `Interface::Method`.
    pub fn name(&self) -> String {
        format!("{}::{}", self.interface, self.facts.name)
    }

    /// The first word of this parameter.
    pub fn position(&self, parameter: usize) -> usize {
        self.positions[parameter]
    }

    /// Whether it returns an `HRESULT`.
    pub fn returns_hresult(&self) -> bool {
        self.facts.return_type == "HRESULT"
    }

    /// Whether its result is not a failure.
    pub fn succeeded(&self, returned: usize) -> bool {
        !self.returns_hresult() || returned as i32 >= 0
    }
}

/// Whether the whole argument is copied into the stack arguments.
fn passed_on_stack(parameter: &Parameter) -> bool {
    cfg!(target_arch = "x86_64") && parameter.size > 16
}

/// One interface with all its slots.
#[derive(Debug)]
pub struct Interface {
    /// Its name.
    pub name: &'static str,
    /// Its identifier.
    pub iid: GUID,
    /// The interface that it extends.
    pub parent: &'static str,
    /// The method of each slot, those of all parents included.
    pub slots: Vec<&'static NativeMethod>,
    /// The thunk of each slot.
    pub(super) vtable: &'static [AtomicUsize],
}

impl Interface {
    /// Whether it is `name` or extends it.
    pub fn extends(&self, name: &str) -> bool {
        std::iter::successors(Some(self), |at| interface(at.parent)).any(|at| at.name == name)
    }
}

const fn unknown(
    name: &'static str,
    slot: usize,
    return_type: &'static str,
    parameters: &'static [Parameter],
) -> Method {
    Method {
        name,
        slot,
        return_type,
        returns: 4,
        parameters,
    }
}

const fn pointer(name: &'static str, type_name: &'static str, pointee: usize) -> Parameter {
    Parameter {
        name,
        type_name,
        size: 8,
        pointee,
    }
}

/// Declared by `windows_core`, so not in the facts.
const UNKNOWN: &[Method] = &[
    unknown(
        "QueryInterface",
        0,
        "HRESULT",
        &[
            pointer("riid", "REFIID", 16),
            pointer("ppvObject", "*mut *mut c_void", 8),
        ],
    ),
    unknown("AddRef", 1, "ULONG", &[]),
    unknown("Release", 2, "ULONG", &[]),
];

/// All vtables, one after the other.
///
/// Part of this library's own image: the loader can tell which library a vtable belongs to, as
/// for those of a runtime.
static VTABLES: [AtomicUsize; 8192] = [const { AtomicUsize::new(0) }; 8192];

struct Tables {
    methods: Vec<&'static NativeMethod>,
    interfaces: Vec<Interface>,
}

/// The tables, built once.
fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut methods: Vec<&'static NativeMethod> = Vec::new();
        let mut interfaces: Vec<Interface> = Vec::new();
        let mut room = &VTABLES[..];
        let mut add = |name, iid, parent, own: &'static [Method]| {
            let mut slots: Vec<&'static NativeMethod> = interfaces
                .iter()
                .find(|known| known.name == parent)
                .map_or_else(Vec::new, |parent| parent.slots.clone());
            for facts in own {
                let method: &'static _ =
                    Box::leak(Box::new(NativeMethod::new(name, facts, methods.len())));
                assert_eq!(facts.slot, slots.len(), "{}", method.name());
                methods.push(method);
                slots.push(method);
            }
            let vtable;
            (vtable, room) = room.split_at(slots.len());
            for (slot, method) in vtable.iter().zip(&slots) {
                let thunk = thunks::thunk(method.facts.slot, method.words);
                slot.store(thunk, Ordering::Relaxed);
            }
            interfaces.push(Interface {
                name,
                iid,
                parent,
                slots,
                vtable,
            });
        };
        add(
            "IUnknown",
            <sys::IUnknown as sys::Interface>::IID,
            "",
            UNKNOWN,
        );
        // A parent precedes its child, but not always in the same file.
        let mut left: Vec<_> = INTERFACES.iter().copied().flatten().collect();
        let mut known = vec!["IUnknown"];
        while !left.is_empty() {
            let before = left.len();
            left.retain(|row| {
                let ready = known.contains(&row.parent);
                if ready {
                    known.push(row.name);
                    add(row.name, row.iid, row.parent, row.methods);
                }
                !ready
            });
            assert!(left.len() < before, "an interface without its parent");
        }
        Tables {
            methods,
            interfaces,
        }
    })
}

/// Every method: first those of `IUnknown`, then interface by interface.
pub fn methods() -> &'static [&'static NativeMethod] {
    &tables().methods
}

/// Every interface, parents first.
pub fn interfaces() -> &'static [Interface] {
    &tables().interfaces
}

/// The interface of this name.
pub fn interface(name: &str) -> Option<&'static Interface> {
    interfaces().iter().find(|known| known.name == name)
}

/// The interface with this identifier.
pub fn interface_of(iid: &GUID) -> Option<&'static Interface> {
    interfaces().iter().find(|known| known.iid == *iid)
}
