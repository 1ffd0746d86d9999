//! Code to insert into bodies.
//!
//! A [`Fragment`] is built with one method for each instruction. Calls, types, fields and strings
//! are tokens of one module, or symbols that every module resolves for itself, so that one fragment
//! works in all of them.
//!
//! ```
//! use clr_profiler_il::fragment::Fragment;
//! use clr_profiler_il::symbol::MethodSymbol;
//!
//! let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
//! let mut hello = Fragment::new();
//! let skip = hello.label();
//! hello
//!     .ldarg(0)
//!     .brfalse(skip)
//!     .ldstr("hello")
//!     .call(&write)
//!     .mark(skip);
//! assert_eq!(
//!     hello.to_string(),
//!     "\
//! IL_0000:  ldarg.0
//! IL_0001:  brfalse.s  IL_000d
//! IL_0003:  ldstr      \"hello\"
//! IL_0008:  call       void [System.Console]System.Console::WriteLine(string)
//! IL_000d:
//! "
//! );
//! assert_eq!(hello.to_string().parse(), Ok(hello.clone()));
//! assert_eq!(hello.stack_need(), 1);
//! ```

mod compare;
mod height;
mod instructions;
mod names;
mod try_block;

use crate::code::{Code, END, LabelKind, Node, PrefixSlot, UNPLACED};
use crate::instruction::{Instruction, Label};
use crate::opcode::{Opcode, OperandKind};
use crate::symbol::CallShape;

pub use names::{AnyName, Callee, FieldName, SignatureName, StringName, TypeName};
pub use try_block::Try;

pub(crate) use names::Name;

use height::Height;

/// A piece of code with its own labels and exception clauses.
///
/// A label that is never [marked](Self::mark) is an exit: the insertion maps it to a label of the
/// body. A label marked at the end targets the code after the fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    pub(crate) code: Code,
    /// The prefixes of the next instruction.
    pub(crate) pending: Vec<PrefixSlot>,
    stack: Height,
    /// A label of another fragment that was used here: the fragment cannot be inserted.
    pub(crate) foreign: Option<Label>,
}

impl Fragment {
    /// A fragment without instructions.
    #[must_use]
    pub fn new() -> Self {
        Self {
            code: Code::new(),
            pending: Vec::new(),
            stack: Height::new(),
            foreign: None,
        }
    }

    /// Removes everything, and keeps the memory. Labels of before are not valid anymore.
    pub fn clear(&mut self) {
        self.code.clear();
        self.pending.clear();
        self.stack = Height::new();
        self.foreign = None;
    }

