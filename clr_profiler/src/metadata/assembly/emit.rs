//! `IMetaDataAssemblyEmit`.

use super::identity::{AssemblyProps, AssemblyRefProps};
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::native::any_token;
use clr_profiler_il::attributes::{FileAttributes, ManifestResourceAttributes, TypeAttributes};
use clr_profiler_il::token::{
    Assembly, AssemblyRef, ExportedType, File, ManifestResource, Token, TypeDef,
};

table! { ($) __metadata_assembly_emit:
    MetadataAssemblyEmit = IMetaDataAssemblyEmit from query_emit;

    /// Adds a file to the assembly.
    fn define_file(name: &str, hash: &[u8], attributes: FileAttributes) -> File
        = DefineFile(name.as_ptr(), hash.as_ptr(), hash.len(), attributes, @token);

    /// Changes the hash and attributes of a file.
    fn set_file_props(file: File, hash: &[u8], attributes: FileAttributes) -> ()
        = SetFileProps(file, hash.as_ptr(), hash.len(), attributes);

    /// Adds a type of another file, or a type that is forwarded to another assembly.
    fn define_exported_type(
        name: &str, implementation: impl Into<Token> as any_token, type_def: Option<TypeDef>,
        attributes: TypeAttributes
    ) -> ExportedType
        = DefineExportedType(name.as_ptr(), implementation, type_def, attributes, @token);

    /// Changes the location and attributes of an exported type.
    fn set_exported_type_props(
        exported: ExportedType, implementation: impl Into<Token> as any_token,
        type_def: Option<TypeDef>, attributes: TypeAttributes
    ) -> () = SetExportedTypeProps(exported, implementation, type_def, attributes);

    /// Adds a resource; with `None` as the implementation it is in this file.
    fn define_manifest_resource(
        name: &str, implementation: Option<Token>, offset: u32,
        attributes: ManifestResourceAttributes
    ) -> ManifestResource
        = DefineManifestResource(name.as_ptr(), implementation, offset, attributes, @token);

    /// Changes the location and attributes of a resource.
    fn set_manifest_resource_props(
        resource: ManifestResource, implementation: Option<Token>, offset: u32,
        attributes: ManifestResourceAttributes
    ) -> () = SetManifestResourceProps(resource, implementation, offset, attributes);

    /// Makes the module the manifest module of an assembly.
    fn define_assembly(assembly: &AssemblyProps) -> Assembly
        = DefineAssembly(assembly.public_key.as_ptr(), assembly.public_key.len(),
            assembly.hash_algorithm, assembly.name.as_ptr(), assembly.version.as_ptr(),
            assembly.flags, @token);

    /// Changes the properties of the assembly.
    fn set_assembly_props(token: Assembly, assembly: &AssemblyProps) -> ()
        = SetAssemblyProps(token, assembly.public_key.as_ptr(), assembly.public_key.len(),
            assembly.hash_algorithm, assembly.name.as_ptr(), assembly.version.as_ptr(),
            assembly.flags);

    /// Adds a reference to an assembly.
    fn define_assembly_ref(reference: &AssemblyRefProps) -> AssemblyRef
        = DefineAssemblyRef(reference.key.as_ptr(), reference.key.len(), reference.name.as_ptr(),
            reference.version.as_ptr(), reference.hash.as_ptr(), reference.hash.len(),
            reference.flags, @token);

    /// Changes the properties of a reference to an assembly.
    fn set_assembly_ref_props(token: AssemblyRef, reference: &AssemblyRefProps) -> ()
        = SetAssemblyRefProps(token, reference.key.as_ptr(), reference.key.len(),
            reference.name.as_ptr(), reference.version.as_ptr(), reference.hash.as_ptr(),
            reference.hash.len(), reference.flags);
}

/// The calls of `IMetaDataAssemblyEmit`: additions to and changes of the manifest of an assembly.
///
/// All calls are allowed in every callback that is not during a collection. If references are added while a
/// module is being loaded, the runtime sees them when it compiles code that uses them.
#[doc(alias = "IMetaDataAssemblyEmit")]
pub trait MetadataAssemblyEmit: SealedWriter {
    __metadata_assembly_emit! { calls }
}

impl MetadataAssemblyEmit for MetadataWriter<'_> {}
