//! `IMetaDataAssemblyImport`.

use super::identity::{AssemblyProps, AssemblyRefProps, NativeVersion};
use crate::error::Result;
use crate::metadata::enumerate::Source;
use crate::metadata::handle::{Metadata, Sealed};
use crate::native::{Argument, CallContext, cast, read_array};
use clr_profiler_il::attributes::{FileAttributes, ManifestResourceAttributes, TypeAttributes};
use clr_profiler_il::token::{
    Assembly, AssemblyRef, ExportedType, File, ManifestResource, Token, TypeDef,
};
use clr_profiler_sys as sys;

/// A file of an assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProps {
    /// Its name, without a folder.
    pub name: String,
    /// The hash of its content.
    pub hash: Vec<u8>,
    /// Its attributes (ECMA-335 II.23.1.6).
    pub attributes: FileAttributes,
}

/// A type that an assembly exports from another file, or forwards to another assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportedTypeProps {
    /// Its name with namespace.
    pub name: String,
    /// Its location: a `File`, an `AssemblyRef`, or the `ExportedType` that encloses it.
    pub implementation: Token,
    /// Its token in the other file, as a hint.
    pub type_def: Option<TypeDef>,
    /// Its attributes (ECMA-335 II.23.1.15).
    pub attributes: TypeAttributes,
}

/// A resource of an assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestResourceProps {
    /// Its name.
    pub name: String,
    /// Its location: a `File`, an `AssemblyRef`, or nil for this file.
    pub implementation: Token,
    /// Its offset there.
    pub offset: u32,
    /// Its attributes (ECMA-335 II.23.1.9).
    pub attributes: ManifestResourceAttributes,
}

table! { ($) __metadata_assembly_import:
    MetadataAssemblyImport = IMetaDataAssemblyImport from query_import;

    /// The assembly whose manifest is in the module; `None` for other modules of an assembly.
    fn assembly_from_scope() -> Assembly = GetAssemblyFromScope(@token)
        none on CLDB_E_RECORD_NOTFOUND fails OTHERS;

    /// The name, hash and attributes of a file of the assembly.
    fn file_props(token: File) -> {FileProps} = GetFileProps(token, ~{name}, @(hash), @attributes)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such item.";

    /// The name and location of a type that the assembly exports from another file or forwards.
    fn exported_type_props(token: ExportedType) -> {ExportedTypeProps}
        = GetExportedTypeProps(token, ~{name}, @implementation, @type_def, @attributes)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such item.";

    /// The name and location of a resource.
    fn manifest_resource_props(token: ManifestResource) -> {ManifestResourceProps}
        = GetManifestResourceProps(token, ~{name}, @implementation, @offset, @attributes)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such item.";

    /// The exported type with this name, nested in this exported type.
    fn find_exported_type_by_name(name: &str, enclosing: Option<ExportedType>) -> ExportedType
        = FindExportedTypeByName(name.as_ptr(), enclosing, @token) fails NOT_FOUND;

    /// The resource with this name.
    fn find_manifest_resource_by_name(name: &str) -> ManifestResource
        = FindManifestResourceByName(name.as_ptr(), @token) fails NOT_FOUND;
}

table! { ($) __metadata_assembly_import_enumerations:
    MetadataAssemblyImport = IMetaDataAssemblyImport from query_import;

    /// The assemblies that the module refers to.
    fn assembly_refs() -> AssemblyRef = EnumAssemblyRefs();

    /// The other files of the assembly.
    fn files() -> File = EnumFiles();

    /// The types that the assembly exports from other files or forwards.
    fn exported_types() -> ExportedType = EnumExportedTypes();

    /// The resources of the assembly.
    fn manifest_resources() -> ManifestResource = EnumManifestResources();
}

/// The calls of `IMetaDataAssemblyImport`: the manifest of an assembly.
///
/// All calls are allowed in every callback that is not during a collection.
#[doc(alias = "IMetaDataAssemblyImport")]
pub trait MetadataAssemblyImport: Sealed {
    __metadata_assembly_import! { calls }
    __metadata_assembly_import_enumerations! { enumerations }

    calls! { MetadataAssemblyImport = IMetaDataAssemblyImport from query_import;
    /// The name, version, key and attributes of the assembly.
    fn assembly_props(token: Assembly) -> {AssemblyProps}
        = GetAssemblyProps(token, @(public_key), @hash_algorithm, ~{name}, @*version: NativeVersion,
            @flags) fails "`CLDB_E_RECORD_NOTFOUND` if there is no such item.";

    /// The name, version, key and attributes of a reference to an assembly.
    fn assembly_ref_props(token: AssemblyRef) -> {AssemblyRefProps}
        = GetAssemblyRefProps(token, @(public_key_or_token), ~{name}, @*version: NativeVersion,
            @(hash), @flags) fails "`CLDB_E_RECORD_NOTFOUND` if there is no such item.";
    }

    /// The assemblies of this name that the runtime would find from these folders.
    ///
    /// Only .NET Framework searches for them.
    ///
    /// Wraps `IMetaDataAssemblyImport::FindAssembliesByName`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_NOTIMPL` or another failure on .NET (Core).
    #[doc(alias = "FindAssembliesByName")]
    fn find_assemblies_by_name(
        &self,
        application_base: Option<&str>,
        private_bin: Option<&str>,
        name: &str,
    ) -> Result<Vec<Metadata<'_>>> {
        const CALL: &str = "IMetaDataAssemblyImport::FindAssembliesByName";
        let import = self
            .metadata()
            .import()?
            .query_interface::<sys::IMetaDataAssemblyImport>(CALL)?;
        let context = CallContext::of(CALL);
        let base = application_base.to_native(&context)?;
        let bin = private_bin.to_native(&context)?;
        let name = name.to_native(&context)?;
        // As references, so that those in a buffer that was too small are released.
        let found = read_array(|capacity, count, buffer: *mut Option<sys::IUnknown>| {
            native_call!(
                &import,
                IMetaDataAssemblyImport::FindAssembliesByName(
                    base.as_ptr(),
                    bin.as_ptr(),
                    name.as_ptr(),
                    buffer.cast(),
                    capacity,
                    count,
                )
            )
        })?;
        found
            .into_iter()
            .map(|object| match object {
                Some(object) => Ok(Metadata::from_native(cast(&object, CALL)?, None)),
                None => Err(crate::error::Error::invalid(CALL, "an assembly is missing")),
            })
            .collect()
    }
}

impl MetadataAssemblyImport for Metadata<'_> {}
