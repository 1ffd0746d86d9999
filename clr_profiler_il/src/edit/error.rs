use std::error::Error;
use std::fmt;

use crate::instruction::{InstructionId, Label};
use crate::signature::SignatureError;

/// Why a body was not edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such instruction: it was removed, or is another body's.
    UnknownInstruction(InstructionId),
    /// There is no such label in the body or fragment.
    UnknownLabel(Label),
    /// The fragment has branches to a label that is neither marked nor given a place.
    UnboundLabel(Label),
    /// The fragment ends in a prefix without an instruction (ECMA-335 III.2).
    DanglingPrefix,
    /// A region would end before it begins, or hold no instruction.
    EmptyRegion,
    /// The instruction has no target of that number.
    NoTarget(InstructionId),
    /// The body has locals whose types were not told by `set_locals`.
    UnknownLocals,
    /// The new local cannot be had.
    Locals(SignatureError),
    /// The body cannot be given such code.
    NotInstrumentable(NotInstrumentable),
}

/// Why a body cannot be rewritten in some way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotInstrumentable {
    /// A `tail.` call replaces the frame, so nothing can run between it and `ret` (III.2.4). See
    /// [`strip_tail_calls`](crate::body::MethodBody::strip_tail_calls).
    TailCall(InstructionId),
    /// `jmp` leaves for another method and never comes back (III.3.37).
    Jmp(InstructionId),
}

impl fmt::Display for NotInstrumentable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TailCall(_) => {
                f.write_str("not instrumentable: the method returns by a tail call")
            }
            Self::Jmp(_) => f.write_str("not instrumentable: the method leaves by jmp"),
        }
    }
}

impl Error for NotInstrumentable {}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownInstruction(id) => write!(f, "the body has no instruction {}", id.0),
            Self::UnknownLabel(label) => write!(f, "there is no label {}", label.0),
            Self::UnboundLabel(label) => {
                write!(f, "the label {} of the fragment has no place", label.0)
            }
            Self::DanglingPrefix => f.write_str("the fragment ends in a prefix"),
            Self::EmptyRegion => f.write_str("a region without an instruction"),
            Self::NoTarget(id) => write!(f, "the instruction {} has no such target", id.0),
            Self::UnknownLocals => f.write_str("the types of the body's locals are not known"),
            Self::Locals(error) => error.fmt(f),
            Self::NotInstrumentable(reason) => reason.fmt(f),
        }
    }
}

impl Error for EditError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Locals(error) => Some(error),
            Self::NotInstrumentable(reason) => Some(reason),
            _ => None,
        }
    }
}
