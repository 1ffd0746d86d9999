//! The primitives, and the types of the core library that they are.

use clr_profiler_il::signature::TypeSig;

const PRIMITIVES: &[(&str, TypeSig)] = &[
    ("System.Void", TypeSig::Void),
    ("System.Boolean", TypeSig::Bool),
    ("System.Char", TypeSig::Char),
    ("System.SByte", TypeSig::I1),
    ("System.Byte", TypeSig::U1),
    ("System.Int16", TypeSig::I2),
    ("System.UInt16", TypeSig::U2),
    ("System.Int32", TypeSig::I4),
    ("System.UInt32", TypeSig::U4),
    ("System.Int64", TypeSig::I8),
    ("System.UInt64", TypeSig::U8),
    ("System.Single", TypeSig::R4),
    ("System.Double", TypeSig::R8),
    ("System.String", TypeSig::String),
    ("System.Object", TypeSig::Object),
    ("System.IntPtr", TypeSig::NativeInt),
    ("System.UIntPtr", TypeSig::NativeUint),
    ("System.TypedReference", TypeSig::TypedReference),
];

/// The primitive that a type of the core library is.
pub(super) fn primitive_of(name: &str) -> Option<TypeSig> {
    let row = PRIMITIVES.iter().find(|row| row.0 == name);
    row.map(|row| row.1.clone())
}

/// The name of the type that a primitive is.
pub(super) fn primitive_name(primitive: &TypeSig) -> Option<&'static str> {
    let row = PRIMITIVES.iter().find(|row| row.1 == *primitive);
    row.map(|row| row.0)
}
