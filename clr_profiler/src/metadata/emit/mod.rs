//! `IMetaDataEmit`: additions to and changes of the metadata of a module.

mod types;

use std::io::Write;
use std::path::Path;

use super::handle::{Metadata, MetadataWriter, SealedWriter};
use super::import::FieldOffset;
use super::rare::MetadataHandler;
use super::signature::{AsSignature, checked};
use super::stream::{to_memory, to_stream};
use super::value::ConstantValue;
use crate::error::{Error, Hresult, Result};
use crate::metadata::module_bound::InUse;
use crate::native::{CallContext, any_token, length, read_array, start_or_null};
use clr_profiler_il::attributes::{
    EventAttributes, FieldAttributes, MethodAttributes, MethodImplAttributes, PInvokeAttributes,
    ParamAttributes, PropertyAttributes, SecurityAction, TypeAttributes,
};
use clr_profiler_il::signature::{
    self, FieldSig, MemberRefSig, MethodSig, PropertySig, TypeSpecSig,
};
use clr_profiler_il::token::{
    CustomAttribute, Event, FieldDef, MemberRef, MethodDef, ModuleRef, ParamDef, Permission,
    Property, StandAloneSig, Token, TypeDef, TypeRef, TypeSpec, TypeToken, UserString,
};
use clr_profiler_sys as sys;
use sys::Interface;
use types::{kept_methods, or_keep};

pub use types::{EventMethods, PropertyMethods, SaveSize};

