//! Checks of a body's structure: what holds for every valid body whatever its tokens mean.
//!
//! [`MethodBody::verify_structure`] looks at targets, regions, how control enters and leaves them,
//! prefixes, and the end of the code. The depth of the stack is
//! [`stack_depths`](MethodBody::stack_depths)' matter; the kinds of values are not checked.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::verify::Rule;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `nop`, and then nothing.
//! let body = MethodBody::decode(&[0x06, 0x00])?;
//! let violations = body.verify_structure();
//! assert_eq!(violations.len(), 1);
//! assert_eq!(violations[0].rule, Rule::FallsOffTheEnd);
//! assert_eq!(violations[0].to_string(), "IL_0000: control falls off the end of the code");
//! # Ok(())
//! # }
//! ```

mod flow;
mod prefixes;
mod regions;
mod rule;

use crate::body::MethodBody;
use crate::instruction::{Instruction, InstructionId};

pub use rule::{Rule, Violation};

use regions::Regions;

impl MethodBody {
    /// Looks for violations of the rules in [`Rule`]; in the order of the code, those of exception
    /// clauses first.
    ///
    /// If the exception clauses overlap, how control enters and leaves them is not looked at.
    #[must_use]
    pub fn verify_structure(&self) -> Vec<Violation> {
        let mut check = Check {
            body: self,
            rank: vec![0; self.code.nodes.len()],
            found: Vec::new(),
        };
        let mut count = 0;
        for instruction in self.instructions() {
            if let Some(rank) = check.rank.get_mut(instruction.id.0 as usize) {
                *rank = count;
            }
            count += 1;
        }
        // The end ranks behind all.
        if let Some(end) = check.rank.first_mut() {
            *end = count;
        }
        let regions = Regions::collect(&mut check, count);
        check.prefixes();
        check.flow(regions.as_ref());
        check.found
    }
}

struct Check<'a> {
    body: &'a MethodBody,
    /// The place of every node in the order of the code.
    rank: Vec<u32>,
    found: Vec<Violation>,
}

impl Check<'_> {
    fn rank(&self, node: u32) -> u32 {
        self.rank.get(node as usize).copied().unwrap_or(u32::MAX)
    }

    fn blame(&mut self, instruction: &Instruction<'_>, rule: Rule) {
        self.found.push(Violation {
            instruction: Some(instruction.id),
            offset: instruction.original_offset(),
            clause: None,
            rule,
        });
    }

    fn blame_clause(&mut self, clause: usize, at: u32, rule: Rule) {
        let node = self.body.code.instruction(InstructionId(at));
        self.found.push(Violation {
            instruction: node.map(|node| node.id),
            offset: node.and_then(|node| node.original_offset()),
            clause: Some(clause),
            rule,
        });
    }
}
