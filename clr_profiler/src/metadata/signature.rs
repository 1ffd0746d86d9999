//! [`AsSignature`]: signatures as values or as blobs, checked before the runtime gets them.

use std::borrow::Cow;

use super::import::{FieldProps, MemberProps, MemberRefProps, MethodProps, PropertyProps};
use super::import2::MethodSpecProps;
use crate::error::{Error, Result};
use crate::native::{Blob, CallContext};
use clr_profiler_il::signature::{
    FieldSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, StandAloneSig, TypeSpecSig,
};

use sealed::Signature;

/// A signature of the kind `S` as an argument: a reference to the value or to the bytes.
///
/// The runtime does not check signatures; the JIT compiler fails when it uses a wrong one. So bytes are
/// parsed first, and a violation of ECMA-335 II.23.2 is an error here.
pub trait AsSignature<S>: sealed::Sealed {
    /// The bytes.
    #[doc(hidden)]
    fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>>;
}

/// A signature to search for: one that [`AsSignature`] takes, or [`AnySignature`].
pub trait SignatureFilter<S> {
    /// The bytes; `None` if every signature matches.
    #[doc(hidden)]
    fn wanted(&self, call: &'static str) -> Result<Option<Cow<'_, [u8]>>>;
}

/// Searches for a member by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnySignature;

impl<S> SignatureFilter<S> for AnySignature {
    fn wanted(&self, _call: &'static str) -> Result<Option<Cow<'_, [u8]>>> {
        Ok(None)
    }
}

impl<S, T: AsSignature<S>> SignatureFilter<S> for T {
    fn wanted(&self, call: &'static str) -> Result<Option<Cow<'_, [u8]>>> {
        self.checked(call).map(Some)
    }
}

/// A signature that the library itself has encoded, which needs no check.
#[derive(Clone, Copy)]
pub(crate) struct Encoded<'a>(pub(crate) &'a [u8]);

impl sealed::Sealed for Encoded<'_> {}

impl<S> AsSignature<S> for Encoded<'_> {
    fn checked(&self, _call: &'static str) -> Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(self.0))
    }
}

/// The checked bytes of a signature that is passed as an argument.
pub(crate) fn checked<'s, S>(
    signature: &'s impl AsSignature<S>,
    context: &CallContext<'_>,
) -> Result<Blob<Cow<'s, [u8]>>> {
    Blob::of(context, signature.checked(context.call)?)
}

/// The checked bytes of a signature to search for; `None` if every signature matches.
pub(crate) fn wanted<'s, S>(
    signature: &'s impl SignatureFilter<S>,
    context: &CallContext<'_>,
) -> Result<Blob<Cow<'s, [u8]>>> {
    Blob::of(context, signature.wanted(context.call)?.unwrap_or_default())
}

mod sealed {
    use crate::error::Result;

    #[doc(hidden)]
    pub trait Sealed {}

    /// A kind of signature.
    #[doc(hidden)]
    pub trait Signature: Sized {
        fn encode(&self, call: &'static str) -> Result<Vec<u8>>;

        /// Refuses bytes that are not a signature of this kind.
        fn check(call: &'static str, bytes: &[u8]) -> Result<()>;
    }
}

impl sealed::Sealed for &[u8] {}
impl sealed::Sealed for &Vec<u8> {}
impl<const N: usize> sealed::Sealed for &[u8; N] {}
impl<S: Signature> sealed::Sealed for &S {}

impl<S: Signature> AsSignature<S> for &S {
    fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
        self.encode(call).map(Cow::Owned)
    }
}

impl<S: Signature> AsSignature<S> for &[u8] {
    fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
        S::check(call, self)?;
        Ok(Cow::Borrowed(self))
    }
}

impl<S: Signature> AsSignature<S> for &Vec<u8> {
    fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
        S::check(call, self)?;
        Ok(Cow::Borrowed(self))
    }
}

impl<S: Signature, const N: usize> AsSignature<S> for &[u8; N] {
    fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
        S::check(call, *self)?;
        Ok(Cow::Borrowed(*self))
    }
}

macro_rules! signatures {
    ($($signature:ident)*) => {$(
        impl Signature for $signature {
            fn encode(&self, call: &'static str) -> Result<Vec<u8>> {
                self.to_bytes().map_err(|error| Error::invalid(call, error))
            }

            fn check(call: &'static str, bytes: &[u8]) -> Result<()> {
                let parsed = $signature::parse(bytes).map(drop);
                parsed.map_err(|error| Error::invalid(call, error))
            }
        }
    )*};
}

signatures! {
    FieldSig MemberRefSig MethodSig MethodSpecSig PropertySig StandAloneSig TypeSpecSig
}

/// Generates a method that decodes `signature_blob`.
macro_rules! decoded {
    ($($props:ident: $signature:ident = $name:literal;)*) => {$(
        impl $props {
            /// Decodes the signature.
            ///
            /// # Errors
            ///
            /// It violates ECMA-335 II.23.2: the error names the rule and the offset.
            pub fn signature(&self) -> Result<$signature> {
                $signature::parse(&self.signature_blob)
                    .map_err(|error| Error::invalid($name, error))
            }
        }
    )*};
}

decoded! {
    MethodProps: MethodSig = "the signature of the method";
    FieldProps: FieldSig = "the signature of the field";
    MemberProps: MemberRefSig = "the signature of the member";
    MemberRefProps: MemberRefSig = "the signature of the member";
    PropertyProps: PropertySig = "the signature of the property";
    MethodSpecProps: MethodSpecSig = "the signature of the instantiation";
}

#[cfg(test)]
mod tests {
    use super::*;
    use clr_profiler_il::signature::TypeSig;

    fn bytes(signature: impl AsSignature<MethodSig>) -> Result<Vec<u8>> {
        signature.checked("X::Y").map(Cow::into_owned)
    }

    #[test]
    fn values_and_bytes_are_the_same() {
        let value = MethodSig::instance(TypeSig::Void, vec![TypeSig::String]);
        assert_eq!(bytes(&value).unwrap(), [0x20, 0x01, 0x01, 0x0e]);
        assert_eq!(
            bytes(&[0x20, 0x01, 0x01, 0x0e]).unwrap(),
            [0x20, 0x01, 0x01, 0x0e]
        );
    }

    #[test]
    fn what_cannot_be_parsed_is_not_handed_over() {
        let cut = bytes(&[0x20, 0x01, 0x01]).unwrap_err().to_string();
        assert!(cut.starts_with("X::Y: "), "{cut}");
        // The signature of a field is not one of a method.
        assert!(bytes(&[0x06, 0x08]).is_err());
    }

    #[test]
    fn any_signature_asks_for_none() {
        fn wanted(filter: impl SignatureFilter<FieldSig>) -> bool {
            filter.wanted("X::Y").unwrap().is_some()
        }
        assert!(!wanted(AnySignature));
        assert!(wanted(&[0x06, 0x08]));
    }
}
