use super::{
    ArrayShape, CallingConvention, MAX_DEPTH, MethodSig, SignatureError, SignatureErrorKind,
    TypeSig, compressed, element,
};
use crate::token::TypeToken;

/// Memory is reserved for at most this many elements before they are read. Longer lists grow as
/// they are read, so that the counts of nested lists cannot add up.
const MAX_RESERVED: usize = 16;

/// Reads a signature from a blob, from its start to its end.
pub(super) struct Reader<'a> {
    blob: &'a [u8],
    offset: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(blob: &'a [u8]) -> Self {
        Self {
            blob,
            offset: 0,
            depth: 0,
        }
    }

    /// Reads the whole blob as one signature.
    pub(super) fn whole<T>(
        blob: &'a [u8],
        read: impl FnOnce(&mut Self) -> Result<T, SignatureError>,
    ) -> Result<T, SignatureError> {
        let mut reader = Self::new(blob);
        let value = read(&mut reader)?;
        match reader.remaining() {
            0 => Ok(value),
            count => Err(reader.error(SignatureErrorKind::TrailingBytes(count))),
        }
    }

    const fn error(&self, kind: SignatureErrorKind) -> SignatureError {
        SignatureError::new(kind, self.offset)
    }

    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    const fn remaining(&self) -> usize {
        self.blob.len().saturating_sub(self.offset)
    }

    /// The next byte, without advancing.
    pub(super) fn peek(&self) -> Result<u8, SignatureError> {
        let byte = self.blob.get(self.offset).copied();
        byte.ok_or_else(|| self.error(SignatureErrorKind::UnexpectedEnd))
    }

    const fn skip(&mut self) {
        self.offset += 1;
    }

    pub(super) fn unsigned(&mut self) -> Result<u32, SignatureError> {
        compressed::read_unsigned(self.blob, &mut self.offset)
    }

    fn signed(&mut self) -> Result<i32, SignatureError> {
        compressed::read_signed(self.blob, &mut self.offset)
    }

    fn type_token(&mut self) -> Result<TypeToken, SignatureError> {
        compressed::read_type_token(self.blob, &mut self.offset)
    }

    /// Reads the byte that identifies the kind of a signature.
    pub(super) fn header(
        &mut self,
        byte: u8,
        expected: &'static str,
    ) -> Result<(), SignatureError> {
        let found = self.peek()?;
        if found != byte {
            return Err(self.error(SignatureErrorKind::WrongSignatureKind { expected, found }));
        }
        self.skip();
        Ok(())
    }

    /// Reads the number of elements of a list. Each element takes at least one byte, and `others`
    /// bytes precede them.
    pub(super) fn count(&mut self, others: usize) -> Result<usize, SignatureError> {
        let start = self.offset;
        let count = self.unsigned()?;
        let remaining = self.remaining();
        match usize::try_from(count) {
            Ok(length) if length <= remaining.saturating_sub(others) => Ok(length),
            _ => {
                let kind = SignatureErrorKind::CountExceedsBlob { count, remaining };
                Err(SignatureError::new(kind, start))
            }
        }
    }

    fn list<T>(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, SignatureError>,
    ) -> Result<Vec<T>, SignatureError> {
        let mut list = Vec::with_capacity(count.min(MAX_RESERVED));
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    pub(super) fn types(&mut self, count: usize) -> Result<Vec<TypeSig>, SignatureError> {
        self.list(count, Self::type_sig)
    }

    /// Reads a count and this many types: a list of generic arguments.
    pub(super) fn arguments(&mut self) -> Result<Vec<TypeSig>, SignatureError> {
        let start = self.offset;
        match self.count(0)? {
            0 => Err(SignatureError::new(
                SignatureErrorKind::EmptyGenericList,
                start,
            )),
            count => self.types(count),
        }
    }

    pub(super) fn type_sig(&mut self) -> Result<TypeSig, SignatureError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(SignatureErrorKind::TooDeep));
        }
        self.depth += 1;
        let type_sig = self.type_at_depth();
        self.depth -= 1;
        type_sig
    }

    fn boxed(&mut self) -> Result<Box<TypeSig>, SignatureError> {
        self.type_sig().map(Box::new)
    }

    fn type_at_depth(&mut self) -> Result<TypeSig, SignatureError> {
        let start = self.offset;
        let element_type = self.peek()?;
        if let Some(primitive) = TypeSig::from_primitive(element_type) {
            self.skip();
            return Ok(primitive);
        }
        self.skip();
        Ok(match element_type {
            element::CLASS => TypeSig::Class(self.type_token()?),
            element::VALUETYPE => TypeSig::ValueType(self.type_token()?),
            element::VAR => TypeSig::Var(self.unsigned()?),
            element::MVAR => TypeSig::MVar(self.unsigned()?),
            element::PTR => TypeSig::Pointer(self.boxed()?),
            element::BYREF => TypeSig::ByRef(self.boxed()?),
            element::SZARRAY => TypeSig::SzArray(self.boxed()?),
            element::PINNED => TypeSig::Pinned(self.boxed()?),
            element::GENERICINST => self.generic_instance()?,
            element::ARRAY => self.array()?,
            element::FNPTR => TypeSig::FunctionPointer(Box::new(self.method_sig()?)),
            element::CMOD_REQD | element::CMOD_OPT => TypeSig::Modified {
                required: element_type == element::CMOD_REQD,
                modifier: self.type_token()?,
                inner: self.boxed()?,
            },
            other => {
                let kind = match other {
                    element::SENTINEL => SignatureErrorKind::UnexpectedSentinel,
                    element::INTERNAL => SignatureErrorKind::InternalType,
                    other => SignatureErrorKind::UnknownElementType(other),
                };
                return Err(SignatureError::new(kind, start));
            }
        })
    }

    fn generic_instance(&mut self) -> Result<TypeSig, SignatureError> {
        let is_value_type = match self.peek()? {
            element::CLASS => false,
            element::VALUETYPE => true,
            element::INTERNAL => return Err(self.error(SignatureErrorKind::InternalType)),
            other => return Err(self.error(SignatureErrorKind::InvalidGenericInstance(other))),
        };
        self.skip();
        let definition = self.type_token()?;
        let arguments = self.arguments()?;
        Ok(TypeSig::GenericInstance {
            is_value_type,
            definition,
            arguments,
        })
    }

    fn array(&mut self) -> Result<TypeSig, SignatureError> {
        let element = self.boxed()?;
        let start = self.offset;
        let rank = self.unsigned()?;
        if rank == 0 {
            return Err(SignatureError::new(SignatureErrorKind::ZeroRank, start));
        }
        let count = self.bounds(rank)?;
        let sizes = self.list(count, Self::unsigned)?;
        let count = self.bounds(rank)?;
        let lower_bounds = self.list(count, Self::signed)?;
        Ok(TypeSig::Array {
            element,
            shape: Box::new(ArrayShape {
                rank,
                sizes,
                lower_bounds,
            }),
        })
    }

    /// Reads the number of sizes or lower bounds.
    fn bounds(&mut self, rank: u32) -> Result<usize, SignatureError> {
        let start = self.offset;
        let bounds = self.count(0)?;
        if u32::try_from(bounds).is_ok_and(|bounds| bounds <= rank) {
            return Ok(bounds);
        }
        Err(SignatureError::new(
            SignatureErrorKind::TooManyBounds { rank, bounds },
            start,
        ))
    }

    pub(super) fn method_sig(&mut self) -> Result<MethodSig, SignatureError> {
        self.method_sig_of_kind("method")
    }

    /// Reads a method signature where any kind of `expected` signature is valid.
    pub(super) fn method_sig_of_kind(
        &mut self,
        expected: &'static str,
    ) -> Result<MethodSig, SignatureError> {
        let first = self.peek()?;
        let (convention, flags) = CallingConvention::from_byte(first).ok_or_else(|| {
            self.error(SignatureErrorKind::WrongSignatureKind {
                expected,
                found: first,
            })
        })?;
        self.skip();
        let start = self.offset;
        let generic_parameter_count = if flags.generic { self.unsigned()? } else { 0 };
        if flags.generic && generic_parameter_count == 0 {
            return Err(SignatureError::new(
                SignatureErrorKind::EmptyGenericList,
                start,
            ));
        }
        let count = self.count(1)?;
        let return_type = self.type_sig()?;
        let mut sentinel = None;
        let mut position = 0;
        let params = self.list(count, |reader| {
            if convention.allows_sentinel()
                && sentinel.is_none()
                && reader.peek()? == element::SENTINEL
            {
                reader.skip();
                sentinel = Some(position);
            }
            position += 1;
            reader.type_sig()
        })?;
        Ok(MethodSig {
            convention,
            has_this: flags.has_this,
            explicit_this: flags.explicit_this,
            generic_parameter_count,
            return_type,
            params,
            sentinel,
        })
    }
}
