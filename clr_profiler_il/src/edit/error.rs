use std::error::Error;

use crate::instruction::{InstructionId, Label};
use crate::opcode::Opcode;
use crate::signature::SignatureError;

use super::NotInstrumentable;
use crate::messages::messages;

messages! {
    /// Why a body was not edited.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum EditError {
        /// There is no such instruction: it was removed, or is another body's.
        UnknownInstruction(id: InstructionId) => "the body has no instruction {}", id.0;
        /// There is no such label in the body or fragment: it is another one's.
        UnknownLabel(label: Label) => "the label {} belongs to another fragment or body", label.index;
        /// The fragment has branches to a label that is neither marked nor given a place.
        UnboundLabel(label: Label) => "the label {} of the fragment has no place", label.index;
        /// The fragment ends in a prefix without an instruction (ECMA-335 III.2).
        DanglingPrefix => "the fragment ends in a prefix";
        /// A region would end before it begins, or hold no instruction.
        EmptyRegion => "a region without an instruction";
        /// The instruction has no target of that number.
        NoTarget(id: InstructionId) => "the instruction {} has no such target", id.0;
        /// The body has locals whose types were not told by `set_locals`.
        UnknownLocals => "the types of the body's locals are not known";
        /// The new local cannot be had.
        Locals(error: SignatureError) => "{error}";
        /// The code names an argument that the method does not have.
        NoArgument(number: u16) => "the method has no argument {number}";
        /// The code names a local that the method does not have.
        NoLocal(number: u16) => "the method has no local {number}";
        /// The method returns nothing that could be replaced.
        NoResult => "the method returns nothing that could be replaced";
        /// The code to insert holds an instruction that may not stand where it would come to stand.
        Misplaced(opcode: Opcode) => "{opcode} may not stand in this code";
        /// The body cannot be given such code.
        NotInstrumentable(reason: NotInstrumentable) => "{reason}";
    }
}

impl From<NotInstrumentable> for EditError {
    fn from(reason: NotInstrumentable) -> Self {
        Self::NotInstrumentable(reason)
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
