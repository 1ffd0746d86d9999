//! `IMetaDataImport`: signatures of their own, string literals and tokens as such.

use crate::error::{Error, Result};
use crate::metadata::convert::{blob, length as length_of, utf8};
use crate::metadata::enumerate::{MetadataIter, enumerate};
use crate::metadata::handle::{Metadata, Sealed, source};
use crate::native::read_array;
use clr_profiler_il::signature;
use clr_profiler_il::token::{StandAloneSig, Token, UserString};

/// The part of [`MetadataImport`](crate::MetadataImport) about signatures of their own, string
/// literals and tokens as such.
pub trait MetadataImportSignatures: Sealed {
    /// The signatures of their own: of locals, and of what `calli` calls.
    ///
    /// Wraps `IMetaDataImport::EnumSignatures`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumSignatures")]
    fn signatures(&self) -> MetadataIter<'_, StandAloneSig> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumSignatures()
        )
    }

    /// The string literals.
    ///
    /// Wraps `IMetaDataImport::EnumUserStrings`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumUserStrings")]
    fn user_strings(&self) -> MetadataIter<'_, UserString> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport::EnumUserStrings()
        )
    }

    /// The bytes of a signature of its own, as ECMA-335 II.23.2.3 and II.23.2.6 encode it.
    ///
    /// Wraps `IMetaDataImport::GetSigFromToken`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such signature.
    #[doc(alias = "GetSigFromToken")]
    fn sig_from_token(&self, token: StandAloneSig) -> Result<Vec<u8>> {
        let (mut start, mut length) = (std::ptr::null(), 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetSigFromToken(token.raw(), &mut start, &mut length)
        )?;
        // SAFETY: the metadata says that its blob of that length stands there.
        Ok(unsafe { blob(start, length) })
    }

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

    /// The UTF-16 of a string literal as it is, with zeros and lone surrogates.
    ///
    /// Wraps `IMetaDataImport::GetUserString`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers where there is no such string.
    #[doc(alias = "GetUserString")]
    fn user_string_utf16(&self, string: UserString) -> Result<Vec<u16>> {
        let import = self.import();
        read_array(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetUserString(string.raw(), buffer, capacity, length)
            )
        })
    }

    /// The name of an item as it stands in the heap of names. Prefer the call for items of its
    /// kind: this one is deprecated.
    ///
    /// Wraps `IMetaDataImport::GetNameFromToken`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such item, `E_INVALIDARG` where its kind has no
    /// name.
    #[doc(alias = "GetNameFromToken")]
    fn name_from_token(&self, token: impl Into<Token>) -> Result<String> {
        let mut name = std::ptr::null();
        native_call!(
            self.import(),
            IMetaDataImport::GetNameFromToken(token.into().raw(), &mut name)
        )?;
        // SAFETY: names in the heap end with a zero.
        Ok(unsafe { utf8(name) })
    }

    /// Whether the metadata has an item with this token.
    ///
    /// Wraps `IMetaDataImport::IsValidToken`. **Context**: not during a collection.
    #[doc(alias = "IsValidToken")]
    fn is_valid_token(&self, token: impl Into<Token>) -> bool {
        // SAFETY: any number may be asked for.
        unsafe { self.import().IsValidToken(token.into().raw()) }.as_bool()
    }

    /// The native calling convention that modifiers in the signature of a method ask for: one of
    /// `pmCallConvMask` of `CorPinvokeMap`, ECMA-335 II.23.1.8.
    ///
    /// Wraps `IMetaDataImport::GetNativeCallConvFromSig`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers; a signature that cannot be parsed is not handed over.
    #[doc(alias = "GetNativeCallConvFromSig")]
    fn native_call_conv_from_sig(
        &self,
        signature: impl crate::metadata::AsSignature<signature::MethodSig>,
    ) -> Result<u32> {
        const CALL: &str = "IMetaDataImport::GetNativeCallConvFromSig";
        let signature = signature.checked(CALL)?;
        let mut convention = 0;
        native_call!(
            self.import(),
            IMetaDataImport::GetNativeCallConvFromSig(
                signature.as_ptr().cast(),
                length_of(CALL, &signature)?,
                &mut convention,
            )
        )?;
        Ok(convention)
    }
}

impl MetadataImportSignatures for Metadata<'_> {}
