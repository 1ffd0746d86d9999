//! `IMetaDataImport`: methods, fields, parameters and references to members.

use super::member_props::{FieldProps, MemberProps, MemberRefProps, MethodProps, ParamProps, Rva};
use crate::metadata::enumerate::Source;
use crate::metadata::enumerate::{MetadataIter, MethodImpl, second_half};
use crate::metadata::handle::{Metadata, Sealed, source};
use crate::metadata::signature::SignatureFilter;
use crate::metadata::signature::wanted;
use crate::native::{any_token, into_token};
use clr_profiler_il::signature::{FieldSig, MemberRefSig, MethodSig};
use clr_profiler_il::token::{FieldDef, MemberRef, MethodDef, ParamDef, Token, TypeDef};

table! { ($) __metadata_import_members_enumerations:
    MetadataImportMembers = IMetaDataImport from import;

    /// The methods and fields of a type.
    fn members(class: TypeDef) -> Token = EnumMembers(class);

    /// The methods of a type, constructors and accessors too.
    fn methods(class: TypeDef) -> MethodDef = EnumMethods(class);

    /// The fields of a type.
    fn fields(class: TypeDef) -> FieldDef = EnumFields(class);

    /// The records of a method's parameters. Parameters about which there is nothing to say have none.
    fn params(method: MethodDef) -> ParamDef = EnumParams(method);

    /// The references to members of this parent, a type of any kind for example.
    fn member_refs(parent: impl Into<Token> as into_token) -> MemberRef = EnumMemberRefs(parent);

    /// Methods and references to methods for which there is no definition yet, as a linker asks for them.
    fn unresolved_methods() -> Token = EnumUnresolvedMethods();
}

table! { ($) __metadata_import_members_enumerations_by_name:
    MetadataImportMembers = IMetaDataImport from named;

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

table! { ($) __metadata_import_members:
    MetadataImportMembers = IMetaDataImport from import;

    /// The method or field of a type with this name and signature.
    ///
    /// `None` as the type looks among what stands outside of types. Members of base types are not
    /// found. Without a signature ([`AnySignature`](crate::AnySignature)) it is the first one of the
    /// name.
    fn find_member(
        class: Option<TypeDef>, name: &str, signature: impl SignatureFilter<MemberRefSig> as wanted
    ) -> Token = FindMember(class, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is none.";

    /// The method of a type with this name and signature, like [`find_member`](Self::find_member).
    fn find_method(
        class: Option<TypeDef>, name: &str, signature: impl SignatureFilter<MethodSig> as wanted
    ) -> MethodDef = FindMethod(class, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is none.";

    /// The field of a type with this name and signature, like [`find_member`](Self::find_member).
    fn find_field(
        class: Option<TypeDef>, name: &str, signature: impl SignatureFilter<FieldSig> as wanted
    ) -> FieldDef = FindField(class, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is none.";

    /// The reference to a member by its parent, name and signature.
    fn find_member_ref(
        parent: impl Into<Token> as any_token, name: &str,
        signature: impl SignatureFilter<MemberRefSig> as wanted
    ) -> MemberRef
        = FindMemberRef(parent, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails "`CLDB_E_RECORD_NOTFOUND` where the module has no such reference.";

    /// Name, signature and attributes of a method that the module defines.
    fn method_props(method: MethodDef) -> {MethodProps}
        = GetMethodProps(method, @class, ~{name}, @attributes, @(signature_blob), @rva,
            @implementation) fails "`CLDB_E_RECORD_NOTFOUND` where there is no such method.";

    /// Name, signature, attributes and constant of a field that the module defines.
    fn field_props(field: FieldDef) -> {FieldProps}
        = GetFieldProps(field, @class, ~{name}, @attributes, @(signature_blob), @<value>)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such field.";

    /// What [`method_props`](Self::method_props) or [`field_props`](Self::field_props) tells, for
    /// a token of either kind.
    fn member_props(member: impl Into<Token> as any_token) -> {MemberProps}
        = GetMemberProps(member, @class, ~{name}, @attributes, @(signature_blob), @rva,
            @implementation, @<value>)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such member.";

    /// Parent, name and signature of a reference to a member.
    fn member_ref_props(member: MemberRef) -> {MemberRefProps}
        = GetMemberRefProps(member, @parent, ~{name}, @(signature_blob))
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such reference.";

    /// Name, place, attributes and default of a parameter.
    fn param_props(parameter: ParamDef) -> {ParamProps}
        = GetParamProps(parameter, @method, @sequence, ~{name}, @attributes, @<value>)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such parameter.";

    /// The record of a parameter by its place: 1 is the first one, 0 the value that is returned.
    /// `None` where the metadata has nothing about it.
    fn param_for_method_index(method: MethodDef, sequence: u32) -> ParamDef
        = GetParamForMethodIndex(method, sequence, @parameter) none on CLDB_E_RECORD_NOTFOUND
        fails "What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.";

    /// Where the body of a method or the data of a field stands.
    fn rva(member: impl Into<Token> as any_token) -> {Rva} = GetRVA(member, @rva, @implementation)
        fails "`CLDB_E_RECORD_NOTFOUND` for a field without data.";

    /// Whether a member stands outside of types.
    fn is_global(member: impl Into<Token> as any_token) -> bool = IsGlobal(member, @global)
        fails "`E_INVALIDARG` or the like for tokens of other kinds.";
}

/// The part of [`MetadataImport`](crate::MetadataImport) about methods, fields and parameters.
pub trait MetadataImportMembers: Sealed {
    __metadata_import_members_enumerations! { enumerations }
    __metadata_import_members_enumerations_by_name! { enumerations }
    __metadata_import_members! { calls }

    /// The methods that a type declares as implementations of others, such as explicit
    /// implementations of interfaces.
    ///
    /// Wraps `IMetaDataImport::EnumMethodImpls`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumMethodImpls")]
    fn method_impls(&self, class: TypeDef) -> MetadataIter<'_, MethodImpl> {
        let import = self.import();
        MetadataIter::new(
            "IMetaDataImport::EnumMethodImpls",
            source(self),
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
}

impl MetadataImportMembers for Metadata<'_> {}
