use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use crate::body::{Layout, MethodBody};
use crate::code::{Clause, ClauseKind, Code, END, UNPLACED};
use crate::fragment::Fragment;
use crate::instruction::{Instruction, Label, Operand, prefix};
use crate::opcode::Opcode;
use crate::signature::TokenNames;
use crate::symbol::Names;
use crate::token::Token;

/// Prints the instructions with the offsets and forms of the encoded code.
impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_code(f, &self.code, Naming(None))?;
        let mut pending = self.pending.iter();
        pending.try_for_each(|slot| writeln!(f, "{}", prefix(&self.code, slot)))
    }
}

impl MethodBody {
    /// The lines before the instructions, in four groups.
    pub(super) fn header_lines(&self, naming: Naming<'_>) -> [Vec<String>; 4] {
        let init = self.init_locals().then(|| ".locals init".to_owned());
        // The token is valid as long as no local was added.
        let token = self.locals_token().filter(|_| !self.locals.changed);
        let locals = self.locals().into_iter().flat_map(|locals| &locals.locals);
        [
            vec![format!(".maxstack {}", self.max_stack())],
            init.into_iter().collect(),
            token
                .map(|token| format!(".locals {}", naming.token(token)))
                .into_iter()
                .collect(),
            locals
                .enumerate()
                .map(|(index, local)| match naming.0 {
                    Some(_) => format!(".local [{index}] {}", local.display(&naming)),
                    None => format!(".local [{index}] {}", local.text(&TokenNames)),
                })
                .collect(),
        ]
    }
}

/// Prints the header, the instructions with the offsets and forms of the encoded code, and the
/// exception clauses.
impl fmt::Display for MethodBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_body(f, self, Naming(None))
    }
}

pub(super) fn write_body(
    f: &mut fmt::Formatter<'_>,
    body: &MethodBody,
    naming: Naming<'_>,
) -> fmt::Result {
    let lines = body.header_lines(naming);
    let mut lines = lines.iter().flatten();
    lines.try_for_each(|line| writeln!(f, "{line}"))?;
    write_code(f, &body.code, naming)
}

/// The names instead of tokens, if there are any.
#[derive(Clone, Copy)]
pub(super) struct Naming<'a>(pub(super) Option<&'a dyn Names>);

/// The names of positions in the code.
#[derive(Clone, Copy)]
pub(super) enum PositionNames<'a> {
    /// Offsets.
    Offsets(&'a Layout),
    /// Names chosen for nodes.
    Names(&'a HashMap<u32, String>),
}

pub(super) struct Printer<'a> {
    code: &'a Code,
    names: PositionNames<'a>,
    naming: Naming<'a>,
    /// Whether a label at the end was printed.
    goes_to_end: Cell<bool>,
}

fn write_code(f: &mut fmt::Formatter<'_>, code: &Code, naming: Naming<'_>) -> fmt::Result {
    let mut layout = Layout::default();
    layout.compute(code);
    let printer = Printer::new(code, PositionNames::Offsets(&layout), naming);
    for instruction in code.instructions() {
        if let Some(source) = naming.source(instruction.original_offset()) {
            writeln!(f, "// {source}")?;
        }
        let mut opcode = instruction.opcode();
        let node = instruction.node;
        if node.is_branch() && layout.is_short(code, instruction.id.0, node) {
            opcode = opcode.short_form();
        }
        write!(f, "IL_{:04x}:  ", layout.offset(code, instruction.id.0))?;
        printer.instruction(f, &instruction, opcode)?;
        writeln!(f)?;
    }
    let mut bounds = code.clauses.iter().flat_map(Clause::bounds);
    if printer.goes_to_end.get() || bounds.any(|label| code.node_of(label) == END) {
        writeln!(f, "IL_{:04x}:", layout.offset(code, END))?;
    }
    for clause in &code.clauses {
        printer.clause(f, clause)?;
        writeln!(f)?;
    }
    Ok(())
}

impl<'a> Printer<'a> {
    pub(super) const fn new(code: &'a Code, names: PositionNames<'a>, naming: Naming<'a>) -> Self {
        Self {
            code,
            names,
            naming,
            goes_to_end: Cell::new(false),
        }
    }

    fn label(&self, f: &mut dyn fmt::Write, label: Label) -> fmt::Result {
        let node = self.code.node_of(label);
        if node == UNPLACED {
            // An exit of a fragment.
            return write!(f, "label {}", label.index);
        }
        if node == END {
            self.goes_to_end.set(true);
        }
        match self.names {
            PositionNames::Offsets(layout) => {
                write!(f, "IL_{:04x}", layout.offset(self.code, node))
            }
            PositionNames::Names(names) => {
                f.write_str(names.get(&node).map_or("?", String::as_str))
            }
        }
    }

    /// The instruction with its prefixes, without its label.
    pub(super) fn instruction(
        &self,
        f: &mut dyn fmt::Write,
        instruction: &Instruction<'_>,
        opcode: Opcode,
    ) -> fmt::Result {
        for prefix in instruction.prefixes() {
            write!(f, "{prefix} ")?;
        }
        let operand = instruction.operand();
        if operand == Operand::None {
            return write!(f, "{opcode}");
        }
        write!(f, "{opcode:<10} ")?;
        match operand {
            Operand::None => {}
            Operand::Int32(value) => write!(f, "{value}")?,
            Operand::Int64(value) => write!(f, "{value}")?,
            // A NaN is identified by its bits.
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
            Operand::Reference(reference) => self.naming.reference(f, reference)?,
        }
        Ok(())
    }

    pub(super) fn clause(&self, f: &mut dyn fmt::Write, clause: &Clause) -> fmt::Result {
        f.write_str(".try ")?;
        self.label(f, clause.try_start)?;
        f.write_str(" to ")?;
        self.label(f, clause.try_end)?;
        match clause.kind {
            ClauseKind::Catch => {
                f.write_str(" catch ")?;
                let name = self.code.reference(clause.value, clause.symbolic);
                self.naming.reference(f, name)?;
            }
            ClauseKind::Filter => {
                f.write_str(" filter ")?;
                self.label(f, clause.filter)?;
            }
            ClauseKind::Finally => f.write_str(" finally")?,
            ClauseKind::Fault => f.write_str(" fault")?,
        }
        if matches!(clause.kind, ClauseKind::Finally | ClauseKind::Fault) && clause.value != 0 {
            // The value has no meaning here, but is preserved.
            write!(f, " {}", Token::new(clause.value))?;
        }
        f.write_str(" handler ")?;
        self.label(f, clause.handler_start)?;
        f.write_str(" to ")?;
        self.label(f, clause.handler_end)
    }
}
