//! Where static fields are.

use super::ProfilerInfo;
use super::depends::modules_of_class;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::ids::{AppDomainId, ClassId, ContextId, ThreadId};
use crate::lifetimes::{InFlight, seen};
use crate::native::{Argument, Asked, native_flags};
use clr_profiler_il::token::FieldDef;

native_flags! {
    /// What a static field belongs to; empty for fields of objects.
    StaticKind = COR_PRF_STATIC_TYPE {
        /// There is one for each application domain.
        APP_DOMAIN = COR_PRF_FIELD_APP_DOMAIN_STATIC,
        /// There is one for each thread.
        THREAD = COR_PRF_FIELD_THREAD_STATIC,
        /// There is one for each context (.NET Framework).
        CONTEXT = COR_PRF_FIELD_CONTEXT_STATIC,
        /// It is part of the module's image.
        RVA = COR_PRF_FIELD_RVA_STATIC,
        _ = !0,
    }
}

table! { ($) __cor_profiler_info_statics:
    CorProfilerInfoStatics = ICorProfilerInfo2 from info;

    /// What a static field belongs to, and so which of the calls below has its address.
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

    /// The address of a static field that there is one of for each thread: that of this thread.
    fn thread_static_address(class: ClassId, field: FieldDef, thread: Option<ThreadId>) -> usize
        = [steady] GetThreadStaticAddress(class, field, thread, @address)
        given _lasting = lasting(class)
        at "a callback on the thread, which can be named or left out; not during a collection."
        fails "Types of collectible modules on .NET Core 3.1 and .NET 8; `E_INVALIDARG` for other fields, other threads, and where the thread has not used \
               the field yet; `CORPROF_E_DATAINCOMPLETE` before the type is initialised.";

    /// The address of a static field that there is one of for each context. .NET Framework only.
    fn context_static_address(class: ClassId, field: FieldDef, context: ContextId) -> usize
        = [steady] GetContextStaticAddress(class, field, context, @address)
        fails "`E_NOTIMPL` on .NET (Core).";
}

table! { ($) __cor_profiler_info_statics3:
    CorProfilerInfoStatics = ICorProfilerInfo3 from info;

    /// The address of a static field that there is one of for each thread, of any thread.
    fn thread_static_address2(
        class: ClassId, field: FieldDef, app_domain: AppDomainId, thread: ThreadId
    ) -> usize = [in gc] GetThreadStaticAddress2(class, field, app_domain, thread, @address)
        given _lasting = lasting(class)
        fails "Types of collectible modules on .NET Core 3.1 and .NET 8; \
               `E_INVALIDARG` for other fields, and where the thread has not used the field yet; \
               `CORPROF_E_DATAINCOMPLETE` before the type is initialised.";
}

/// The static fields of types, as `ICorProfilerInfo2` and `ICorProfilerInfo3` have them.
///
/// The addresses are those of the fields; of a field whose type is a class, the address of the
/// reference. [`with_static_field`](ProfilerInfo::with_static_field) reads what is there.
pub trait CorProfilerInfoStatics: Sealed {
    __cor_profiler_info_statics! { calls }
    __cor_profiler_info_statics3! { calls }
}

impl CorProfilerInfoStatics for ProfilerInfo {}

/// Refuses types of collectible modules where the runtime looks for their fields through an object that
/// may be gone before the module is: nobody is told when it is.
fn lasting(info: &(impl Sealed + ?Sized), call: &'static str, class: ClassId) -> Result<()> {
    let info = info.handle();
    // .NET Core 3.1 says 4.
    if info.runtime_major()? > 8 || !seen::may_have_collectible() {
        return Ok(());
    }
    let _in_flight = InFlight::begin();
    class.to_native(&Asked::of_info(call, info))?;
    match modules_of_class(info, class) {
        Some(modules) if modules.is_empty() => Ok(()),
        _ => Err(Error::rule(
            call,
            "the type depends on a module that can be unloaded, and this runtime crashes where that is \
             about to be",
        )),
    }
}
