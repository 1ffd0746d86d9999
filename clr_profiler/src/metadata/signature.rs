//! [`AsSignature`]: signatures as values or as blobs, checked before the runtime gets them.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::native::{Asked, Blob};
use clr_profiler_il::signature::{
    FieldSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, StandAloneSig, TypeSpecSig,
};

/// A signature of the kind `S` to be handed over: a reference to the value, or to the bytes.
///
/// Nothing checks a signature until the JIT compiler fails on it. So bytes are parsed first, and
/// what breaks a rule of ECMA-335 II.23.2 is an error here.
pub trait AsSignature<S>: sealed::Sealed {
    /// The bytes.
    #[doc(hidden)]
    fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>>;
}

/// A signature to be looked for: one that [`AsSignature`] takes, or [`AnySignature`].
pub trait SignatureFilter<S> {
    /// The bytes; none where every signature will do.
    #[doc(hidden)]
    fn wanted(&self, call: &'static str) -> Result<Option<Cow<'_, [u8]>>>;
}

/// Looks for a member by its name alone.
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

/// A signature that the library has encoded itself, and need not look at again.
#[derive(Clone, Copy)]
pub(crate) struct Encoded<'a>(pub(crate) &'a [u8]);

impl sealed::Sealed for Encoded<'_> {}

impl<S> AsSignature<S> for Encoded<'_> {
    fn checked(&self, _call: &'static str) -> Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(self.0))
    }
}

/// A signature as an argument: its bytes, when they have been looked at.
pub(crate) fn checked<'s, S>(
    signature: &'s impl AsSignature<S>,
    asked: &Asked<'_>,
) -> Result<Blob<Cow<'s, [u8]>>> {
    Blob::of(asked, signature.checked(asked.call)?)
}

/// The same of one that is looked for; no bytes where every one will do.
pub(crate) fn wanted<'s, S>(
    signature: &'s impl SignatureFilter<S>,
    asked: &Asked<'_>,
) -> Result<Blob<Cow<'s, [u8]>>> {
    Blob::of(asked, signature.wanted(asked.call)?.unwrap_or_default())
}

mod sealed {
    #[doc(hidden)]
    pub trait Sealed {}
}

impl sealed::Sealed for &[u8] {}
impl sealed::Sealed for &Vec<u8> {}
impl<const N: usize> sealed::Sealed for &[u8; N] {}

macro_rules! signatures {
    ($($signature:ident)*) => {$(
        impl sealed::Sealed for &$signature {}

        impl AsSignature<$signature> for &$signature {
            fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
                self.to_bytes()
                    .map(Cow::Owned)
                    .map_err(|error| Error::invalid(call, error))
            }
        }

        impl AsSignature<$signature> for &[u8] {
            fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
                match $signature::parse(self) {
                    Ok(_) => Ok(Cow::Borrowed(self)),
                    Err(error) => Err(Error::invalid(call, error)),
                }
            }
        }

        impl AsSignature<$signature> for &Vec<u8> {
            fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
                match $signature::parse(self) {
                    Ok(_) => Ok(Cow::Borrowed(self.as_slice())),
                    Err(error) => Err(Error::invalid(call, error)),
                }
            }
        }

        impl<const N: usize> AsSignature<$signature> for &[u8; N] {
            fn checked(&self, call: &'static str) -> Result<Cow<'_, [u8]>> {
                match $signature::parse(*self) {
                    Ok(_) => Ok(Cow::Borrowed(self.as_slice())),
                    Err(error) => Err(Error::invalid(call, error)),
                }
            }
        }
    )*};
}

signatures! {
    FieldSig MemberRefSig MethodSig MethodSpecSig PropertySig StandAloneSig TypeSpecSig
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
        // A field's signature is no method's.
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
