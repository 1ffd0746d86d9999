//! Refines the opcode table, in which every integer and pointer is `Int`, and a value whose type
//! depends on the instruction's own operand is `Any`.

use super::kind::{Kind, Want};
use crate::opcode::{Opcode, ValueKind};

/// The requirement of an instruction for a stack operand, the deepest being 0. `named` is the kind
/// of the instruction's own operand: a variable, a field or a type.
pub(super) fn wanted(opcode: Opcode, index: usize, kind: ValueKind, named: Kind) -> Want {
    use Opcode as Op;
    match kind {
        ValueKind::Int64 => Want::Kind(Kind::Int64),
        ValueKind::Float32 | ValueKind::Float64 => Want::Kind(Kind::Float),
        ValueKind::Object => Want::Kind(Kind::Object),
        ValueKind::Int => match (opcode, index) {
            (Op::Brtrue | Op::Brfalse, _) => Want::Condition,
            (Op::Cpblk, 0 | 1) | (Op::Initblk, 0) => Want::Address,
            (Op::Cpblk | Op::Initblk, _) => Want::Index,
            (Op::StindRef, 1) => Want::Kind(Kind::Object),
            (Op::StindI, 1) | (Op::StelemI, 2) => Want::Kind(Kind::NativeInt),
            (Op::StindI1 | Op::StindI2 | Op::StindI4, 1) => Want::Kind(Kind::Int32),
            (Op::StelemI1 | Op::StelemI2 | Op::StelemI4, 2) => Want::Kind(Kind::Int32),
            (Op::Endfilter, _) => Want::Kind(Kind::Int32),
            (Op::Switch | Op::Newarr | Op::Localloc, _) => Want::Index,
            // The operand after an array is an element index.
            (opcode, 1) if opcode.pops().and_then(<[_]>::first) == Some(&ValueKind::Object) => {
                Want::Index
            }
            _ => Want::Address,
        },
        ValueKind::Any => match opcode {
            Op::Pop => Want::Anything,
            Op::Refanyval | Op::Refanytype => Want::Kind(Kind::SomeValue),
            Op::Ckfinite => Want::Kind(Kind::Float),
            Op::ConvI | Op::ConvU => Want::Pinnable,
            opcode if opcode.operand_kind().size() == Some(0) && !is_variable(opcode) => {
                Want::Convertible
            }
            _ => Want::Kind(named),
        },
    }
}

fn is_variable(opcode: Opcode) -> bool {
    opcode.local(0).is_some() || opcode.argument(0).is_some()
}

/// The kind of an instruction's result.
pub(super) fn given(opcode: Opcode, kind: ValueKind, named: Kind) -> Kind {
    use Opcode as Op;
    match kind {
        ValueKind::Int64 => Kind::Int64,
        ValueKind::Float32 | ValueKind::Float64 => Kind::Float,
        ValueKind::Object => Kind::Object,
        ValueKind::Any if opcode == Op::Mkrefany => Kind::SomeValue,
        ValueKind::Any => named,
        ValueKind::Int => match opcode {
            Op::Isinst => Kind::Object,
            Op::Ldtoken | Op::Refanytype | Op::Arglist => Kind::SomeValue,
            Op::Ldarga
            | Op::LdargaS
            | Op::Ldloca
            | Op::LdlocaS
            | Op::Ldelema
            | Op::Ldflda
            | Op::Ldsflda
            | Op::Unbox
            | Op::Refanyval => Kind::ByRef,
            Op::LdindI
            | Op::LdelemI
            | Op::Ldlen
            | Op::Localloc
            | Op::Ldftn
            | Op::Ldvirtftn
            | Op::ConvI
            | Op::ConvU
            | Op::ConvOvfI
            | Op::ConvOvfU
            | Op::ConvOvfIUn
            | Op::ConvOvfUUn => Kind::NativeInt,
            _ => Kind::Int32,
        },
    }
}
