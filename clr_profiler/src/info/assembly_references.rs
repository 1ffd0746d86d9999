//! [`AssemblyReferenceProvider`]: adding references to an assembly while it is being loaded.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use crate::error::{Error, Result};
use clr_profiler_sys as sys;
use sys::Interface;

/// Takes further references of an assembly in
/// [`get_assembly_references`](crate::Profiler::get_assembly_references).
///
/// Wraps `ICorProfilerAssemblyReferenceProvider`.
#[doc(alias = "ICorProfilerAssemblyReferenceProvider")]
pub struct AssemblyReferenceProvider<'callback> {
    native: sys::ICorProfilerAssemblyReferenceProvider,
    callback: PhantomData<&'callback ()>,
}

impl AssemblyReferenceProvider<'_> {
    /// # Safety
    ///
    /// `native` is null or an `ICorProfilerAssemblyReferenceProvider` that lives during the
    /// callback.
    pub(crate) unsafe fn from_callback(native: *mut c_void) -> Result<Self> {
        // SAFETY: as the caller promises.
        let native =
            unsafe { sys::ICorProfilerAssemblyReferenceProvider::from_raw_borrowed(&native) };
        match native {
            Some(native) => Ok(Self {
                native: native.clone(),
                callback: PhantomData,
            }),
            None => Err(Error::invalid(
                "ICorProfilerCallback6::GetAssemblyReferences",
                "the runtime passed no ICorProfilerAssemblyReferenceProvider",
            )),
        }
    }

    /// Says that the assembly will get a reference to another one, by simple name and version.
    ///
    /// The runtime takes it into account when it decides which code the two may share. The culture
    /// is neutral and there is no public key.
    ///
    /// Wraps `ICorProfilerAssemblyReferenceProvider::AddAssemblyReference`.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "AddAssemblyReference")]
    pub fn add(&self, name: &str, version: [u16; 4]) -> Result<()> {
        let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
        let [major, minor, build, revision] = version;
        let metadata = sys::ASSEMBLYMETADATA {
            usMajorVersion: major,
            usMinorVersion: minor,
            usBuildNumber: build,
            usRevisionNumber: revision,
            szLocale: std::ptr::null_mut(),
            cbLocale: 0,
            rProcessor: std::ptr::null_mut(),
            ulProcessor: 0,
            rOS: std::ptr::null_mut(),
            ulOS: 0,
        };
        let reference = sys::COR_PRF_ASSEMBLY_REFERENCE_INFO {
            pbPublicKeyOrToken: std::ptr::null_mut(),
            cbPublicKeyOrToken: 0,
            szName: name.as_ptr(),
            pMetaData: (&raw const metadata).cast_mut(),
            pbHashValue: std::ptr::null_mut(),
            cbHashValue: 0,
            dwAssemblyRefFlags: 0,
        };
        native_call!(
            &self.native,
            ICorProfilerAssemblyReferenceProvider::AddAssemblyReference(&reference)
        )?;
        Ok(())
    }
}

impl fmt::Debug for AssemblyReferenceProvider<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AssemblyReferenceProvider")
    }
}
