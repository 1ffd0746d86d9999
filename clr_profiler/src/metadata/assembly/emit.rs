//! `IMetaDataAssemblyEmit`.

use super::identity::{NativeVersion, NewAssembly, NewAssemblyRef};
use crate::error::Result;
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::native::any_token;
use crate::native::typed;
use crate::native::{cast, length, start_or_null, wide};
use clr_profiler_il::token::{
    Assembly, AssemblyRef, ExportedType, File, ManifestResource, Token, TypeDef,
};
use clr_profiler_sys as sys;

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_assembly_emit {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataAssemblyEmit = IMetaDataAssemblyEmit from beside_emit;
    /// Adds a file to the assembly. `flags` is `CorFileFlags`, ECMA-335 II.23.1.6.
    fn define_file(name: &str, hash: &[u8], flags: u32) -> File
        = DefineFile(name.as_ptr(), hash.as_ptr(), hash.len(), flags, @token);

    /// Changes hash and attributes of a file.
    fn set_file_props(file: File, hash: &[u8], flags: u32) -> ()
        = SetFileProps(file, hash.as_ptr(), hash.len(), flags);

    /// Adds a type that another file has, or that is forwarded to another assembly.
    fn define_exported_type(
        name: &str, implementation: impl Into<Token> as any_token, type_def: Option<TypeDef>, flags:
        u32
    ) -> ExportedType = DefineExportedType(name.as_ptr(), implementation, type_def, flags, @token);

    /// Changes place and attributes of an exported type.
    fn set_exported_type_props(
        exported: ExportedType, implementation: impl Into<Token> as any_token, type_def:
        Option<TypeDef>, flags: u32
    ) -> () = SetExportedTypeProps(exported, implementation, type_def, flags);

    /// Adds a resource; `None` as the implementation says that it is in this file.
    fn define_manifest_resource(
        name: &str, implementation: Option<Token>, offset: u32, flags: u32
    ) -> ManifestResource
        = DefineManifestResource(name.as_ptr(), implementation, offset, flags, @token);

    /// Changes place and attributes of a resource.
    fn set_manifest_resource_props(
        resource: ManifestResource, implementation: Option<Token>, offset: u32, flags: u32
    ) -> () = SetManifestResourceProps(resource, implementation, offset, flags);
    } };
}

/// What `IMetaDataAssemblyEmit` offers: adding to and changing the manifest of an assembly.
///
/// All of it may be called from every callback that is not during a collection. References that are
/// added while a module is being loaded are seen by the runtime when code that names them is
/// compiled.
#[doc(alias = "IMetaDataAssemblyEmit")]
pub trait MetadataAssemblyEmit: SealedWriter {
    __metadata_assembly_emit! { calls }

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
}

impl MetadataAssemblyEmit for MetadataWriter<'_> {}
