//! The tables of assemblies (ECMA-335 II.22).

use clr_profiler_il::attributes::{
    AssemblyFlags, AssemblyHashAlgorithm, EventAttributes, FieldAttributes, FileAttributes,
    GenericParamAttributes, ManifestResourceAttributes, MethodAttributes, MethodImplAttributes,
    MethodSemanticsAttributes, PInvokeAttributes, ParamAttributes, PropertyAttributes,
    SecurityAction, TypeAttributes,
};
use clr_profiler_il::token::{
    self, AssemblyRef, Event, FieldDef, GenericParam, MethodDef, ModuleRef, ParamDef, Property,
    TokenTable, TypeDef, TypeToken,
};

use super::{Decode, OwnedRow, Row, RowToken};
use crate::columns::{
    Cell, Column, CustomAttributeType, HasConstant, HasCustomAttribute, HasDeclSecurity,
    HasFieldMarshal, HasSemantics, Implementation, MemberForwarded, MemberRefParent,
    MethodDefOrRef, ResolutionScope, TypeOrMethodDef,
};
use crate::error::Result;
use crate::heaps::{BlobIndex, GuidIndex, StringIndex};
use crate::raw::RawRow;

rows! {
    /// The module (II.22.30).
    ModuleRow = MODULE(Module) {
        /// The generation of edit-and-continue; otherwise 0.
        generation: u16,
        /// The name of the file.
        name: StringIndex,
        /// The module version id, which is unique to each build.
        mvid: GuidIndex,
        /// The id of this generation.
        enc_id: GuidIndex,
        /// The id of the previous generation.
        enc_base_id: GuidIndex,
    }

    /// A type that another module defines (II.22.38).
    TypeRefRow = TYPE_REF(TypeRef) {
        /// The definition.
        scope: ResolutionScope,
        /// The name.
        name: StringIndex,
        /// The namespace.
        namespace: StringIndex,
    }

    /// A type (II.22.37).
    TypeDefRow = TYPE_DEF(TypeDef) {
        /// Visibility, layout, `abstract` and so on.
        attributes: TypeAttributes,
        /// The name.
        name: StringIndex,
        /// The namespace; nil for nested types.
        namespace: StringIndex,
        /// The base type; nil for interfaces, `System.Object` and `<Module>`.
        extends: TypeToken,
        /// The first field, which may be after the last row. [`Metadata::fields`](crate::Metadata::fields) has all.
        fields: FieldDef,
        /// The first method, which may be after the last row. [`Metadata::methods`](crate::Metadata::methods) has all.
        methods: MethodDef,
    }

    /// A field, by its order in a type: only in metadata with edits (`#-`).
    FieldPtrRow = FIELD_PTR {
        /// The field.
        field: FieldDef,
    }

    /// A field (II.22.15).
    FieldRow = FIELD_DEF(FieldDef) {
        /// Access, `static` and so on.
        attributes: FieldAttributes,
        /// The name.
        name: StringIndex,
        /// A [`FieldSig`](clr_profiler_il::signature::FieldSig).
        signature: BlobIndex,
    }

    /// A method, by its order in a type: only in metadata with edits (`#-`).
    MethodPtrRow = METHOD_PTR {
        /// The method.
        method: MethodDef,
    }

    /// A method (II.22.26).
    MethodRow = METHOD_DEF(MethodDef) {
        /// The address of the body; 0 if there is none.
        rva: u32,
        /// The kind of the code.
        implementation: MethodImplAttributes,
        /// Access, `static` and so on.
        attributes: MethodAttributes,
        /// The name.
        name: StringIndex,
        /// A [`MethodSig`](clr_profiler_il::signature::MethodSig).
        signature: BlobIndex,
        /// The first parameter, which may be after the last row. [`Metadata::params`](crate::Metadata::params) has all.
        params: ParamDef,
    }

    /// A parameter, by its order in a method: only in metadata with edits (`#-`).
    ParamPtrRow = PARAM_PTR {
        /// The parameter.
        param: ParamDef,
    }

    /// A parameter (II.22.33).
    ParamRow = PARAM_DEF(ParamDef) {
        /// `in`, `out`, optional.
        attributes: ParamAttributes,
        /// The number from 1; 0 for the return value.
        sequence: u16,
        /// The name.
        name: StringIndex,
    }

    /// An interface that a type implements (II.22.23).
    InterfaceImplRow = INTERFACE_IMPL(InterfaceImpl) by TypeDef in 0 {
        /// The type.
        class: TypeDef,
        /// The interface.
        interface: TypeToken,
    }

    /// A reference to a method or field (II.22.25).
    MemberRefRow = MEMBER_REF(MemberRef) {
        /// The owner of the member.
        parent: MemberRefParent,
        /// The name.
        name: StringIndex,
        /// A [`MemberRefSig`](clr_profiler_il::signature::MemberRefSig).
        signature: BlobIndex,
    }

    /// A default value (II.22.9).
    ConstantRow = CONSTANT by HasConstant in 1 {
        /// The element type of the value.
        element_type: u16,
        /// The field, parameter or property.
        parent: HasConstant,
        /// The bytes of the value.
        value: BlobIndex,
    }

    /// A custom attribute (II.22.10).
    CustomAttributeRow = CUSTOM_ATTRIBUTE(CustomAttribute) by HasCustomAttribute in 0 {
        /// The item with the attribute.
        parent: HasCustomAttribute,
        /// The constructor of the attribute.
        constructor: CustomAttributeType,
        /// The arguments.
        value: BlobIndex,
    }

    /// How a field or parameter is marshalled (II.22.17).
    FieldMarshalRow = FIELD_MARSHAL by HasFieldMarshal in 0 {
        /// The field or parameter.
        parent: HasFieldMarshal,
        /// The native type.
        native_type: BlobIndex,
    }

    /// Security permissions (II.22.11).
    DeclSecurityRow = PERMISSION(Permission) by HasDeclSecurity in 1 {
        /// The action.
        action: SecurityAction,
        /// The type, method or assembly.
        parent: HasDeclSecurity,
        /// The permissions.
        permissions: BlobIndex,
    }

    /// The size of a type (II.22.8).
    ClassLayoutRow = CLASS_LAYOUT by TypeDef in 2 {
        /// The alignment of fields, in bytes; 0 for the default.
        packing_size: u16,
        /// The size in bytes; 0 for the default.
        class_size: u32,
        /// The type.
        parent: TypeDef,
    }

    /// The offset of a field (II.22.16).
    FieldLayoutRow = FIELD_LAYOUT by FieldDef in 1 {
        /// The offset in bytes.
        offset: u32,
        /// The field.
        field: FieldDef,
    }

    /// A signature of locals, or of a `calli` (II.22.36).
    StandAloneSigRow = STAND_ALONE_SIG(StandAloneSig) {
        /// A [`StandAloneSig`](clr_profiler_il::signature::StandAloneSig).
        signature: BlobIndex,
    }

    /// The events of a type (II.22.12).
    EventMapRow = EVENT_MAP by TypeDef in 0 {
        /// The type.
        parent: TypeDef,
        /// The first event. [`Metadata::events`](crate::Metadata::events) has all.
        events: Event,
    }

    /// An event, by its order in a type: only in metadata with edits (`#-`).
    EventPtrRow = EVENT_PTR {
        /// The event.
        event: Event,
    }

    /// An event (II.22.13).
    EventRow = EVENT(Event) {
        /// Whether its name is special.
        attributes: EventAttributes,
        /// The name.
        name: StringIndex,
        /// The type of the delegates.
        event_type: TypeToken,
    }

    /// The properties of a type (II.22.35).
    PropertyMapRow = PROPERTY_MAP by TypeDef in 0 {
        /// The type.
        parent: TypeDef,
        /// The first property. [`Metadata::properties`](crate::Metadata::properties) has all.
        properties: Property,
    }

    /// A property, by its order in a type: only in metadata with edits (`#-`).
    PropertyPtrRow = PROPERTY_PTR {
        /// The property.
        property: Property,
    }

    /// A property (II.22.34).
    PropertyRow = PROPERTY(Property) {
        /// Whether its name is special, whether it has a default.
        attributes: PropertyAttributes,
        /// The name.
        name: StringIndex,
        /// A [`PropertySig`](clr_profiler_il::signature::PropertySig).
        signature: BlobIndex,
    }

    /// A method of a property or event (II.22.28).
    MethodSemanticsRow = METHOD_SEMANTICS by HasSemantics in 2 {
        /// The role of the method: getter, setter and so on.
        semantics: MethodSemanticsAttributes,
        /// The method.
        method: MethodDef,
        /// The property or event.
        association: HasSemantics,
    }

    /// A method that implements or overrides another one explicitly (II.22.27).
    MethodImplRow = METHOD_IMPL by TypeDef in 0 {
        /// The type.
        class: TypeDef,
        /// The implementation.
        body: MethodDefOrRef,
        /// The method that it implements.
        declaration: MethodDefOrRef,
    }

    /// A module of the assembly, or a native library (II.22.31).
    ModuleRefRow = MODULE_REF(ModuleRef) {
        /// The name of its file.
        name: StringIndex,
    }

    /// A type by its signature (II.22.39).
    TypeSpecRow = TYPE_SPEC(TypeSpec) {
        /// A [`TypeSpecSig`](clr_profiler_il::signature::TypeSpecSig).
        signature: BlobIndex,
    }

    /// The native implementation of a method: P/Invoke (II.22.22).
    ImplMapRow = IMPL_MAP by MemberForwarded in 1 {
        /// Character set, calling convention and so on.
        attributes: PInvokeAttributes,
        /// The method.
        member: MemberForwarded,
        /// The name of the function in the library.
        name: StringIndex,
        /// The library.
        scope: ModuleRef,
    }

    /// The initial value of a field (II.22.18).
    FieldRvaRow = FIELD_RVA by FieldDef in 1 {
        /// The address of the bytes.
        rva: u32,
        /// The field.
        field: FieldDef,
    }

    /// An edit (`#-`): the log of edit-and-continue.
    EncLogRow = ENC_LOG {
        /// The token of the edited row.
        token: u32,
        /// The edit.
        function: u32,
    }

    /// The tokens of the rows of an edit (`#-`).
    EncMapRow = ENC_MAP {
        /// The token.
        token: u32,
    }

    /// The manifest of the assembly (II.22.2).
    AssemblyRow = ASSEMBLY(Assembly) {
        /// The hash algorithm of its files.
        hash_algorithm: AssemblyHashAlgorithm,
        /// The major version.
        major: u16,
        /// The minor version.
        minor: u16,
        /// The build.
        build: u16,
        /// The revision.
        revision: u16,
        /// The flags.
        flags: AssemblyFlags,
        /// The public key.
        public_key: BlobIndex,
        /// The simple name.
        name: StringIndex,
        /// The culture.
        culture: StringIndex,
    }

    /// A processor: not used (II.22.4).
    AssemblyProcessorRow = ASSEMBLY_PROCESSOR {
        /// The processor.
        processor: u32,
    }

    /// An operating system: not used (II.22.3).
    AssemblyOsRow = ASSEMBLY_OS {
        /// The platform.
        platform: u32,
        /// The major version.
        major: u32,
        /// The minor version.
        minor: u32,
    }

    /// A reference to another assembly (II.22.5).
    AssemblyRefRow = ASSEMBLY_REF(AssemblyRef) {
        /// The major version.
        major: u16,
        /// The minor version.
        minor: u16,
        /// The build.
        build: u16,
        /// The revision.
        revision: u16,
        /// The flags.
        flags: AssemblyFlags,
        /// The public key, or a hash of it, as the flags tell.
        public_key_or_token: BlobIndex,
        /// The simple name.
        name: StringIndex,
        /// The culture.
        culture: StringIndex,
        /// The hash of the assembly.
        hash: BlobIndex,
    }

    /// A processor of a referenced assembly: not used (II.22.7).
    AssemblyRefProcessorRow = ASSEMBLY_REF_PROCESSOR {
        /// The processor.
        processor: u32,
        /// The assembly.
        assembly: AssemblyRef,
    }

    /// An operating system of a referenced assembly: not used (II.22.6).
    AssemblyRefOsRow = ASSEMBLY_REF_OS {
        /// The platform.
        platform: u32,
        /// The major version.
        major: u32,
        /// The minor version.
        minor: u32,
        /// The assembly.
        assembly: AssemblyRef,
    }

    /// A file of the assembly (II.22.19).
    FileRow = FILE(File) {
        /// Whether it contains metadata.
        attributes: FileAttributes,
        /// Its name.
        name: StringIndex,
        /// Its hash.
        hash: BlobIndex,
    }

    /// A type that the assembly exports from another module or forwards to another assembly (II.22.14).
    ExportedTypeRow = EXPORTED_TYPE(ExportedType) {
        /// Its visibility, and whether it is forwarded.
        attributes: TypeAttributes,
        /// A guess of the row in that module.
        type_def_id: u32,
        /// The name.
        name: StringIndex,
        /// The namespace.
        namespace: StringIndex,
        /// The module, the assembly or the enclosing type.
        implementation: Implementation,
    }

    /// A resource (II.22.24).
    ManifestResourceRow = MANIFEST_RESOURCE(ManifestResource) {
        /// The offset in the resources of this file.
        offset: u32,
        /// Its visibility.
        attributes: ManifestResourceAttributes,
        /// The name.
        name: StringIndex,
        /// The file or assembly that contains it; nil for this file.
        implementation: Implementation,
    }

    /// A nested type (II.22.32).
    NestedClassRow = NESTED_CLASS by TypeDef in 0 {
        /// The nested type.
        nested: TypeDef,
        /// The type that encloses it.
        enclosing: TypeDef,
    }

    /// A generic parameter (II.22.20).
    GenericParamRow = GENERIC_PARAM(GenericParam) by TypeOrMethodDef in 2 {
        /// The number, from 0.
        number: u16,
        /// Variance and special constraints.
        attributes: GenericParamAttributes,
        /// The type or method.
        owner: TypeOrMethodDef,
        /// The name.
        name: StringIndex,
    }

    /// A generic method with type arguments (II.22.29).
    MethodSpecRow = METHOD_SPEC(MethodSpec) {
        /// The generic method.
        method: MethodDefOrRef,
        /// A [`MethodSpecSig`](clr_profiler_il::signature::MethodSpecSig).
        instantiation: BlobIndex,
    }

    /// A constraint of a generic parameter (II.22.21).
    GenericParamConstraintRow = GENERIC_PARAM_CONSTRAINT(GenericParamConstraint) by GenericParam in 0 {
        /// The generic parameter.
        owner: GenericParam,
        /// The type that its arguments derive from or implement.
        constraint: TypeToken,
    }
}
