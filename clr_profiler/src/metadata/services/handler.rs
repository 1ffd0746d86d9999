//! [`MetadataHandler`]: the object through which metadata tells of tokens and errors.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use crate::boundary::catch;
use crate::error::Hresult;
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// What metadata tells while it is written, merged, filtered or checked.
///
/// A method that panics has returned: the panic ends there. The calls come on whichever thread
/// works with the metadata.
pub trait MetadataEvents: Send + Sync + 'static {
    /// A token has become another one: in a merge, or because rows were sorted.
    ///
    /// Also wraps `IMapToken::Map`, as the runtime calls it.
    #[doc(alias = "IMapToken")]
    fn token_mapped(&self, from: Token, to: Token) {
        let _ = (from, to);
    }

    /// Something is wrong with an item, or with the whole if the token is nil.
    ///
    /// Wraps `IMetaDataError::OnError`. **Context**: not during a collection.
    #[doc(alias = "IMetaDataError")]
    #[doc(alias = "OnError")]
    fn error(&self, error: Hresult, token: Token) {
        let _ = (error, token);
    }

    /// An item is to be kept.
    ///
    /// Wraps `IHostFilter::MarkToken`. **Context**: not during a collection.
    #[doc(alias = "IHostFilter")]
    fn token_marked(&self, token: Token) {
        let _ = token;
    }
}

/// [`MetadataEvents`] as a COM object, for the calls that take an `IMapToken`, an `IMetaDataError`
/// or an `IHostFilter`.
pub struct MetadataHandler(NonNull<Object>);

/// A COM object with three interfaces: their vtable pointers come first.
#[repr(C)]
struct Object {
    map: &'static sys::IMapToken_Vtbl,
    error: &'static sys::IMetaDataError_Vtbl,
    filter: &'static sys::IHostFilter_Vtbl,
    references: AtomicU32,
    events: Box<dyn MetadataEvents>,
}

/// Where the pointer of each interface stands in the object, counted in pointers.
const MAP: usize = 0;
const ERROR: usize = 1;
const FILTER: usize = 2;

impl MetadataHandler {
    /// Makes an object of it.
    pub fn new(events: impl MetadataEvents) -> Self {
        let object = Box::new(Object {
            map: const {
                &sys::IMapToken_Vtbl {
                    base__: unknown::<MAP>(),
                    Map: map_token,
                }
            },
            error: const {
                &sys::IMetaDataError_Vtbl {
                    base__: unknown::<ERROR>(),
                    OnError: on_error,
                }
            },
            filter: const {
                &sys::IHostFilter_Vtbl {
                    base__: unknown::<FILTER>(),
                    MarkToken: mark_token,
                }
            },
            references: AtomicU32::new(1),
            events: Box::new(events),
        });
        Self(NonNull::from(Box::leak(object)))
    }

    /// The object as an `IUnknown`, which is also its `IMapToken`.
    pub(in crate::metadata) fn as_raw(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// The object as an `IMapToken`.
    pub(in crate::metadata) fn token_map(&self) -> *mut c_void {
        self.as_raw()
    }
}

impl Drop for MetadataHandler {
    fn drop(&mut self) {
        // SAFETY: this is the reference that `new` made; the runtime has its own.
        unsafe { release::<MAP>(self.as_raw()) };
    }
}

impl fmt::Debug for MetadataHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetadataHandler")
    }
}

const fn unknown<const PLACE: usize>() -> IUnknown_Vtbl {
    IUnknown_Vtbl {
        QueryInterface: query::<PLACE>,
        AddRef: add_ref::<PLACE>,
        Release: release::<PLACE>,
    }
}

/// The object of which `this` is the interface at that place.
///
/// # Safety
///
/// `this` is that interface of an [`Object`], and a reference to it is held for `'a`.
unsafe fn object<'a, const PLACE: usize>(this: *mut c_void) -> &'a Object {
    // SAFETY: the pointers of the interfaces stand at the beginning, one behind the other.
    unsafe { &*this.cast::<usize>().sub(PLACE).cast::<Object>() }
}

unsafe extern "system" fn query<const PLACE: usize>(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: COM: `this` is ours, the others are null or valid.
    let (iid, out) = unsafe { (iid.as_ref(), out.as_mut()) };
    let (Some(iid), Some(out)) = (iid, out) else {
        return sys::E_POINTER;
    };
    let place = match *iid {
        IUnknown::IID | sys::IMapToken::IID => MAP,
        sys::IMetaDataError::IID => ERROR,
        sys::IHostFilter::IID => FILTER,
        _ => {
            *out = std::ptr::null_mut();
            return sys::E_NOINTERFACE;
        }
    };
    // SAFETY: `this` is the interface at `PLACE`, and so are the other two within the object.
    *out = unsafe { this.cast::<usize>().sub(PLACE).add(place) }.cast();
    // SAFETY: the caller holds a reference.
    unsafe { add_ref::<PLACE>(this) };
    sys::S_OK
}

