//! The operand and result kinds of operators (ECMA-335 III.1.5).

use super::kind::Kind;
use crate::opcode::Opcode;

/// The rule for the kinds of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// Table 2; table 7 for operators that check for overflow.
    Add,
    Subtract,
    Numeric,
    /// Table 5.
    Integer,
    /// Table 6.
    Shift,
    /// Table 4, for the operators that accept every kind.
    Equality,
    /// Table 4, for the operators that do not accept objects.
    Order,
}

impl Operator {
    pub(super) const fn of(opcode: Opcode) -> Option<Self> {
        use Opcode as Op;
        Some(match opcode {
            Op::Add | Op::AddOvf | Op::AddOvfUn => Self::Add,
            Op::Sub | Op::SubOvf | Op::SubOvfUn => Self::Subtract,
            Op::Mul | Op::MulOvf | Op::MulOvfUn | Op::Div | Op::Rem => Self::Numeric,
            Op::DivUn | Op::RemUn | Op::And | Op::Or | Op::Xor => Self::Integer,
            Op::Shl | Op::Shr | Op::ShrUn => Self::Shift,
            // Compilers encode `x != null` as `x > null`.
            Op::Ceq | Op::CgtUn | Op::Beq | Op::BneUn => Self::Equality,
            Op::Cgt
            | Op::Clt
            | Op::CltUn
            | Op::Bge
            | Op::Bgt
            | Op::Ble
            | Op::Blt
            | Op::BgeUn
            | Op::BgtUn
            | Op::BleUn
            | Op::BltUn => Self::Order,
            _ => return None,
        })
    }

    /// The kind of the result, `Int32` for a comparison; `None` if the operands cannot be combined.
    pub(super) fn result(self, left: Kind, right: Kind) -> Option<Kind> {
        use Kind as K;
        if matches!(self, Self::Equality | Self::Order) {
            let objects = left == K::Object && right == K::Object;
            let comparable = objects && self == Self::Equality
                || numeric(left, right).is_some()
                || pointers(left, right);
            return comparable.then_some(K::Int32);
        }
        if self == Self::Shift {
            let amount = matches!(right, K::Int32 | K::NativeInt | K::Unknown);
            return (amount && is_integer(left)).then_some(left);
        }
        match (self, left, right) {
            (Self::Add, K::ByRef, K::Int32 | K::NativeInt)
            | (Self::Add, K::Int32 | K::NativeInt, K::ByRef)
            | (Self::Subtract, K::ByRef, K::Int32 | K::NativeInt) => Some(K::ByRef),
            (Self::Subtract, K::ByRef | K::NativeInt, K::ByRef) => Some(K::NativeInt),
            (Self::Integer, K::Float, _) | (Self::Integer, _, K::Float) => None,
            _ => numeric(left, right),
        }
    }
}

pub(super) const fn is_integer(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Int32 | Kind::Int64 | Kind::NativeInt | Kind::Unknown
    )
}

const fn is_number(kind: Kind) -> bool {
    is_integer(kind) || matches!(kind, Kind::Float)
}

/// The kind of two numbers combined.
fn numeric(left: Kind, right: Kind) -> Option<Kind> {
    match (left, right) {
        // With a pointer there may be a result, with any other non-number never.
        (Kind::Unknown, other) | (other, Kind::Unknown) => {
            (is_number(other) || other == Kind::ByRef).then_some(Kind::Unknown)
        }
        (Kind::Int32, Kind::NativeInt) | (Kind::NativeInt, Kind::Int32) => Some(Kind::NativeInt),
        _ => (left == right && is_number(left)).then_some(left),
    }
}

/// Whether two pointers can be compared.
fn pointers(left: Kind, right: Kind) -> bool {
    use Kind as K;
    match (left, right) {
        (K::Unknown, other) | (other, K::Unknown) => matches!(other, K::ByRef | K::Object),
        _ => matches!(
            (left, right),
            (K::ByRef | K::NativeInt, K::ByRef | K::NativeInt)
        ),
    }
}
