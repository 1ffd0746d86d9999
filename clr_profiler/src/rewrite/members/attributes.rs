//! What the attributes of new types and methods are (ECMA-335 II.23.1).

use super::NewType;
use clr_profiler_il::signature::MethodSig;

/// `CorTypeAttr`.
pub(super) const fn type_attributes(kind: NewType) -> u32 {
    const PUBLIC: u32 = 0x0000_0001;
    const SEQUENTIAL: u32 = 0x0000_0008;
    const ABSTRACT: u32 = 0x0000_0080;
    const SEALED: u32 = 0x0000_0100;
    const BEFORE_FIELD_INIT: u32 = 0x0010_0000;
    let all = PUBLIC | SEALED | BEFORE_FIELD_INIT;
    match kind {
        NewType::Static => all | ABSTRACT,
        NewType::Class => all,
        NewType::Struct => all | SEQUENTIAL,
    }
}

/// That the name means something to the runtime: `specialname rtspecialname`.
pub(super) const SPECIAL: u32 = 0x1800;

/// `CorMethodAttr`.
pub(super) fn method_attributes(name: &str, signature: &MethodSig) -> u32 {
    const PUBLIC: u32 = 0x0006;
    const STATIC: u32 = 0x0010;
    const HIDE_BY_SIG: u32 = 0x0080;
    let mut attributes = PUBLIC | HIDE_BY_SIG;
    if !signature.has_this {
        attributes |= STATIC;
    }
    if name == ".ctor" || name == ".cctor" {
        attributes |= SPECIAL;
    }
    attributes
}
