//! [`Metadata`] and [`MetadataWriter`]: the handles to the metadata of one module.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;

use super::module_bound::ModuleBound;
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::native::{Argument, Asked, answers, arguments};
use crate::runtime::ProfilerInfo;
use clr_profiler_sys as sys;
use sys::Interface;

opaque! { Metadata<'_>, MetadataWriter<'_> }

/// The metadata of a module: its types, methods and references, which tokens identify.
///
/// Its methods are those of the traits [`MetadataImport`](crate::metadata::MetadataImport),
/// [`MetadataImport2`](crate::metadata::MetadataImport2),
/// [`MetadataAssemblyImport`](crate::metadata::MetadataAssemblyImport),
/// [`MetadataTables`](crate::metadata::MetadataTables) and so on. Returned by
/// [`module_metadata`](crate::info::CorProfilerInfo::module_metadata); do not keep it after the callback,
/// because the module can be unloaded.
pub struct Metadata<'info> {
    pub(super) import: ModuleBound<sys::IMetaDataImport2>,
    /// Whether it was opened from a file or memory, and so has a storage that calls can return.
    pub(super) has_storage: bool,
    /// Whether its calls take a lock, with which some of them would deadlock.
    pub(super) locks_itself: bool,
    info: PhantomData<&'info ()>,
}

impl<'info> Metadata<'info> {
    pub(crate) fn of_module(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        Self::open(info, module, sys::ofRead)
    }

    fn open(info: &'info ProfilerInfo, module: ModuleId, flags: u32) -> Result<Self> {
        const CALL: &str = "ICorProfilerInfo::GetModuleMetaData";
        let mut import: *mut c_void = std::ptr::null_mut();
        let asked = Asked::of_info(CALL, info);
        let answer = ask!(
            notrigger info,
            ICorProfilerInfo::GetModuleMetaData(
                module.to_native(&asked)?,
                flags,
                &sys::IMetaDataImport2::IID,
                &mut import,
            )
        )?;
        if import.is_null() && answer == Hresult::S_FALSE {
            let error = "the module has no metadata: it is a resource";
            return Err(Error::invalid(CALL, error));
        }
        // SAFETY: the runtime returns a reference to the requested interface.
        unsafe { Self::from_raw(CALL, import, Some(module)) }
    }

    pub(super) fn from_native(import: sys::IMetaDataImport2, module: Option<ModuleId>) -> Self {
        Self {
            import: ModuleBound::new(import, module),
            has_storage: false,
            locks_itself: true,
            info: PhantomData,
        }
    }

    /// The handle for an `IMetaDataImport2` that a call returned, or an error for null.
    ///
    /// # Safety
    ///
    /// `raw` is null or a reference to that interface, whose ownership passes to this function.
    pub(super) unsafe fn from_raw(
        call: &'static str,
        raw: *mut c_void,
        module: Option<ModuleId>,
    ) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::invalid(call, "the runtime returned no metadata"));
        }
        // SAFETY: the caller guarantees a reference to this interface, and passes its ownership.
        let import = unsafe { sys::IMetaDataImport2::from_raw(raw) };
        Ok(Self::from_native(import, module))
    }

    /// The native interface, for calls that this crate does not wrap. Valid as long as the handle exists.
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.import.as_raw()
    }

    /// The writer for metadata that was opened for writing.
    ///
    /// # Errors
    ///
    /// `CLDB_E_INCOMPATIBLE` or a similar code if it was opened for reading only.
    pub(super) fn into_writer(self, call: &'static str) -> Result<MetadataWriter<'info>> {
        let emit = self.import.other(call)?;
        Ok(MetadataWriter {
            metadata: self,
            emit,
        })
    }
}

answers! {
    /// A reference to the interface that was requested in the call.
    // SAFETY: rows with this answer request an `IMetaDataImport2`, and pass the ownership of the reference.
    *mut c_void => Metadata<'_> = |raw, asked| unsafe { Self::from_raw(asked.call, raw, None) };
}

arguments! {
    &Metadata<'_> => Self = |metadata, _| Ok(metadata);
}

/// The metadata of a module, which can be extended and changed.
///
/// Its methods are those of the traits [`MetadataEmit`](crate::metadata::MetadataEmit),
/// [`MetadataEmit2`](crate::metadata::MetadataEmit2) and
/// [`MetadataAssemblyEmit`](crate::metadata::MetadataAssemblyEmit); those of [`Metadata`] read it. Returned
/// by [`module_metadata_for_writing`](crate::info::CorProfilerInfo::module_metadata_for_writing); like
/// [`Metadata`], use it only during the callback.
///
/// The runtime does not synchronise readers and writers of one module: make your definitions in
/// `module_load_finished`, before other threads use the module, or hold a lock.
pub struct MetadataWriter<'info> {
    metadata: Metadata<'info>,
    pub(super) emit: ModuleBound<sys::IMetaDataEmit2>,
}

impl<'info> MetadataWriter<'info> {
    pub(crate) fn of_module(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        Metadata::open(info, module, sys::ofRead | sys::ofWrite)?
            .into_writer("IMetaDataEmit2::DefineMethodSpec")
    }
}

impl<'info> Deref for MetadataWriter<'info> {
    type Target = Metadata<'info>;

    fn deref(&self) -> &Metadata<'info> {
        &self.metadata
    }
}

/// Seals the traits over [`Metadata`], and gives them the handle.
pub trait Sealed {
    #[doc(hidden)]
    fn metadata(&self) -> &Metadata<'_>;
}

impl Sealed for Metadata<'_> {
    fn metadata(&self) -> &Metadata<'_> {
        self
    }
}

/// Seals the traits over [`MetadataWriter`], and gives them the handle.
pub trait SealedWriter {
    #[doc(hidden)]
    fn writer(&self) -> &MetadataWriter<'_>;
}

impl SealedWriter for MetadataWriter<'_> {
    fn writer(&self) -> &MetadataWriter<'_> {
        self
    }
}
