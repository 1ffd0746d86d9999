use std::fmt;

use super::Violation;
use crate::body::MethodBody;

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
        }
    }
}

/// The result of [`Violation::display`].
#[derive(Clone, Copy, Debug)]
pub struct ViolationDisplay<'a> {
    violation: &'a Violation,
    body: &'a MethodBody,
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
        let text = self.body.to_string();
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
