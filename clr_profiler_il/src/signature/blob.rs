use super::{
    FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, SignatureError,
    StandAloneSig, TypeSpecSig, reader::Reader, writer::Writer,
};

/// Implements `parse`, `write` and `to_bytes` for each signature that is a blob of its own.
///
/// `MethodSig, "method", Reader::method_sig, Writer::method_sig;` generates these three from the
/// given reader and writer functions.
macro_rules! blobs {
    ($($name:ident, $kind:literal, $read:expr, $write:expr;)*) => {$(
        impl $name {
            #[doc = concat!("Reads a ", $kind, " signature, which must fill the whole blob.")]
            ///
            /// # Errors
            ///
            /// The first broken rule and its offset. The [module's
            /// documentation](crate::signature#accepted-input) lists the input that is accepted beyond
            /// ECMA-335.
            pub fn parse(blob: &[u8]) -> Result<Self, SignatureError> {
                Reader::whole(blob, $read)
            }

            /// Appends the signature in its canonical form.
            ///
            /// # Errors
            ///
            /// The broken rule, if [`parse`](Self::parse) would not return the same value; `out` is
            /// then unchanged.
            pub fn write(&self, out: &mut Vec<u8>) -> Result<(), SignatureError> {
                Writer::whole(out, |writer| $write(writer, self))
            }

            /// The signature in its canonical form.
            ///
            /// # Errors
            ///
            /// The same as [`write`](Self::write).
            pub fn to_bytes(&self) -> Result<Vec<u8>, SignatureError> {
                let mut out = Vec::new();
                self.write(&mut out)?;
                Ok(out)
            }
        }
    )*};
}

blobs! {
    MethodSig, "method", Reader::method_sig, Writer::method_sig;
    FieldSig, "field", Reader::field_sig, Writer::field_sig;
    PropertySig, "property", Reader::property_sig, Writer::property_sig;
    LocalsSig, "locals", Reader::locals_sig, Writer::locals_sig;
    TypeSpecSig, "type specification", Reader::type_spec_sig, Writer::type_spec_sig;
    MethodSpecSig, "method specification", Reader::method_spec_sig, Writer::method_spec_sig;
    MemberRefSig, "method or field", Reader::member_ref_sig, Writer::member_ref_sig;
    StandAloneSig, "stand-alone", Reader::stand_alone_sig, Writer::stand_alone_sig;
}
