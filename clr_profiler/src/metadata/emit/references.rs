//! `IMetaDataEmit`: references, signatures and string literals.

use crate::error::Result;
use crate::metadata::handle::{Metadata, MetadataWriter, SealedWriter};
use crate::metadata::signature::AsSignature;
use crate::metadata::signature::checked;
use crate::native::any_token;
use crate::native::{cast, length, start_or_null};
use crate::native::{read_array, typed};
use clr_profiler_il::signature::{self, MemberRefSig, TypeSpecSig};
use clr_profiler_il::token::{
    MemberRef, ModuleRef, StandAloneSig, Token, TypeDef, TypeRef, TypeSpec, UserString,
};
use clr_profiler_sys as sys;
use sys::Interface;

/// The assembly's side of the scope that is referred to, and of the one that is written.
fn sides(
    call: &'static str,
    scope: &Metadata<'_>,
    emit: &sys::IMetaDataEmit2,
) -> Result<(sys::IMetaDataAssemblyImport, sys::IMetaDataAssemblyEmit)> {
    Ok((cast(&scope.import, call)?, cast(emit, call)?))
}

#[doc(hidden)]
#[macro_export]
macro_rules! __metadata_emit_references {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? MetadataEmitReferences = IMetaDataEmit from emit;
    /// Adds a reference to a type by its scope (an assembly, a module or an enclosing type) and its name
    /// with namespace.
    fn define_type_ref_by_name(scope: impl Into<Token> as any_token, name: &str) -> TypeRef
        = DefineTypeRefByName(scope, name.as_ptr(), @class)
        fails "A name with a zero in it; what the metadata answers.";

    /// Adds a reference to a method or field by its parent (a type of any kind, a module), name and
    /// signature.
    fn define_member_ref(
        parent: impl Into<Token> as any_token, name: &str, signature: impl AsSignature<MemberRefSig>
        as checked
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
    } };
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about references to other modules, signatures and string literals.
pub trait MetadataEmitReferences: SealedWriter {
    __metadata_emit_references! { calls }

    /// Adds a reference to a type of another scope, and to its assembly.
    ///
    /// The scope that defines the type is read as an assembly's; `hash` is that of its file, or empty.
    ///
    /// Wraps `IMetaDataEmit::DefineImportType`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineImportType")]
    fn define_import_type(
        &self,
        scope: &Metadata<'_>,
        hash: &[u8],
        class: TypeDef,
    ) -> Result<TypeRef> {
        const CALL: &str = "IMetaDataEmit::DefineImportType";
        let (assembly_import, assembly_emit) = sides(CALL, scope, self.emit())?;
        let mut reference = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineImportType(
                assembly_import.as_raw(),
                start_or_null(hash).cast(),
                length(CALL, hash)?,
                scope.as_raw(),
                class.raw(),
                assembly_emit.as_raw(),
                &mut reference
            )
        )?;
        typed(CALL, reference)
    }

    /// Adds a reference to a member of another scope, with the types that its signature names; `parent`
    /// is the reference to its type.
    ///
    /// Wraps `IMetaDataEmit::DefineImportMember`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineImportMember")]
    fn define_import_member(
        &self,
        scope: &Metadata<'_>,
        hash: &[u8],
        member: impl Into<Token>,
        parent: impl Into<Token>,
    ) -> Result<MemberRef> {
        const CALL: &str = "IMetaDataEmit::DefineImportMember";
        let (assembly_import, assembly_emit) = sides(CALL, scope, self.emit())?;
        let mut reference = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineImportMember(
                assembly_import.as_raw(),
                start_or_null(hash).cast(),
                length(CALL, hash)?,
                scope.as_raw(),
                member.into().raw(),
                assembly_emit.as_raw(),
                parent.into().raw(),
                &mut reference
            )
        )?;
        typed(CALL, reference)
    }

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
        let (assembly_import, assembly_emit) = sides(CALL, scope, self.emit())?;
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