table! { ($) __metadata_emit:
    MetadataEmit = IMetaDataEmit from emit;

    /// Adds a type that is not nested.
    ///
    /// The name includes the namespace and the number of generic parameters. Visibilities of nested types are
    /// refused.
    fn define_type_def(
        name: &str, attributes: TypeAttributes, extends: Option<TypeToken>,
        implements: &[TypeToken]
    ) -> TypeDef = DefineTypeDef(name.as_ptr(), attributes, extends, implements.as_ptr(), @class)
        fails NAME;

    /// Adds a type that is nested in another one, like [`define_type_def`](Self::define_type_def).
    fn define_nested_type(
        name: &str, attributes: TypeAttributes, extends: Option<TypeToken>,
        implements: &[TypeToken],
        enclosing: TypeDef
    ) -> TypeDef
        = DefineNestedType(name.as_ptr(), attributes, extends, implements.as_ptr(), enclosing,
            @class) fails NAME;

    /// Removes the declared layout of a type.
    fn delete_class_layout(class: TypeDef) -> () = DeleteClassLayout(class) fails NOT_FOUND;

    /// Changes the attributes, base and interfaces of a type. `None` leaves a property unchanged.
    fn set_type_def_props(
        class: TypeDef, attributes: Option<TypeAttributes>,
        extends: Option<TypeToken> as or_keep, implements: Option<&[TypeToken]>
    ) -> () = SetTypeDefProps(class, attributes, extends, implements.as_ptr());

    /// Declares the layout of a type: packing, offsets of fields, size in bytes.
    fn set_class_layout(
        class: TypeDef, pack_size: u32, fields: &[FieldOffset], class_size: u32
    ) -> () = SetClassLayout(class, pack_size, fields.as_ptr(), class_size);

    /// Adds an event to a type.
    fn define_event(
        class: TypeDef, name: &str, attributes: EventAttributes,
        event_type: Option<TypeToken>, methods: &EventMethods<'_>
    ) -> Event
        = DefineEvent(class, name.as_ptr(), attributes, event_type, methods.add_on,
            methods.remove_on, methods.fire, methods.others.as_ptr(), @event) fails NAME;

    /// Changes the attributes, type and methods of an event. `None` leaves a property unchanged.
    fn set_event_props(
        event: Event, attributes: Option<EventAttributes>, event_type: Option<TypeToken>,
        methods: &EventMethods<'_>
    ) -> ()
        = SetEventProps(event, attributes, event_type, methods.add_on, methods.remove_on,
            methods.fire, methods.others.as_ptr());

    /// Adds a property to a type.
    fn define_property(
        class: TypeDef, name: &str, attributes: PropertyAttributes,
        signature: impl AsSignature<PropertySig> as checked, value: Option<&ConstantValue>,
        methods: &PropertyMethods<'_>
    ) -> Property
        = DefineProperty(class, name.as_ptr(), attributes, signature.as_ptr(), signature.len(),
            value.element_type, value.start(), value.length, methods.setter, methods.getter,
            methods.others.as_ptr(), @property) fails SIGNATURE;

    /// Changes the attributes, default and methods of a property. `None` leaves a property unchanged.
    fn set_property_props(
        property: Property, attributes: Option<PropertyAttributes>, value: Option<&ConstantValue>,
        methods: &PropertyMethods<'_> as kept_methods
    ) -> ()
        = SetPropertyProps(property, attributes, value.element_type, value.start(), value.length,
            methods.setter, methods.getter, methods.others.as_ptr());

    /// Adds a method to a type; `None` adds a global one.
    ///
    /// With an `rva` of 0, set the body by
    /// [`set_il_function_body`](crate::info::CorProfilerInfo::set_il_function_body).
    fn define_method(
        class: Option<TypeDef>, name: &str, attributes: MethodAttributes,
        signature: impl AsSignature<MethodSig> as checked, rva: u32,
        implementation: MethodImplAttributes
    ) -> MethodDef
        = DefineMethod(class, name.as_ptr(), attributes, signature.as_ptr(), signature.len(), rva,
            implementation, @method) fails SIGNATURE;

    /// Adds an explicit implementation: the body that implements a declaration.
    fn define_method_impl(
        class: TypeDef, body: impl Into<Token> as any_token,
        declaration: impl Into<Token> as any_token
    ) -> () = DefineMethodImpl(class, body, declaration);

    /// Sets the address of a method's body.
    fn set_rva(method: MethodDef, rva: u32) -> () = SetRVA(method, rva);

    /// Changes the attributes, address and implementation of a method. `None` leaves a property unchanged.
    fn set_method_props(
        method: MethodDef, attributes: Option<MethodAttributes>, rva: Option<u32>,
        implementation: Option<MethodImplAttributes>
    ) -> () = SetMethodProps(method, attributes, rva, implementation);

    /// Changes the implementation attributes of a method.
    fn set_method_impl_flags(method: MethodDef, implementation: MethodImplAttributes) -> ()
        = SetMethodImplFlags(method, implementation);

    /// Adds a field to a type; `None` adds a global one. `value` is the value of a literal.
    ///
    /// After a global field is added to a loaded module, the runtime refuses the module as corrupt.
    fn define_field(
        class: Option<TypeDef>, name: &str, attributes: FieldAttributes,
        signature: impl AsSignature<FieldSig> as checked, value: Option<&ConstantValue>
    ) -> FieldDef
        = DefineField(class, name.as_ptr(), attributes, signature.as_ptr(), signature.len(),
            value.element_type, value.start(), value.length, @field) fails SIGNATURE;

    /// Changes the attributes and constant of a field. `None` leaves a property unchanged.
    fn set_field_props(
        field: FieldDef, attributes: Option<FieldAttributes>, value: Option<&ConstantValue>
    ) -> ()
        = SetFieldProps(field, attributes, value.element_type, value.start(), value.length);

    /// Sets the address of a field's data.
    fn set_field_rva(field: FieldDef, rva: u32) -> () = SetFieldRVA(field, rva);

    /// Adds the name, attributes and default of a parameter: 1 is the first one, 0 the return value.
    fn define_param(
        method: MethodDef, sequence: u32, name: &str, attributes: ParamAttributes,
        value: Option<&ConstantValue>
    ) -> ParamDef
        = DefineParam(method, sequence, name.as_ptr(), attributes, value.element_type,
            value.start(), value.length, @parameter) fails NAME;

    /// Changes the name, attributes and default of a parameter. `None` leaves a property unchanged.
    fn set_param_props(
        parameter: ParamDef, name: Option<&str>, attributes: Option<ParamAttributes>,
        value: Option<&ConstantValue>
    ) -> ()
        = SetParamProps(parameter, name.as_ptr(), attributes, value.element_type, value.start(),
            value.length) fails NAME;

    /// Adds a reference to a type by its scope (an assembly, a module or an enclosing type) and its name
    /// with namespace.
    fn define_type_ref_by_name(scope: impl Into<Token> as any_token, name: &str) -> TypeRef
        = DefineTypeRefByName(scope, name.as_ptr(), @class) fails NAME;

    /// Adds a reference to a method or field, by its parent (a type of any kind or a module), name and
    /// signature.
    fn define_member_ref(
        parent: impl Into<Token> as any_token, name: &str,
        signature: impl AsSignature<MemberRefSig> as checked
    ) -> MemberRef
        = DefineMemberRef(parent, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails SIGNATURE;

    /// Changes the parent of a reference to a member.
    fn set_parent(member: MemberRef, parent: impl Into<Token> as any_token) -> ()
        = SetParent(member, parent);

    /// Adds a reference to another module of the assembly, or to a native library.
    fn define_module_ref(name: &str) -> ModuleRef = DefineModuleRef(name.as_ptr(), @module)
        fails NAME;

    /// The token of a stand-alone signature (of locals, or of a function that `calli` calls), which is added
    /// if it is missing.
    fn token_from_sig(
        signature: impl AsSignature<signature::StandAloneSig> as checked
    ) -> StandAloneSig = GetTokenFromSig(signature.as_ptr(), signature.len(), @token)
        fails SIGNATURE;

    /// The token of a composed type, which is added if it is missing.
    fn token_from_type_spec(signature: impl AsSignature<TypeSpecSig> as checked) -> TypeSpec
        = GetTokenFromTypeSpec(signature.as_ptr(), signature.len(), @token) fails SIGNATURE;

    /// The token of a string literal of this UTF-16, which may be invalid; it is added if it is missing.
    fn define_user_string_utf16(text: &[u16]) -> UserString
        = DefineUserString(text.as_ptr(), text.len(), @token)
        fails "The error of the native call, such as `META_E_STRINGSPACE_FULL`.";

    /// Adds a reference to a type of another scope, and to its assembly.
    ///
    /// The scope that defines the type must be an assembly; `hash` is the hash of its file, or empty.
    fn define_import_type(scope: &Metadata<'_>, hash: &[u8], class: TypeDef) -> TypeRef
        = DefineImportType(sides.0.as_raw(), hash.as_ptr(), hash.len(), scope.as_raw(), class,
            sides.1.as_raw(), @reference)
        given sides = sides(scope);

    /// Adds a reference to a member of another scope, and references to the types in its signature; `parent`
    /// is the reference to its type.
    fn define_import_member(
        scope: &Metadata<'_>, hash: &[u8], member: impl Into<Token> as any_token,
        parent: impl Into<Token> as any_token
    ) -> MemberRef
        = DefineImportMember(sides.0.as_raw(), hash.as_ptr(), hash.len(), scope.as_raw(), member,
            sides.1.as_raw(), parent, @reference)
        given sides = sides(scope);

    /// Applies a custom attribute to an item: its constructor (a `MethodDef` or `MemberRef`), and its
    /// arguments as ECMA-335 II.23.3 encodes them.
    fn define_custom_attribute(
        owner: impl Into<Token> as any_token, constructor: impl Into<Token> as any_token,
        value: &[u8]
    ) -> CustomAttribute
        = DefineCustomAttribute(owner, constructor, value.as_ptr(), value.len(), @attribute);

    /// Changes the arguments of a custom attribute.
    fn set_custom_attribute_value(attribute: CustomAttribute, value: &[u8]) -> ()
        = SetCustomAttributeValue(attribute, value.as_ptr(), value.len());

    /// Adds a security declaration to an item: an action and its permissions.
    fn define_permission_set(
        owner: impl Into<Token> as any_token, action: SecurityAction, permissions: &[u8]
    ) -> Permission
        = DefinePermissionSet(owner, action, permissions.as_ptr(), permissions.len(), @permission);

    /// Changes the permissions of an item's security declaration with this action.
    fn set_permission_set_props(
        owner: impl Into<Token> as any_token, action: SecurityAction, permissions: &[u8]
    ) -> Permission
        = SetPermissionSetProps(owner, action, permissions.as_ptr(), permissions.len(),
            @permission) fails NOT_FOUND;

    /// Sets the marshalling of a field or parameter, as ECMA-335 II.23.4 encodes it.
    fn set_field_marshal(item: impl Into<Token> as any_token, native_type: &[u8]) -> ()
        = SetFieldMarshal(item, native_type.as_ptr(), native_type.len());

    /// Removes the marshalling of a field or parameter.
    fn delete_field_marshal(item: impl Into<Token> as any_token) -> () = DeleteFieldMarshal(item)
        fails "`CLDB_E_RECORD_NOTFOUND` if it has no marshalling descriptor.";

    /// Maps a method to a native function.
    fn define_pinvoke_map(
        member: impl Into<Token> as any_token, attributes: PInvokeAttributes, import_name: &str,
        import_dll: ModuleRef
    ) -> () = DefinePinvokeMap(member, attributes, import_name.as_ptr(), import_dll) fails NAME;

    /// Removes the mapping of a method to a native function.
    fn delete_pinvoke_map(member: impl Into<Token> as any_token) -> () = DeletePinvokeMap(member)
        fails "`CLDB_E_RECORD_NOTFOUND` if it maps to none.";

    /// Changes the native function that a method maps to. `None` leaves a property unchanged.
    fn set_pinvoke_map(
        member: impl Into<Token> as any_token, attributes: Option<PInvokeAttributes>,
        import_name: Option<&str>, import_dll: Option<ModuleRef> as module_or_nil
    ) -> () = SetPinvokeMap(member, attributes, import_name.as_ptr(), import_dll) fails NAME;

    /// Changes the name of the module.
    fn set_module_props(name: &str) -> () = SetModuleProps(name.as_ptr()) fails NAME;

    /// The size of the saved metadata in bytes.
    fn save_size(size: SaveSize) -> u32 = GetSaveSize(size, @bytes);

    /// Writes the metadata to a file.
    fn save(file: &Path) -> () = Save(file.as_ptr(), 0)
        fails "The path is not Unicode; the error of the native call or of the file system.";

    /// Applies the changes of another scope to this one.
    fn apply_edit_and_continue(changes: &Metadata<'_>) -> ()
        = ApplyEditAndContinue(changes.as_raw())
        fails "The error of the native call; .NET (Core) supports only metadata for edit and \
               continue.";

    /// Merges the scopes that were passed to [`merge`](Self::merge).
    ///
    /// Only .NET Framework and tools of its time merge; .NET (Core) refuses.
    fn merge_end() -> () = MergeEnd()
        fails "`E_NOTIMPL` on .NET (Core).";

    /// Reports moved tokens and errors to `handler` from now on; `None` removes it.
    fn set_handler(handler: Option<&MetadataHandler>) -> () = SetHandler(handler);

    /// Records another scope that [`merge_end`](Self::merge_end) merges into this one.
    ///
    /// Only .NET Framework and tools of its time merge; .NET (Core) refuses.
    fn merge(
        scope: &Metadata<'_>, map: Option<&MetadataHandler>, handler: Option<&MetadataHandler>
    ) -> () = Merge(scope.as_raw(), map, handler)
        fails "`E_NOTIMPL` on .NET (Core).";

    /// Marks an item as deleted: it gets a reserved name.
    ///
    /// Only for types, methods, fields, properties, events, custom attributes and similar items in metadata
    /// for edit and continue, which a [`Dispenser`](crate::metadata::Dispenser) has opened without
    /// [`ThreadSafety`](crate::metadata::DispenserOption::ThreadSafety): with metadata that locks itself, the
    /// native call deadlocks.
    fn delete_token(item: impl Into<Token> as any_token) -> () = DeleteToken(item)
        given _unlocked = unlocked()
        fails "`META_E_BAD_INPUT_PARAMETER` or a similar code if the item cannot be deleted.";
}

/// The calls of `IMetaDataEmit`: additions to and changes of the metadata of a module.
///
/// All calls are allowed in every callback that is not during a collection. The metadata of a loaded module
/// may only be extended, and code that uses the additions must be compiled later.
#[doc(alias = "IMetaDataEmit")]
pub trait MetadataEmit: SealedWriter {
    __metadata_emit! { calls }

    /// The token of a string literal, which is added if it is missing: the operand of `ldstr`.
    ///
    /// # Errors
    ///
    /// The errors of [`define_user_string_utf16`](Self::define_user_string_utf16).
    fn define_user_string(&self, text: &str) -> Result<UserString> {
        let text: Vec<u16> = text.encode_utf16().collect();
        self.define_user_string_utf16(&text)
    }

    /// A signature of another scope with the tokens of this one, for which references are added.
    ///
    /// Wraps `IMetaDataEmit::TranslateSigWithScope`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The signature violates ECMA-335 II.23.2, and is not passed to the runtime; the error of the native
    /// call.
    #[doc(alias = "TranslateSigWithScope")]
    fn translate_sig_with_scope<S>(
        &self,
        scope: &Metadata<'_>,
        hash: &[u8],
        signature: impl AsSignature<S>,
    ) -> Result<Vec<u8>> {
        const CALL: &str = "IMetaDataEmit::TranslateSigWithScope";
        let signature = signature.checked(CALL)?;
        let (assembly_import, assembly_emit) = sides(self, CALL, scope)?;
        let (hash_length, signature_length) = (length(CALL, hash)?, length(CALL, &signature)?);
        let emit = self.writer().emit.in_use(CALL)?;
        read_array(|capacity, count, buffer| {
            native_call!(
                &emit,
                IMetaDataEmit::TranslateSigWithScope(
                    assembly_import.as_raw(),
                    start_or_null(hash).cast(),
                    hash_length,
                    scope.as_raw(),
                    signature.as_ptr(),
                    signature_length,
                    assembly_emit.as_raw(),
                    emit.as_raw(),
                    buffer,
                    capacity,
                    count,
                )
            )
        })
    }

    /// Adds several security attributes to an item at once: constructors and arguments.
    ///
    /// Wraps `IMetaDataEmit::DefineSecurityAttributeSet`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call, with the index of the wrong attribute.
    #[doc(alias = "DefineSecurityAttributeSet")]
    fn define_security_attribute_set(
        &self,
        owner: impl Into<Token>,
        attributes: &[(MemberRef, &[u8])],
    ) -> Result<()> {
        const CALL: &str = "IMetaDataEmit::DefineSecurityAttributeSet";
        let native = attributes
            .iter()
            .map(|(constructor, value)| {
                Ok(sys::COR_SECATTR {
                    tkCtor: constructor.raw(),
                    pCustomAttribute: start_or_null(value).cast(),
                    cbCustomAttribute: length(CALL, value)?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut wrong = u32::MAX;
        let emit = self.writer().emit.in_use(CALL)?;
        let answer = native_call!(
            &emit,
            IMetaDataEmit::DefineSecurityAttributeSet(
                owner.into().raw(),
                native.as_ptr(),
                length(CALL, &native)?,
                &mut wrong,
            )
        );
        match answer {
            Err(error) if (wrong as usize) < attributes.len() => Err(Error::invalid(
                CALL,
                format_args!("attribute {wrong}: {error}"),
            )),
            answer => answer.map(drop),
        }
    }

    /// Writes the metadata to `out`, once the native call has returned all of it.
    ///
    /// Wraps `IMetaDataEmit::SaveToStream`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call or of `out`.
    #[doc(alias = "SaveToStream")]
    fn save_to_stream(&self, out: &mut dyn Write) -> Result<()> {
        to_stream(out, |stream| {
            let emit = self.writer().emit.in_use("IMetaDataEmit::SaveToStream")?;
            native_call!(&emit, IMetaDataEmit::SaveToStream(stream, 0))
        })
    }

    /// The metadata, in the format of a metadata file.
    ///
    /// Wraps `IMetaDataEmit::SaveToMemory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    #[doc(alias = "SaveToMemory")]
    fn save_to_memory(&self) -> Result<Vec<u8>> {
        to_memory(self.save_size(SaveSize::Accurate)?, |start, size| {
            let emit = self.writer().emit.in_use("IMetaDataEmit::SaveToMemory")?;
            native_call!(&emit, IMetaDataEmit::SaveToMemory(start, size))
        })
    }
}

impl MetadataEmit for MetadataWriter<'_> {}

/// The assembly interfaces of the referenced scope and of the one that is written.
fn sides(
    writer: &(impl SealedWriter + ?Sized),
    call: &'static str,
    scope: &Metadata<'_>,
) -> Result<(
    InUse<sys::IMetaDataAssemblyImport>,
    InUse<sys::IMetaDataAssemblyEmit>,
)> {
    Ok((
        scope.import()?.query_interface(call)?,
        writer.writer().emit.query_interface(call)?,
    ))
}

fn module_or_nil(module: Option<ModuleRef>, _: &CallContext<'_>) -> Result<u32> {
    Ok(module.unwrap_or(ModuleRef::NIL).raw())
}

/// Returns an error for metadata that locks itself.
fn unlocked(writer: &(impl SealedWriter + ?Sized), call: &'static str) -> Result<()> {
    if !writer.writer().locks_itself {
        return Ok(());
    }
    Err(Error::rule_with_code(
        call,
        "items of a loaded module cannot be deleted, nor those of metadata that locks itself: open \
         the module's file with `info.metadata_dispenser()`, without `ThreadSafety`",
        Hresult::E_NOTIMPL,
    ))
}
