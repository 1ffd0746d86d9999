//! The addresses of static fields.

use super::ProfilerInfo;
use super::depends::modules_of_class;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::ids::{AppDomainId, ClassId, ContextId, ThreadId};
use crate::lifetimes::{InFlight, seen};
use crate::native::{Argument, CallContext, native_flags};
use clr_profiler_il::token::FieldDef;

native_flags! {
    /// The scope of a static field; empty for instance fields.
    StaticKind = COR_PRF_STATIC_TYPE {
        /// One per application domain.
        APP_DOMAIN = COR_PRF_FIELD_APP_DOMAIN_STATIC,
        /// One per thread.
        THREAD = COR_PRF_FIELD_THREAD_STATIC,
        /// One per context (.NET Framework).
        CONTEXT = COR_PRF_FIELD_CONTEXT_STATIC,
        /// Part of the module's image.
        RVA = COR_PRF_FIELD_RVA_STATIC,
        _ = !0,
    }
}

table! { ($) __cor_profiler_info_statics:
    CorProfilerInfoStatics = ICorProfilerInfo2 from info;

    /// The scope of a static field, which determines the call for its address.
    fn static_field_info(class: ClassId, field: FieldDef) -> StaticKind
        = [in gc] GetStaticFieldInfo(class, field, @kind)
        fails "`CORPROF_E_DATAINCOMPLETE` while the type is being loaded, `E_INVALIDARG` for \
               constants and for fields that the type does not declare.";

    /// The address of a static field that is part of the module's image.
    fn rva_static_address(class: ClassId, field: FieldDef) -> usize
        = [in gc] GetRVAStaticAddress(class, field, @address)
        at "a callback on a managed thread, also during a collection."
        fails "`E_INVALIDARG` for other fields, `CORPROF_E_DATAINCOMPLETE` before the type is \
               initialised, `CORPROF_E_NOT_MANAGED_THREAD`.";

    /// The address of an ordinary static field, in an application domain.
    fn app_domain_static_address(class: ClassId, field: FieldDef, app_domain: AppDomainId) -> usize
        = [in gc] GetAppDomainStaticAddress(class, field, app_domain, @address)
        given _lasting = lasting(class)
        fails "Types of collectible modules on .NET Core 3.1 and .NET 8; \
               `E_INVALIDARG` for other fields, `CORPROF_E_DATAINCOMPLETE` before the type is \
               initialised, `CORPROF_E_LITERALS_HAVE_NO_ADDRESS` for constants.";

    /// The address of a thread-static field of this thread.
    fn thread_static_address(class: ClassId, field: FieldDef, thread: Option<ThreadId>) -> usize
        = [notrigger] GetThreadStaticAddress(class, field, thread, @address)
        given _lasting = lasting(class)
        at "a callback on the thread, which `thread` may name; not during a collection."
        fails "Types of collectible modules on .NET Core 3.1 and .NET 8; `E_INVALIDARG` for other \
               fields, other threads, and before the first access of the thread to the field; \
               `CORPROF_E_DATAINCOMPLETE` before the type is initialised.";

    /// The address of a context-static field. .NET Framework only.
    fn context_static_address(class: ClassId, field: FieldDef, context: ContextId) -> usize
        = [notrigger] GetContextStaticAddress(class, field, context, @address)
        fails "`E_NOTIMPL` on .NET (Core).";
}

table! { ($) __cor_profiler_info_statics3:
    CorProfilerInfoStatics = ICorProfilerInfo3 from info;

    /// The address of a thread-static field of any thread.
    fn thread_static_address2(
        class: ClassId, field: FieldDef, app_domain: AppDomainId, thread: ThreadId
    ) -> usize = [in gc] GetThreadStaticAddress2(class, field, app_domain, thread, @address)
        given _lasting = lasting(class)
        fails "Types of collectible modules on .NET Core 3.1 and .NET 8; \
               `E_INVALIDARG` for other fields, and before the first access of the thread to the field; \
               `CORPROF_E_DATAINCOMPLETE` before the type is initialised.";
}

/// The addresses of static fields, by calls of `ICorProfilerInfo2` and `ICorProfilerInfo3`.
///
/// The address of a field of reference type is the address of the reference.
/// [`with_static_field`](ProfilerInfo::with_static_field) reads the value.
pub trait CorProfilerInfoStatics: Sealed {
    __cor_profiler_info_statics! { calls }
    __cor_profiler_info_statics3! { calls }
}

impl CorProfilerInfoStatics for ProfilerInfo {}

/// Refuses types of collectible modules on runtimes that find their fields through an object, which may be
/// collected before the module is unloaded, without a callback.
fn lasting(info: &(impl Sealed + ?Sized), call: &'static str, class: ClassId) -> Result<()> {
    let info = info.handle();
    // .NET Core 3.1 reports 4.
    if info.runtime_major()? > 8 || !seen::may_have_collectible() {
        return Ok(());
    }
    let _in_flight = InFlight::begin();
    class.to_native(&CallContext::of_info(call, info))?;
    match modules_of_class(info, class) {
        Some(modules) if modules.is_empty() => Ok(()),
        _ => Err(Error::rule(
            call,
            "the type depends on a module that can be unloaded, and this runtime crashes when that is about \
             to happen",
        )),
    }
}
