//! The target of a COM pointer, and the path of a call from it to its handler.

use std::ffi::c_void;
use std::fmt;
use std::ptr;

use clr_profiler_sys::HRESULT;

use super::methods::{Interface, NativeMethod};
use super::thunks;

/// Handles the calls of one object.
pub trait Handler: Send + Sync {
    /// Handles a call, including `QueryInterface`, `AddRef` and `Release`; an `HRESULT` is the low half.
    fn call(&self, call: &Call<'_>) -> usize;
}

/// A call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The method, and the interface that declares it.
    pub method: &'static NativeMethod,
    /// The object that is called.
    pub this: *mut c_void,
    /// The arguments, as words whose unused upper part is arbitrary.
    pub words: &'a [usize],
}

impl Call<'_> {
    /// The value of an argument, truncated to its width.
    pub fn argument(&self, parameter: usize) -> usize {
        let word = self.words[self.method.position(parameter)];
        match self.method.facts.parameters[parameter].size {
            1 => word & 0xFF,
            2 => word & 0xFFFF,
            4 => word & 0xFFFF_FFFF,
            _ => word,
        }
    }

    /// An argument that is a pointer.
    pub fn pointer<T>(&self, parameter: usize) -> *mut T {
        ptr::with_exposed_provenance_mut(self.argument(parameter))
    }

    /// Sets an output that the caller wants.
    pub fn set<T>(&self, parameter: usize, value: T) {
        assert_eq!(
            self.method.facts.parameters[parameter].pointee,
            size_of::<T>(),
            "parameter {parameter} of {}",
            self.method.name()
        );
        let output = self.pointer::<T>(parameter);
        if !output.is_null() {
            // SAFETY: the caller passes the address of an output of this size.
            unsafe { output.write(value) };
        }
    }

    /// An `HRESULT` as the word that a handler returns.
    pub fn hresult(value: HRESULT) -> usize {
        value.0 as u32 as usize
    }
}

/// The target of a COM pointer: the vtable of one interface, and the handler.
#[repr(C)]
pub struct Face {
    /// First, as in every COM object.
    vtable: *const usize,
    interface: &'static Interface,
    handler: Box<dyn Handler>,
}

// SAFETY: the vtable is part of the interface, which lives forever and is never written to again;
// the handler is both.
unsafe impl Send for Face {}
// SAFETY: as above.
unsafe impl Sync for Face {}

impl Face {
    /// An object with the methods of this interface.
    ///
    /// Callers hold its address: it must not be moved afterwards, and when it is dropped
    /// it is gone, whatever references there are.
    pub fn new(interface: &'static Interface, handler: Box<dyn Handler>) -> Self {
        Self {
            vtable: interface.vtable.as_ptr().cast(),
            interface,
            handler,
        }
    }

    /// The pointer for a caller.
    pub fn as_raw(&self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// The interface.
    pub fn interface(&self) -> &'static Interface {
        self.interface
    }
}

impl fmt::Debug for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Face").field(&self.interface.name).finish()
    }
}

/// The target of every thunk.
pub(super) fn dispatch(this: *mut c_void, slot: usize, words: &[usize]) -> usize {
    // SAFETY: only vtables of a `Face` contain thunks, so that `this` is one, which its owner keeps
    // alive while it can be called; only shared references to it are ever created.
    let face = unsafe { &*this.cast::<Face>() };
    let method = face.interface.slots[slot];
    face.handler.call(&Call {
        method,
        this,
        words: &words[..method.words],
    })
}

/// Makes the call on another object.
///
/// # Safety
///
/// `target` is a live COM object whose interface is that of the call or extends it, and the
/// words are the arguments that the method requires.
pub unsafe fn forward(target: *mut c_void, method: &NativeMethod, words: &[usize]) -> usize {
    // SAFETY: as the caller promises, it begins with its vtable, which has this slot.
    unsafe {
        let vtable = *target.cast::<*const usize>();
        thunks::invoke(*vtable.add(method.facts.slot), target, words)
    }
}
