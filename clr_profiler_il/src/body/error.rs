use std::error::Error;
use std::fmt;

use crate::messages::messages;
use crate::opcode::Opcode;

/// A rule that the bytes of a method body break, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyError {
    /// The offset from the start of the body.
    pub offset: usize,
    /// The broken rule.
    pub kind: BodyErrorKind,
}

impl BodyError {
    #[cold]
    pub(super) const fn new(offset: usize, kind: BodyErrorKind) -> Self {
        Self { offset, kind }
    }
}

messages! {
    /// The rules that a [`BodyError`] reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum BodyErrorKind {
        /// The bytes end within a header, the code or a section (II.25.4).
        Truncated => "the method body is truncated";
        /// The first byte begins neither a tiny nor a fat header (II.25.4.1).
        UnknownHeader(byte: u8) => "0x{byte:02x} does not start a method body header";
        /// The header size in a fat header is not three units of four bytes (II.25.4.3).
        HeaderSize(size: u8) =>
            "the header of the method body has {size} instead of 3 units of four bytes";
        /// A section's size is not that of its header and a whole number of clauses (II.25.4.5).
        SectionSize(size: usize) => "a section of the method body cannot have {size} bytes";
        /// A section that contains something other than exception clauses (II.25.4.5).
        UnknownSection(kind: u8) => "a section of the unknown kind 0x{kind:02x}";
        /// No instruction has this code (III.1.2.1): one byte, or `0xfe` and a second byte.
        UnknownOpcode(code: u16) => "0x{code:02x} is not an opcode";
        /// The code ends within an instruction.
        TruncatedInstruction => "the code ends within an instruction";
        /// A `switch` declares more targets than the code has room for (III.3.66).
        SwitchCount(count: u32) => "a switch over {count} targets is longer than the code";
        /// The target of a branch is outside of the code (III.1.7.2).
        TargetOutside {
            /// The offset of the target in the code.
            target: i64,
        } => "the target of a branch is outside of the code, at {target}";
        /// The target of a branch is inside an instruction, or between an instruction and its
        /// prefix (III.1.7.2).
        TargetInside {
            /// The offset of the target in the code.
            target: u32,
        } => "the target of a branch is inside an instruction, at IL_{target:04x}";
        /// A prefix without an instruction after it (III.2).
        DanglingPrefix(opcode: Opcode) => "the prefix {opcode} has no instruction after it";
        /// An instruction has the same prefix twice (III.2).
        RepeatedPrefix(opcode: Opcode) => "the prefix {opcode} is repeated";
        /// Bytes at the end of the code that do not decode and that control never reaches, such as
        /// those of an obfuscator. The body runs, but cannot be edited here.
        UndecodableTail {
            /// The first of these bytes.
            byte: u8,
        } => "unreachable bytes at the end of the code are not instructions, the first is 0x{byte:02x}";
        /// An exception clause other than catch, filter, finally or fault (II.25.4.6).
        UnknownClause(flags: u32) => "an exception clause of the unknown kind 0x{flags:x}";
        /// A region of an exception clause ends outside of the code (II.25.4.6).
        ClauseOutside {
            /// The offset of its end in the code.
            end: u64,
        } => "a region of an exception clause ends outside of the code, at {end}";
        /// A region of an exception clause begins or ends within an instruction (II.25.4.6).
        ClauseInside {
            /// The offset in the code.
            bound: u32,
        } => "a bound of an exception clause is within an instruction, at IL_{bound:04x}";
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at offset {})", self.kind, self.offset)
    }
}

impl Error for BodyError {}

/// The reason why a body cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError<E> {
    /// The `TokenSource` failed to resolve a symbol.
    Tokens(E),
    /// The stack would be deeper than 16 bits can declare (II.25.4.3).
    MaxStack(u32),
    /// The code would be longer than 2 GiB.
    CodeSize(u64),
    /// More exception clauses than fit into a section with a size of 24 bits (II.25.4.5).
    ClauseCount(usize),
    /// A branch targets an unplaced label, or one at the end, where there is no instruction.
    UnplacedLabel {
        /// The offset of the branch in the code.
        offset: u32,
    },
    /// A region of an exception clause, counted from 0, ends before it begins.
    ClauseOrder(usize),
}

impl<E: fmt::Display> fmt::Display for EncodeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(error) => error.fmt(f),
            Self::MaxStack(depth) => write!(
                f,
                "{depth} values on the stack are more than the 65535 that a body can declare"
            ),
            Self::CodeSize(size) => write!(f, "{size} bytes of code are too many"),
            Self::ClauseCount(count) => {
                write!(f, "{count} exception clauses are more than a body holds")
            }
            Self::UnplacedLabel { offset } => write!(
                f,
                "the branch at IL_{offset:04x} goes to a label without an instruction"
            ),
            Self::ClauseOrder(index) => {
                write!(
                    f,
                    "a region of exception clause {index} ends before it begins"
                )
            }
        }
    }
}

impl<E: Error + 'static> Error for EncodeError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Tokens(error) => Some(error),
            _ => None,
        }
    }
}
