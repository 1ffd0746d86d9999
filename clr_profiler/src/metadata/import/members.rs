//! `IMetaDataImport`: methods, fields, parameters and references to members.

use std::ffi::c_void;

use super::member_props::{FieldProps, MemberProps, MemberRefProps, MethodProps, ParamProps, Rva};
use crate::error::Result;
use crate::metadata::convert::{blob, found, length as length_of, start_or_null, wide};
use crate::metadata::enumerate::{MetadataIter, MethodImpl, enumerate, second_half};
use crate::metadata::handle::{Metadata, Sealed, source};
use crate::metadata::signature::SignatureFilter;
use crate::metadata::value::DefaultValue;
use crate::native::{read_text, typed};
use clr_profiler_il::signature::{FieldSig, MemberRefSig, MethodSig};
use clr_profiler_il::token::{FieldDef, MemberRef, MethodDef, ParamDef, Token, TypeDef};

/// The part of [`MetadataImport`](crate::MetadataImport) about methods, fields and parameters.
pub trait MetadataImportMembers: Sealed {
    /// The methods and fields of a type.
    ///
    /// Wraps `IMetaDataImport::EnumMembers`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumMembers")]
    fn members(&self, class: TypeDef) -> MetadataIter<'_, Token> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumMembers(class.raw())
        )
    }

    /// The methods and fields of a type that have this name.
    ///
    /// Wraps `IMetaDataImport::EnumMembersWithName`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name that cannot be passed; what the metadata answers, as an item.
    #[doc(alias = "EnumMembersWithName")]
    fn members_with_name(&self, class: TypeDef, name: &str) -> Result<MetadataIter<'_, Token>> {
        let name = wide("IMetaDataImport::EnumMembersWithName", name)?;
        Ok(enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumMembersWithName(class.raw(), name.as_ptr())
        ))
    }

    /// The methods of a type, constructors and accessors too.
    ///
    /// Wraps `IMetaDataImport::EnumMethods`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumMethods")]
    fn methods(&self, class: TypeDef) -> MetadataIter<'_, MethodDef> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumMethods(class.raw())
        )
    }

    /// The methods of a type that have this name.
    ///
    /// Wraps `IMetaDataImport::EnumMethodsWithName`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name that cannot be passed; what the metadata answers, as an item.
    #[doc(alias = "EnumMethodsWithName")]
    fn methods_with_name(&self, class: TypeDef, name: &str) -> Result<MetadataIter<'_, MethodDef>> {
        let name = wide("IMetaDataImport::EnumMethodsWithName", name)?;
        Ok(enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumMethodsWithName(class.raw(), name.as_ptr())
        ))
    }

    /// The fields of a type.
    ///
    /// Wraps `IMetaDataImport::EnumFields`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumFields")]
    fn fields(&self, class: TypeDef) -> MetadataIter<'_, FieldDef> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumFields(class.raw())
        )
    }

    /// The fields of a type that have this name.
    ///
    /// Wraps `IMetaDataImport::EnumFieldsWithName`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name that cannot be passed; what the metadata answers, as an item.
    #[doc(alias = "EnumFieldsWithName")]
    fn fields_with_name(&self, class: TypeDef, name: &str) -> Result<MetadataIter<'_, FieldDef>> {
        let name = wide("IMetaDataImport::EnumFieldsWithName", name)?;
        Ok(enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumFieldsWithName(class.raw(), name.as_ptr())
        ))
    }

    /// The records of a method's parameters. Parameters about which there is nothing to say have none.
    ///
    /// Wraps `IMetaDataImport::EnumParams`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumParams")]
    fn params(&self, method: MethodDef) -> MetadataIter<'_, ParamDef> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumParams(method.raw())
        )
    }

    /// The references to members of this parent, a type of any kind for example.
    ///
    /// Wraps `IMetaDataImport::EnumMemberRefs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumMemberRefs")]
    fn member_refs(&self, parent: impl Into<Token>) -> MetadataIter<'_, MemberRef> {
        let parent = parent.into().raw();
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumMemberRefs(parent)
        )
    }

    /// Methods and references to methods for which there is no definition yet, as a linker asks for them.
    ///
    /// Wraps `IMetaDataImport::EnumUnresolvedMethods`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumUnresolvedMethods")]
    fn unresolved_methods(&self) -> MetadataIter<'_, Token> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumUnresolvedMethods()
        )
    }

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

    /// The method or field of a type with this name and signature.
    ///
    /// `None` as the type looks among what stands outside of types. Members of base types are not
    /// found. Without a signature ([`AnySignature`](crate::AnySignature)) it is the first one of the
    /// name.
    ///
    /// Wraps `IMetaDataImport::FindMember`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is none.
    #[doc(alias = "FindMember")]
    fn find_member(
        &self,
        class: Option<TypeDef>,
        name: &str,
        signature: impl SignatureFilter<MemberRefSig>,
    ) -> Result<Token> {
        const CALL: &str = "IMetaDataImport::FindMember";
        let name = wide(CALL, name)?;
        let signature = signature.wanted(CALL)?;
        let signature = signature.as_deref().unwrap_or_default();
        let mut member = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindMember(
                class.map_or(0, TypeDef::raw),
                name.as_ptr(),
                start_or_null(signature),
                length_of(CALL, signature)?,
                &mut member,
            )
        )?;
        Ok(Token::new(member))
    }

    /// The method of a type with this name and signature, like [`find_member`](Self::find_member).
    ///
    /// Wraps `IMetaDataImport::FindMethod`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is none.
    #[doc(alias = "FindMethod")]
    fn find_method(
        &self,
        class: Option<TypeDef>,
        name: &str,
        signature: impl SignatureFilter<MethodSig>,
    ) -> Result<MethodDef> {
        const CALL: &str = "IMetaDataImport::FindMethod";
        let name = wide(CALL, name)?;
        let signature = signature.wanted(CALL)?;
        let signature = signature.as_deref().unwrap_or_default();
        let mut member = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindMethod(
                class.map_or(0, TypeDef::raw),
                name.as_ptr(),
                start_or_null(signature),
                length_of(CALL, signature)?,
                &mut member,
            )
        )?;
        typed(CALL, member)
    }

    /// The field of a type with this name and signature, like [`find_member`](Self::find_member).
    ///
    /// Wraps `IMetaDataImport::FindField`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is none.
    #[doc(alias = "FindField")]
    fn find_field(
        &self,
        class: Option<TypeDef>,
        name: &str,
        signature: impl SignatureFilter<FieldSig>,
    ) -> Result<FieldDef> {
        const CALL: &str = "IMetaDataImport::FindField";
        let name = wide(CALL, name)?;
        let signature = signature.wanted(CALL)?;
        let signature = signature.as_deref().unwrap_or_default();
        let mut member = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindField(
                class.map_or(0, TypeDef::raw),
                name.as_ptr(),
                start_or_null(signature),
                length_of(CALL, signature)?,
                &mut member,
            )
        )?;
        typed(CALL, member)
    }

    /// The reference to a member by its parent, name and signature.
    ///
    /// Wraps `IMetaDataImport::FindMemberRef`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where the module has no such reference.
    #[doc(alias = "FindMemberRef")]
    fn find_member_ref(
        &self,
        parent: impl Into<Token>,
        name: &str,
        signature: impl SignatureFilter<MemberRefSig>,
    ) -> Result<MemberRef> {
        const CALL: &str = "IMetaDataImport::FindMemberRef";
        let name = wide(CALL, name)?;
        let signature = signature.wanted(CALL)?;
        let signature = signature.as_deref().unwrap_or_default();
        let mut member = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindMemberRef(
                parent.into().raw(),
                name.as_ptr(),
                start_or_null(signature),
                length_of(CALL, signature)?,
                &mut member,
            )
        )?;
        typed(CALL, member)
    }

    /// Name, signature and attributes of a method that the module defines.
    ///
    /// Wraps `IMetaDataImport::GetMethodProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such method.
    #[doc(alias = "GetMethodProps")]
    fn method_props(&self, method: MethodDef) -> Result<MethodProps> {
        let (mut class, mut attributes, mut rva, mut implementation) = (0, 0, 0, 0);
        let (mut signature, mut signature_length) = (std::ptr::null(), 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetMethodProps(
                    method.raw(),
                    &mut class,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut signature,
                    &mut signature_length,
                    &mut rva,
                    &mut implementation,
                )
            )
        })?;
        Ok(MethodProps {
            class: typed("IMetaDataImport::GetMethodProps", class)?,
            name,
            attributes,
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(signature, signature_length) },
            rva,
            implementation,
        })
    }

    /// Name, signature, attributes and constant of a field that the module defines.
    ///
    /// Wraps `IMetaDataImport::GetFieldProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such field.
    #[doc(alias = "GetFieldProps")]
    fn field_props(&self, field: FieldDef) -> Result<FieldProps> {
        let (mut class, mut attributes) = (0, 0);
        let (mut signature, mut signature_length) = (std::ptr::null(), 0);
        let (mut kind, mut value, mut value_length) = (0, std::ptr::null::<c_void>(), 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetFieldProps(
                    field.raw(),
                    &mut class,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut signature,
                    &mut signature_length,
                    &mut kind,
                    &mut value,
                    &mut value_length,
                )
            )
        })?;
        Ok(FieldProps {
            class: typed("IMetaDataImport::GetFieldProps", class)?,
            name,
            attributes,
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(signature, signature_length) },
            // SAFETY: the metadata says that a constant of that type stands there.
            value: unsafe { DefaultValue::read(kind, value, value_length) },
        })
    }

    /// What [`method_props`](Self::method_props) or [`field_props`](Self::field_props) tells, for
    /// a token of either kind.
    ///
    /// Wraps `IMetaDataImport::GetMemberProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such member.
    #[doc(alias = "GetMemberProps")]
    fn member_props(&self, member: impl Into<Token>) -> Result<MemberProps> {
        let member = member.into().raw();
        let (mut class, mut attributes, mut rva, mut implementation) = (0, 0, 0, 0);
        let (mut signature, mut signature_length) = (std::ptr::null(), 0);
        let (mut kind, mut value, mut value_length) = (0, std::ptr::null::<c_void>(), 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetMemberProps(
                    member,
                    &mut class,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut signature,
                    &mut signature_length,
                    &mut rva,
                    &mut implementation,
                    &mut kind,
                    &mut value,
                    &mut value_length,
                )
            )
        })?;
        Ok(MemberProps {
            class: typed("IMetaDataImport::GetMemberProps", class)?,
            name,
            attributes,
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(signature, signature_length) },
            rva,
            implementation,
            // SAFETY: the metadata says that a constant of that type stands there.
            value: unsafe { DefaultValue::read(kind, value, value_length) },
        })
    }

    /// Parent, name and signature of a reference to a member.
    ///
    /// Wraps `IMetaDataImport::GetMemberRefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such reference.
    #[doc(alias = "GetMemberRefProps")]
    fn member_ref_props(&self, member: MemberRef) -> Result<MemberRefProps> {
        let mut parent = 0;
        let (mut signature, mut signature_length) = (std::ptr::null(), 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetMemberRefProps(
                    member.raw(),
                    &mut parent,
                    buffer,
                    capacity,
                    length,
                    &mut signature,
                    &mut signature_length,
                )
            )
        })?;
        Ok(MemberRefProps {
            parent: Token::new(parent),
            name,
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(signature, signature_length) },
        })
    }

    /// Name, place, attributes and default of a parameter.
    ///
    /// Wraps `IMetaDataImport::GetParamProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such parameter.
    #[doc(alias = "GetParamProps")]
    fn param_props(&self, parameter: ParamDef) -> Result<ParamProps> {
        let (mut method, mut sequence, mut attributes) = (0, 0, 0);
        let (mut kind, mut value, mut value_length) = (0, std::ptr::null::<c_void>(), 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetParamProps(
                    parameter.raw(),
                    &mut method,
                    &mut sequence,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut kind,
                    &mut value,
                    &mut value_length,
                )
            )
        })?;
        Ok(ParamProps {
            method: typed("IMetaDataImport::GetParamProps", method)?,
            sequence,
            name,
            attributes,
            // SAFETY: the metadata says that a constant of that type stands there.
            value: unsafe { DefaultValue::read(kind, value, value_length) },
        })
    }

    /// The record of a parameter by its place: 1 is the first one, 0 the value that is returned.
    /// `None` where the metadata has nothing about it.
    ///
    /// Wraps `IMetaDataImport::GetParamForMethodIndex`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.
    #[doc(alias = "GetParamForMethodIndex")]
    fn param_for_method_index(&self, method: MethodDef, sequence: u32) -> Result<Option<ParamDef>> {
        let mut parameter = 0;
        let answer = native_call!(
            self.import(),
            IMetaDataImport::GetParamForMethodIndex(method.raw(), sequence, &mut parameter)
        );
        found(answer)?
            .map(|_| typed("IMetaDataImport::GetParamForMethodIndex", parameter))
            .transpose()
    }

    /// Where the body of a method or the data of a field stands.
    ///
    /// Wraps `IMetaDataImport::GetRVA`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` for a field without data.
    #[doc(alias = "GetRVA")]
    fn rva(&self, member: impl Into<Token>) -> Result<Rva> {
        let (mut rva, mut implementation) = (0, 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetRVA(member.into().raw(), &mut rva, &mut implementation)
        )?;
        Ok(Rva {
            rva,
            implementation,
        })
    }

    /// Whether a member stands outside of types.
    ///
    /// Wraps `IMetaDataImport::IsGlobal`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` or the like for tokens of other kinds.
    #[doc(alias = "IsGlobal")]
    fn is_global(&self, member: impl Into<Token>) -> Result<bool> {
        let mut global = 0;
        native_call!(
            self.import(),
            IMetaDataImport::IsGlobal(member.into().raw(), &mut global)
        )?;
        Ok(global != 0)
    }
}

impl MetadataImportMembers for Metadata<'_> {}
