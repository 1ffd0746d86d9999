//! [`AssemblyReferenceProvider`], which adds references to an assembly while it is loaded.

use super::callback_interface::callback_interface;
use crate::error::Result;
use crate::native::utf16;
use clr_profiler_sys as sys;

callback_interface! {
    /// Adds references to an assembly in
    /// [`get_assembly_references`](crate::Profiler::get_assembly_references).
    AssemblyReferenceProvider = ICorProfilerAssemblyReferenceProvider
        of "ICorProfilerCallback6::GetAssemblyReferences";
}

impl AssemblyReferenceProvider<'_> {
    /// Announces that the assembly will get a reference to another one, given by simple name and version.
    ///
    /// The runtime considers it when it decides which code the two assemblies may share. The reference has
    /// a neutral culture and no public key.
    #[wraps(ICorProfilerAssemblyReferenceProvider::AddAssemblyReference
        at "`get_assembly_references`.")]
    pub fn add(&self, name: &str, version: [u16; 4]) -> Result<()> {
        let name = utf16(name);
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
        )
        .map(drop)
    }
}
