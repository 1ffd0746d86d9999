use super::TypeSig;
use crate::attributes::MethodImplAttributes;

/// The calling convention of a method (ECMA-335 II.15.3): the lower 4 bits of a method signature.
#[doc(alias = "CorCallingConvention")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallingConvention {
    /// Managed, with a fixed list of parameters.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_DEFAULT")]
    Default,
    /// Native, C (`cdecl`).
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_C")]
    C,
    /// Native, `stdcall`.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_STDCALL")]
    StdCall,
    /// Native, `thiscall`.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_THISCALL")]
    ThisCall,
    /// Native, `fastcall`.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_FASTCALL")]
    FastCall,
    /// Managed, with variable arguments of any type after the fixed ones.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_VARARG")]
    VarArg,
    /// Native, in the platform's default convention unless a `modopt` of the return type names
    /// another (`CallConvCdecl` and the like). Not in ECMA-335.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_UNMANAGED")]
    Unmanaged,
    /// Native, with variable arguments. Not in ECMA-335; runtimes use it internally.
    #[doc(alias = "IMAGE_CEE_CS_CALLCONV_NATIVEVARARG")]
    NativeVarArg,
}

/// The bits other than the calling convention.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) has_this: bool,
    pub(super) explicit_this: bool,
    pub(super) generic: bool,
}

const GENERIC: u8 = 0x10;
pub(super) const HAS_THIS: u8 = 0x20;
const EXPLICIT_THIS: u8 = 0x40;

impl CallingConvention {
    const fn code(self) -> u8 {
        match self {
            Self::Default => 0x0,
            Self::C => 0x1,
            Self::StdCall => 0x2,
            Self::ThisCall => 0x3,
            Self::FastCall => 0x4,
            Self::VarArg => 0x5,
            Self::Unmanaged => 0x9,
            Self::NativeVarArg => 0xb,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x0 => Self::Default,
            0x1 => Self::C,
            0x2 => Self::StdCall,
            0x3 => Self::ThisCall,
            0x4 => Self::FastCall,
            0x5 => Self::VarArg,
            0x9 => Self::Unmanaged,
            0xb => Self::NativeVarArg,
            _ => return None,
        })
    }

    /// Splits the first byte of a method signature; `None` if it starts another kind of signature.
    pub(super) fn from_byte(byte: u8) -> Option<(Self, Flags)> {
        let flags = Flags {
            has_this: byte & HAS_THIS != 0,
            explicit_this: byte & EXPLICIT_THIS != 0,
            generic: byte & GENERIC != 0,
        };
        let code = byte & !(HAS_THIS | EXPLICIT_THIS | GENERIC);
        Some((Self::from_code(code)?, flags))
    }

    pub(super) const fn to_byte(self, flags: Flags) -> u8 {
        let mut byte = self.code();
        if flags.has_this {
            byte |= HAS_THIS;
        }
        if flags.explicit_this {
            byte |= EXPLICIT_THIS;
        }
        if flags.generic {
            byte |= GENERIC;
        }
        byte
    }

    /// Whether the callee is native code.
    #[must_use]
    pub const fn is_unmanaged(self) -> bool {
        !matches!(self, Self::Default | Self::VarArg)
    }

    /// Whether a call may pass arguments in addition to the declared ones.
    pub(super) const fn allows_sentinel(self) -> bool {
        matches!(self, Self::VarArg | Self::C | Self::NativeVarArg)
    }
}

/// The signature of a method in its definition, in a reference to it, or in a `calli` (ECMA-335
/// II.23.2.1 to II.23.2.3).
///
/// ```
/// use clr_profiler_il::signature::{CallingConvention, MethodSig, TypeSig};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parse = MethodSig::new(TypeSig::I4, vec![TypeSig::String]);
/// assert_eq!(parse.to_bytes()?, [0x00, 0x01, 0x08, 0x0e]);
/// assert_eq!(MethodSig::parse(&[0x00, 0x01, 0x08, 0x0e])?, parse);
///
/// // A native callback, as called by `calli`.
/// let mut native = MethodSig::new(TypeSig::Void, vec![TypeSig::NativeInt]);
/// native.convention = CallingConvention::C;
/// assert_eq!(native.to_bytes()?, [0x01, 0x01, 0x01, 0x18]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MethodSig {
    /// The calling convention.
    pub convention: CallingConvention,
    /// Whether it is an instance method.
    pub has_this: bool,
    /// Whether [`params`](Self::params) starts with `this`. Valid only for function pointers and
    /// only with [`has_this`](Self::has_this) (II.15.3), but read and written independently of it.
    pub explicit_this: bool,
    /// The number of the method's own generic parameters; 0 if it is not generic.
    pub generic_parameter_count: u32,
    /// The return type, with its modifiers; [`Void`](TypeSig::Void) if there is no value.
    pub return_type: TypeSig,
    /// The types of the parameters, without an implicit `this`.
    pub params: Vec<TypeSig>,
    /// In a call with variable arguments, the number of fixed parameters. Always less than the
    /// number of parameters.
    #[doc(alias = "ELEMENT_TYPE_SENTINEL")]
    pub sentinel: Option<usize>,
}

impl MethodSig {
    /// The signature of a static method that is managed and not generic.
    #[must_use]
    pub const fn new(return_type: TypeSig, params: Vec<TypeSig>) -> Self {
        Self {
            convention: CallingConvention::Default,
            has_this: false,
            explicit_this: false,
            generic_parameter_count: 0,
            return_type,
            params,
            sentinel: None,
        }
    }

    /// The signature of an instance method that is managed and not generic.
    #[must_use]
    pub const fn instance(return_type: TypeSig, params: Vec<TypeSig>) -> Self {
        let mut method = Self::new(return_type, params);
        method.has_this = true;
        method
    }

    /// The number of arguments that a call takes from the stack, including `this`.
    #[must_use]
    pub const fn argument_count(&self) -> usize {
        let implicit_this = self.has_this && !self.explicit_this;
        self.params.len() + implicit_this as usize
    }

    /// The type of the value that `ret` takes: the return type, or for a runtime-async method, which
    /// has [`MethodImplAttributes::ASYNC`], the result of its task: nothing for `Task` and
    /// `ValueTask`, `T` for `Task<T>` and `ValueTask<T>`.
    ///
    /// `None` if a method with that flag returns a type of another form, as the runtime's own
    /// `AsyncHelpers.Await` does. Whether a type of the right form is one of these four is not
    /// checked.
    #[must_use]
    #[doc(alias = "miAsync")]
    pub fn effective_return_type(&self, implementation: MethodImplAttributes) -> Option<&TypeSig> {
        if !implementation.contains(MethodImplAttributes::ASYNC) {
            return Some(&self.return_type);
        }
        match self.return_type.unmodified() {
            TypeSig::Class(_) | TypeSig::ValueType(_) => Some(&TypeSig::Void),
            TypeSig::GenericInstance { arguments, .. } => match arguments.as_slice() {
                [of] => Some(of),
                _ => None,
            },
            _ => None,
        }
    }

    /// Substitutes the generic parameters in the return type and the parameters; see
    /// [`TypeSig::substitute`]. The number of generic parameters is unchanged.
    #[must_use]
    pub fn substitute(&self, type_arguments: &[TypeSig], method_arguments: &[TypeSig]) -> Self {
        let substitute = |of: &TypeSig| of.substitute(type_arguments, method_arguments);
        Self {
            return_type: substitute(&self.return_type),
            params: self.params.iter().map(substitute).collect(),
            ..*self
        }
    }
}
