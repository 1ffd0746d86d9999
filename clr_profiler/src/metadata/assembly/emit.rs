//! `IMetaDataAssemblyEmit`.

use super::identity::{NativeVersion, NewAssembly, NewAssemblyRef};
use crate::error::Result;
use crate::metadata::convert::{cast, length, raw_or_nil, start_or_null, wide};
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::native::typed;
use clr_profiler_il::token::{
    Assembly, AssemblyRef, ExportedType, File, ManifestResource, Token, TypeDef,
};
use clr_profiler_sys as sys;

/// What `IMetaDataAssemblyEmit` offers: adding to and changing the manifest of an assembly.
///
/// All of it may be called from every callback that is not during a collection. References that are
/// added while a module is being loaded are seen by the runtime when code that names them is
/// compiled.
#[doc(alias = "IMetaDataAssemblyEmit")]
pub trait MetadataAssemblyEmit: SealedWriter {
    /// Makes the module the manifest of an assembly.
    ///
    /// Wraps `IMetaDataAssemblyEmit::DefineAssembly`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineAssembly")]
    fn define_assembly(&self, assembly: &NewAssembly<'_>) -> Result<Assembly> {
        const CALL: &str = "IMetaDataAssemblyEmit::DefineAssembly";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, assembly.name)?;
        let version = NativeVersion::of(CALL, &assembly.version)?;
        let mut token = 0;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::DefineAssembly(
                start_or_null(assembly.public_key).cast(),
                length(CALL, assembly.public_key)?,
                assembly.hash_algorithm,
                name.as_ptr(),
                version.as_ptr(),
                assembly.flags,
                &mut token
            )
        )?;
        typed(CALL, token)
    }

    /// Changes the assembly.
    ///
    /// Wraps `IMetaDataAssemblyEmit::SetAssemblyProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetAssemblyProps")]
    fn set_assembly_props(&self, token: Assembly, assembly: &NewAssembly<'_>) -> Result<()> {
        const CALL: &str = "IMetaDataAssemblyEmit::SetAssemblyProps";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, assembly.name)?;
        let version = NativeVersion::of(CALL, &assembly.version)?;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::SetAssemblyProps(
                token.raw(),
                start_or_null(assembly.public_key).cast(),
                length(CALL, assembly.public_key)?,
                assembly.hash_algorithm,
                name.as_ptr(),
                version.as_ptr(),
                assembly.flags
            )
        )
        .map(drop)
    }

    /// Adds a reference to an assembly.
    ///
    /// Wraps `IMetaDataAssemblyEmit::DefineAssemblyRef`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineAssemblyRef")]
    fn define_assembly_ref(&self, reference: &NewAssemblyRef<'_>) -> Result<AssemblyRef> {
        const CALL: &str = "IMetaDataAssemblyEmit::DefineAssemblyRef";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, reference.name)?;
        let version = NativeVersion::of(CALL, &reference.version)?;
        let mut token = 0;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::DefineAssemblyRef(
                start_or_null(reference.public_key_or_token).cast(),
                length(CALL, reference.public_key_or_token)?,
                name.as_ptr(),
                version.as_ptr(),
                start_or_null(reference.hash).cast(),
                length(CALL, reference.hash)?,
                reference.flags,
                &mut token
            )
        )?;
        typed(CALL, token)
    }

    /// Changes a reference to an assembly.
    ///
    /// Wraps `IMetaDataAssemblyEmit::SetAssemblyRefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetAssemblyRefProps")]
    fn set_assembly_ref_props(
        &self,
        token: AssemblyRef,
        reference: &NewAssemblyRef<'_>,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataAssemblyEmit::SetAssemblyRefProps";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, reference.name)?;
        let version = NativeVersion::of(CALL, &reference.version)?;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::SetAssemblyRefProps(
                token.raw(),
                start_or_null(reference.public_key_or_token).cast(),
                length(CALL, reference.public_key_or_token)?,
                name.as_ptr(),
                version.as_ptr(),
                start_or_null(reference.hash).cast(),
                length(CALL, reference.hash)?,
                reference.flags
            )
        )
        .map(drop)
    }

    /// Adds a file to the assembly. `flags` is `CorFileFlags`, ECMA-335 II.23.1.6.
    ///
    /// Wraps `IMetaDataAssemblyEmit::DefineFile`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineFile")]
    fn define_file(&self, name: &str, hash: &[u8], flags: u32) -> Result<File> {
        const CALL: &str = "IMetaDataAssemblyEmit::DefineFile";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, name)?;
        let mut token = 0;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::DefineFile(
                name.as_ptr(),
                start_or_null(hash).cast(),
                length(CALL, hash)?,
                flags,
                &mut token
            )
        )?;
        typed(CALL, token)
    }

    /// Changes hash and attributes of a file.
    ///
    /// Wraps `IMetaDataAssemblyEmit::SetFileProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetFileProps")]
    fn set_file_props(&self, file: File, hash: &[u8], flags: u32) -> Result<()> {
        const CALL: &str = "IMetaDataAssemblyEmit::SetFileProps";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::SetFileProps(
                file.raw(),
                start_or_null(hash).cast(),
                length(CALL, hash)?,
                flags
            )
        )
        .map(drop)
    }

    /// Adds a type that another file has, or that is forwarded to another assembly.
    ///
    /// Wraps `IMetaDataAssemblyEmit::DefineExportedType`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineExportedType")]
    fn define_exported_type(
        &self,
        name: &str,
        implementation: impl Into<Token>,
        type_def: Option<TypeDef>,
        flags: u32,
    ) -> Result<ExportedType> {
        const CALL: &str = "IMetaDataAssemblyEmit::DefineExportedType";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, name)?;
        let mut token = 0;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::DefineExportedType(
                name.as_ptr(),
                implementation.into().raw(),
                raw_or_nil(type_def),
                flags,
                &mut token
            )
        )?;
        typed(CALL, token)
    }

    /// Changes place and attributes of an exported type.
    ///
    /// Wraps `IMetaDataAssemblyEmit::SetExportedTypeProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetExportedTypeProps")]
    fn set_exported_type_props(
        &self,
        exported: ExportedType,
        implementation: impl Into<Token>,
        type_def: Option<TypeDef>,
        flags: u32,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataAssemblyEmit::SetExportedTypeProps";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::SetExportedTypeProps(
                exported.raw(),
                implementation.into().raw(),
                raw_or_nil(type_def),
                flags
            )
        )
        .map(drop)
    }

    /// Adds a resource; `None` as the implementation says that it is in this file.
    ///
    /// Wraps `IMetaDataAssemblyEmit::DefineManifestResource`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineManifestResource")]
    fn define_manifest_resource(
        &self,
        name: &str,
        implementation: Option<Token>,
        offset: u32,
        flags: u32,
    ) -> Result<ManifestResource> {
        const CALL: &str = "IMetaDataAssemblyEmit::DefineManifestResource";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        let name = wide(CALL, name)?;
        let mut token = 0;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::DefineManifestResource(
                name.as_ptr(),
                raw_or_nil(implementation),
                offset,
                flags,
                &mut token
            )
        )?;
        typed(CALL, token)
    }

    /// Changes place and attributes of a resource.
    ///
    /// Wraps `IMetaDataAssemblyEmit::SetManifestResourceProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetManifestResourceProps")]
    fn set_manifest_resource_props(
        &self,
        resource: ManifestResource,
        implementation: Option<Token>,
        offset: u32,
        flags: u32,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataAssemblyEmit::SetManifestResourceProps";
        let emit: sys::IMetaDataAssemblyEmit = cast(self.emit(), CALL)?;
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::SetManifestResourceProps(
                resource.raw(),
                raw_or_nil(implementation),
                offset,
                flags
            )
        )
        .map(drop)
    }
}

impl MetadataAssemblyEmit for MetadataWriter<'_> {}
