//! `IMetaDataEmit`: references, signatures and string literals.

use crate::error::Result;
use crate::metadata::handle::{Metadata, MetadataWriter, SealedWriter};
use crate::metadata::signature::AsSignature;
use crate::metadata::signature::checked;
use crate::native::any_token;
use crate::native::read_array;
use crate::native::{cast, length, start_or_null};
use clr_profiler_il::signature::{self, MemberRefSig, TypeSpecSig};
use clr_profiler_il::token::{
    MemberRef, ModuleRef, StandAloneSig, Token, TypeDef, TypeRef, TypeSpec, UserString,
};
use clr_profiler_sys as sys;
use sys::Interface;

/// The assembly's side of the scope that is referred to, and of the one that is written.
fn sides(
    writer: &(impl SealedWriter + ?Sized),
    call: &'static str,
    scope: &Metadata<'_>,
) -> Result<(sys::IMetaDataAssemblyImport, sys::IMetaDataAssemblyEmit)> {
    Ok((cast(&scope.import, call)?, cast(writer.emit(), call)?))
}

table! { ($) __metadata_emit_references:
    MetadataEmitReferences = IMetaDataEmit from emit;

    /// Adds a reference to a type by its scope (an assembly, a module or an enclosing type) and its name
    /// with namespace.
    fn define_type_ref_by_name(scope: impl Into<Token> as any_token, name: &str) -> TypeRef
        = DefineTypeRefByName(scope, name.as_ptr(), @class)
        fails "A name with a zero in it; what the metadata answers.";

    /// Adds a reference to a method or field by its parent (a type of any kind, a module), name and
    /// signature.
    fn define_member_ref(
        parent: impl Into<Token> as any_token, name: &str,
        signature: impl AsSignature<MemberRefSig> as checked
    ) -> MemberRef
        = DefineMemberRef(parent, name.as_ptr(), signature.as_ptr(), signature.len(), @member)
        fails "A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what \
               the metadata answers.";

    /// Gives a reference to a member another parent.
    fn set_parent(member: MemberRef, parent: impl Into<Token> as any_token) -> ()
        = SetParent(member, parent);

    /// Adds a reference to another module of the assembly, or to a native library.
    fn define_module_ref(name: &str) -> ModuleRef = DefineModuleRef(name.as_ptr(), @module)
        fails "A name with a zero in it; what the metadata answers.";

    /// The token of a signature of its own (of locals, or of what `calli` calls), added where it is not
    /// there yet.
    fn token_from_sig(
        signature: impl AsSignature<signature::StandAloneSig> as checked
    ) -> StandAloneSig = GetTokenFromSig(signature.as_ptr(), signature.len(), @token)
        fails "A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what \
               the metadata answers.";

    /// The token of a composed type, added where it is not there yet.
    fn token_from_type_spec(signature: impl AsSignature<TypeSpecSig> as checked) -> TypeSpec
        = GetTokenFromTypeSpec(signature.as_ptr(), signature.len(), @token)
        fails "A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what \
               the metadata answers.";

    /// The token of a string literal of this UTF-16, whatever it holds, added where it is not there yet.
    fn define_user_string_utf16(text: &[u16]) -> UserString
        = DefineUserString(text.as_ptr(), text.len(), @token)
        fails "What the metadata answers, such as `META_E_STRINGSPACE_FULL`.";

    /// Adds a reference to a type of another scope, and to its assembly.
    ///
    /// The scope that defines the type is read as an assembly's; `hash` is that of its file, or empty.
    fn define_import_type(scope: &Metadata<'_>, hash: &[u8], class: TypeDef) -> TypeRef
        = DefineImportType(sides.0.as_raw(), hash.as_ptr(), hash.len(), scope.as_raw(), class,
            sides.1.as_raw(), @reference)
        given sides = sides(scope);

    /// Adds a reference to a member of another scope, with the types that its signature names; `parent`
    /// is the reference to its type.
    fn define_import_member(
        scope: &Metadata<'_>, hash: &[u8], member: impl Into<Token> as any_token,
        parent: impl Into<Token> as any_token
    ) -> MemberRef
        = DefineImportMember(sides.0.as_raw(), hash.as_ptr(), hash.len(), scope.as_raw(), member,
            sides.1.as_raw(), parent, @reference)
        given sides = sides(scope);
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about references to other modules, signatures and string literals.
pub trait MetadataEmitReferences: SealedWriter {
    __metadata_emit_references! { calls }

    /// The token of a string literal, added where it is not there yet: the operand of `ldstr`.
    ///
    /// # Errors
    ///
    /// What [`define_user_string_utf16`](Self::define_user_string_utf16) returns.
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
    /// A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what the
    /// metadata answers.
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
        read_array(|capacity, count, buffer| {
            native_call!(
                self.emit(),
                IMetaDataEmit::TranslateSigWithScope(
                    assembly_import.as_raw(),
                    start_or_null(hash).cast(),
                    hash_length,
                    scope.as_raw(),
                    signature.as_ptr(),
                    signature_length,
                    assembly_emit.as_raw(),
                    self.emit().as_raw(),
                    buffer,
                    capacity,
                    count,
                )
            )
        })
    }
}

impl MetadataEmitReferences for MetadataWriter<'_> {}