    /// Whether there are no instructions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.code.first() == END
    }

    /// The instructions, in order.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        self.code.instructions()
    }

    /// The maximum number of values that the fragment pushes above those already on the stack.
    #[must_use]
    pub fn stack_need(&self) -> u32 {
        u32::try_from(self.stack.most()).unwrap_or(u32::MAX)
    }

    /// The change in the number of values on the stack; negative if it takes values.
    #[must_use]
    pub const fn stack_change(&self) -> i64 {
        self.stack.now()
    }

    /// Whether control may reach the end.
    #[must_use]
    pub const fn reachable_end(&self) -> bool {
        self.stack.is_reached()
    }

    /// Creates a label for branches in this fragment; [`mark`](Self::mark) sets its position.
    pub fn label(&mut self) -> Label {
        self.code.add_label(UNPLACED, LabelKind::Branch)
    }

    /// Places a label before the next instruction. A label that was placed already moves here.
    ///
    /// After a call with a label of another fragment, this one cannot be inserted anymore.
    pub fn mark(&mut self, label: Label) -> &mut Self {
        if !self.knows(label) {
            return self;
        }
        self.code.place_label(label, END);
        self.stack.arrive(label);
        self
    }

    /// Appends a copy of another fragment. Labels of that one are not valid here.
    ///
    /// Its unmarked labels stay unmarked and can no longer be placed.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        if let Some(spliced) = self.code.splice(END, &other.code) {
            // Existing labels at the end belong before the copy; its own were added last.
            let own = |index, _| index < spliced.labels;
            self.code.move_labels(END, spliced.first, own);
            let clauses = other.code.clauses.iter();
            self.code
                .clauses
                .extend(clauses.map(|clause| clause.shifted(spliced.labels, spliced.symbols)));
            self.stack.append(&other.stack);
        }
        self.pending.extend_from_slice(&other.pending);
        self.foreign = self.foreign.or(other.foreign);
        self
    }

    /// Whether a label belongs to the fragment; records one that does not.
    fn knows(&mut self, label: Label) -> bool {
        let is_own = self.code.owns(label);
        if !is_own {
            self.foreign = self.foreign.or(Some(label));
        }
        is_own
    }

    fn int32(&mut self, opcode: Opcode, value: i32) -> &mut Self {
        let opcode = opcode.shortest(value);
        let operand = match opcode.operand_kind() {
            OperandKind::Int32 => u64::from(value as u32),
            OperandKind::Int8 => u64::from(value as u8),
            _ => 0,
        };
        self.push(opcode, operand, None)
    }

    fn int64(&mut self, opcode: Opcode, value: i64) -> &mut Self {
        self.push(opcode, value as u64, None)
    }

    fn float32(&mut self, opcode: Opcode, value: f32) -> &mut Self {
        self.push(opcode, u64::from(value.to_bits()), None)
    }

    fn float64(&mut self, opcode: Opcode, value: f64) -> &mut Self {
        self.push(opcode, value.to_bits(), None)
    }

    fn table(&mut self, opcode: Opcode, targets: &[Label]) -> &mut Self {
        for &target in targets {
            self.knows(target);
        }
        let operand = self.code.add_switch(targets);
        let height = self.append_node(opcode, operand, None);
        for &target in targets {
            self.stack.bring(target, height);
        }
        self
    }

    fn bare_prefix(&mut self, opcode: Opcode) -> &mut Self {
        self.prefix(opcode, 0, false)
    }

    fn number_prefix(&mut self, opcode: Opcode, value: u8) -> &mut Self {
        self.prefix(opcode, u32::from(value), false)
    }

    fn type_prefix(&mut self, opcode: Opcode, name: TypeName) -> &mut Self {
        let (value, symbolic) = self.name(name.0);
        self.prefix(opcode, value, symbolic)
    }

    pub(crate) fn prefix(&mut self, opcode: Opcode, value: u32, symbolic: bool) -> &mut Self {
        // At most one of each: the last one wins.
        self.pending.retain(|prefix| prefix.opcode != opcode);
        self.pending.push(PrefixSlot {
            opcode,
            symbolic,
            value,
        });
        self
    }

    fn simple(&mut self, opcode: Opcode) -> &mut Self {
        self.push(opcode, 0, None)
    }

    pub(crate) fn branch(&mut self, opcode: Opcode, target: Label) -> &mut Self {
        self.knows(target);
        let height = self.append_node(opcode, u64::from(target.index), None);
        self.stack.bring(target, height);
        self
    }

    fn variable(&mut self, opcode: Opcode, number: u16) -> &mut Self {
        self.push(opcode.for_variable(number), u64::from(number), None)
    }

    pub(crate) fn method(&mut self, opcode: Opcode, callee: Callee) -> &mut Self {
        self.named(opcode, callee.name, callee.shape)
    }

    pub(crate) fn indirect(&mut self, opcode: Opcode, signature: SignatureName) -> &mut Self {
        self.named(opcode, signature.name, signature.shape)
    }

    pub(crate) fn field(&mut self, opcode: Opcode, field: FieldName) -> &mut Self {
        self.named(opcode, field.0, None)
    }

    pub(crate) fn typed(&mut self, opcode: Opcode, name: TypeName) -> &mut Self {
        self.named(opcode, name.0, None)
    }

    pub(crate) fn any(&mut self, opcode: Opcode, name: AnyName) -> &mut Self {
        self.named(opcode, name.0, None)
    }

    pub(crate) fn string(&mut self, opcode: Opcode, text: StringName) -> &mut Self {
        self.named(opcode, text.0, None)
    }

    fn named(&mut self, opcode: Opcode, name: Name, shape: Option<CallShape>) -> &mut Self {
        let (value, symbolic) = self.name(name);
        self.push(opcode, u64::from(value), shape);
        if symbolic && let Some(node) = self.code.nodes.last_mut() {
            node.symbolic = true;
        }
        self
    }

    pub(crate) fn name(&mut self, name: Name) -> (u32, bool) {
        name.within(&mut self.code)
    }

    pub(crate) fn push(
        &mut self,
        opcode: Opcode,
        operand: u64,
        shape: Option<CallShape>,
    ) -> &mut Self {
        self.append_node(opcode, operand, shape);
        self
    }

    /// Appends an instruction and returns the height of the stack after it.
    fn append_node(&mut self, opcode: Opcode, operand: u64, shape: Option<CallShape>) -> i64 {
        let first_prefix = self.code.prefixes.len() as u32;
        // There are six prefixes, each at most once.
        let prefix_count = self.pending.len() as u8;
        self.code.prefixes.append(&mut self.pending);
        self.code.append(Node {
            first_prefix,
            prefix_count,
            ..Node::new(opcode, operand)
        });
        self.stack.step(opcode, shape)
    }
}

impl Default for Fragment {
    fn default() -> Self {
        Self::new()
    }
}
