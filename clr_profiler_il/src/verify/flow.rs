use super::regions::{Kind, OUTSIDE, Regions};
use super::{Check, Rule};
use crate::code::{END, UNPLACED};
use crate::instruction::Instruction;
use crate::opcode::{Opcode, OperandKind};

impl Check<'_> {
    /// Targets, the end of the code, and how control passes between regions.
    #[inline]
    pub(super) fn flow(
        &mut self,
        instruction: &Instruction<'_>,
        rank: u32,
        regions: Option<&Regions>,
    ) {
        let opcode = instruction.opcode();
        if matches!(
            opcode.operand_kind(),
            OperandKind::Target | OperandKind::ShortTarget | OperandKind::Switch
        ) {
            self.targets(instruction, rank, regions);
        }
        if !opcode.ends_block() {
            if instruction.code.next(instruction.id.0) == END {
                self.blame(instruction, Rule::FallsOffTheEnd);
            } else if let Some(rule) = regions.and_then(|regions| go(regions, rank, rank + 1)) {
                self.blame(instruction, rule);
            }
        }
        if let Some(regions) = regions
            && !belongs(regions, rank, opcode)
        {
            self.blame(instruction, Rule::Misplaced(opcode));
        }
    }

    fn targets(&mut self, instruction: &Instruction<'_>, rank: u32, regions: Option<&Regions>) {
        for target in instruction.targets() {
            let place = instruction.code.place(target);
            if place == END || place == UNPLACED {
                self.blame(instruction, Rule::NoTarget);
            } else if let Some(regions) = regions {
                let to = self.rank(place);
                let rule = if instruction.opcode() == Opcode::Leave {
                    leave(regions, rank, to)
                } else {
                    go(regions, rank, to)
                };
                if let Some(rule) = rule {
                    self.blame(instruction, rule);
                }
            }
        }
    }

    /// Filters end in `endfilter`, where their handlers begin.
    pub(super) fn filters(&mut self, regions: &Regions) {
        let body = self.body;
        for filter in regions
            .all
            .iter()
            .filter(|region| region.kind == Kind::Filter)
        {
            let clause = filter.first_clause as usize;
            let handler = body.code.clauses.get(clause);
            let handler = handler.map_or(END, |clause| body.code.place(clause.handler_start));
            let last = body.code.previous(handler);
            if body
                .code
                .node(last)
                .is_none_or(|node| node.opcode != Opcode::Endfilter)
            {
                self.blame_clause(clause, last, Rule::Filter);
            }
        }
    }
}

/// From where control comes if it goes to an instruction: the region around all try regions that
/// begin there.
fn entrance(regions: &Regions, to: u32) -> u32 {
    let mut region = regions.at(to);
    while let Some(entered) = regions.get(region) {
        if entered.kind != Kind::Try || entered.start != to {
            break;
        }
        region = entered.parent;
    }
    region
}

/// What is wrong with going from one instruction to another otherwise than by `leave`.
fn go(regions: &Regions, from: u32, to: u32) -> Option<Rule> {
    let (from, region) = (regions.at(from), regions.at(to));
    if go_is_fine(regions, from, to) {
        return None;
    }
    let outward = encloses(regions, region, from);
    Some(if outward { Rule::Leaves } else { Rule::Enters })
}

/// Whether a region is the other one or around it.
fn encloses(regions: &Regions, outer: u32, inner: u32) -> bool {
    let mut region = inner;
    while region != outer {
        match regions.get(region) {
            Some(inside) => region = inside.parent,
            None => return false,
        }
    }
    true
}

/// What is wrong with a `leave` from one instruction to another.
fn leave(regions: &Regions, from: u32, to: u32) -> Option<Rule> {
    let target = entrance(regions, to);
    let mut region = regions.at(from);
    if go_is_fine(regions, region, to) {
        return None;
    }
    while region != target {
        let Some(left) = regions.get(region) else {
            return Some(Rule::Enters);
        };
        match left.kind {
            Kind::Try => {}
            Kind::Filter | Kind::Finally => return Some(Rule::LeavesHandler),
            Kind::Catch => {
                // A catch may go back into the code that it protects.
                let protected = regions.get(target).is_some_and(|back| {
                    back.kind == Kind::Try
                        && (back.first_clause..=back.last_clause).contains(&left.first_clause)
                });
                if protected {
                    return None;
                }
            }
        }
        region = left.parent;
    }
    None
}

/// Whether the target is in the same region, or in a try region that begins there.
fn go_is_fine(regions: &Regions, from: u32, to: u32) -> bool {
    let mut region = regions.at(to);
    while region != from {
        match regions.get(region) {
            Some(entered) if entered.kind == Kind::Try && entered.start == to => {
                region = entered.parent;
            }
            _ => return false,
        }
    }
    true
}

/// Whether an instruction may stand where it stands.
fn belongs(regions: &Regions, rank: u32, opcode: Opcode) -> bool {
    let region = regions.at(rank);
    let kind = || regions.get(region).map(|region| region.kind);
    match opcode {
        Opcode::Ret | Opcode::Jmp => region == OUTSIDE,
        Opcode::Endfinally => kind() == Some(Kind::Finally),
        Opcode::Endfilter => {
            kind() == Some(Kind::Filter)
                && regions
                    .get(region)
                    .is_some_and(|filter| filter.end == rank + 1)
        }
        Opcode::Rethrow => handler(regions, region) == Some(Kind::Catch),
        Opcode::Localloc => handler(regions, region).is_none(),
        _ => true,
    }
}

/// The kind of the innermost handler or filter around a region.
fn handler(regions: &Regions, region: u32) -> Option<Kind> {
    let mut around = regions.get(region);
    while let Some(inside) = around.filter(|inside| inside.kind == Kind::Try) {
        around = regions.get(inside.parent);
    }
    around.map(|inside| inside.kind)
}
