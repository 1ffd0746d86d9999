use std::error::Error;
use std::fmt;

use super::MAX_DEPTH;
use crate::messages::messages;

messages! {
    /// The broken rule of the signature format (ECMA-335 II.23.2).
    ///
    /// Reading can return every variant except [`ValueTooLarge`](Self::ValueTooLarge) and
    /// [`SentinelAtEnd`](Self::SentinelAtEnd), which only a value built by hand can break.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum SignatureErrorKind {
        /// The blob ends inside a signature.
        UnexpectedEnd => "the blob ends inside the signature";
        /// This many bytes follow the signature.
        TrailingBytes(count: usize) => "{count} bytes follow the signature";
        /// The first byte of a compressed integer has its upper three bits set (II.23.2). The value
        /// is that byte.
        InvalidCompressedInteger(byte: u8) => "0x{byte:02x} does not start a compressed integer";
        /// A number that does not fit into a compressed integer (II.23.2). Only on writing.
        ValueTooLarge(value: i64) => "{value} does not fit into a compressed integer";
        /// A coded type token with tag 3, which denotes no table (II.23.2.8). The value is the
        /// coded token.
        InvalidTypeTokenTag(coded: u32) => "the coded type token 0x{coded:x} has the unused tag 3";
        /// A coded type token whose row has more than 24 bits. The value is the row.
        RowTooLarge(row: u32) => "the row 0x{row:x} has more than 24 bits";
        /// A blob of another kind: its first byte is not that of the expected signature.
        WrongSignatureKind {
            /// The name of the expected signature.
            expected: &'static str,
            /// The first byte of the blob.
            found: u8,
        } => "0x{found:02x} does not start a {expected} signature";
        /// A byte that is not an element type (II.23.1.16).
        UnknownElementType(byte: u8) => "0x{byte:02x} is not an element type";
        /// `ELEMENT_TYPE_INTERNAL`: an address in the running process, which only the runtime's own
        /// signatures contain.
        InternalType => "a type handle of the running process";
        /// A generic instance of neither a `CLASS` nor a `VALUETYPE` (II.23.2.12). The value is the
        /// byte that was found instead.
        InvalidGenericInstance(byte: u8) =>
            "a generic instance of 0x{byte:02x}, neither class nor value type";
        /// A list of generic parameters or arguments without an element.
        EmptyGenericList => "a generic list without an element";
        /// A sentinel outside of the parameters of a vararg or unmanaged C method, or a second one
        /// (II.23.2.3).
        UnexpectedSentinel => "a sentinel where none is allowed";
        /// A sentinel after the last parameter (II.23.2.3). Only on writing.
        SentinelAtEnd {
            /// The number of parameters before the sentinel.
            position: usize,
            /// The number of all parameters.
            parameters: usize,
        } => "a sentinel at {position} with no parameter after it, of {parameters}";
        /// An array of rank 0 (II.23.2.13).
        ZeroRank => "an array of rank 0";
        /// An array with bounds for more dimensions than it has (II.23.2.13).
        TooManyBounds {
            /// The number of dimensions.
            rank: u32,
            /// The number of sizes or lower bounds.
            bounds: usize,
        } => "{bounds} bounds for an array of rank {rank}";
        /// A list declares more elements than bytes are left.
        CountExceedsBlob {
            /// The declared number of elements.
            count: u32,
            /// The bytes left in the blob.
            remaining: usize,
        } => "{count} elements are declared, {remaining} bytes are left";
        /// More locals than instructions can address, 65,534 (II.23.2.6).
        TooManyLocals(count: usize) => "{count} locals, at most 65534 are possible";
        /// Types nested deeper than [`MAX_DEPTH`].
        TooDeep => "types nested deeper than {MAX_DEPTH}";
    }
}

/// A broken rule of the signature format, and its offset.
///
/// ```
/// use clr_profiler_il::signature::{FieldSig, SignatureErrorKind};
///
/// let error = FieldSig::parse(&[0x06, 0x1d]).unwrap_err();
/// assert_eq!(error.kind(), SignatureErrorKind::UnexpectedEnd);
/// assert_eq!(error.offset(), 2);
/// assert_eq!(error.to_string(), "signature, offset 2: the blob ends inside the signature");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureError {
    kind: SignatureErrorKind,
    offset: usize,
}

impl SignatureError {
    #[cold]
    pub(crate) const fn new(kind: SignatureErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// The broken rule.
    #[must_use]
    pub const fn kind(&self) -> SignatureErrorKind {
        self.kind
    }

    /// The offset in the blob of the byte or number that breaks the rule. On writing, the length of
    /// the part of this signature that had been written.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signature, offset {}: {}", self.offset, self.kind)
    }
}

impl Error for SignatureError {}
