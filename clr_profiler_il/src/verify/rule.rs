use std::fmt;

use super::StackKind;
use crate::instruction::InstructionId;
use crate::messages::messages;
use crate::opcode::{Opcode, OperandKind};

messages! {
    /// A rule about a body: of its structure, or of the values on its stack.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Rule {
        /// A branch goes to a label without an instruction (III.1.7.2).
        NoTarget => "a branch goes to no instruction";
        /// The last instruction goes on to a next one, or there is no instruction at all (III.1.7.2).
        FallsOffTheEnd => "control falls off the end of the code";
        /// A region holds no instruction, or ends before it begins (II.25.4.6).
        EmptyRegion => "a region without an instruction";
        /// Regions overlap without one lying in the other (II.19).
        Overlap => "regions overlap";
        /// A clause is after one that encloses it (II.19).
        ClauseOrder => "the clause stands behind one that encloses it";
        /// A filter does not end in its only `endfilter`, right before its handler (II.19).
        Filter => "a filter does not end in its only endfilter before its handler";
        /// Control enters a region otherwise than at the first instruction of a try region (II.19,
        /// III.1.7.2).
        Enters => "control enters a region in its middle, or a handler";
        /// Control leaves a region by a branch or by going on (II.19).
        Leaves => "control leaves a region other than by leave";
        /// `leave` goes out of a finally, fault or filter (III.3.46).
        LeavesHandler => "leave goes out of a finally, fault or filter";
        /// An instruction stands in a region where it may not: `ret` in any, `endfinally` outside of a
        /// finally or fault, `endfilter` outside of a filter, `rethrow` outside of a catch, `localloc`
        /// in a handler or filter (III.3.56, III.3.35, III.3.34, III.4.24, III.3.47).
        Misplaced(opcode: Opcode) => "{opcode} may not stand in this region";
        /// A token or symbol of another kind than the instruction names (III.1.9).
        OperandName(kind: OperandKind) => "the operand is not {}", operand_name(*kind);
        /// A prefix before an instruction that it does not apply to (III.2).
        Prefix(opcode: Opcode) => "{opcode} does not apply to this instruction";
        /// `tail.` on a call that no `ret` follows (III.2.4).
        TailWithoutRet => "a tail call without a ret behind it";
        /// The resolver does not know what is called, so that nothing after it can be followed.
        UnknownCall => "a call of something unknown";
        /// The method has no such argument (III.3.38).
        NoArgument(number: u16) => "there is no argument {number}";
        /// The body has no such local (III.3.43).
        NoLocal(number: u16) => "there is no local {number}";
        /// The instruction takes more values than there are (III.1.7.4).
        Underflow {
            /// How many there are.
            depth: u32,
            /// How many it takes.
            pops: u32,
        } => "{pops} values are taken from a stack of {depth}";
        /// The stack gets deeper than the body declares (III.1.7.4).
        MaxStack {
            /// What [`max_stack`](crate::body::MethodBody::max_stack) says.
            declared: u32,
            /// How deep it gets.
            depth: u32,
        } => "{depth} values on a stack that is declared for {declared}";
        /// Values lie on the stack where there may be none: after what `ret` gives back, at a `jmp`,
        /// below the size of a `localloc`, where a try region is entered (III.3.56, III.3.37, III.3.47,
        /// III.1.7.5).
        NotEmpty {
            /// How many.
            depth: u32,
        } => "{depth} values are left on the stack, which must be empty";
        /// A value is of another kind than the instruction takes (III.1.6, III.1.8.1.2).
        Operand {
            /// Which of the instruction's operands, counted from 1; the topmost on the stack is the
            /// last. `this` is the first of a call, the pointer of a `calli` the last.
            operand: u32,
            /// What it takes.
            expected: Expected,
            /// What is there.
            found: StackKind,
        } => "operand {operand} is {found}, not {expected}";
        /// An operator does not take these two kinds together (III.1.5).
        Operands {
            /// The first operand.
            left: StackKind,
            /// The second one.
            right: StackKind,
        } => "{left} and {right} do not go together";
        /// Control goes to an instruction with another depth than from elsewhere (III.1.7.5).
        JoinDepth {
            /// From here.
            depth: u32,
            /// From elsewhere.
            other: u32,
        } => "control goes on with {depth} values on the stack, from elsewhere with {other}";
        /// Control goes to an instruction with a value of another kind than from elsewhere
        /// (III.1.8.1.3).
        JoinKind {
            /// Which value on the stack, counted from the deepest as 1.
            value: u32,
            /// Its kind from here.
            found: StackKind,
            /// Its kind from elsewhere.
            other: StackKind,
        } =>
            "control goes on with value {value} on the stack being {found}, from elsewhere {other}";
    }
}

messages! {
    /// What an instruction takes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Expected {
        /// Values of this kind, and of those that become it by themselves.
        Kind(kind: StackKind) => "{kind}";
        /// A managed pointer or a native integer.
        Address => "an address";
        /// An `int32` or a native integer.
        Index => "int32 or native int";
        /// Anything but a float or a structure.
        Condition => "something that is zero or not";
        /// An integer or float.
        Number => "a number";
        /// An `int32`, `int64` or native integer.
        Integer => "an integer";
        /// An object or an address.
        Instance => "an object or an address";
    }
}

const fn operand_name(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::Method => "a method",
        OperandKind::Field => "a field",
        OperandKind::Type => "a type",
        OperandKind::String => "a string",
        OperandKind::Signature => "a stand-alone signature",
        _ => "a type, method or field",
    }
}

/// A rule that a body breaks, and where.
///
/// In one line by itself, and with the code around by [`display`](Self::display).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The instruction, or the first one of the region; `None` if there is none.
    pub instruction: Option<InstructionId>,
    /// Its offset in the decoded code; `None` if it was inserted.
    pub offset: Option<u32>,
    /// The exception clause, counted from 0, if the violation is one of a clause.
    pub clause: Option<usize>,
    /// The broken rule.
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.offset, self.instruction) {
            (Some(offset), _) => write!(f, "IL_{offset:04x}: ")?,
            (None, Some(id)) => write!(f, "inserted instruction {}: ", id.0)?,
            (None, None) => {}
        }
        if let Some(clause) = self.clause {
            write!(f, "exception clause {clause}: ")?;
        }
        self.rule.fmt(f)
    }
}
