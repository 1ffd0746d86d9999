//! [`Metadata`] and [`MetadataWriter`]: the handles to the metadata of one module.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;

use super::kept::Kept;
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::native::{Argument, Asked, answers, arguments};
use crate::runtime::ProfilerInfo;
use clr_profiler_sys as sys;
use sys::Interface;

opaque! { Metadata<'_>, MetadataWriter<'_> }

/// The metadata of a module: its types, methods and references, each named by a token.
///
/// Its methods come from the traits [`MetadataImport`](crate::metadata::MetadataImport),
/// [`MetadataImport2`](crate::metadata::MetadataImport2),
/// [`MetadataAssemblyImport`](crate::metadata::MetadataAssemblyImport),
/// [`MetadataTables`](crate::metadata::MetadataTables) and so on. From
/// [`module_metadata`](crate::info::CorProfilerInfo::module_metadata); not to be kept beyond the callback
/// that got it, since the module can be unloaded.
pub struct Metadata<'info> {
    pub(super) import: Kept<sys::IMetaDataImport2>,
    /// Whether it was opened from a file or memory, and so has a storage that can be asked for.
    pub(super) has_storage: bool,
    /// Whether its calls take a lock, for which some of them would wait for ever.
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
            steady info,
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
        // SAFETY: the runtime gives a reference to the interface that was asked for.
        unsafe { Self::from_raw(CALL, import, Some(module)) }
    }

    pub(super) fn from_native(import: sys::IMetaDataImport2, module: Option<ModuleId>) -> Self {
        Self {
            import: Kept::new(import, module),
            has_storage: false,
            locks_itself: true,
            info: PhantomData,
        }
    }

    /// The handle that a call gave as an `IMetaDataImport2`, or none.
    ///
    /// # Safety
    ///
    /// `raw` is null or a reference to that interface, which the caller gives away.
    pub(super) unsafe fn from_raw(
        call: &'static str,
        raw: *mut c_void,
        module: Option<ModuleId>,
    ) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::invalid(call, "the runtime gave no metadata"));
        }
        // SAFETY: as the caller promises.
        let import = unsafe { sys::IMetaDataImport2::from_raw(raw) };
        Ok(Self::from_native(import, module))
    }

    /// The native interface, for calls that this crate does not wrap. It lives as long as the
    /// handle.
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.import.as_raw()
    }

    /// The writing side of metadata that was opened for writing.
    ///
    /// # Errors
    ///
    /// `CLDB_E_INCOMPATIBLE` or the like where it was opened for reading only.
    pub(super) fn into_writer(self, call: &'static str) -> Result<MetadataWriter<'info>> {
        let emit = self.import.other(call)?;
        Ok(MetadataWriter {
            metadata: self,
            emit,
        })
    }
}

answers! {
    /// A reference to the interface that the call was asked for.
    // SAFETY: rows with this answer ask for an `IMetaDataImport2`, and give the reference away.
    *mut c_void => Metadata<'_> = |raw, asked| unsafe { Self::from_raw(asked.call, raw, None) };
}

arguments! {
    &Metadata<'_> => Self = |metadata, _| Ok(metadata);
}

/// The metadata of a module, to be added to and changed.
///
/// Its methods come from the traits [`MetadataEmit`](crate::metadata::MetadataEmit),
/// [`MetadataEmit2`](crate::metadata::MetadataEmit2) and
/// [`MetadataAssemblyEmit`](crate::metadata::MetadataAssemblyEmit); those of [`Metadata`] read what is there.
/// From [`module_metadata_for_writing`](crate::info::CorProfilerInfo::module_metadata_for_writing), to be
/// used like [`Metadata`] only during the callback that got it.
///
/// The runtime does not keep readers and writers of one module apart: define in
/// `module_load_finished` what is needed, before other threads use the module, or hold a lock.
pub struct MetadataWriter<'info> {
    metadata: Metadata<'info>,
    pub(super) emit: Kept<sys::IMetaDataEmit2>,
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

/// Keeps the traits over [`Metadata`] to this crate, and gives them the handle.
pub trait Sealed {
    #[doc(hidden)]
    fn metadata(&self) -> &Metadata<'_>;
}

impl Sealed for Metadata<'_> {
    fn metadata(&self) -> &Metadata<'_> {
        self
    }
}

/// Keeps the traits over [`MetadataWriter`] to this crate, and gives them the handle.
pub trait SealedWriter {
    #[doc(hidden)]
    fn writer(&self) -> &MetadataWriter<'_>;
}

impl SealedWriter for MetadataWriter<'_> {
    fn writer(&self) -> &MetadataWriter<'_> {
        self
    }
}
