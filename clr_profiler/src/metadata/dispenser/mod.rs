//! [`Dispenser`]: opens and creates metadata that no module of the program has.

mod extended;
mod library;

use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::handle::{Metadata, MetadataWriter};
use crate::error::{Error, Hresult, Result};
use crate::native::{Argument, Asked, length};
use crate::runtime::{ProfilerInfo, Reach};
use clr_profiler_sys as sys;
use sys::Interface;

pub use extended::{DispenserOption, MetadataDispenserEx};

opaque! { Dispenser }

/// Opens and creates metadata.
///
/// Its methods come from the traits [`MetadataDispenser`] and [`MetadataDispenserEx`]. From
/// [`metadata_dispenser`](ProfilerInfo::metadata_dispenser).
pub struct Dispenser {
    native: sys::IMetaDataDispenserEx,
    /// Whether it is that of .NET Framework, which implements all of it.
    is_framework: bool,
    /// Whether what it opens locks itself.
    is_thread_safe: AtomicBool,
}

impl ProfilerInfo {
    /// The runtime's dispenser of metadata.
    ///
    /// `ICorProfilerInfo` has none: this one is that of the function `MetaDataGetDispenser`, which
    /// the library of the runtime exports. It is looked for in the library that this handle comes
    /// from, which is loaded already.
    ///
    /// # Errors
    ///
    /// Where the function is not there, as in a runtime that is linked into its program without it.
    #[doc(alias = "MetaDataGetDispenser")]
    pub fn metadata_dispenser(&self) -> Result<Dispenser> {
        const CALL: &str = "MetaDataGetDispenser";
        let is_framework = self.is_framework()?;
        // Held while its address is used: the runtime may let the profiler go.
        let native = self.native::<sys::ICorProfilerInfo>(CALL, Reach::Collection)?;
        // A function of it: tables may be made while the runtime runs, code is in the library.
        let code = native.vtable().base__.QueryInterface;
        let get = library::find(code as *const c_void).ok_or_else(|| {
            Error::rule_with_code(
                CALL,
                "the library of this runtime does not export it",
                Hresult::E_NOTIMPL,
            )
        })?;
        let mut dispenser = std::ptr::null_mut();
        // SAFETY: this is how cor.h declares the function; the GUIDs are constants, and there is a
        // place for the answer.
        let answer = unsafe {
            get(
                &sys::CLSID_CorMetaDataDispenser,
                &sys::IMetaDataDispenserEx::IID,
                &mut dispenser,
            )
        };
        crate::error::check(CALL, answer)?;
        if dispenser.is_null() {
            return Err(Error::invalid(CALL, "the runtime gave no dispenser"));
        }
        Ok(Dispenser {
            // SAFETY: the answer is a reference to the interface that was asked for.
            native: unsafe { sys::IMetaDataDispenserEx::from_raw(dispenser) },
            is_framework,
            is_thread_safe: AtomicBool::new(false),
        })
    }
}

/// Keeps the traits over [`Dispenser`] to this crate, and gives them the handle.
pub trait Sealed {
    #[doc(hidden)]
    fn dispenser(&self) -> &Dispenser;
}

impl Sealed for Dispenser {
    fn dispenser(&self) -> &Dispenser {
        self
    }
}

/// The metadata that a call of a dispenser gives as an `IMetaDataImport2`. It has a storage unless it is
/// made anew.
fn scope<'m>(
    dispenser: &Dispenser,
    call: &'static str,
    has_storage: bool,
    open: impl FnOnce(*mut *mut c_void) -> Result<Hresult>,
) -> Result<Metadata<'m>> {
    let mut raw = std::ptr::null_mut();
    open(&mut raw)?;
    // SAFETY: every caller asks for this interface and gives the reference away.
    let mut metadata = unsafe { Metadata::from_raw(call, raw, None) }?;
    metadata.locks_itself = dispenser.is_thread_safe.load(Ordering::Relaxed);
    metadata.has_storage = has_storage;
    Ok(metadata)
}

/// What `IMetaDataDispenser` offers: opening metadata, and creating it.
///
/// Metadata that is opened here has nothing to do with the modules of the program: what is changed
/// in it can be saved, and is not seen by the runtime. The file is trusted as the runtime trusts
/// it. All of it may be called from every callback that is not during a collection, and from
/// threads of the profiler's own.
#[doc(alias = "IMetaDataDispenser")]
pub trait MetadataDispenser: Sealed {
    /// Makes empty metadata.
    ///
    /// Wraps `IMetaDataDispenser::DefineScope`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the dispenser answers.
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

    /// Opens the metadata of a file, to be changed and saved elsewhere.
    ///
    /// Also wraps `IMetaDataDispenser::OpenScope`.
    ///
    /// # Errors
    ///
    /// Those of [`open_scope`](Self::open_scope).
    fn open_scope_for_writing(&self, file: &Path) -> Result<MetadataWriter<'static>> {
        open(self.dispenser(), file, sys::ofRead | sys::ofWrite)?
            .into_writer("IMetaDataDispenser::OpenScope")
    }

    /// Opens a copy of metadata that is in memory: what a `save_to_memory` gave, or an image.
    ///
    /// Wraps `IMetaDataDispenser::OpenScopeOnMemory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_FILE_CORRUPT` and others where it is no metadata.
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
    let file = file.to_native(&Asked::of(CALL))?;
    scope(dispenser, CALL, true, |metadata| {
        let iid = &sys::IMetaDataImport2::IID;
        native_call!(
            &dispenser.native,
            IMetaDataDispenser::OpenScope(file.as_ptr(), flags, iid, metadata)
        )
    })
}
