//! Verification of a body: rules whose violation would make a JIT refuse it or misbehave.
//!
//! [`MethodBody::verify_structure`] checks the rules that are independent of the meaning of tokens:
//! targets, regions and the transfers between them, prefixes, the end of the code.
//! [`MethodBody::verify`] also tracks the values on the stack: their number and kinds. A
//! [`Resolver`] supplies the meaning of tokens; unknown ones are not checked.
//!
//! It is not a type checker: all objects are of one kind, and so are all managed pointers.
//! Unmanaged pointers are native integers, which unsafe code may use in any way. Every method body
//! that ships with .NET passes.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::signature::{MethodSig, TypeSig};
//! use clr_profiler_il::verify::MethodContext;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `ldarg.0; ldc.i4.1; add; ret`, in a method that takes an object and returns an `int`.
//! let body = MethodBody::decode(&[0x12, 0x02, 0x17, 0x58, 0x2a])?;
//! let signature = MethodSig::new(TypeSig::I4, vec![TypeSig::Object]);
//! let violations = body.verify(&MethodContext::new(&signature), &());
//! assert_eq!(violations.len(), 1);
//! assert_eq!(
//!     violations[0].display(&body).to_string(),
//!     "\
//! IL_0002: object and int32 cannot be combined
//!     IL_0000:  ldarg.0
//!     IL_0001:  ldc.i4.1
//! >>> IL_0002:  add
//!     IL_0003:  ret
//! "
//! );
//! # Ok(())
//! # }
//! ```

mod arithmetic;
mod context;
mod display;
mod effect;
mod inserted;
mod kind;
mod names;
mod neutral;
mod operand;
mod prefixes;
mod rule;
mod stack;
mod transfers;
mod values;

use std::mem::discriminant;

use crate::body::MethodBody;
use crate::code::END;
use crate::flow::{Fault, Ranks, Regions};
use crate::instruction::{Instruction, InstructionId};
use crate::symbol::Resolver;

pub use context::MethodContext;
pub use display::{NamedViolation, ViolationDisplay};
pub use kind::StackKind;
pub use rule::{Expected, Rule, Violation};
pub use values::VerifyBuffers;

use values::violations;

impl MethodBody {
    /// Checks all rules of [`Rule`]: first the structure, then the values on the stack, each in the
    /// order of the code.
    ///
    /// The types of the locals are those set in the body, otherwise those of the resolver.
    /// Unreachable code is not followed, as in a JIT. A value of a wrong kind is reported once;
    /// after a wrong depth, the path is not followed further.
    #[must_use]
    pub fn verify(&self, method: &MethodContext<'_>, resolver: &impl Resolver) -> Vec<Violation> {
        self.verify_with(&mut VerifyBuffers::new(), method, resolver)
    }

    /// As [`verify`](Self::verify), with reusable memory.
    #[must_use]
    pub fn verify_with(
        &self,
        buffers: &mut VerifyBuffers,
        method: &MethodContext<'_>,
        resolver: &impl Resolver,
    ) -> Vec<Violation> {
        let mut found = self.verify_structure();
        let of_structure = found.len();
        found.extend(violations(self, method, resolver, buffers));
        if let Some(of_values @ [_, _, ..]) = found.get_mut(of_structure..) {
            let ranks = Ranks::new(&self.code);
            let rank = |id: InstructionId| ranks.of(id.0);
            of_values.sort_by_key(|violation| violation.instruction.map(rank));
        }
        found
    }

    /// The violations that the original body did not have. `original` has its bytes, or none for a
    /// new method. A rule that the original breaks anywhere is not reported at all, because code
    /// moves and depths change.
    #[must_use]
    pub fn verify_changes(
        &self,
        original: &[u8],
        method: &MethodContext<'_>,
        resolver: &impl Resolver,
    ) -> Vec<Violation> {
        self.verify_changes_with(&mut VerifyBuffers::new(), original, method, resolver)
    }

    /// As [`verify_changes`](Self::verify_changes), with reusable memory.
    #[must_use]
    pub fn verify_changes_with(
        &self,
        buffers: &mut VerifyBuffers,
        original: &[u8],
        method: &MethodContext<'_>,
        resolver: &impl Resolver,
    ) -> Vec<Violation> {
        let mut violations = self.verify_with(buffers, method, resolver);
        if !violations.is_empty()
            && let Ok(original) = MethodBody::decode(original)
        {
            let had = original.verify_with(buffers, method, resolver);
            violations.retain(|found| {
                let rule = discriminant(&found.rule);
                had.iter().all(|had| discriminant(&had.rule) != rule)
            });
        }
        violations
    }

    /// Checks the structural rules of [`Rule`], in the order of the code, exception clauses first.
    ///
    /// If exception clauses overlap, transfers into and out of them are not checked.
    #[must_use]
    pub fn verify_structure(&self) -> Vec<Violation> {
        let mut check = Check {
            body: self,
            ranks: Ranks::NONE,
            found: Vec::new(),
        };
        if self.code.first() == END {
            check.found.push(Violation {
                instruction: None,
                offset: None,
                clause: None,
                rule: Rule::FallsOffTheEnd,
            });
        }
        let regions = if self.code.clauses.is_empty() {
            Some(Regions::NONE)
        } else {
            check.ranks = Ranks::new(&self.code);
            check.regions()
        };
        let has_regions = !self.code.clauses.is_empty();
        for (rank, instruction) in self.instructions().enumerate() {
            // Most instructions can break no rule of the structure but the one of the last.
            if !has_regions && is_plain(&instruction) && self.code.next(instruction.id.0) != END {
                continue;
            }
            check.name(&instruction);
            check.prefixes(&instruction);
            check.flow(&instruction, rank as u32, regions.as_ref());
        }
        if let Some(regions) = &regions {
            check.filters(regions);
        }
        let mut found = check.found;
        if found.len() > 1 {
            let ranks = Ranks::new(&self.code);
            let rank = |id: InstructionId| ranks.of(id.0);
            found.sort_by_key(|violation| match violation.clause {
                Some(_) => None,
                None => violation.instruction.map(rank),
            });
        }
        found
    }
}

/// Whether an instruction has no token, no target and no prefix, and control continues after it.
fn is_plain(instruction: &Instruction<'_>) -> bool {
    let opcode = instruction.opcode();
    let is_token = opcode.operand_kind().is_token();
    let continues = !opcode.has_targets() && !opcode.ends_block();
    continues && !is_token && instruction.node.prefix_count == 0
}

struct Check<'a> {
    body: &'a MethodBody,
    /// Computed if there are regions.
    ranks: Ranks,
    found: Vec<Violation>,
}

impl Check<'_> {
    /// The regions; `None` if they do not form a tree, which is then reported.
    fn regions(&mut self) -> Option<Regions> {
        let mut faults = Vec::new();
        let regions = Regions::new(&self.body.code, &self.ranks, |clause, at, fault| {
            faults.push((clause, at, fault));
        });
        for &(clause, at, fault) in &faults {
            let rule = match fault {
                Fault::Empty => Rule::EmptyRegion,
                Fault::EmptyFilter => Rule::Filter,
                Fault::Overlap => Rule::Overlap,
                Fault::Order => Rule::ClauseOrder,
            };
            self.blame_clause(clause, at, rule);
        }
        faults.is_empty().then_some(regions)
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
