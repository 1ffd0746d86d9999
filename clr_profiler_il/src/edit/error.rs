use std::error::Error;

use crate::instruction::{InstructionId, Label};
use crate::opcode::Opcode;
use crate::signature::SignatureError;

use super::NotInstrumentable;
use crate::messages::messages;

messages! {
    /// The reason why a body was not edited.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum EditError {
        /// There is no such instruction: it was removed or belongs to another body.
        UnknownInstruction(id: InstructionId) => "the body has no instruction {}", id.0;
        /// The decoded code has no instruction at this offset, or it was removed.
        NoInstruction(offset: u32) => "there is no instruction at IL_{offset:04x}";
        /// The label belongs to another body or fragment.
        UnknownLabel(label: Label) => "the label {} belongs to another fragment or body", label.index;
        /// The fragment branches to a label that is neither marked nor mapped to a label of the
        /// body.
        UnboundLabel(label: Label) => "the label {} of the fragment has no position", label.index;
        /// The fragment ends in a prefix without an instruction (ECMA-335 III.2).
        DanglingPrefix => "the fragment ends in a prefix";
        /// A region would end before it begins, or contain no instruction.
        EmptyRegion => "a region without an instruction";
        /// The instruction has no target with this index.
        NoTarget(id: InstructionId) => "the instruction {} has no such target", id.0;
        /// The types of the body's locals were not set by `set_locals`.
        UnknownLocals => "the types of the body's locals are not known";
        /// The local cannot be added.
        Locals(error: SignatureError) => "{error}";
        /// The code names an argument that the method does not have.
        NoArgument(number: u16) => "the method has no argument {number}";
        /// The code names a local that the method does not have.
        NoLocal(number: u16) => "the method has no local {number}";
        /// The method has no result to replace.
        NoResult => "the method has no result to replace";
        /// The inserted code contains an instruction that is not allowed at this position.
        Misplaced(opcode: Opcode) => "{opcode} is not allowed in this code";
        /// The body does not permit this edit.
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
