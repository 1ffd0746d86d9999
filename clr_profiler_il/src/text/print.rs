use std::cell::Cell;
use std::fmt;

use crate::body::{Clause, ClauseKind, Layout, MethodBody};
use crate::code::{Code, END, UNPLACED};
use crate::fragment::Fragment;
use crate::instruction::{Instruction, Label, Operand, prefix, reference};
use crate::opcode::Opcode;
use crate::signature::TokenNames;
use crate::token::Token;

/// Prints the instructions with the offsets and forms that they have when encoded.
impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_code(f, &self.code, &self.clauses)?;
        let mut pending = self.pending.iter();
        pending.try_for_each(|slot| writeln!(f, "{}", prefix(&self.code, slot)))
    }
}

/// Prints the header, the instructions with the offsets and forms that they have when encoded, and
/// the exception clauses.
impl fmt::Display for MethodBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, ".maxstack {}", self.max_stack())?;
        if self.init_locals() {
            writeln!(f, ".locals init")?;
        }
        // The token counts as long as no local was added.
        if let Some(token) = self.locals_token().filter(|_| !self.locals.changed) {
            writeln!(f, ".locals {token}")?;
        }
        if let Some(locals) = self.locals() {
            for (index, local) in locals.locals.iter().enumerate() {
                writeln!(f, ".local [{index}] {}", local.text(&TokenNames))?;
            }
        }
        write_code(f, &self.code, &self.clauses)
    }
}

struct Printer<'a> {
    code: &'a Code,
    layout: Layout,
    /// Whether a label at the end was printed.
    goes_to_end: Cell<bool>,
}

fn write_code(f: &mut fmt::Formatter<'_>, code: &Code, clauses: &[Clause]) -> fmt::Result {
    let mut layout = Layout::default();
    layout.compute(code);
    let mut long = layout.long_branches().collect::<Vec<_>>().into_iter();
    let printer = Printer {
        code,
        layout,
        goes_to_end: Cell::new(false),
    };
    for instruction in code.instructions() {
        let mut opcode = instruction.opcode();
        if instruction.node.is_branch() && long.next() == Some(false) {
            opcode = opcode.short_form();
        }
        printer.instruction(f, &instruction, opcode)?;
    }
    let mut bounds = clauses.iter().flat_map(Clause::bounds);
    if printer.goes_to_end.get() || bounds.any(|label| code.place(label) == END) {
        writeln!(f, "IL_{:04x}:", printer.layout.offset(END))?;
    }
    clauses
        .iter()
        .try_for_each(|clause| printer.clause(f, clause))
}

impl Printer<'_> {
    fn label(&self, f: &mut fmt::Formatter<'_>, label: Label) -> fmt::Result {
        if self.code.place(label) == UNPLACED {
            // A place outside a fragment.
            return write!(f, "label {}", label.0);
        }
        if self.code.place(label) == END {
            self.goes_to_end.set(true);
        }
        write!(f, "IL_{:04x}", self.layout.target(self.code, label))
    }

    fn instruction(
        &self,
        f: &mut fmt::Formatter<'_>,
        instruction: &Instruction<'_>,
        opcode: Opcode,
    ) -> fmt::Result {
        write!(f, "IL_{:04x}:  ", self.layout.offset(instruction.id.0))?;
        for prefix in instruction.prefixes() {
            write!(f, "{prefix} ")?;
        }
        let operand = instruction.operand();
        if operand == Operand::None {
            return writeln!(f, "{opcode}");
        }
        write!(f, "{opcode:<10} ")?;
        match operand {
            Operand::None => {}
            Operand::Int32(value) => write!(f, "{value}")?,
            Operand::Int64(value) => write!(f, "{value}")?,
            // Of a value that is no number, the bits say which one it is.
            Operand::Float32(value) if value.is_nan() => {
                write!(f, "NaN(0x{:08x})", value.to_bits())?
            }
            Operand::Float64(value) if value.is_nan() => {
                write!(f, "NaN(0x{:016x})", value.to_bits())?
            }
            Operand::Float32(value) => write!(f, "{value:?}")?,
            Operand::Float64(value) => write!(f, "{value:?}")?,
            Operand::Variable(number) => write!(f, "{number}")?,
            Operand::Target(label) => self.label(f, label)?,
            Operand::Switch(labels) => {
                f.write_str("(")?;
                for (index, &label) in labels.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    self.label(f, label)?;
                }
                f.write_str(")")?;
            }
            Operand::Reference(reference) => write!(f, "{reference}")?,
        }
        writeln!(f)
    }

    fn clause(&self, f: &mut fmt::Formatter<'_>, clause: &Clause) -> fmt::Result {
        f.write_str(".try ")?;
        self.label(f, clause.try_start)?;
        f.write_str(" to ")?;
        self.label(f, clause.try_end)?;
        match clause.kind {
            ClauseKind::Catch => {
                let name = reference(self.code, clause.value, clause.symbolic);
                write!(f, " catch {name}")?;
            }
            ClauseKind::Filter => {
                f.write_str(" filter ")?;
                self.label(f, clause.filter)?;
            }
            ClauseKind::Finally => f.write_str(" finally")?,
            ClauseKind::Fault => f.write_str(" fault")?,
        }
        if matches!(clause.kind, ClauseKind::Finally | ClauseKind::Fault) && clause.value != 0 {
            // It means nothing, yet it is there.
            write!(f, " {}", Token::new(clause.value))?;
        }
        f.write_str(" handler ")?;
        self.label(f, clause.handler_start)?;
        f.write_str(" to ")?;
        self.label(f, clause.handler_end)?;
        writeln!(f)
    }
}
