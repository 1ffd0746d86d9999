//! Generated signatures and bytes: whatever can be written is read back, and nothing panics.

use clr_profiler_il::signature::{
    ArrayShape, CallingConvention, FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig,
    PropertySig, SignatureError, StandAloneSig, TokenNames, TypeSig, TypeSpecSig,
};
use clr_profiler_il::token::{Token, TypeToken};
use proptest::collection::vec;
use proptest::prelude::*;

fn type_tokens() -> impl Strategy<Value = TypeToken> {
    let tables = prop_oneof![Just(0x0100_0000_u32), Just(0x0200_0000), Just(0x1b00_0000)];
    let rows = prop_oneof![0..0x100_u32, 0..0x0100_0000_u32];
    (tables, rows).prop_map(|(table, row)| TypeToken::try_from(Token::new(table | row)).unwrap())
}

/// Numbers of every width that a compressed integer can have; rarely one that does not fit.
fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..0x80_u32, 4 => 0..0x4000_u32, 4 => 0..0x2000_0000_u32, 1 => any::<u32>()]
}

fn signed_numbers() -> impl Strategy<Value = i32> {
    prop_oneof![
        8 => -0x40..0x40_i32,
        4 => -0x2000..0x2000_i32,
        4 => -0x1000_0000..0x1000_0000_i32,
        1 => any::<i32>(),
    ]
}

fn primitives() -> impl Strategy<Value = TypeSig> {
    prop::sample::select(vec![
        TypeSig::Void,
        TypeSig::Bool,
        TypeSig::Char,
        TypeSig::I1,
        TypeSig::U1,
        TypeSig::I2,
        TypeSig::U2,
        TypeSig::I4,
        TypeSig::U4,
        TypeSig::I8,
        TypeSig::U8,
        TypeSig::R4,
        TypeSig::R8,
        TypeSig::String,
        TypeSig::Object,
        TypeSig::NativeInt,
        TypeSig::NativeUint,
        TypeSig::TypedReference,
    ])
}

fn shapes() -> impl Strategy<Value = ArrayShape> {
    let rank = prop_oneof![1..4_u32, numbers()];
    (rank, vec(numbers(), 0..4), vec(signed_numbers(), 0..4)).prop_map(
        |(rank, sizes, lower_bounds)| ArrayShape {
            rank,
            sizes,
            lower_bounds,
        },
    )
}

fn conventions() -> impl Strategy<Value = CallingConvention> {
    prop::sample::select(vec![
        CallingConvention::Default,
        CallingConvention::C,
        CallingConvention::StdCall,
        CallingConvention::ThisCall,
        CallingConvention::FastCall,
        CallingConvention::VarArg,
        CallingConvention::Unmanaged,
        CallingConvention::NativeVarArg,
    ])
}

fn methods_of(types: impl Strategy<Value = TypeSig> + Clone) -> impl Strategy<Value = MethodSig> {
    (
        conventions(),
        any::<(bool, bool)>(),
        prop_oneof![Just(0), numbers()],
        types.clone(),
        vec(types, 0..6),
        prop::option::weighted(0.3, 0..6_usize),
    )
        .prop_map(
            |(convention, this, generic_parameter_count, return_type, params, sentinel)| {
                let (has_this, explicit_this) = this;
                MethodSig {
                    convention,
                    has_this,
                    explicit_this,
                    generic_parameter_count,
                    return_type,
                    params,
                    sentinel,
                }
            },
        )
}

/// Any type, among them some that no blob can hold.
fn types() -> impl Strategy<Value = TypeSig> + Clone {
    let leaf = prop_oneof![
        4 => primitives(),
        1 => type_tokens().prop_map(TypeSig::Class),
        1 => type_tokens().prop_map(TypeSig::ValueType),
        1 => numbers().prop_map(TypeSig::Var),
        1 => numbers().prop_map(TypeSig::MVar),
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(TypeSig::Pointer),
            boxed.clone().prop_map(TypeSig::ByRef),
            boxed.clone().prop_map(TypeSig::SzArray),
            boxed.clone().prop_map(TypeSig::Pinned),
            (any::<bool>(), type_tokens(), vec(inner.clone(), 0..4)).prop_map(
                |(is_value_type, definition, arguments)| TypeSig::GenericInstance {
                    is_value_type,
                    definition,
                    arguments,
                }
            ),
            (boxed.clone(), shapes()).prop_map(|(element, shape)| TypeSig::Array {
                element,
                shape: Box::new(shape),
            }),
            (any::<bool>(), type_tokens(), boxed).prop_map(|(required, modifier, inner)| {
                TypeSig::Modified {
                    required,
                    modifier,
                    inner,
                }
            }),
            methods_of(inner).prop_map(|method| TypeSig::FunctionPointer(Box::new(method))),
        ]
    })
    .boxed()
}

fn methods() -> impl Strategy<Value = MethodSig> {
    methods_of(types())
}

/// Checks one kind of signature: the value is read back, or refused without a trace.
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

/// Reads bytes as every kind of signature. What is read can be printed and written, and is then
/// read as the same again.
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

/// Bytes that are likely to be read far: mostly element types and small numbers.
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
            // No signature is the beginning of another.
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
