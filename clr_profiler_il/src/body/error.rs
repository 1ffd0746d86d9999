use std::error::Error;
use std::fmt;

use crate::messages::messages;
use crate::opcode::Opcode;

/// What is wrong with the bytes of a method body, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyError {
    /// The offset from the start of the body.
    pub offset: usize,
    /// The rule that is broken.
    pub kind: BodyErrorKind,
}

impl BodyError {
    #[cold]
    pub(super) const fn new(offset: usize, kind: BodyErrorKind) -> Self {
        Self { offset, kind }
    }
}

messages! {
    /// The rules of [`BodyError`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum BodyErrorKind {
        /// The bytes end within a header, the code or a section (II.25.4).
        Truncated => "the method body is cut short";
        /// The first byte begins neither a tiny nor a fat header (II.25.4.1).
        UnknownHeader(byte: u8) => "0x{byte:02x} begins no header of a method body";
        /// A fat header says that it has another length than three times four bytes (II.25.4.3).
        HeaderSize(size: u8) =>
            "the header of the method body has {size} instead of 3 units of four bytes";
        /// A section's size is not that of its header and a whole number of clauses (II.25.4.5).
        SectionSize(size: usize) => "a section of the method body cannot have {size} bytes";
        /// A section that holds something else than exception clauses (II.25.4.5).
        UnknownSection(kind: u8) => "a section of the unknown kind 0x{kind:02x}";
        /// No instruction has this code (III.1.2.1): one byte, or `0xfe` and a second byte.
        UnknownOpcode(code: u16) => "0x{code:02x} is no opcode";
        /// The code ends within an instruction.
        TruncatedInstruction => "the code ends within an instruction";
        /// A `switch` announces more targets than the code has room for (III.3.66).
        SwitchCount(count: u32) => "a switch over {count} targets is longer than the code";
        /// A branch goes out of the code (III.1.7.2).
        TargetOutside {
            /// The offset in the code that it would go to.
            target: i64,
        } => "a branch goes out of the code, to {target}";
        /// A branch goes into an instruction, or between it and its prefix (III.1.7.2).
        TargetInside {
            /// The offset in the code that it would go to.
            target: u32,
        } => "a branch goes into an instruction, to IL_{target:04x}";
        /// A prefix with nothing after it (III.2).
        DanglingPrefix(opcode: Opcode) => "the prefix {opcode} has no instruction behind it";
        /// An instruction has the same prefix twice (III.2).
        RepeatedPrefix(opcode: Opcode) => "the prefix {opcode} is repeated";
        /// Bytes that do not decode, at the end of the code, where control never arrives: an obfuscator
        /// may have put them there. The body runs, but it cannot be edited here.
        UndecodableTail {
            /// The first of them.
            byte: u8,
        } => "unreachable bytes at the end of the code are no instructions, first 0x{byte:02x}";
        /// An exception clause that is no catch, filter, finally or fault (II.25.4.6).
        UnknownClause(flags: u32) => "an exception clause of the unknown kind 0x{flags:x}";
        /// A region of an exception clause ends after the code (II.25.4.6).
        ClauseOutside {
            /// The offset in the code where it would end.
            end: u64,
        } => "a region of an exception clause ends behind the code, at {end}";
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

/// Why a body cannot be written as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError<E> {
    /// The token of a symbol could not be had.
    Tokens(E),
    /// The stack would hold more values than 16 bits can count (II.25.4.3).
    MaxStack(u32),
    /// The code would be longer than 2 GiB.
    CodeSize(u64),
    /// More exception clauses than a section of 24 bits holds (II.25.4.5).
    ClauseCount(usize),
    /// A branch goes to a label that was never placed, or to the end, where no instruction is.
    UnplacedLabel {
        /// The offset that the branch would have in the code.
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
