//! `IMetaDataImport`: the definitions and references of a module.

mod props;

use super::enumerate::{MetadataIter, MethodImpl, Source, second_half};
use super::handle::{Metadata, Sealed};
use super::own;
use super::signature::{AsSignature, SignatureFilter, checked, wanted};
use crate::error::{Error, Result};
use crate::metadata::ConstantValue;
use crate::native::{any_token, into_token};
use clr_profiler_il::attributes::{CallConv, MethodSemanticsAttributes, SecurityAction};
use clr_profiler_il::signature::{self, FieldSig, MemberRefSig, MethodSig, TypeSpecSig};
use clr_profiler_il::token::{
    CustomAttribute, Event, FieldDef, InterfaceImpl, MemberRef, MethodDef, Module, ModuleRef,
    ParamDef, Permission, Property, StandAloneSig, Token, TypeDef, TypeRef, TypeSpec, UserString,
};
use clr_profiler_sys::Interface;

pub use props::{
    CustomAttributeProps, DeclaredLayout, EventProps, FieldOffset, FieldProps, InterfaceImplProps,
    MemberProps, MemberRefProps, MethodProps, ParamProps, PermissionSetProps, PinvokeMap,
    PropertyProps, Rva, ScopeProps, TypeDefProps, TypeRefProps,
};

table! { ($) __metadata_import_enumerations:
    MetadataImport = IMetaDataImport from import;

    /// The types that the module defines, including nested ones, without `<Module>`.
    fn type_defs() -> TypeDef = EnumTypeDefs();

    /// The types of other modules that the module uses.
    fn type_refs() -> TypeRef = EnumTypeRefs();

    /// The composed types that the module uses: generic types with arguments, arrays, pointers.
    fn type_specs() -> TypeSpec = EnumTypeSpecs();

    /// The other modules of the assembly, and the native libraries, that the module uses.
    fn module_refs() -> ModuleRef = EnumModuleRefs();

    /// The interfaces that a type declares to implement.
    fn interface_impls(class: TypeDef) -> InterfaceImpl = EnumInterfaceImpls(class);

    /// The methods and fields of a type.
    fn members(class: TypeDef) -> Token = EnumMembers(class);

    /// The methods of a type, including constructors and accessors.
    fn methods(class: TypeDef) -> MethodDef = EnumMethods(class);

    /// The fields of a type.
    fn fields(class: TypeDef) -> FieldDef = EnumFields(class);

    /// The records of a method's parameters. Parameters without name, attributes or default have none.
    fn params(method: MethodDef) -> ParamDef = EnumParams(method);

    /// The references to members of this parent, for example a type of any kind.
    fn member_refs(parent: impl Into<Token> as into_token) -> MemberRef = EnumMemberRefs(parent);

    /// Methods and references to methods that have no definition yet, for linkers.
    fn unresolved_methods() -> Token = EnumUnresolvedMethods();

    /// The properties of a type.
    fn properties(class: TypeDef) -> Property = EnumProperties(class);

    /// The events of a type.
    fn events(class: TypeDef) -> Event = EnumEvents(class);

    /// The properties and events to which a method belongs; [`method_semantics`](Self::method_semantics)
    /// returns its role.
    fn method_associations(method: MethodDef) -> Token = EnumMethodSemantics(method);

    /// The custom attributes of an item or of all items, with this constructor or any.
    fn custom_attributes(owner: Option<Token>, constructor: Option<Token>) -> CustomAttribute
        = EnumCustomAttributes(owner, constructor);

    /// The security declarations of an item or of all items, with this action or any.
    fn permission_sets(owner: Option<Token>, action: Option<SecurityAction>) -> Permission
        = EnumPermissionSets(owner, action);

    /// The stand-alone signatures: those of locals, and of the functions that `calli` calls.
    fn signatures() -> StandAloneSig = EnumSignatures();

    /// The string literals.
    fn user_strings() -> UserString = EnumUserStrings();
}

table! { ($) __metadata_import_enumerations_by_name:
    MetadataImport = IMetaDataImport from named;

    /// The methods and fields of a type that have this name.
    fn members_with_name(class: TypeDef, name: &str) -> Token
        = EnumMembersWithName(class, name.as_ptr());

    /// The methods of a type that have this name.
    fn methods_with_name(class: TypeDef, name: &str) -> MethodDef
        = EnumMethodsWithName(class, name.as_ptr());

    /// The fields of a type that have this name.
    fn fields_with_name(class: TypeDef, name: &str) -> FieldDef
        = EnumFieldsWithName(class, name.as_ptr());
}

