//! [`Metadata`]: the handle to the metadata of one module.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::info::ProfilerInfo;
use clr_profiler_sys as sys;
use sys::Interface;

/// The metadata of a module: its types, methods and references, each named by a token.
///
/// Its methods come from the traits [`MetadataImport`](crate::MetadataImport) and
/// [`MetadataImport2`](crate::MetadataImport2). From
/// [`module_metadata`](crate::CorProfilerInfo::module_metadata); not to be kept beyond the callback
/// that got it, since the module can be unloaded.
pub struct Metadata<'info> {
    pub(super) import: sys::IMetaDataImport2,
    info: PhantomData<&'info ProfilerInfo>,
}

impl<'info> Metadata<'info> {
    pub(crate) fn of_module(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        const CALL: &str = "ICorProfilerInfo::GetModuleMetaData";
        let mut import: *mut c_void = std::ptr::null_mut();
        let answer = ask!(
            steady info,
            ICorProfilerInfo::GetModuleMetaData(
                module.raw(),
                sys::ofRead,
                &sys::IMetaDataImport2::IID,
                &mut import,
            )
        )?;
        if import.is_null() {
            return Err(Error::invalid(
                CALL,
                if answer == Hresult::S_FALSE {
                    "the module has no metadata: it is a resource"
                } else {
                    "the runtime gave no metadata"
                },
            ));
        }
        // SAFETY: the runtime gives a reference to the interface that was asked for.
        let import = unsafe { sys::IMetaDataImport2::from_raw(import) };
        Ok(Self {
            import,
            info: PhantomData,
        })
    }
}

impl fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metadata")
    }
}

/// Keeps the traits over [`Metadata`] to this crate, and gives them the native interface.
pub trait Sealed {
    #[doc(hidden)]
    fn import(&self) -> &sys::IMetaDataImport2;
}

impl Sealed for Metadata<'_> {
    fn import(&self) -> &sys::IMetaDataImport2 {
        &self.import
    }
}
