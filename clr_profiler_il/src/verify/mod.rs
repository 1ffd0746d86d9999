//! Checks of a body before it is handed over: what would make a JIT refuse it or go astray.
//!
//! [`MethodBody::verify_structure`] looks at what holds for every valid body whatever its tokens
//! mean: targets, regions, how control enters and leaves them, prefixes, the end of the code.
//! [`MethodBody::verify`] also follows the values on the stack: how many there are, and of which
//! kinds. What the tokens mean it asks a [`Resolver`]; what that does not know is not checked.
//!
//! It is no type checker: all objects are alike, and so are all managed pointers. Unmanaged pointers
//! are native integers, with which unsafe code may do what it likes. Every method body that ships
//! with .NET passes.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::signature::{MethodSig, TypeSig};
//! use clr_profiler_il::verify::MethodContext;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `ldarg.0; ldc.i4.1; add; ret`, in a method that takes an object and gives an `int`.
//! let body = MethodBody::decode(&[0x12, 0x02, 0x17, 0x58, 0x2a])?;
//! let signature = MethodSig::new(TypeSig::I4, vec![TypeSig::Object]);
//! let violations = body.verify(&MethodContext::new(&signature), &());
//! assert_eq!(violations.len(), 1);
//! assert_eq!(
//!     violations[0].display(&body).to_string(),
//!     "\
//! IL_0002: object and int32 do not go together
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
mod flow;
mod kind;
mod names;
mod operand;
mod prefixes;
mod regions;
mod rule;
mod stack;
mod values;

use crate::body::MethodBody;
use crate::code::END;
use crate::instruction::{Instruction, InstructionId};
use crate::symbol::Resolver;

pub use context::MethodContext;
pub use display::ViolationDisplay;
pub use kind::StackKind;
pub use rule::{Rule, Violation, Wanted};

use kind::Kinds;
use regions::Regions;
use values::Pass;

impl MethodBody {
    /// Looks for violations of all rules in [`Rule`], by the structure first, then in the values on
    /// the stack; each in the order of the code.
    ///
    /// The locals are those that were told to the body, else those that the resolver tells. What
    /// control never reaches is not followed, as by a JIT. A value that is of a wrong kind is
    /// reported once; a wrong depth ends that way through the code.
    #[must_use]
    pub fn verify(&self, method: &MethodContext<'_>, resolver: &impl Resolver) -> Vec<Violation> {
        let mut found = self.verify_structure();
        let of_structure = found.len();
        let kinds = Kinds::new(resolver, method.references);
        found.extend(Pass::new(self, method, kinds).run());
        if let Some(of_values @ [_, _, ..]) = found.get_mut(of_structure..) {
            let ranks = self.ranks();
            let rank = |id: InstructionId| ranks.get(id.0 as usize).copied();
            of_values.sort_by_key(|violation| violation.instruction.and_then(rank));
        }
        found
    }

    /// Looks for violations of the rules of [`Rule`] that are about the structure; in the order of
    /// the code, those of exception clauses first.
    ///
    /// If the exception clauses overlap, how control enters and leaves them is not looked at.
    #[must_use]
    pub fn verify_structure(&self) -> Vec<Violation> {
        let mut check = Check {
            body: self,
            rank: Vec::new(),
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
            check.rank = self.ranks();
            Regions::collect(&mut check)
        };
        for (rank, instruction) in self.instructions().enumerate() {
            check.name(&instruction);
            check.prefixes(&instruction);
            check.flow(&instruction, rank as u32, regions.as_ref());
        }
        if let Some(regions) = &regions {
            check.filters(regions);
        }
        let mut found = check.found;
        if found.len() > 1 {
            let rank = self.ranks();
            let rank = |id: InstructionId| rank.get(id.0 as usize).copied();
            found.sort_by_key(|violation| match violation.clause {
                Some(_) => None,
                None => violation.instruction.and_then(rank),
            });
        }
        found
    }

    /// The place of every node in the order of the code; the end is behind all.
    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; self.code.nodes.len()];
        let end = InstructionId(END);
        let ids = self.instructions().map(|one| one.id).chain([end]);
        for (rank, id) in ids.enumerate() {
            if let Some(slot) = ranks.get_mut(id.0 as usize) {
                *slot = rank as u32;
            }
        }
        ranks
    }
}

struct Check<'a> {
    body: &'a MethodBody,
    /// The place of every node in the order of the code, if there are regions.
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