unsafe extern "system" fn add_ref<const PLACE: usize>(this: *mut c_void) -> u32 {
    // SAFETY: the caller holds a reference.
    let object = unsafe { object::<PLACE>(this) };
    object.references.fetch_add(1, Ordering::Relaxed) + 1
}

unsafe extern "system" fn release<const PLACE: usize>(this: *mut c_void) -> u32 {
    // SAFETY: the caller gives up a reference, which it still holds.
    let left = unsafe { object::<PLACE>(this) }
        .references
        .fetch_sub(1, Ordering::Release)
        - 1;
    if left == 0 {
        fence(Ordering::Acquire);
        // SAFETY: that was the last reference; `new` made the object of a `Box`.
        let object = unsafe { Box::from_raw(this.cast::<usize>().sub(PLACE).cast::<Object>()) };
        // The `drop` of the events is user code.
        let _ = catch(move || drop(object));
    }
    left
}

unsafe extern "system" fn map_token(this: *mut c_void, from: u32, to: u32) -> HRESULT {
    // SAFETY: the caller holds a reference.
    let object = unsafe { object::<MAP>(this) };
    let _ = catch(|| object.events.token_mapped(Token::new(from), Token::new(to)));
    sys::S_OK
}

unsafe extern "system" fn on_error(this: *mut c_void, error: HRESULT, token: u32) -> HRESULT {
    // SAFETY: the caller holds a reference.
    let object = unsafe { object::<ERROR>(this) };
    let _ = catch(|| object.events.error(Hresult(error.0), Token::new(token)));
    sys::S_OK
}

unsafe extern "system" fn mark_token(this: *mut c_void, token: u32) -> HRESULT {
    // SAFETY: the caller holds a reference.
    let object = unsafe { object::<FILTER>(this) };
    let _ = catch(|| object.events.token_marked(Token::new(token)));
    sys::S_OK
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Remembers(Arc<Mutex<Vec<String>>>);

    impl MetadataEvents for Remembers {
        fn token_mapped(&self, from: Token, to: Token) {
            assert!(from != to, "a token that stays");
            self.0.lock().unwrap().push(format!("{from} to {to}"));
        }

        fn error(&self, error: Hresult, token: Token) {
            self.0.lock().unwrap().push(format!("{error} at {token}"));
        }

        fn token_marked(&self, token: Token) {
            self.0.lock().unwrap().push(format!("keep {token}"));
        }
    }

    fn get<I: Interface>(handler: &MetadataHandler) -> I {
        let raw = handler.as_raw();
        // SAFETY: the object is an `IUnknown`.
        let unknown = unsafe { IUnknown::from_raw_borrowed(&raw) }.unwrap();
        let mut other = std::ptr::null_mut();
        // SAFETY: the IID is that of `I`.
        assert_eq!(unsafe { unknown.query(&I::IID, &mut other) }, sys::S_OK);
        // SAFETY: as asked for.
        unsafe { I::from_raw(other) }
    }

    #[test]
    fn three_interfaces_are_one_object() {
        let events = Remembers::default();
        let handler = MetadataHandler::new(events.clone());
        let map: sys::IMapToken = get(&handler);
        let error: sys::IMetaDataError = get(&handler);
        let filter: sys::IHostFilter = get(&handler);
        // The object lives while anyone has a reference.
        drop(handler);
        // SAFETY: the interfaces are alive.
        unsafe {
            assert_eq!(map.Map(0x0600_0001, 0x0600_0002), sys::S_OK);
            assert_eq!(error.OnError(sys::E_FAIL, 0), sys::S_OK);
            assert_eq!(filter.MarkToken(0x0200_0003), sys::S_OK);
            // A panic ends there.
            assert_eq!(map.Map(7, 7), sys::S_OK);
        }
        assert_eq!(
            *events.0.lock().unwrap(),
            [
                "0x06000001 to 0x06000002",
                "E_FAIL (0x80004005) at 0x00000000",
                "keep 0x02000003"
            ]
        );
        assert_eq!(Arc::strong_count(&events.0), 2);
        drop((map, error, filter));
        assert_eq!(Arc::strong_count(&events.0), 1);
    }
}
