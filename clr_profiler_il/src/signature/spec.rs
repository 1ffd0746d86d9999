use super::{SignatureError, TypeSig, reader::Reader, writer::Writer};

const GENERICINST: u8 = 0x0a;

/// The signature of a `TypeSpec` token (ECMA-335 II.23.2.14).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeSpecSig {
    /// The type.
    pub type_sig: TypeSig,
}

/// The type arguments of a generic method: the signature of a `MethodSpec` token
/// (ECMA-335 II.23.2.15).
///
/// ```
/// use clr_profiler_il::signature::{MethodSpecSig, TypeSig};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spec = MethodSpecSig::parse(&[0x0a, 0x01, 0x0e])?;
/// assert_eq!(spec.arguments, [TypeSig::String]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MethodSpecSig {
    /// The arguments. Never empty in a blob.
    pub arguments: Vec<TypeSig>,
}

impl MethodSpecSig {
    /// Substitutes the generic parameters in the arguments; see [`TypeSig::substitute`].
    #[must_use]
    pub fn substitute(&self, type_arguments: &[TypeSig], method_arguments: &[TypeSig]) -> Self {
        let substitute = |of: &TypeSig| of.substitute(type_arguments, method_arguments);
        Self {
            arguments: self.arguments.iter().map(substitute).collect(),
        }
    }
}

impl Reader<'_> {
    pub(super) fn type_spec_sig(&mut self) -> Result<TypeSpecSig, SignatureError> {
        Ok(TypeSpecSig {
            type_sig: self.type_sig()?,
        })
    }

    pub(super) fn method_spec_sig(&mut self) -> Result<MethodSpecSig, SignatureError> {
        self.header(GENERICINST, "method specification")?;
        Ok(MethodSpecSig {
            arguments: self.arguments()?,
        })
    }
}

impl Writer<'_> {
    pub(super) fn type_spec_sig(&mut self, spec: &TypeSpecSig) -> Result<(), SignatureError> {
        self.type_sig(&spec.type_sig)
    }

    pub(super) fn method_spec_sig(&mut self, spec: &MethodSpecSig) -> Result<(), SignatureError> {
        self.byte(GENERICINST);
        self.arguments(&spec.arguments)
    }
}
