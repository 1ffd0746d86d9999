//! Strategies for signatures.

use clr_profiler_il::signature::{ArrayShape, CallingConvention, MethodSig, TypeSig};
use clr_profiler_il::token::{Token, TypeToken};
use proptest::collection::vec;
use proptest::prelude::*;

fn type_tokens() -> impl Strategy<Value = TypeToken> {
    let tables = prop_oneof![Just(0x0100_0000_u32), Just(0x0200_0000), Just(0x1b00_0000)];
    let rows = prop_oneof![0..0x100_u32, 0..0x0100_0000_u32];
    (tables, rows).prop_map(|(table, row)| TypeToken::try_from(Token::new(table | row)).unwrap())
}

/// Numbers of every width of a compressed integer; rarely one that does not fit.
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

/// Any type, including some that no blob can hold.
pub(crate) fn types() -> impl Strategy<Value = TypeSig> + Clone {
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

pub(crate) fn methods() -> impl Strategy<Value = MethodSig> {
    methods_of(types())
}
