//! [`Metadata`] and [`MetadataWriter`]: the handles to the metadata of one module.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::ops::Deref;
use std::sync::Arc;

use super::module_bound::ModuleBound;
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::image::{Images, ModuleImage};
use crate::native::{Argument, CallContext, arguments, results};
use crate::runtime::{CallKind, ProfilerInfo};
use clr_profiler_sys as sys;
use sys::Interface;

const OPEN: &str = "ICorProfilerInfo::GetModuleMetaData";

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
    /// Opened when it is needed: `image` answers most calls.
    import: OnceCell<ModuleBound<sys::IMetaDataImport2>>,
    image: Option<Arc<ModuleImage>>,
    /// The module from which `import` is opened.
    from: Option<(&'info ProfilerInfo, ModuleId)>,
    /// Whether it was opened from a file or memory, and so has a storage that calls can return.
    pub(super) has_storage: bool,
    /// Whether its calls take a lock, with which some of them would deadlock.
    pub(super) locks_itself: bool,
}

impl<'info> Metadata<'info> {
    pub(crate) fn of_module(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        let image = info.extension::<Images>().of(module);
        if image.is_some() {
            // Refused where the runtime's metadata would be.
            info.native::<sys::ICorProfilerInfo>(OPEN, CallKind::GcNoTrigger)?;
            module.to_native(&CallContext::of_info(OPEN, info))?;
            return Ok(Self {
                import: OnceCell::new(),
                image,
                from: Some((info, module)),
                has_storage: false,
                locks_itself: true,
            });
        }
        Self::open(info, module, sys::ofRead)
    }

    /// The metadata of a module as it was loaded.
    #[cfg(feature = "rewrite")]
    pub(crate) fn of_image(
        info: &'info ProfilerInfo,
        module: ModuleId,
        image: Arc<ModuleImage>,
    ) -> Self {
        Self {
            import: OnceCell::new(),
            image: Some(image),
            from: Some((info, module)),
            has_storage: false,
            locks_itself: true,
        }
    }

    /// Another handle that reads the same image; `None` if this one reads none.
    #[cfg(feature = "rewrite")]
    pub(crate) fn of_same_image(&self) -> Option<Self> {
        Some(Self {
            import: OnceCell::new(),
            image: Some(Arc::clone(self.image.as_ref()?)),
            from: Some(self.from?),
            has_storage: false,
            locks_itself: true,
        })
    }

    /// The native interface.
    pub(super) fn import(&self) -> Result<&ModuleBound<sys::IMetaDataImport2>> {
        if let Some(import) = self.import.get() {
            return Ok(import);
        }
        let not_opened = || Error::invalid(OPEN, "the metadata was not opened");
        let (info, module) = self.from.ok_or_else(not_opened)?;
        let opened = Self::open(info, module, sys::ofRead)?;
        let opened = opened.import.into_inner().ok_or_else(not_opened)?;
        Ok(self.import.get_or_init(|| opened))
    }

    /// The result of reading the module's own metadata; `None` if the runtime must be called.
    #[inline]
    pub(crate) fn own<R>(
        &self,
        read: impl FnOnce(&clr_metadata::Metadata<'_>) -> Option<R>,
    ) -> Option<R> {
        self.image.as_ref()?.read(read)
    }

    fn open(info: &'info ProfilerInfo, module: ModuleId, flags: u32) -> Result<Self> {
        const CALL: &str = OPEN;
        let mut import: *mut c_void = std::ptr::null_mut();
        let context = CallContext::of_info(CALL, info);
        let answer = ask!(
            notrigger info,
            ICorProfilerInfo::GetModuleMetaData(
                module.to_native(&context)?,
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
            import: OnceCell::from(ModuleBound::new(import, module)),
            image: None,
            from: None,
            has_storage: false,
            locks_itself: true,
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
        self.import()
            .map_or(std::ptr::null_mut(), |import| import.as_raw())
    }

    /// The writer for metadata that was opened for writing.
    ///
    /// # Errors
    ///
    /// `CLDB_E_INCOMPATIBLE` or a similar code if it was opened for reading only.
    pub(super) fn into_writer(self, call: &'static str) -> Result<MetadataWriter<'info>> {
        let emit = self.import()?.other(call)?;
        Ok(MetadataWriter {
            metadata: self,
            emit,
        })
    }
}

results! {
    /// A reference to the interface that was requested in the call.
    // SAFETY: rows with this answer request an `IMetaDataImport2`, and pass the ownership of the reference.
    *mut c_void => Metadata<'_> = |raw, context| unsafe { Self::from_raw(context.call, raw, None) };
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
        let mut metadata = Metadata::open(info, module, sys::ofRead | sys::ofWrite)?;
        // Additions do not change the rows of the image.
        metadata.image = info.extension::<Images>().of(module);
        metadata.into_writer("IMetaDataEmit2::DefineMethodSpec")
    }

    /// As [`of_module`](Self::of_module), for a user, who may change any row.
    pub(crate) fn for_user(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        info.extension::<Images>().is_written(module);
        Self::of_module(info, module)
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
