//! Zeros that code writes, so that the runtime need not clear all locals of a patched method.
//!
//! The frame of a patch is large, and most of it is written before it is read. Without `init_locals`, only references start as zeros:
//! the code writes the others that are read first.

use crate::error::Result;
use crate::rewrite::RewriteContext;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::TypeToken;

/// How a local becomes zero.
#[derive(Clone, Copy)]
pub(super) enum Zero {
    /// It is a reference, and always starts as zero.
    Reference,
    I4,
    I8,
    R4,
    R8,
    Native,
    Object(TypeToken),
}

impl Zero {
    /// That of a type other than a value type or a generic parameter; `None` for those.
    fn of_simple(local: &TypeSig) -> Option<Self> {
        Some(match local {
            TypeSig::Bool
            | TypeSig::Char
            | TypeSig::I1
            | TypeSig::U1
            | TypeSig::I2
            | TypeSig::U2
            | TypeSig::I4
            | TypeSig::U4 => Self::I4,
            TypeSig::I8 | TypeSig::U8 => Self::I8,
            TypeSig::R4 => Self::R4,
            TypeSig::R8 => Self::R8,
            TypeSig::NativeInt
            | TypeSig::NativeUint
            | TypeSig::Pointer(_)
            | TypeSig::FunctionPointer(_) => Self::Native,
            TypeSig::String
            | TypeSig::Object
            | TypeSig::Class(_)
            | TypeSig::SzArray(_)
            | TypeSig::Array { .. }
            | TypeSig::ByRef(_)
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            } => Self::Reference,
            TypeSig::Pinned(inner) => Self::of_simple(inner.unmodified())?,
            _ => return None,
        })
    }

    /// That of any type.
    pub(super) fn of(cx: &mut RewriteContext<'_>, local: &TypeSig) -> Result<Self> {
        Ok(match Self::of_simple(local) {
            Some(zero) => zero,
            None => Self::Object(cx.type_operand(local)?),
        })
    }

    /// Writes it.
    pub(super) fn write(self, code: &mut Fragment, local: u16) {
        match self {
            Self::Reference => return,
            Self::I4 => code.ldc_i4(0),
            Self::I8 => code.ldc_i8(0),
            Self::R4 => code.ldc_r4(0.0),
            Self::R8 => code.ldc_r8(0.0),
            Self::Native => code.ldc_i4(0).conv_u(),
            Self::Object(operand) => {
                code.ldloca(local).initobj(operand);
                return;
            }
        };
        code.stloc(local);
    }
}

/// The locals of a body that count on being zero; `None` if they, or memory of `localloc`, have to be cleared by the runtime.
pub(super) fn of_body(body: &MethodBody) -> Option<Vec<(u16, Zero)>> {
    if !body.init_locals() {
        return Some(Vec::new());
    }
    let has_memory = body
        .instructions()
        .any(|one| one.opcode() == Opcode::Localloc);
    if has_memory {
        return None;
    }
    let locals = body.locals().map_or(&[][..], |known| &known.locals);
    let numbered = (0..).zip(locals);
    numbered
        .map(|(number, local)| Some((number, Zero::of_simple(local.unmodified())?)))
        .collect()
}
