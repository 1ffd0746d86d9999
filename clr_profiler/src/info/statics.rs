//! Where static fields are.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::Result;
use crate::ids::{AppDomainId, ClassId, ContextId, ThreadId};
use clr_profiler_il::token::FieldDef;
use clr_profiler_sys as sys;

bitflags::bitflags! {
    /// What a static field belongs to; empty for fields of objects.
    #[doc(alias = "COR_PRF_STATIC_TYPE")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct StaticKind: u32 {
        /// There is one for each application domain.
        const APP_DOMAIN = sys::COR_PRF_FIELD_APP_DOMAIN_STATIC;
        /// There is one for each thread.
        const THREAD = sys::COR_PRF_FIELD_THREAD_STATIC;
        /// There is one for each context (.NET Framework).
        const CONTEXT = sys::COR_PRF_FIELD_CONTEXT_STATIC;
        /// It is part of the module's image.
        const RVA = sys::COR_PRF_FIELD_RVA_STATIC;
        // The runtime may know kinds that this crate does not: they survive.
        const _ = !0;
    }
}

/// The static fields of types, as `ICorProfilerInfo2` and `ICorProfilerInfo3` have them.
///
/// The addresses are those of the fields; of a field whose type is a class, the address of the
/// reference. [`with_static_field`](ProfilerInfo::with_static_field) reads what is there.
pub trait CorProfilerInfoStatics: Sealed {
    /// What a static field belongs to, and so which of the calls below has its address.
    ///
    /// Wraps `ICorProfilerInfo2::GetStaticFieldInfo`. **Context**: any, also during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` while the type is being loaded, `E_INVALIDARG` for constants and
    /// for fields that the type does not declare.
    #[doc(alias = "GetStaticFieldInfo")]
    fn static_field_info(&self, class: ClassId, field: FieldDef) -> Result<StaticKind> {
        let mut kind = 0;
        let info = self.handle();
        ask!(
            in gc info,
            ICorProfilerInfo2::GetStaticFieldInfo(class.raw(), field.raw(), &mut kind)
        )?;
        Ok(StaticKind::from_bits_retain(kind))
    }

    /// The address of a static field that is part of the module's image.
    ///
    /// Wraps `ICorProfilerInfo2::GetRVAStaticAddress`. **Context**: a callback on a managed thread,
    /// not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for other fields, `CORPROF_E_DATAINCOMPLETE` before the type is initialised,
    /// `CORPROF_E_NOT_MANAGED_THREAD`.
    #[doc(alias = "GetRVAStaticAddress")]
    fn rva_static_address(&self, class: ClassId, field: FieldDef) -> Result<usize> {
        let mut address = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            steady info,
            ICorProfilerInfo2::GetRVAStaticAddress(class.raw(), field.raw(), &mut address)
        )?;
        Ok(address.addr())
    }

    /// The address of an ordinary static field, in an application domain.
    ///
    /// Wraps `ICorProfilerInfo2::GetAppDomainStaticAddress`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for other fields, `CORPROF_E_DATAINCOMPLETE` before the type is initialised,
    /// `CORPROF_E_LITERALS_HAVE_NO_ADDRESS` for constants.
    #[doc(alias = "GetAppDomainStaticAddress")]
    fn app_domain_static_address(
        &self,
        class: ClassId,
        field: FieldDef,
        app_domain: AppDomainId,
    ) -> Result<usize> {
        let mut address = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            steady info,
            ICorProfilerInfo2::GetAppDomainStaticAddress(
                class.raw(),
                field.raw(),
                app_domain.raw(),
                &mut address,
            )
        )?;
        Ok(address.addr())
    }

    /// The address of a static field that there is one of for each thread: that of this thread.
    ///
    /// Wraps `ICorProfilerInfo2::GetThreadStaticAddress`. **Context**: a callback on the thread,
    /// which can be named or left out; not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for other fields, other threads, and where the thread has not used the field
    /// yet; `CORPROF_E_DATAINCOMPLETE` before the type is initialised.
    #[doc(alias = "GetThreadStaticAddress")]
    fn thread_static_address(
        &self,
        class: ClassId,
        field: FieldDef,
        thread: Option<ThreadId>,
    ) -> Result<usize> {
        let mut address = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            steady info,
            ICorProfilerInfo2::GetThreadStaticAddress(
                class.raw(),
                field.raw(),
                thread.map_or(0, ThreadId::raw),
                &mut address,
            )
        )?;
        Ok(address.addr())
    }

    /// The address of a static field that there is one of for each thread, of any thread.
    ///
    /// Wraps `ICorProfilerInfo3::GetThreadStaticAddress2`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for other fields, and where the thread has not used the field yet;
    /// `CORPROF_E_DATAINCOMPLETE` before the type is initialised.
    #[doc(alias = "GetThreadStaticAddress2")]
    fn thread_static_address2(
        &self,
        class: ClassId,
        field: FieldDef,
        app_domain: AppDomainId,
        thread: ThreadId,
    ) -> Result<usize> {
        let mut address = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            steady info,
            ICorProfilerInfo3::GetThreadStaticAddress2(
                class.raw(),
                field.raw(),
                app_domain.raw(),
                thread.raw(),
                &mut address,
            )
        )?;
        Ok(address.addr())
    }

    /// The address of a static field that there is one of for each context. .NET Framework only.
    ///
    /// Wraps `ICorProfilerInfo2::GetContextStaticAddress`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL` on .NET (Core).
    #[doc(alias = "GetContextStaticAddress")]
    fn context_static_address(
        &self,
        class: ClassId,
        field: FieldDef,
        context: ContextId,
    ) -> Result<usize> {
        let mut address = std::ptr::null_mut();
        let info = self.handle();
        ask!(
            steady info,
            ICorProfilerInfo2::GetContextStaticAddress(
                class.raw(),
                field.raw(),
                context.raw(),
                &mut address,
            )
        )?;
        Ok(address.addr())
    }
}

impl CorProfilerInfoStatics for ProfilerInfo {}