table! { ($) __metadata_import:
    MetadataImport = IMetaDataImport from import;

    /// The name and version id of the module.
    fn scope_props() -> {ScopeProps} = [own] GetScopeProps(~{name}, @mvid);

    /// The token of the module itself, which owns its custom attributes.
    fn module_from_scope() -> Module = GetModuleFromScope(@module);

    /// The type with this name that the module defines.
    ///
    /// The name includes the namespace and the number of generic parameters: `` Shop.Cart`1 ``. A nested type
    /// is found by its own name and its enclosing type.
    fn find_type_def_by_name(name: &str, enclosing: Option<TypeDef>) -> TypeDef
        = FindTypeDefByName(name.as_ptr(), enclosing, @class)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such type.";

    /// The reference to a type, by its scope (an assembly, a module or an enclosing type) and its name with
    /// namespace.
    fn find_type_ref(scope: impl Into<Token> as any_token, name: &str) -> TypeRef
        = FindTypeRef(scope, name.as_ptr(), @class)
        fails "`CLDB_E_RECORD_NOTFOUND` if the module has no such reference.";

    /// The name, attributes and base of a type that the module defines.
    fn type_def_props(class: TypeDef) -> {TypeDefProps}
        = [own] GetTypeDefProps(class, ~{name}, @attributes, @extends)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such type.";

    /// The type that encloses a nested type; `None` for types that are not nested.
    fn nested_class_props(class: TypeDef) -> TypeDef = [own] GetNestedClassProps(class, @enclosing)
        none on CLDB_E_RECORD_NOTFOUND fails OTHERS;

    /// The type and the interface of an implementation.
    fn interface_impl_props(implementation: InterfaceImpl) -> {InterfaceImplProps}
        = GetInterfaceImplProps(implementation, @class, @interface)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such implementation.";

    /// The name and scope of a type of another module.
    fn type_ref_props(class: TypeRef) -> {TypeRefProps}
        = [own] GetTypeRefProps(class, @resolution_scope, ~{name})
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such reference.";

    /// The signature of a composed type, as ECMA-335 II.23.2.14 encodes it.
    fn type_spec_from_token(type_spec: TypeSpec) -> Vec<u8>
        = [own] GetTypeSpecFromToken(type_spec, @(bytes))
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such type.";

    /// The name of another module of the assembly, or of a native library.
    fn module_ref_props(module: ModuleRef) -> String = GetModuleRefProps(module, ~{text})
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such reference.";

    /// The metadata and the definition of a referenced type, from the scopes that the dispenser has opened.
    ///
    /// Not implemented by .NET (Core). There, take the assembly from
    /// [`type_ref_props`](Self::type_ref_props), and find it among the modules.
    fn resolve_type_ref(class: TypeRef) -> (Metadata<'_>, TypeDef)
        = ResolveTypeRef(class, &clr_profiler_sys::IMetaDataImport2::IID, @scope, @definition)
        fails "`E_NOTIMPL` or another failure on .NET (Core).";

    /// The method or field of a type with this name and signature.
    ///
    /// `None` as the type searches the global members. Members of base types are not found. Without a
    /// signature ([`AnySignature`](crate::metadata::AnySignature)), returns the first one of this name.
    fn find_member(
        class: Option<TypeDef>, name: &str, signature: impl SignatureFilter<MemberRefSig> as wanted
    ) -> Token = FindMember(class, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails NOT_FOUND;

    /// The method of a type with this name and signature, like [`find_member`](Self::find_member).
    fn find_method(
        class: Option<TypeDef>, name: &str, signature: impl SignatureFilter<MethodSig> as wanted
    ) -> MethodDef = FindMethod(class, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails NOT_FOUND;

    /// The field of a type with this name and signature, like [`find_member`](Self::find_member).
    fn find_field(
        class: Option<TypeDef>, name: &str, signature: impl SignatureFilter<FieldSig> as wanted
    ) -> FieldDef = FindField(class, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails NOT_FOUND;

    /// The reference to a member by its parent, name and signature.
    fn find_member_ref(
        parent: impl Into<Token> as any_token, name: &str,
        signature: impl SignatureFilter<MemberRefSig> as wanted
    ) -> MemberRef
        = FindMemberRef(parent, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails "`CLDB_E_RECORD_NOTFOUND` if the module has no such reference.";

    /// The name, signature and attributes of a method that the module defines.
    fn method_props(method: MethodDef) -> {MethodProps}
        = [own] GetMethodProps(method, @class, ~{name}, @attributes, @(signature_blob), @rva,
            @implementation) fails "`CLDB_E_RECORD_NOTFOUND` if there is no such method.";

    /// The name, signature, attributes and constant of a field that the module defines.
    fn field_props(field: FieldDef) -> {FieldProps}
        = GetFieldProps(field, @class, ~{name}, @attributes, @(signature_blob), @<value>)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such field.";

    /// The results of [`method_props`](Self::method_props) or [`field_props`](Self::field_props), for a token
    /// of either kind.
    fn member_props(member: impl Into<Token> as any_token) -> {MemberProps}
        = GetMemberProps(member, @class, ~{name}, @attributes, @(signature_blob), @rva,
            @implementation, @<value>)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such member.";

    /// The parent, name and signature of a reference to a member.
    fn member_ref_props(member: MemberRef) -> {MemberRefProps}
        = [own] GetMemberRefProps(member, @parent, ~{name}, @(signature_blob))
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such reference.";

    /// The name, position, attributes and default of a parameter.
    fn param_props(parameter: ParamDef) -> {ParamProps}
        = GetParamProps(parameter, @method, @sequence, ~{name}, @attributes, @<value>)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such parameter.";

    /// The record of a parameter by its position: 1 is the first one, 0 the return value. `None` if the
    /// metadata has no record of it.
    fn param_for_method_index(method: MethodDef, sequence: u32) -> ParamDef
        = GetParamForMethodIndex(method, sequence, @parameter) none on CLDB_E_RECORD_NOTFOUND
        fails OTHERS;

    /// The address of a method's body or a field's data in the image.
    fn rva(member: impl Into<Token> as any_token) -> {Rva} = GetRVA(member, @rva, @implementation)
        fails "`CLDB_E_RECORD_NOTFOUND` for a field without data.";

    /// Whether a member is global.
    fn is_global(member: impl Into<Token> as any_token) -> bool = IsGlobal(member, @global)
        fails "`E_INVALIDARG` or a similar code for tokens of other kinds.";

    /// The role of a method in a property or event (ECMA-335 II.23.1.12).
    fn method_semantics(
        method: MethodDef, association: impl Into<Token> as any_token
    ) -> MethodSemanticsAttributes
        = GetMethodSemantics(method, association, @semantics)
        fails "`CLDB_E_RECORD_NOTFOUND` if the method does not belong to it.";

    /// The name, signature, attributes and methods of a property.
    fn property_props(property: Property) -> {PropertyProps}
        = GetPropertyProps(property, @class, ~{name}, @attributes, @(signature_blob), @<value>,
            @setter, @getter, ~[others])
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such property.";

    /// The name, type, attributes and methods of an event.
    fn event_props(event: Event) -> {EventProps}
        = GetEventProps(event, @class, ~{name}, @attributes, @event_type, @add_on, @remove_on,
            @fire, ~[others]) fails "`CLDB_E_RECORD_NOTFOUND` if there is no such event.";

    /// The owner, constructor and arguments of a custom attribute.
    fn custom_attribute_props(attribute: CustomAttribute) -> {CustomAttributeProps}
        = GetCustomAttributeProps(attribute, @owner, @constructor, @(value))
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such attribute.";

    /// The action and permissions of a security declaration.
    fn permission_set_props(permission: Permission) -> {PermissionSetProps}
        = GetPermissionSetProps(permission, @action, @(permissions))
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such declaration.";

    /// The marshalling of a field or parameter, as ECMA-335 II.23.4 encodes it; `None` if it has no
    /// descriptor.
    fn field_marshal(item: impl Into<Token> as any_token) -> Vec<u8>
        = GetFieldMarshal(item, @(bytes)) none on CLDB_E_RECORD_NOTFOUND fails OTHERS;

    /// The arguments of an item's custom attribute of the type with this full name, as ECMA-335
    /// II.23.3 encodes them; `None` where the item has none.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn example(metadata: &Metadata<'_>, method: MethodDef) -> Result<()> {
    /// let by_compiler = metadata
    ///     .custom_attribute_by_name(
    ///         method,
    ///         "System.Runtime.CompilerServices.CompilerGeneratedAttribute",
    ///     )?
    ///     .is_some();
    /// # Ok(())
    /// # }
    /// ```
    fn custom_attribute_by_name(owner: impl Into<Token> as any_token, type_name: &str) -> Vec<u8>
        = GetCustomAttributeByName(owner, type_name.as_ptr(), @(value))
        none on S_FALSE_OR_RECORD_NOTFOUND;

    /// The layout that a type declares; `None` if it declares none.
    fn class_layout(class: TypeDef) -> {DeclaredLayout}
        = GetClassLayout(class, @pack_size, ~[fields], @class_size) none on CLDB_E_RECORD_NOTFOUND
        fails OTHERS;

    /// The native function to which a method (or a field) maps; `None` if it maps to none.
    fn pinvoke_map(member: impl Into<Token> as any_token) -> {PinvokeMap}
        = GetPinvokeMap(member, @attributes, ~{import_name}, @import_dll) none on CLDB_E_RECORD_NOTFOUND
        fails OTHERS;

    /// The bytes of a stand-alone signature, as ECMA-335 II.23.2.3 and II.23.2.6 encode it.
    fn sig_from_token(token: StandAloneSig) -> Vec<u8> = [own] GetSigFromToken(token, @(bytes))
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such signature.";

    /// The UTF-16 of a string literal, unchanged, including zeros and lone surrogates.
    fn user_string_utf16(string: UserString) -> Vec<u16> = GetUserString(string, ~[items])
        fails "The error of the native call if there is no such string.";

    /// The name of an item as it is in the heap of names.
    #[deprecated = "use the call for items of its kind, such as `type_def_props`"]
    fn name_from_token(token: impl Into<Token> as any_token) -> String
        = GetNameFromToken(token, @name)
        fails "`CLDB_E_RECORD_NOTFOUND` if there is no such item, `E_INVALIDARG` if its kind \
               has no name.";

    /// The native calling convention that modifiers in the signature of a method request (ECMA-335
    /// II.23.1.8).
    fn native_call_conv_from_sig(
        signature: impl AsSignature<signature::MethodSig> as checked
    ) -> CallConv = GetNativeCallConvFromSig(signature.as_ptr(), signature.len(), @convention)
        fails "The signature cannot be parsed, and is not passed to the runtime; the error of the native call.";
}

/// The calls of `IMetaDataImport`: the definitions and references of a module.
///
/// All calls are allowed in every callback that is not during a collection.
#[doc(alias = "IMetaDataImport")]
pub trait MetadataImport: Sealed {
    __metadata_import_enumerations! { enumerations }
    __metadata_import_enumerations_by_name! { enumerations }
    __metadata_import! { calls }

    /// Decodes the signature of a composed type; [`type_spec_from_token`](Self::type_spec_from_token) returns
    /// the bytes.
    ///
    /// # Errors
    ///
    /// The errors of that call; the signature violates ECMA-335 II.23.2: the error names the rule.
    fn type_spec(&self, type_spec: TypeSpec) -> Result<TypeSpecSig> {
        TypeSpecSig::parse(&self.type_spec_from_token(type_spec)?)
            .map_err(|error| Error::invalid("the signature of the type", error))
    }

    /// The methods that a type declares as implementations of others, such as explicit
    /// implementations of interfaces.
    ///
    /// Wraps `IMetaDataImport::EnumMethodImpls`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call, as an item.
    #[doc(alias = "EnumMethodImpls")]
    fn method_impls(&self, class: TypeDef) -> MetadataIter<'_, MethodImpl> {
        const CALL: &str = "IMetaDataImport::EnumMethodImpls";
        let import = match self.metadata().import() {
            Ok(import) => import,
            Err(error) => return MetadataIter::failed(CALL, error),
        };
        MetadataIter::new(
            CALL,
            Source::Import(import),
            move |native, buffer, capacity, given| {
                native_call!(
                    import,
                    IMetaDataImport::EnumMethodImpls(
                        native,
                        class.raw(),
                        buffer,
                        second_half(buffer),
                        capacity,
                        given,
                    )
                )
            },
        )
    }

    /// Decodes a stand-alone signature; [`sig_from_token`](Self::sig_from_token) returns the bytes.
    ///
    /// # Errors
    ///
    /// The errors of that call; the signature violates ECMA-335 II.23.2: the error names the rule.
    fn signature(&self, token: StandAloneSig) -> Result<signature::StandAloneSig> {
        signature::StandAloneSig::parse(&self.sig_from_token(token)?)
            .map_err(|error| Error::invalid("the signature", error))
    }

    /// The text of a string literal. Lone surrogates become U+FFFD;
    /// [`user_string_utf16`](Self::user_string_utf16) keeps them.
    ///
    /// # Errors
    ///
    /// The errors of `user_string_utf16`.
    fn user_string(&self, string: UserString) -> Result<String> {
        Ok(String::from_utf16_lossy(&self.user_string_utf16(string)?))
    }

    /// Whether the metadata has an item with this token.
    ///
    /// Wraps `IMetaDataImport::IsValidToken`. **Context**: not during a collection.
    #[doc(alias = "IsValidToken")]
    fn is_valid_token(&self, token: impl Into<Token>) -> bool {
        let import = self.metadata().import();
        import
            .and_then(|import| import.in_use("IMetaDataImport::IsValidToken"))
            // SAFETY: the call accepts any number.
            .is_ok_and(|import| unsafe { import.IsValidToken(token.into().raw()) }.as_bool())
    }
}

impl MetadataImport for Metadata<'_> {}
