use std::fmt;

use super::StackKind;
use crate::instruction::InstructionId;
use crate::messages::messages;
use crate::opcode::{Opcode, OperandKind};

messages! {
    /// A rule about the structure of a body or the values on its stack.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Rule {
        /// The target of a branch is a label without an instruction (III.1.7.2).
        NoTarget => "the target of a branch is not an instruction";
        /// Control falls through the last instruction, or there is no instruction at all
        /// (III.1.7.2).
        FallsOffTheEnd => "control falls off the end of the code";
        /// A region contains no instruction, or ends before it begins (II.25.4.6).
        EmptyRegion => "a region without an instruction";
        /// Two regions overlap, and neither contains the other (II.19).
        Overlap => "regions overlap";
        /// A clause follows one that encloses it (II.19).
        ClauseOrder => "the clause follows one that encloses it";
        /// A filter does not end in its only `endfilter`, directly before its handler (II.19).
        Filter => "a filter does not end in its only endfilter before its handler";
        /// Control enters a region other than at the first instruction of a try region (II.19,
        /// III.1.7.2).
        Enters => "control enters a region in the middle, or a handler";
        /// Control leaves a region by a branch or by falling through (II.19).
        Leaves => "control leaves a region other than by leave";
        /// `leave` exits a finally, fault or filter (III.3.46).
        LeavesHandler => "leave exits a finally, fault or filter";
        /// An instruction in a region that does not allow it: `ret` in any, `endfinally` outside of
        /// a finally or fault, `endfilter` outside of a filter, `rethrow` outside of a catch,
        /// `localloc` in a handler or filter (III.3.56, III.3.35, III.3.34, III.4.24, III.3.47).
        Misplaced(opcode: Opcode) => "{opcode} is not allowed in this region";
        /// The operand is a token or symbol of a kind that the instruction does not take (III.1.9).
        OperandName(kind: OperandKind) => "the operand is not {}", operand_name(*kind);
        /// A prefix of an instruction that it does not apply to (III.2).
        Prefix(opcode: Opcode) => "{opcode} does not apply to this instruction";
        /// `tail.` on a call without a `ret` after it (III.2.4).
        TailWithoutRet => "a tail call without a ret after it";
        /// The resolver does not know the callee, so the path is not followed further.
        UnknownCall => "a call of an unknown method";
        /// The method has no such argument (III.3.38).
        NoArgument(number: u16) => "there is no argument {number}";
        /// The body has no such local (III.3.43).
        NoLocal(number: u16) => "there is no local {number}";
        /// The instruction takes more values than there are (III.1.7.4).
        Underflow {
            /// The number of values on the stack.
            depth: u32,
            /// The number of values that it takes.
            pops: u32,
        } => "{pops} values are taken from a stack of {depth}";
        /// The stack is deeper than the body declares (III.1.7.4).
        MaxStack {
            /// The declared depth, [`max_stack`](crate::body::MethodBody::max_stack).
            declared: u32,
            /// The actual depth.
            depth: u32,
        } => "{depth} values on a stack that is declared for {declared}";
        /// The stack is not empty where it must be: after `ret` has taken its value, at a `jmp`,
        /// below the size of a `localloc`, at the entry of a try region (III.3.56, III.3.37,
        /// III.3.47, III.1.7.5).
        NotEmpty {
            /// The number of values.
            depth: u32,
        } => "{depth} values are left on the stack, which must be empty";
        /// A value is of a kind that the instruction does not take (III.1.6, III.1.8.1.2).
        Operand {
            /// The index of the operand, counted from 1, the topmost value being the last one.
            /// `this` is the first operand of a call, the pointer the last of a `calli`.
            operand: u32,
            /// The expected kind.
            expected: Expected,
            /// The actual kind.
            found: StackKind,
        } => "operand {operand} is {found}, not {expected}";
        /// An operator cannot combine these two kinds (III.1.5).
        Operands {
            /// The first operand.
            left: StackKind,
            /// The second operand.
            right: StackKind,
        } => "{left} and {right} cannot be combined";
        /// Control reaches an instruction with different depths on different paths (III.1.7.5).
        JoinDepth {
            /// The depth on this path.
            depth: u32,
            /// The depth on another path.
            other: u32,
        } => "control arrives with {depth} values on the stack, on another path with {other}";
        /// Control reaches an instruction with values of incompatible kinds on different paths
        /// (III.1.8.1.3).
        JoinKind {
            /// The index of the value, counted from 1, which is the deepest.
            value: u32,
            /// Its kind on this path.
            found: StackKind,
            /// Its kind on another path.
            other: StackKind,
        } =>
            "control arrives with {found} as value {value} on the stack, on another path with {other}";
    }
}

messages! {
    /// The operand that an instruction takes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Expected {
        /// A value of this kind, or of a kind that is implicitly converted to it.
        Kind(kind: StackKind) => "{kind}";
        /// A managed pointer or a native integer.
        Address => "an address";
        /// An `int32` or a native integer.
        Index => "int32 or native int";
        /// Any value except a float or a structure.
        Condition => "an integer, an object or an address";
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

/// A violated rule, and the position of the violation.
///
/// Its own `Display` is one line; [`display`](Self::display) includes the code around it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The instruction, or the first one of the region; `None` if there is none.
    pub instruction: Option<InstructionId>,
    /// Its offset in the decoded code; `None` if it was inserted.
    pub offset: Option<u32>,
    /// The exception clause, counted from 0; `None` if no clause is violated.
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
