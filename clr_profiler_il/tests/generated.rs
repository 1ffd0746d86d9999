//! Generated signatures and bytes: every written value is read back, and nothing panics.

mod generate;

use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, SignatureError,
    StandAloneSig, TokenNames, TypeSig, TypeSpecSig,
};
use generate::{methods, types};
use proptest::collection::vec;
use proptest::prelude::*;

/// Checks one kind of signature: the value is read back, or refused without output.
macro_rules! round_trip {
    ($value:expr, $kind:ty) => {{
        let value: $kind = $value;
        let mut out = vec![0xab];
        match value.write(&mut out) {
            Ok(()) => {
                prop_assert_eq!(out[0], 0xab);
                prop_assert_eq!(<$kind>::parse(&out[1..]), Ok(value.clone()));
                let _ = value.display(&TokenNames).to_string();
            }
            Err(_) => prop_assert_eq!(out, [0xab]),
        }
    }};
}

/// Reads bytes as every kind of signature. A value that was read can be printed and written, and is
/// then read as the same value again.
fn read_as_everything(blob: &[u8]) {
    fn check<T: PartialEq + std::fmt::Debug>(
        blob: &[u8],
        parse: fn(&[u8]) -> Result<T, SignatureError>,
        write: fn(&T) -> Result<Vec<u8>, SignatureError>,
        print: fn(&T) -> String,
    ) {
        match parse(blob) {
            Ok(value) => {
                let written = write(&value).unwrap();
                assert!(written.len() <= blob.len());
                assert_eq!(parse(&written).as_ref(), Ok(&value));
                let _ = print(&value);
            }
            Err(error) => assert!(error.offset() <= blob.len(), "{error}"),
        }
    }
    macro_rules! check_all {
        ($($kind:ident)*) => {$(
            check(blob, $kind::parse, $kind::to_bytes, |value| {
                value.display(&TokenNames).to_string()
            });
        )*};
    }
    check_all! {
        MethodSig FieldSig PropertySig LocalsSig TypeSpecSig MethodSpecSig MemberRefSig
        StandAloneSig
    }
}

/// Bytes that a reader probably gets far into: mostly element types and small numbers.
fn likely_bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => 0..0x22_u8, 1 => Just(0x41), 1 => Just(0x45), 2 => any::<u8>()];
    vec(byte, 0..64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn types_round_trip(type_sig in types()) {
        round_trip!(TypeSpecSig { type_sig: type_sig.clone() }, TypeSpecSig);
        round_trip!(FieldSig { field_type: type_sig }, FieldSig);
    }

    #[test]
    fn methods_round_trip(method in methods()) {
        round_trip!(method.clone(), MethodSig);
        round_trip!(MemberRefSig::Method(method.clone()), MemberRefSig);
        round_trip!(StandAloneSig::Method(method), StandAloneSig);
    }

    #[test]
    fn lists_round_trip(list in vec(types(), 0..5), has_this in any::<bool>(), property_type in types()) {
        round_trip!(LocalsSig { locals: list.clone() }, LocalsSig);
        round_trip!(MethodSpecSig { arguments: list.clone() }, MethodSpecSig);
        round_trip!(PropertySig { has_this, property_type, params: list }, PropertySig);
    }

    #[test]
    fn substituting_the_parameters_by_themselves_changes_nothing(type_sig in types()) {
        let vars: Vec<TypeSig> = (0..0x80).map(TypeSig::Var).collect();
        let mvars: Vec<TypeSig> = (0..0x80).map(TypeSig::MVar).collect();
        prop_assert_eq!(type_sig.substitute(&vars, &mvars), type_sig.clone());
        prop_assert_eq!(type_sig.substitute(&[], &[]), type_sig);
    }

    #[test]
    fn any_bytes_are_read_or_refused(blob in vec(any::<u8>(), 0..64)) {
        read_as_everything(&blob);
    }

    #[test]
    fn likely_bytes_are_read_or_refused(blob in likely_bytes()) {
        read_as_everything(&blob);
    }

    #[test]
    fn damaged_signatures_are_read_or_refused(method in methods(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let Ok(blob) = method.to_bytes() else {
            return Ok(());
        };
        for end in 0..blob.len() {
            // No signature is a prefix of another.
            prop_assert!(MethodSig::parse(&blob[..end]).is_err());
            read_as_everything(&blob[..end]);
        }
        let at = at.index(blob.len());
        let mut changed = blob.clone();
        changed[at] = byte;
        read_as_everything(&changed);
        let mut longer = blob.clone();
        longer.insert(at, byte);
        read_as_everything(&longer);
        let mut shorter = blob;
        shorter.remove(at);
        read_as_everything(&shorter);
    }
}
