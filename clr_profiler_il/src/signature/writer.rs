use super::{
    CallingConvention, MAX_DEPTH, MethodSig, SignatureError, SignatureErrorKind, TypeSig,
    compressed, element, method::Flags,
};
use crate::token::TypeToken;

/// Appends a signature to a vector. The mirror of `Reader`: it refuses whatever that refuses.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    depth: usize,
}

impl<'a> Writer<'a> {
    /// Appends a whole signature, or nothing on an error.
    pub(super) fn whole(
        out: &'a mut Vec<u8>,
        write: impl FnOnce(&mut Writer<'_>) -> Result<(), SignatureError>,
    ) -> Result<(), SignatureError> {
        let start = out.len();
        let result = write(&mut Writer {
            out,
            start,
            depth: 0,
        });
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    pub(super) const fn error(&self, kind: SignatureErrorKind) -> SignatureError {
        SignatureError::new(kind, self.out.len() - self.start)
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub(super) fn unsigned(&mut self, value: u32) -> Result<(), SignatureError> {
        compressed::write_unsigned(value, self.out).map_err(|error| self.error(error.kind()))
    }

    fn signed(&mut self, value: i32) -> Result<(), SignatureError> {
        compressed::write_signed(value, self.out).map_err(|error| self.error(error.kind()))
    }

    fn type_token(&mut self, token: TypeToken) {
        compressed::write_type_token(token, self.out);
    }

    /// Writes the number of elements of a list.
    pub(super) fn count(&mut self, count: usize) -> Result<(), SignatureError> {
        match u32::try_from(count) {
            Ok(count) => self.unsigned(count),
            Err(_) => {
                let value = i64::try_from(count).unwrap_or(i64::MAX);
                Err(self.error(SignatureErrorKind::ValueTooLarge(value)))
            }
        }
    }

    pub(super) fn types(&mut self, types: &[TypeSig]) -> Result<(), SignatureError> {
        types.iter().try_for_each(|of| self.type_sig(of))
    }

    /// Writes a count and the types: a list of generic arguments.
    pub(super) fn arguments(&mut self, arguments: &[TypeSig]) -> Result<(), SignatureError> {
        if arguments.is_empty() {
            return Err(self.error(SignatureErrorKind::EmptyGenericList));
        }
        self.count(arguments.len())?;
        self.types(arguments)
    }

    pub(super) fn type_sig(&mut self, of: &TypeSig) -> Result<(), SignatureError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(SignatureErrorKind::TooDeep));
        }
        self.depth += 1;
        let result = self.type_at_depth(of);
        self.depth -= 1;
        result
    }

    fn wrapped(&mut self, element_type: u8, inner: &TypeSig) -> Result<(), SignatureError> {
        self.byte(element_type);
        self.type_sig(inner)
    }

    fn type_at_depth(&mut self, of: &TypeSig) -> Result<(), SignatureError> {
        if let Some(primitive) = of.primitive() {
            self.byte(primitive);
            return Ok(());
        }
        match of {
            TypeSig::Class(token) => {
                self.byte(element::CLASS);
                self.type_token(*token);
                Ok(())
            }
            TypeSig::ValueType(token) => {
                self.byte(element::VALUETYPE);
                self.type_token(*token);
                Ok(())
            }
            TypeSig::Var(index) => {
                self.byte(element::VAR);
                self.unsigned(*index)
            }
            TypeSig::MVar(index) => {
                self.byte(element::MVAR);
                self.unsigned(*index)
            }
            TypeSig::Pointer(inner) => self.wrapped(element::PTR, inner),
            TypeSig::ByRef(inner) => self.wrapped(element::BYREF, inner),
            TypeSig::SzArray(inner) => self.wrapped(element::SZARRAY, inner),
            TypeSig::Pinned(inner) => self.wrapped(element::PINNED, inner),
            TypeSig::GenericInstance {
                is_value_type,
                definition,
                arguments,
            } => {
                self.byte(element::GENERICINST);
                self.byte(if *is_value_type {
                    element::VALUETYPE
                } else {
                    element::CLASS
                });
                self.type_token(*definition);
                self.arguments(arguments)
            }
            TypeSig::Array { element, shape } => {
                self.wrapped(element::ARRAY, element)?;
                if shape.rank == 0 {
                    return Err(self.error(SignatureErrorKind::ZeroRank));
                }
                self.unsigned(shape.rank)?;
                self.bounds(shape.rank, &shape.sizes, Self::unsigned)?;
                self.bounds(shape.rank, &shape.lower_bounds, Self::signed)
            }
            TypeSig::FunctionPointer(method) => {
                self.byte(element::FNPTR);
                self.method_sig(method)
            }
            TypeSig::Modified {
                required,
                modifier,
                inner,
            } => {
                self.byte(if *required {
                    element::CMOD_REQD
                } else {
                    element::CMOD_OPT
                });
                self.type_token(*modifier);
                self.type_sig(inner)
            }
            // Primitives are written above.
            _ => Ok(()),
        }
    }

    fn bounds<T: Copy>(
        &mut self,
        rank: u32,
        bounds: &[T],
        write: impl Fn(&mut Self, T) -> Result<(), SignatureError>,
    ) -> Result<(), SignatureError> {
        if !u32::try_from(bounds.len()).is_ok_and(|count| count <= rank) {
            let bounds = bounds.len();
            return Err(self.error(SignatureErrorKind::TooManyBounds { rank, bounds }));
        }
        self.count(bounds.len())?;
        bounds.iter().try_for_each(|&bound| write(self, bound))
    }

    pub(super) fn method_sig(&mut self, method: &MethodSig) -> Result<(), SignatureError> {
        let MethodSig {
            convention,
            has_this,
            explicit_this,
            generic_parameter_count,
            ..
        } = *method;
        let generic = generic_parameter_count != 0;
        let flags = Flags {
            has_this,
            explicit_this,
            generic,
        };
        let position = self.sentinel(convention, method)?;
        self.byte(convention.to_byte(flags));
        if generic {
            self.unsigned(generic_parameter_count)?;
        }
        self.count(method.params.len())?;
        self.type_sig(&method.return_type)?;
        for (index, param) in method.params.iter().enumerate() {
            if position == Some(index) {
                self.byte(element::SENTINEL);
            }
            self.type_sig(param)?;
        }
        Ok(())
    }

    /// The position of the sentinel, if it has a valid one.
    fn sentinel(
        &self,
        convention: CallingConvention,
        method: &MethodSig,
    ) -> Result<Option<usize>, SignatureError> {
        let Some(position) = method.sentinel else {
            return Ok(None);
        };
        if !convention.allows_sentinel() {
            return Err(self.error(SignatureErrorKind::UnexpectedSentinel));
        }
        let parameters = method.params.len();
        if position >= parameters {
            return Err(self.error(SignatureErrorKind::SentinelAtEnd {
                position,
                parameters,
            }));
        }
        Ok(Some(position))
    }
}
