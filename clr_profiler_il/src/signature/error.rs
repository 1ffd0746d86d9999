use std::error::Error;
use std::fmt;

use super::MAX_DEPTH;
use crate::messages::messages;

messages! {
    /// Which rule of the signature format is broken (ECMA-335 II.23.2).
    ///
    /// Reading can give every variant but [`ValueTooLarge`](Self::ValueTooLarge) and
    /// [`SentinelAtEnd`](Self::SentinelAtEnd), which only a value made by hand can break.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum SignatureErrorKind {
        /// The blob ends inside a signature.
        UnexpectedEnd => "the blob ends inside the signature";
        /// Bytes follow the signature: this many.
        TrailingBytes(count: usize) => "{count} bytes follow the signature";
        /// A compressed integer starts with this byte, whose upper three bits are all set
        /// (II.23.2).
        InvalidCompressedInteger(byte: u8) => "0x{byte:02x} starts no compressed integer";
        /// A number that does not fit into a compressed integer (II.23.2). Only when writing.
        ValueTooLarge(value: i64) => "{value} is no compressed integer";
        /// A coded type token with tag 3, which stands for no table (II.23.2.8). The value is the coded
        /// token.
        InvalidTypeTokenTag(coded: u32) => "the coded type token 0x{coded:x} has the unused tag 3";
        /// A coded type token whose row has more than 24 bits. The value is the row.
        RowTooLarge(row: u32) => "the row 0x{row:x} has more than 24 bits";
        /// A blob of another kind: its first byte is not the one of the expected signature.
        WrongSignatureKind {
            /// The name of the expected signature.
            expected: &'static str,
            /// The first byte of the blob.
            found: u8,
        } => "0x{found:02x} does not start a {expected} signature";
        /// A byte that is no element type (II.23.1.16).
        UnknownElementType(byte: u8) => "0x{byte:02x} is no element type";
        /// `ELEMENT_TYPE_INTERNAL`: an address of the running process, which only the runtime's own
        /// signatures hold.
        InternalType => "a type handle of the running process";
        /// A generic instance of something that is neither `CLASS` nor `VALUETYPE`. The value is the
        /// byte in its place (II.23.2.12).
        InvalidGenericInstance(byte: u8) =>
            "a generic instance of 0x{byte:02x}, neither class nor value type";
        /// A list of generic parameters or arguments with no element.
        EmptyGenericList => "a generic list without an element";
        /// A sentinel outside the parameters of a vararg or unmanaged C method, or a second one
        /// (II.23.2.3).
        UnexpectedSentinel => "a sentinel where none may stand";
        /// A sentinel after the last parameter (II.23.2.3). Only when writing.
        SentinelAtEnd {
            /// The number of parameters before the sentinel.
            position: usize,
            /// The number of all parameters.
            parameters: usize,
        } => "a sentinel at {position} with no parameter behind it, of {parameters}";
        /// An array of rank 0 (II.23.2.13).
        ZeroRank => "an array of rank 0";
        /// An array with bounds for more dimensions than it has (II.23.2.13).
        TooManyBounds {
            /// The number of dimensions.
            rank: u32,
            /// The number of sizes or lower bounds.
            bounds: usize,
        } => "{bounds} bounds for an array of rank {rank}";
        /// A list that announces more elements than bytes are left.
        CountExceedsBlob {
            /// The announced number of elements.
            count: u32,
            /// The bytes left in the blob.
            remaining: usize,
        } => "{count} elements are announced, {remaining} bytes are left";
        /// More locals than instructions can address: 65,534 (II.23.2.6).
        TooManyLocals(count: usize) => "{count} locals, 65534 are possible";
        /// Types nested deeper than [`MAX_DEPTH`].
        TooDeep => "types nested deeper than {MAX_DEPTH}";
    }
}

/// A signature that breaks a rule, and where.
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

    /// Where: the offset in the blob of the byte or number that breaks the rule. When writing, the
    /// length of what had been written of this signature.
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
