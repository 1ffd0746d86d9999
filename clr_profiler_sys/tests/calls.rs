//! Calls through a vtable that is built here, as a runtime would build it.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;

use clr_profiler_sys::*;

/// An object with the layout of a COM object.
#[repr(C)]
struct Object {
    vtable: &'static ICorProfilerFunctionControl_Vtbl,
    references: Cell<u32>,
    flags: Cell<DWORD>,
    size: Cell<ULONG>,
}

static VTABLE: ICorProfilerFunctionControl_Vtbl = ICorProfilerFunctionControl_Vtbl {
    base__: IUnknown_Vtbl {
        QueryInterface: query_interface,
        AddRef: add_ref,
        Release: release,
    },
    SetCodegenFlags: set_codegen_flags,
    SetILFunctionBody: set_il_function_body,
    SetILInstrumentedCodeMap: set_il_instrumented_code_map,
};

/// # Safety
/// `this` is an `Object` that outlives the result.
unsafe fn object<'a>(this: *mut c_void) -> &'a Object {
    // SAFETY: the caller's promise.
    unsafe { &*this.cast::<Object>() }
}

unsafe extern "system" fn query_interface(
    this: *mut c_void,
    iid: *const GUID,
    interface: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the pointers come from a typed call in this file and are valid during it.
    unsafe {
        if *iid != ICorProfilerFunctionControl::IID && *iid != IUnknown::IID {
            *interface = std::ptr::null_mut();
            return E_NOINTERFACE;
        }
        add_ref(this);
        *interface = this;
    }
    S_OK
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the vtable belongs to `Object` alone.
    let object = unsafe { object(this) };
    object.references.set(object.references.get() + 1);
    object.references.get()
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: the vtable belongs to `Object` alone.
    let object = unsafe { object(this) };
    object.references.set(object.references.get() - 1);
    object.references.get()
}

unsafe extern "system" fn set_codegen_flags(this: *mut c_void, flags: DWORD) -> HRESULT {
    // SAFETY: the vtable belongs to `Object` alone.
    unsafe { object(this) }.flags.set(flags);
    S_FALSE
}

unsafe extern "system" fn set_il_function_body(
    this: *mut c_void,
    size: ULONG,
    _body: LPCBYTE,
) -> HRESULT {
    // SAFETY: the vtable belongs to `Object` alone.
    unsafe { object(this) }.size.set(size);
    E_INVALIDARG
}

unsafe extern "system" fn set_il_instrumented_code_map(
    _this: *mut c_void,
    _count: ULONG,
    _entries: *const COR_IL_MAP,
) -> HRESULT {
    S_OK
}

#[test]
fn a_call_reaches_its_slot_and_returns_all_of_the_hresult() {
    let object = Object {
        vtable: &VTABLE,
        references: Cell::new(1),
        flags: Cell::new(0),
        size: Cell::new(0),
    };
    let raw = std::ptr::from_ref(&object).cast_mut().cast::<c_void>();
    // SAFETY: `raw` has the vtable of the interface and outlives it. The stack owns its one
    // reference, so the interface is not dropped.
    let control = ManuallyDrop::new(unsafe { ICorProfilerFunctionControl::from_raw(raw) });

    // SAFETY: the methods above read no pointer.
    unsafe {
        assert_eq!(
            control.SetCodegenFlags(COR_PRF_CODEGEN_DISABLE_INLINING),
            S_FALSE
        );
        assert_eq!(control.SetILFunctionBody(7, std::ptr::null()), E_INVALIDARG);
        assert_eq!(control.SetILInstrumentedCodeMap(0, std::ptr::null()), S_OK);
    }
    assert_eq!(object.flags.get(), COR_PRF_CODEGEN_DISABLE_INLINING);
    assert_eq!(object.size.get(), 7);

    let clone = ICorProfilerFunctionControl::clone(&control);
    assert_eq!(object.references.get(), 2);
    let unknown: &IUnknown = &clone;
    assert_eq!(unknown.as_raw(), raw);
    assert!(control.cast::<ICorProfilerFunctionControl>().is_ok());
    assert_eq!(
        control.cast::<IMethodMalloc>().unwrap_err().code(),
        E_NOINTERFACE
    );
    drop(clone);
    assert_eq!(object.references.get(), 1);
    assert!(std::ptr::eq(object.vtable, &VTABLE));
}
