//! [`Dispenser`]: opens and creates metadata that does not belong to a module of the program.

mod extended;
mod library;

use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::handle::{Metadata, MetadataWriter};
use crate::error::{Error, Hresult, Result};
use crate::native::{Argument, CallContext, length};
use crate::runtime::{CallKind, ProfilerInfo};
use clr_profiler_sys as sys;
use sys::Interface;

pub use extended::{DispenserOption, MetadataDispenserEx};

opaque! { Dispenser }

/// Opens and creates metadata.
///
/// Its methods are those of the traits [`MetadataDispenser`] and [`MetadataDispenserEx`]. Returned by
/// [`metadata_dispenser`](ProfilerInfo::metadata_dispenser).
pub struct Dispenser {
    native: sys::IMetaDataDispenserEx,
    /// Whether it is that of .NET Framework, which implements all calls.
    is_framework: bool,
    /// Whether the metadata that it opens locks itself.
    is_thread_safe: AtomicBool,
}

impl ProfilerInfo {
    /// The runtime's metadata dispenser.
    ///
    /// `ICorProfilerInfo` does not return it: it comes from the function `MetaDataGetDispenser`, which the
    /// library of the runtime exports. The function is searched for in the loaded library that this handle
    /// belongs to.
    ///
    /// # Errors
    ///
    /// The function is missing, as in a runtime that is linked into its program without it.
    #[doc(alias = "MetaDataGetDispenser")]
    pub fn metadata_dispenser(&self) -> Result<Dispenser> {
        const CALL: &str = "MetaDataGetDispenser";
        let is_framework = self.is_net_framework()?;
        // Held while its address is used: the runtime may release the profiler.
        let native = self.native::<sys::ICorProfilerInfo>(CALL, CallKind::GcTriggers)?;
        // One of its functions: vtables can be created at run time, but code is in the library.
        let code = native.vtable().base__.QueryInterface;
        let get = library::find(code as *const c_void).ok_or_else(|| {
            Error::rule_with_code(
                CALL,
                "the library of this runtime does not export it",
                Hresult::E_NOTIMPL,
            )
        })?;
        let mut dispenser = std::ptr::null_mut();
        // SAFETY: cor.h declares the function in this way; the GUIDs are constants, and there is a variable
        // for the result.
        let answer = unsafe {
            get(
                &sys::CLSID_CorMetaDataDispenser,
                &sys::IMetaDataDispenserEx::IID,
                &mut dispenser,
            )
        };
        crate::error::check(CALL, answer)?;
        if dispenser.is_null() {
            return Err(Error::invalid(CALL, "the runtime returned no dispenser"));
        }
        Ok(Dispenser {
            // SAFETY: the result is a reference to the requested interface.
            native: unsafe { sys::IMetaDataDispenserEx::from_raw(dispenser) },
            is_framework,
            is_thread_safe: AtomicBool::new(false),
        })
    }
}

/// Seals the traits over [`Dispenser`], and gives them the handle.
pub trait Sealed {
    #[doc(hidden)]
    fn dispenser(&self) -> &Dispenser;
}

impl Sealed for Dispenser {
    fn dispenser(&self) -> &Dispenser {
        self
    }
}

/// The metadata that a call of a dispenser returned as an `IMetaDataImport2`. It has a storage unless it is
/// new.
fn scope<'m>(
    dispenser: &Dispenser,
    call: &'static str,
    has_storage: bool,
    open: impl FnOnce(*mut *mut c_void) -> Result<Hresult>,
) -> Result<Metadata<'m>> {
    let mut raw = std::ptr::null_mut();
    open(&mut raw)?;
    // SAFETY: every caller requests this interface and passes the ownership of the reference.
    let mut metadata = unsafe { Metadata::from_raw(call, raw, None) }?;
    metadata.locks_itself = dispenser.is_thread_safe.load(Ordering::Relaxed);
    metadata.has_storage = has_storage;
    Ok(metadata)
}

/// The calls of `IMetaDataDispenser`: opening and creating metadata.
///
/// Metadata that is opened here is independent of the modules of the program: changes can be saved, but the
/// runtime does not see them. The file is trusted as much as the runtime trusts it. All calls are allowed in
/// every callback that is not during a collection, and on the profiler's own threads.
#[doc(alias = "IMetaDataDispenser")]
pub trait MetadataDispenser: Sealed {
    /// Creates empty metadata.
    ///
    /// Wraps `IMetaDataDispenser::DefineScope`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    #[doc(alias = "DefineScope")]
    fn define_scope(&self) -> Result<MetadataWriter<'static>> {
        const CALL: &str = "IMetaDataDispenser::DefineScope";
        let new = scope(self.dispenser(), CALL, false, |metadata| {
            native_call!(
                &self.dispenser().native,
                IMetaDataDispenser::DefineScope(
                    &sys::CLSID_CorMetaDataRuntime,
                    0,
                    &sys::IMetaDataImport2::IID,
                    metadata,
                )
            )
        });
        new?.into_writer(CALL)
    }

    /// Opens the metadata of a file, for reading.
    ///
    /// Wraps `IMetaDataDispenser::OpenScope`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `COR_E_BADIMAGEFORMAT` and others for files without metadata; `HRESULT`s of the file system.
    #[doc(alias = "OpenScope")]
    fn open_scope(&self, file: &Path) -> Result<Metadata<'static>> {
        open(self.dispenser(), file, sys::ofRead)
    }

    /// Opens the metadata of a file, which can be changed and saved to another file.
    ///
    /// Also wraps `IMetaDataDispenser::OpenScope`.
    ///
    /// # Errors
    ///
    /// The errors of [`open_scope`](Self::open_scope).
    fn open_scope_for_writing(&self, file: &Path) -> Result<MetadataWriter<'static>> {
        open(self.dispenser(), file, sys::ofRead | sys::ofWrite)?
            .into_writer("IMetaDataDispenser::OpenScope")
    }

    /// Opens a copy of metadata in memory: the result of `save_to_memory`, or an image.
    ///
    /// Wraps `IMetaDataDispenser::OpenScopeOnMemory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_FILE_CORRUPT` and others if it is not metadata.
    #[doc(alias = "OpenScopeOnMemory")]
    fn open_scope_on_memory(&self, data: &[u8]) -> Result<Metadata<'static>> {
        const CALL: &str = "IMetaDataDispenser::OpenScopeOnMemory";
        scope(self.dispenser(), CALL, true, |metadata| {
            native_call!(
                &self.dispenser().native,
                IMetaDataDispenser::OpenScopeOnMemory(
                    data.as_ptr().cast(),
                    length(CALL, data)?,
                    // Without the copy the metadata would outlive `data`.
                    sys::ofRead | sys::ofCopyMemory,
                    &sys::IMetaDataImport2::IID,
                    metadata,
                )
            )
        })
    }
}

impl MetadataDispenser for Dispenser {}

fn open(dispenser: &Dispenser, file: &Path, flags: u32) -> Result<Metadata<'static>> {
    const CALL: &str = "IMetaDataDispenser::OpenScope";
    let file = file.to_native(&CallContext::of(CALL))?;
    scope(dispenser, CALL, true, |metadata| {
        let iid = &sys::IMetaDataImport2::IID;
        native_call!(
            &dispenser.native,
            IMetaDataDispenser::OpenScope(file.as_ptr(), flags, iid, metadata)
        )
    })
}
