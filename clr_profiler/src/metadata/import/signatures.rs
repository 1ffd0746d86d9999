//! `IMetaDataImport`: signatures of their own, string literals and tokens as such.

use crate::error::{Error, Result};
use crate::metadata::enumerate::Source;
use crate::metadata::handle::{Metadata, Sealed};
use crate::metadata::signature::{AsSignature, checked};
use crate::native::any_token;
use clr_profiler_il::signature;
use clr_profiler_il::token::{StandAloneSig, Token, UserString};

table! { ($) __metadata_import_signatures_enumerations:
    MetadataImportSignatures = IMetaDataImport from import;

    /// The signatures of their own: of locals, and of what `calli` calls.
    fn signatures() -> StandAloneSig = EnumSignatures();

    /// The string literals.
    fn user_strings() -> UserString = EnumUserStrings();
}

table! { ($) __metadata_import_signatures:
    MetadataImportSignatures = IMetaDataImport from import;

    /// The bytes of a signature of its own, as ECMA-335 II.23.2.3 and II.23.2.6 encode it.
    fn sig_from_token(token: StandAloneSig) -> Vec<u8> = GetSigFromToken(token, @(bytes))
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such signature.";

    /// The UTF-16 of a string literal as it is, with zeros and lone surrogates.
    fn user_string_utf16(string: UserString) -> Vec<u16> = GetUserString(string, ~[items])
        fails "What the metadata answers where there is no such string.";

    /// The name of an item as it stands in the heap of names. Prefer the call for items of its
    /// kind: this one is deprecated.
    fn name_from_token(token: impl Into<Token> as any_token) -> String
        = GetNameFromToken(token, @name)
        fails "`CLDB_E_RECORD_NOTFOUND` where there is no such item, `E_INVALIDARG` where its kind \
               has no name.";

    /// The native calling convention that modifiers in the signature of a method ask for: one of
    /// `pmCallConvMask` of `CorPinvokeMap`, ECMA-335 II.23.1.8.
    fn native_call_conv_from_sig(
        signature: impl AsSignature<signature::MethodSig> as checked
    ) -> u32 = GetNativeCallConvFromSig(signature.as_ptr(), signature.len(), @convention)
        fails "What the metadata answers; a signature that cannot be parsed is not handed over.";
}

/// The part of [`MetadataImport`](crate::MetadataImport) about signatures of their own, string
/// literals and tokens as such.
pub trait MetadataImportSignatures: Sealed {
    __metadata_import_signatures_enumerations! { enumerations }
    __metadata_import_signatures! { calls }

    /// A signature of its own, decoded; [`sig_from_token`](Self::sig_from_token) gives the bytes.
    ///
    /// # Errors
    ///
    /// Those of that call, and where the signature breaks a rule of ECMA-335 II.23.2: which one.
    fn signature(&self, token: StandAloneSig) -> Result<signature::StandAloneSig> {
        signature::StandAloneSig::parse(&self.sig_from_token(token)?)
            .map_err(|error| Error::invalid("the signature", error))
    }

    /// The text of a string literal. Lone surrogates become U+FFFD;
    /// [`user_string_utf16`](Self::user_string_utf16) keeps them.
    ///
    /// # Errors
    ///
    /// What `user_string_utf16` returns.
    fn user_string(&self, string: UserString) -> Result<String> {
        Ok(String::from_utf16_lossy(&self.user_string_utf16(string)?))
    }

    /// Whether the metadata has an item with this token.
    ///
    /// Wraps `IMetaDataImport::IsValidToken`. **Context**: not during a collection.
    #[doc(alias = "IsValidToken")]
    fn is_valid_token(&self, token: impl Into<Token>) -> bool {
        // SAFETY: any number may be asked for.
        unsafe { self.import().IsValidToken(token.into().raw()) }.as_bool()
    }
}

impl MetadataImportSignatures for Metadata<'_> {}
