use super::{
    FieldSig, MethodSig, SignatureError, SignatureErrorKind, TypeSig, member::FIELD,
    reader::Reader, writer::Writer,
};

const LOCALS: u8 = 0x07;

/// The maximum number of locals of a method: their indexes have 16 bits, without 65,535 (ECMA-335
/// II.23.2.6).
pub const MAX_LOCALS: usize = 0xfffe;

/// The types of a method's local variables (ECMA-335 II.23.2.6).
///
/// ```
/// use clr_profiler_il::signature::{LocalsSig, TypeSig};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut locals = LocalsSig::parse(&[0x07, 0x01, 0x08])?;
/// assert_eq!(locals.push(TypeSig::String)?, 1);
/// assert_eq!(locals.to_bytes()?, [0x07, 0x02, 0x08, 0x0e]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LocalsSig {
    /// The type of each local, with its modifiers, [`Pinned`](TypeSig::Pinned) and
    /// [`ByRef`](TypeSig::ByRef).
    pub locals: Vec<TypeSig>,
}

impl LocalsSig {
    /// Appends a local and returns its index. The others keep theirs.
    ///
    /// # Errors
    ///
    /// [`TooManyLocals`](SignatureErrorKind::TooManyLocals) if there are [`MAX_LOCALS`] already.
    pub fn push(&mut self, local: TypeSig) -> Result<u16, SignatureError> {
        let index = self.locals.len();
        match u16::try_from(index) {
            Ok(number) if index < MAX_LOCALS => {
                self.locals.push(local);
                Ok(number)
            }
            _ => {
                let kind = SignatureErrorKind::TooManyLocals(index.saturating_add(1));
                Err(SignatureError::new(kind, 0))
            }
        }
    }

    /// Substitutes the generic parameters in every local's type; see [`TypeSig::substitute`].
    #[must_use]
    pub fn substitute(&self, type_arguments: &[TypeSig], method_arguments: &[TypeSig]) -> Self {
        let substitute = |of: &TypeSig| of.substitute(type_arguments, method_arguments);
        Self {
            locals: self.locals.iter().map(substitute).collect(),
        }
    }
}

/// The signature of a `StandAloneSig` token (ECMA-335 II.22.36).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StandAloneSig {
    /// The signature of a `calli` (II.23.2.3).
    Method(MethodSig),
    /// The locals of a method.
    Locals(LocalsSig),
    /// A type, for debuggers. Not in ECMA-335, but written by compilers.
    Field(FieldSig),
}

impl Reader<'_> {
    pub(super) fn locals_sig(&mut self) -> Result<LocalsSig, SignatureError> {
        self.header(LOCALS, "locals")?;
        let start = self.offset();
        let count = self.count(0)?;
        if count > MAX_LOCALS {
            return Err(SignatureError::new(
                SignatureErrorKind::TooManyLocals(count),
                start,
            ));
        }
        Ok(LocalsSig {
            locals: self.types(count)?,
        })
    }

    pub(super) fn stand_alone_sig(&mut self) -> Result<StandAloneSig, SignatureError> {
        match self.peek()? {
            LOCALS => self.locals_sig().map(StandAloneSig::Locals),
            FIELD => self.field_sig().map(StandAloneSig::Field),
            _ => self
                .method_sig_of_kind("stand-alone")
                .map(StandAloneSig::Method),
        }
    }
}

impl Writer<'_> {
    pub(super) fn locals_sig(&mut self, locals: &LocalsSig) -> Result<(), SignatureError> {
        self.byte(LOCALS);
        let count = locals.locals.len();
        if count > MAX_LOCALS {
            return Err(self.error(SignatureErrorKind::TooManyLocals(count)));
        }
        self.count(count)?;
        self.types(&locals.locals)
    }

    pub(super) fn stand_alone_sig(&mut self, sig: &StandAloneSig) -> Result<(), SignatureError> {
        match sig {
            StandAloneSig::Method(method) => self.method_sig(method),
            StandAloneSig::Locals(locals) => self.locals_sig(locals),
            StandAloneSig::Field(field) => self.field_sig(field),
        }
    }
}
