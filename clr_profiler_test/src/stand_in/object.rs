//! An object of a fake runtime: several interfaces, one count of references, one function.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use clr_profiler_sys as sys;
use sys::GUID;

use super::face::{Call, Face, Handler};
use super::methods::{interface, interface_of};

/// Handles the methods other than those of `IUnknown`.
type Answer = dyn Fn(&Call<'_>) -> usize + Send + Sync;

/// A COM object of a test, which counts references and frees nothing before it is dropped.
pub struct Object {
    /// Callers hold their addresses: they must not move.
    faces: Box<[Face]>,
    shared: Arc<Shared>,
}

/// The state that the faces of one object share.
struct Shared {
    offers: Offers,
    /// The address of each face, once all of them exist.
    faces: Vec<AtomicPtr<c_void>>,
    references: AtomicU32,
    answer: Box<Answer>,
}

/// The interfaces of an object: each of these with all that it extends.
#[derive(Debug, Clone)]
pub struct Offers(Vec<&'static str>);

impl Offers {
    /// Each of these, with all that it extends.
    pub fn new(newest: impl IntoIterator<Item = &'static str>) -> Self {
        Self(newest.into_iter().collect())
    }

    /// Which of them is or extends the interface with this identifier.
    fn position(&self, iid: &GUID) -> Option<usize> {
        let asked = interface_of(iid)?;
        self.0
            .iter()
            .position(|name| interface(name).is_some_and(|known| known.extends(asked.name)))
    }
}

impl Object {
    /// An object with one reference: that of the test.
    ///
    /// # Panics
    ///
    /// If an interface is unknown.
    pub fn new(
        offers: Offers,
        answer: impl Fn(&Call<'_>) -> usize + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            faces: offers.0.iter().map(|_| AtomicPtr::default()).collect(),
            offers,
            references: AtomicU32::new(1),
            answer: Box::new(answer),
        });
        let faces: Box<[_]> = shared
            .offers
            .0
            .iter()
            .map(|name| {
                let interface = interface(name).unwrap_or_else(|| panic!("no interface {name}"));
                Face::new(interface, Box::new(Arc::clone(&shared)))
            })
            .collect();
        for (place, face) in shared.faces.iter().zip(faces.iter()) {
            place.store(face.as_raw(), Ordering::Release);
        }
        Self { faces, shared }
    }

    /// Its first interface, without a reference of its own.
    pub fn as_raw(&self) -> *mut c_void {
        self.faces[0].as_raw()
    }

    /// How many references there are; one is the test's own.
    pub fn references(&self) -> u32 {
        self.shared.references.load(Ordering::SeqCst)
    }

    /// Returns an interface with a reference, as `QueryInterface` does; null if the object does not have it.
    pub fn give(&self, iid: &GUID) -> *mut c_void {
        self.shared.give(iid)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("faces", &self.faces)
            .field("references", &self.references())
            .finish()
    }
}

impl Shared {
    fn give(&self, iid: &GUID) -> *mut c_void {
        let Some(position) = self.offers.position(iid) else {
            return ptr::null_mut();
        };
        self.references.fetch_add(1, Ordering::SeqCst);
        self.faces[position].load(Ordering::Acquire)
    }
}

impl Handler for Arc<Shared> {
    fn call(&self, call: &Call<'_>) -> usize {
        match call.method.facts.slot {
            0 => {
                // SAFETY: the caller of QueryInterface passes a GUID and the address of a pointer.
                let given = unsafe {
                    let given = self.give(&*call.pointer::<GUID>(0));
                    call.pointer::<*mut c_void>(1).write(given);
                    given
                };
                Call::hresult(if given.is_null() {
                    sys::E_NOINTERFACE
                } else {
                    sys::S_OK
                })
            }
            1 => self.references.fetch_add(1, Ordering::SeqCst) as usize + 1,
            2 => {
                let before = self.references.fetch_sub(1, Ordering::SeqCst);
                assert!(before > 1, "more references were released than there were");
                before as usize - 1
            }
            _ => (self.answer)(call),
        }
    }
}
