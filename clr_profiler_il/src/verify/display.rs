use std::fmt;

use super::Violation;
use crate::body::MethodBody;
use crate::instruction::Operand;
use crate::symbol::{Names, Reference};

/// The number of instructions shown before and after the offending one.
const AROUND: usize = 4;

impl Violation {
    /// Displays the rule and the instructions around the violation, with the offsets of the encoded
    /// code.
    #[must_use]
    pub fn display<'a>(&'a self, body: &'a MethodBody) -> ViolationDisplay<'a> {
        ViolationDisplay {
            violation: self,
            body,
            names: None,
        }
    }
}

impl Violation {
    /// Displays the violation on one line, with the name of the member that the instruction uses, and with the source:
    /// `IL_0007: operand 1 is int32, not an object, in call Shop.Cart.Add(string), Cart.cs:41`.
    #[must_use]
    pub fn named<'a>(&'a self, body: &'a MethodBody, names: &'a dyn Names) -> NamedViolation<'a> {
        NamedViolation {
            violation: self,
            body,
            names,
        }
    }
}

/// The result of [`Violation::named`].
#[derive(Clone, Copy)]
pub struct NamedViolation<'a> {
    violation: &'a Violation,
    body: &'a MethodBody,
    names: &'a dyn Names,
}

impl fmt::Debug for NamedViolation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedViolation")
            .field(self.violation)
            .finish()
    }
}

impl fmt::Display for NamedViolation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.violation)?;
        let Some(id) = self.violation.instruction else {
            return Ok(());
        };
        let mut source = None;
        for instruction in self.body.instructions() {
            // The source of an instruction is the last one that begins at or before it.
            let begins = instruction
                .original_offset()
                .and_then(|offset| self.names.source(offset));
            source = begins.or(source);
            if instruction.id() != id {
                continue;
            }
            if let Operand::Reference(Reference::Token(token)) = instruction.operand()
                && let Some(name) = self.names.name(token)
            {
                write!(f, ", in {} {name}", instruction.opcode())?;
            }
            break;
        }
        match source {
            Some(source) => write!(f, ", {source}"),
            None => Ok(()),
        }
    }
}

/// The result of [`Violation::display`].
#[derive(Clone, Copy)]
pub struct ViolationDisplay<'a> {
    violation: &'a Violation,
    body: &'a MethodBody,
    names: Option<&'a dyn Names>,
}

impl fmt::Debug for ViolationDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViolationDisplay")
            .field("violation", self.violation)
            .field("body", self.body)
            .finish_non_exhaustive()
    }
}

impl<'a> ViolationDisplay<'a> {
    /// Prints names instead of tokens.
    #[must_use]
    pub const fn named(mut self, names: &'a dyn Names) -> Self {
        self.names = Some(names);
        self
    }
}

impl fmt::Display for ViolationDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let violation = self.violation;
        let rank = violation.instruction.and_then(|id| {
            let mut ids = self.body.instructions().map(|one| one.id());
            ids.position(|one| one == id)
        });
        let Some(rank) = rank else {
            return writeln!(f, "{violation}");
        };
        // One line for each instruction, plus header and clause lines.
        let text = match self.names {
            Some(names) => self.body.named(names).to_string(),
            None => self.body.to_string(),
        };
        let lines = text.lines().filter(|line| line.starts_with("IL_"));
        let first = rank.saturating_sub(AROUND);
        let lines: Vec<_> = lines
            .enumerate()
            .skip(first)
            .take(rank - first + 1 + AROUND)
            .collect();
        let culprit = lines.iter().find(|(index, _)| *index == rank);
        let offset_text = culprit.and_then(|(_, line)| line.split_once(':'));
        let offset_text = offset_text.map_or("", |(offset_text, _)| offset_text);
        f.write_str(offset_text)?;
        match violation.offset {
            Some(offset) if offset_text != format!("IL_{offset:04x}") => {
                write!(f, " (IL_{offset:04x} in the original)")?;
            }
            Some(_) => {}
            None => f.write_str(" (inserted)")?,
        }
        f.write_str(": ")?;
        if let Some(clause) = violation.clause {
            write!(f, "exception clause {clause}: ")?;
        }
        writeln!(f, "{}", violation.rule)?;
        for (index, line) in lines {
            let mark = if index == rank { ">>>" } else { "   " };
            writeln!(f, "{mark} {line}")?;
        }
        Ok(())
    }
}
