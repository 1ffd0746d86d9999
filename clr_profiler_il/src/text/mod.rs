//! Bodies and fragments as text, in the manner of `ildasm`.

mod cursor;
mod error;
mod names;

use std::fmt;

use crate::body::{Clause, ClauseKind, Layout, MethodBody};
use crate::code::{Code, UNPLACED};
use crate::fragment::Fragment;
use crate::instruction::{Instruction, Label, Operand, reference};
use crate::opcode::Opcode;

pub use error::{TextError, TextErrorKind};

pub(crate) use cursor::Cursor;
pub(crate) use names::{write_name, write_quoted, write_type_name};

/// Prints the instructions with the offsets and forms that they have when encoded.
impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_code(f, &self.code, &self.clauses)
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
        if let Some(locals) = self.locals() {
            for (index, local) in locals.locals.iter().enumerate() {
                let name = local.display(&crate::signature::TokenNames);
                writeln!(f, ".local [{index}] {name}")?;
            }
        } else if let Some(token) = self.locals_token() {
            writeln!(f, ".locals {token}")?;
        }
        write_code(f, &self.code, &self.clauses)
    }
}

struct Printer<'a> {
    code: &'a Code,
    layout: Layout,
}

fn write_code(f: &mut fmt::Formatter<'_>, code: &Code, clauses: &[Clause]) -> fmt::Result {
    let mut layout = Layout::default();
    layout.compute(code);
    let mut long = layout.long_branches().collect::<Vec<_>>().into_iter();
    let printer = Printer { code, layout };
    for instruction in code.instructions() {
        let mut opcode = instruction.opcode();
        if instruction.node.is_branch() && long.next() == Some(false) {
            opcode = opcode.short_form();
        }
        printer.instruction(f, &instruction, opcode)?;
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
        f.write_str(" handler ")?;
        self.label(f, clause.handler_start)?;
        f.write_str(" to ")?;
        self.label(f, clause.handler_end)?;
        writeln!(f)
    }
}
