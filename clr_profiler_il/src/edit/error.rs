use std::error::Error;
use std::fmt;

use crate::instruction::{InstructionId, Label};
use crate::opcode::Opcode;
use crate::signature::SignatureError;

use super::NotInstrumentable;

/// Why a body was not edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such instruction: it was removed, or is another body's.
    UnknownInstruction(InstructionId),
    /// There is no such label in the body or fragment: it is another one's.
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
    /// The code names an argument that the method does not have.
    NoArgument(u16),
    /// The code names a local that the method does not have.
    NoLocal(u16),
    /// The method returns nothing that could be replaced.
    NoResult,
    /// The code to insert holds an instruction that may not stand where it would come to stand.
    Misplaced(Opcode),
    /// The body cannot be given such code.
    NotInstrumentable(NotInstrumentable),
}

impl From<NotInstrumentable> for EditError {
    fn from(reason: NotInstrumentable) -> Self {
        Self::NotInstrumentable(reason)
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownInstruction(id) => write!(f, "the body has no instruction {}", id.0),
            Self::UnknownLabel(label) => {
                let index = label.index;
                write!(f, "the label {index} belongs to another fragment or body")
            }
            Self::UnboundLabel(label) => {
                write!(f, "the label {} of the fragment has no place", label.index)
            }
            Self::DanglingPrefix => f.write_str("the fragment ends in a prefix"),
            Self::EmptyRegion => f.write_str("a region without an instruction"),
            Self::NoTarget(id) => write!(f, "the instruction {} has no such target", id.0),
            Self::UnknownLocals => f.write_str("the types of the body's locals are not known"),
            Self::Locals(error) => error.fmt(f),
            Self::NoArgument(number) => write!(f, "the method has no argument {number}"),
            Self::NoLocal(number) => write!(f, "the method has no local {number}"),
            Self::NoResult => f.write_str("the method returns nothing that could be replaced"),
            Self::Misplaced(opcode) => write!(f, "{opcode} may not stand in this code"),
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
